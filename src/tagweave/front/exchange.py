"""Corpora from what annotation tools export, and predictions for these tools to import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from tagweave.corpus.corpus import Corpus
from tagweave.streams.notes import say

if TYPE_CHECKING:
    from tagweave.exchange.document import Document
    from tagweave.exchange.reading import Misalignment, Notes, Task, Unmarked
    from tagweave.exchange.tokens import Tokenizer

_SHOWN = 3  # misaligned spans


def read_documents(
    tool: str,
    *paths: str | PathLike[str],
    tokens: str | Callable[[str], list[str]] = "words",
    misaligned: Misalignment = "error",
    unmarked: Unmarked = "outside",
    task: Task = "spans",
    tell: Callable[[str], None] = say,
) -> Corpus:
    """The corpus of spans in files that an annotation tool exported: a sentence a line, a layer for each annotator.

    A span with a score below 1 becomes candidates with numbers, and a text that an annotator has not seen is unknown in
    their layer. With one annotator the layer is called `tag`. Comments of sentences keep where they stood.

    Args:
        tool: a name of `tagweave.exchange.registry.TOOLS`, such as `doccano` or `brat`.
        paths: the files; documents of the same text are one.
        tokens: `blanks`, `words` (without punctuation), `characters`, `spacy:LANGUAGE`, the file of a segmenter, or a
            function from a line to its words. Tokens that a tool brings are kept.
        misaligned: what becomes of spans that are not whole tokens of one line: `error`, `widen` or `unknown`.
        unmarked: whether tokens in no span are `outside` or `unknown`.
        task: `spans`, or `tags`: the label of a mark for each of its tokens, and other tokens are unknown.
        tell: receives notes on misaligned and overlapping spans, and on what the tool has and a corpus has not.

    Raises:
        ExchangeError: an unknown tool or way to cut.
        CorpusError: a file that is not in the tool's form, or misaligned spans, if these are errors.
        OSError: a file cannot be read.
    """
    from tagweave.exchange.reading import Notes, joined, sentences
    from tagweave.exchange.registry import tool as named

    notes = Notes()
    documents = joined(_counted((each for path in paths for each in named(tool).read(fspath(path))), notes))
    read = tuple(sentences(documents, _tokenizer(tokens), misaligned, unmarked, notes, task))
    _report(notes, misaligned, tell)
    last = list(read[-1].layers)[-1] if read else "tag"
    return Corpus(read, last, path=fspath(paths[0]) if paths else "")


def _counted(documents: Iterable[Document], notes: Notes) -> Iterator[Document]:
    for each in documents:
        notes.left_out.update(each.left_out)
        yield each


def _tokenizer(tokens: str | Callable[[str], list[str]]) -> Tokenizer:
    from tagweave.exchange.tokens import of_words, tokenizer

    if callable(tokens):
        return of_words(tokens)
    if not Path(tokens).is_file():
        return tokenizer(tokens)
    from tagweave.front.loading import load_model

    model = load_model(tokens)
    return of_words(model.segment)  # type: ignore[attr-defined]


def _report(notes: Notes, misaligned: Misalignment, tell: Callable[[str], None]) -> None:
    if notes.misaligned:
        became = {"widen": "widened", "unknown": "taken for unknown"}.get(misaligned, misaligned)
        tell(f"{len(notes.misaligned):,} of {notes.spans:,} spans are not whole tokens of a line and were {became}:")
        for each in notes.misaligned[:_SHOWN]:
            tell(f"  {each}")
    if notes.left_out:
        tell(f"not kept: {', '.join(f'{count:,} {what}' for what, count in sorted(notes.left_out.items()))}")
    if notes.overlapping:
        tell(
            f"{notes.overlapping:,} of {notes.spans:,} spans overlap longer ones of the same annotator and are left out"
        )


def write_documents(
    tool: str, corpus: Corpus, path: str | PathLike[str], layers: Sequence[str] = (), task: Task = "spans"
) -> int:
    """Write the spans of a corpus for an annotation tool to import; returns the number of documents.

    Args:
        tool: a name of `tagweave.exchange.registry.TOOLS`, such as `doccano` or `brat`.
        corpus: with labels of spans, or of tokens; comments of `read_documents` say which sentences are a document.
        path: the file; `-` is standard output.
        layers: whose spans are written; by default those of the corpus's guideline.
        task: `spans`, or `tags`: every token that has one label is marked with it.

    Raises:
        ExchangeError: an unknown tool.
        CorpusError: labels that are no spans, what the tool cannot hold, or a layer that the corpus lacks.
        OSError: the file cannot be written.
    """
    from tagweave.corpus.errors import CorpusError
    from tagweave.corpus.text_file import written, written_bytes
    from tagweave.exchange.registry import tool as named
    from tagweave.exchange.writing import documents

    names = tuple(layers) or (corpus.guideline,)
    there = {name for sentence in corpus for name in sentence.layers}
    if missing := [name for name in names if name not in there]:
        raise CorpusError(f"no layer {missing[0]!r}", f"one of {', '.join(sorted(there))}", corpus.path)
    found, form = list(documents(corpus, names, task)), named(tool)
    with (written_bytes if form.binary else written)(fspath(path)) as stream:
        form.write(found, stream)
    return len(found)
