"""Corpora from what annotation tools export, and predictions for these tools to import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written, written_bytes
from tagweave.corpus.formats import chosen_format
from tagweave.corpus.overlapping import layer_types, type_layers
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange import answers
from tagweave.exchange.exports import NAMES, TOKEN_TOOLS, documents_of, known_layers
from tagweave.exchange.exports import tool as named
from tagweave.exchange.load import check_tool
from tagweave.exchange.members import Memory
from tagweave.exchange.sentences import Notes, Task, joint, placed, sentences
from tagweave.exchange.sentences import documents as documents_in
from tagweave.exchange.tokens import of_words, tokenizer
from tagweave.front.corpora import corpus_of, save
from tagweave.front.loading import load_model
from tagweave.front.options import DOCUMENT_OPTIONS, DocumentOptions, options_of
from tagweave.front.taggers import Segmenter
from tagweave.options import taking
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.exchange.document import TokenTool
    from tagweave.exchange.tokens import Tokenizer


@taking(DOCUMENT_OPTIONS)
def read_documents(tool: str, *paths: str | PathLike[str], tell: Callable[[str], None] = say, **options: Any) -> Corpus:
    """The corpus of spans in files that an annotation tool exported: a sentence a line, a layer for each annotator.

    A span with a score below 1 becomes candidates with numbers, and a text that an annotator has not seen is unknown in
    their layer. With one annotator the layer is called `tag`. Where spans of different types overlap, each type has a
    layer, called like it. Comments of sentences keep where they stood.

    Args:
        tool: a name of `tagweave.exchange.exports.TOOLS`, such as `doccano` or `brat`.
        paths: the files; documents of the same text are one.
        tell: receives notes on misaligned and overlapping spans, on documents without any, and on what the tool has and
            a corpus has not.

    Raises:
        ExchangeError: an unknown tool or option; a file of another tool.
        CorpusError: a file that is not in the tool's form, or misaligned spans, if these are errors.
        OSError: a file cannot be read.
    """
    settings = options_of(DocumentOptions, "tw.read_documents", options)
    for path in paths if tool in NAMES else ():
        check_tool(tool, fspath(path))
    notes = Notes()
    if tool in TOKEN_TOOLS:
        for declaration in DOCUMENT_OPTIONS:
            if (value := getattr(settings, declaration.name)) != declaration.default:
                problem = f"found {declaration.name} {value}"
                raise ExchangeError(f"{problem}, expected none: the files of {tool} have tokens and labels")
        return _read_tokens(TOKEN_TOOLS[tool], paths, notes, tell)
    documents, memory = documents_of(named(tool), [fspath(path) for path in paths], notes)
    cut, overlap = _tokenizer(settings.tokens), settings.task == "spans" and tool != answers.TOOL.name
    how = settings.misaligned, settings.unmarked, notes, settings.task, overlap
    read = tuple(memory.sentences(sentences(documents, cut, *how)))
    for line in notes.lines(settings.misaligned, settings.unmarked, settings.task):
        tell(line)
    names = [name for sentence in read[-1:] for name in sentence.layers]
    return Corpus(read, names[-1] if names else "tag", path=fspath(paths[0]) if paths else "")


def _read_tokens(
    tool: TokenTool, paths: Sequence[str | PathLike[str]], notes: Notes, tell: Callable[[str], None]
) -> Corpus:
    """Read a library's files: the last layer in which something is known is the corpus's own."""

    def leave_out(what: str) -> None:
        notes.left_out[what] += 1

    read = (sentence for path in paths for sentence in tool.read(fspath(path), leave_out))
    kept = known_layers([*Memory([fspath(path) for path in paths]).sentences(read)])
    for line in notes.lines():
        tell(line)
    names = [name for sentence in kept[:1] for name in (*sentence.heads, *sentence.layers)]
    return Corpus(kept, names[-1] if names else "tag", path=fspath(paths[0]) if paths else "")


def _tokenizer(tokens: str | Callable[[str], list[str]]) -> Tokenizer:
    if callable(tokens):
        return of_words(tokens)
    if not Path(tokens).is_file():
        return tokenizer(tokens)
    model = load_model(tokens)
    if not isinstance(model, Segmenter):
        raise ExchangeError(f"found {tokens}, a model that does not segment, expected a segmenter")
    return of_words(model.cut)


def _layers_of_types(corpus: Corpus) -> tuple[str, ...]:
    """Return the layers that are called like the only type of their spans, if the corpus's own is one of them."""
    named = type_layers(layer_types([corpus]))
    return named if corpus.guideline in named else ()


def import_files(
    tool: str,
    files: Sequence[str],
    output: str,
    output_format: str | None,
    **options: Any,
) -> str:
    """Write what an annotation tool exported as a corpus; return a line about it. Options and errors as above."""
    corpus = read_documents(tool, *files, **options)
    if lost := lost_layers(corpus, chosen_format(output_format, output)):
        say(f"not kept in {output}: {', '.join(lost)}")
    save(corpus, output, output_format)
    names = [name for sentence in corpus.sentences[:1] for name in (*sentence.layers, *sentence.heads)]
    what = "layers" if tool in TOKEN_TOOLS else "annotators"
    return f"{output}: {len(corpus):,} sentences, {corpus.tokens():,} tokens, {what}: {', '.join(names) or 'none'}"


def lost_layers(corpus: Corpus, form: Format | None) -> list[str]:
    """Name the layers that a format has no place for."""
    if form is None:
        return []
    layers = dict.fromkeys(name for sentence in corpus for name in sentence.layers)
    labels = [] if form.names_layers else [name for name in layers if name not in (*form.layers, corpus.guideline)]
    return [
        *labels,
        *({"head"} & {name for sentence in corpus for name in sentence.heads} if form.heads is None else ()),
    ]


def write_documents(
    tool: str,
    corpus: Corpus,
    path: str | PathLike[str],
    layers: Sequence[str] = (),
    task: str = "spans",
    texts: Corpus | None = None,
) -> int:
    """Write the spans of a corpus for an annotation tool to import; returns the number of documents.

    Args:
        tool: a name of `tagweave.exchange.exports.TOOLS`, such as `doccano` or `brat`.
        corpus: with labels of spans, or of tokens; comments of `read_documents` say which sentences are a document.
        path: the file; `-` is standard output.
        layers: whose spans are written; by default the corpus's guideline alone, or all layers that are called like
            the types of their spans, as those of one annotator; of tokens all.
        task: `spans`, or `tags`: every token that has one label is marked with it.
        texts: what `read_documents` made, if the sentences are some of its, and have no comments any more.

    Raises:
        ExchangeError: an unknown tool.
        CorpusError: labels that are no spans, what the tool cannot hold, or a layer that the corpus lacks.
        OSError: the file cannot be written.
    """

    if task not in ("spans", "tags"):
        raise ExchangeError(f"found `task={task}`, expected spans, tags")
    corpus = corpus_of(corpus)
    present = list(dict.fromkeys(name for sentence in corpus for name in sentence.layers))
    of_types = () if layers or task != "spans" else _layers_of_types(corpus)
    names = tuple(layers) or (tuple(present) if tool in TOKEN_TOOLS else of_types or (corpus.guideline,))
    if missing := [name for name in names if name not in present]:
        raise CorpusError(f"no layer {missing[0]!r}", f"one of {', '.join(present)}", corpus.path)
    if tool in TOKEN_TOOLS:
        with written_bytes(fspath(path)) as stream:
            TOKEN_TOOLS[tool].write(corpus.sentences, stream, names, fspath(path))
        return len(corpus)
    kept = corpus if texts is None else placed(corpus, texts)
    documents = list(documents_in(kept, names, cast("Task", task)))
    documents = list(map(joint, documents)) if of_types else documents
    form = named(tool)
    for document in documents if not form.rejections else ():
        if any(mark.rejected for marks in document.marks.values() for mark in marks or ()):
            raise document.error("rejected spans", f"none: {tool} has no place for them, prodigy and spacy do")
    with (written_bytes if form.binary else written)(fspath(path)) as stream:
        form.write(documents, stream)
    return len(documents)
