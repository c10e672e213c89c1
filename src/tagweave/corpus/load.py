"""Loading the corpus that an argument `[GUIDELINE=]PATH[#LAYER]` names, and saving a corpus to a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import STANDARD_STREAM, is_awaited, read_lines, written
from tagweave.corpus.formats import chosen_format, foreign, formats, recognise
from tagweave.corpus.formats.conllu import UPOS, XPOS
from tagweave.corpus.formats.format import Format, ModelLabels
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

COVERED = "labels_covered"
"""The only comment that may differ between the documents of a file."""
_EVERYTHING = "*"
_FIRST_LINES = 50
_PATIENCE = 0.2  # seconds to wait for more of them in a pipe


@dataclass
class _Outline:
    """What sentences say about their file, gathered in one pass that keeps none of them."""

    path: str  # for messages
    comments: dict[str, str | None]  # the values of comments `# key = value` that must agree; `None` until one occurs
    sentences: int = 0
    first: tuple[str, ...] = ()  # the layers of labels of the first sentence
    names: dict[str, None] = field(default_factory=dict)  # of all layers, of labels and of heads
    known: set[str] = field(default_factory=set)  # the layers that annotate at least one position
    has_documents: bool = False  # whether comments on covered labels differ

    def over(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Pass sentences on, and take them into account. Raises CorpusError for comments that differ."""
        for sentence in sentences:
            if not self.sentences:
                self.first = tuple(sentence.layers)
            self.sentences += 1
            for name, layer in (*sentence.layers.items(), *sentence.heads.items()):
                self.names[name] = None
                if name not in self.known and any(candidates is not None for candidates in layer):
                    self.known.add(name)
            self.take_comments(sentence)
            yield sentence

    def take_comments(self, sentence: Sentence) -> None:
        for comment in sentence.comments:
            key, value = key_and_value(comment)
            if key in self.comments:
                if (agreed := self.comments[key]) not in (None, value):
                    if key != COVERED:
                        line = sentence.location.line
                        raise CorpusError(f"{key} = {value}", f"{key} = {agreed} as before", self.path, line)
                    self.has_documents = True
                self.comments[key] = value


def comment_value(sentences: Iterable[Sentence], key: str, path: str) -> str | None:
    """Return the value of the comments `# key = value`, or `None`. Raises CorpusError if they differ."""
    outline = _Outline(path, {key: None})
    for sentence in sentences:
        outline.take_comments(sentence)
    if outline.has_documents:
        raise CorpusError(f"several comments {key}", "one for the whole file", path)
    return outline.comments[key]


def key_and_value(comment: str) -> tuple[str, str]:
    """Return the two sides of a comment `# key = value`."""
    key, _, value = comment.lstrip("# ").partition("=")
    return key.strip(), value.strip()


def names_guideline(comment: str) -> bool:
    """Return whether a comment line is `# guideline = NAME`."""
    return key_and_value(comment)[0] == "guideline"


class Argument(NamedTuple):
    """The parts of a corpus argument; `None` for a missing part."""

    path: str
    guideline: str | None = None
    layer: str | None = None


class CorpusStream(NamedTuple):
    """A file being read: its format, its sentences one by one, and a note on assumptions about it."""

    format: Format
    sentences: Iterator[Sentence]
    note: str = ""


def parse_argument(argument: str) -> Argument:
    """Split `[GUIDELINE=]PATH[#LAYER]`; PATH may be `-`, standard input.

    If the path itself contains `=` or `#`, the reading with the longest existing path is taken. If none exists, the
    guideline ends at the first `=`, and the layer begins at the last `#`.
    """
    starts = [0] + [at + 1 for at, character in enumerate(argument) if character == "=" and at]
    ends = [len(argument)] + [at for at in range(len(argument) - 1, 0, -1) if argument[at] == "#"]
    readings = sorted(((start, end) for start in starts for end in ends if start < end), key=lambda s: s[0] - s[1])
    for start, end in readings:
        path = argument[start:end]
        if path == STANDARD_STREAM or Path(path).exists():
            break
    else:
        start, end = starts[min(1, len(starts) - 1)], ends[min(1, len(ends) - 1)]
        start = start if start < end else 0
    return Argument(argument[start:end], argument[: start - 1] if start else None, argument[end + 1 :] or None)


def check_there(*arguments: str) -> None:
    """Raise OSError if a file is missing, before anything slow is imported."""
    for argument in arguments:
        path = parse_argument(argument).path
        if path != STANDARD_STREAM:
            Path(path).stat()


def load(
    argument: str,
    format: str | None = None,  # noqa: A002
    unnamed: str | None = None,
    trained: Sequence[str] = (),
) -> Corpus:
    """Load the corpus that `[GUIDELINE=]PATH[#LAYER]` names; `-` is standard input, and gzip files are decompressed.

    Without `format`, the extension or the first lines determine the format. Empty sentences are left out.

    LAYER becomes the corpus's own layer, under the name GUIDELINE; other layers keep their names. By default it is the
    format's usual layer: `tag`; in CoNLL-U `upos`, or `xpos` if only that is annotated; in KyTea's format
    `segmentation`; in column files with a header the last one.

    Without GUIDELINE, a comment `# guideline = NAME` names the layer, or else it keeps its name. But a layer whose name
    comes only from the format (`tag`, `upos`, `xpos`, `segmentation`) is then called `unnamed`, so that files of
    different formats can share a guideline; and if such a file has a known layer `unnamed`, that is the layer, or else
    one of the layers `trained`, from which a model has learned that guideline.

    A comment `# labels_covered = A B C` lists the labels that the annotators looked for, for the sentences up to the
    next such comment; `*` means all labels. A column `confidence`, or `Confidence` in MISC, gives the confidence in the
    labels of a token.

    Raises:
        CorpusError: a file that does not follow its format, with path and line; an unknown layer or format; different
            guidelines in one file.
        OSError: the file cannot be read.
    """
    form, sentences, _ = stream(argument, format)
    nonempty = (sentence for sentence in sentences if sentence.forms)
    confident = map(form.confidence.read, nonempty) if form.confidence else nonempty
    return assembled(parse_argument(argument), form, confident, unnamed, trained)


def assembled(
    argument: Argument,
    form: Format,
    sentences: Iterable[Sentence],
    unnamed: str | None = None,
    trained: Sequence[str] = (),
) -> Corpus:
    """Return the corpus of the sentences that were read from a file, as `load`."""
    path, guideline, _ = argument
    outline = _Outline(path, {COVERED: None} if guideline is not None else {"guideline": None, COVERED: None})
    kept: Iterable[Sentence] = tuple(outline.over(sentences))
    guideline, layer = _guideline_and_layer(argument, form, outline, unnamed, trained)
    covered = _covered(outline.comments[COVERED])
    if outline.has_documents:
        covered, kept = None, with_covered(kept)
    if layer in outline.names:
        kept = _with_own_layer(kept, layer, guideline)
    return Corpus(tuple(kept), guideline, form.unit, covered, path, layer=layer)


def with_covered(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Give sentences the labels of the last comment `# labels_covered`; before the first, all labels."""
    covered: tuple[str, ...] | None = None
    for sentence in sentences:
        for comment in sentence.comments:
            key, value = key_and_value(comment)
            covered = _covered(value) if key == COVERED else covered
        yield sentence if covered is None else replace(sentence, covered=covered)


def _with_own_layer(sentences: Iterable[Sentence], layer: str, guideline: str) -> Iterator[Sentence]:
    """Yield sentences with the corpus's own layer, known or not, under its guideline's name and as no column."""
    for sentence in sentences:
        named = sentence
        if layer in named.columns:  # no template may read the answer
            columns = {name: column for name, column in named.columns.items() if name != layer}
            named = replace(named, columns=columns)
        if layer not in named.layers and layer not in named.heads:
            named = named.with_layer(layer, (None,) * len(named))
        yield named if layer == guideline else named.renamed({layer: guideline})


def _guideline_and_layer(
    argument: Argument, form: Format, outline: _Outline, unnamed: str | None, trained: Sequence[str]
) -> tuple[str, str]:
    """Return the guideline of a file, and its layer in the file, by the rules of `load`."""
    path, guideline, layer = argument
    names, first = outline.names, outline.first
    if layer is not None and layer not in names:
        raise CorpusError(f"the layers {', '.join(names)}" if names else "no layers", f"a layer {layer!r}", path)
    if guideline is None:
        named = outline.comments["guideline"]
        is_of_another = layer is not None and layer != named and named in names
        guideline = None if is_of_another else named
    if layer is None and guideline in names:
        layer = guideline
    if layer is None:
        there = [*(outline.known & {unnamed}), *(name for name in trained if name in names)]
        if there and guideline in (None, unnamed):
            layer = there[0]
        elif {UPOS, XPOS} <= {*first} and UPOS in form.layers:
            layer = XPOS if UPOS not in outline.known and XPOS in outline.known else UPOS
        else:
            layer = form.layer or (first[-1] if first else "tag")
    if guideline is None:
        is_unnamed = unnamed not in names and layer in ("tag", *trained, *form.layers, form.heads)
        guideline = unnamed if unnamed and is_unnamed else layer
    if guideline != layer and guideline in names:
        raise CorpusError(f"a layer {guideline!r} beside {layer!r}", "another name for the guideline", path)
    return guideline, layer


def _covered(value: str | None) -> tuple[str, ...] | None:
    return None if value in (None, _EVERYTHING) else tuple((value or "").split())


def iterate(argument: str, format: str | None = None) -> Iterator[Sentence]:  # noqa: A002
    """Yield all sentences of a file, also empty ones, with the file's layer names, in constant memory."""
    return stream(argument, format).sentences


def stream(argument: str, format: str | None = None, labels: ModelLabels | None = None) -> CorpusStream:  # noqa: A002
    """Open a file as `iterate`; `labels`, of a model of words that the text is for, help to recognise the format."""
    path = parse_argument(argument).path
    lines = read_lines(path)
    form = chosen_format(format, path)
    if form is not None:
        return CorpusStream(form, form.read(lines, path))
    first: list[str] = []
    for line in islice(lines, _FIRST_LINES):
        first.append(line)
        is_sentence = line.strip() and "\t" not in line and not line.startswith("#")
        if is_sentence and is_awaited(_PATIENCE):  # somebody at a pipe waits for an answer
            break
    if (other := foreign(first)) is not None:
        what, instead = other
        how = "`format=segmented` reads it as text" if labels else f"`format` names one of {', '.join(formats())}"
        raise CorpusError(what, f"{instead}; {how}", path)
    recognised = recognise(first, labels)
    return CorpusStream(recognised.format, recognised.read(chain(first, lines), path), recognised.note)


def save(corpus: Corpus, path: str, format: str | None = None) -> None:  # noqa: A002
    """Write the corpus to a file, completely or not at all; `-` is standard output, `.gz` compresses.

    Formats with one layer get the corpus's own; CoNLL-U and column files get all. The guideline's name and the covered
    labels become comments if the format has any. Weights and confidences are not written.

    Raises:
        CorpusError: the format cannot express the labels (nothing is ever written as something else), or neither
            `format` nor the extension names a format.
        OSError: the file cannot be written.
    """
    form = chosen_format(format, path)
    if form is None:
        raise CorpusError(f"the file name {path!r} without a format", f"a format: {', '.join(formats())}")
    if corpus.covered is not None and not form.comments:
        restriction = f"{COVERED} = {' '.join(corpus.covered)}"
        raise CorpusError(restriction, "no such restriction: the format has no comments", path)
    with written(path) as stream:
        sentences = _commented(corpus, form) if form.comments else form.held(corpus)
        form.write(sentences, stream, corpus.guideline)


def _commented(corpus: Corpus, form: Format) -> Iterator[Sentence]:
    """Yield sentences, with comments for `load` on what the rest of the file does not say."""
    new_comments: dict[str, str | None] = {COVERED: None}
    if corpus.guideline not in (*form.layers, form.heads, comment_value(corpus.sentences, "guideline", corpus.path)):
        # the comment would name the usual layer when the file is loaded again; the guideline stands beside it
        beside = any(form.layer in sentence.layers for sentence in corpus)
        new_comments["guideline"] = None if beside else corpus.guideline
    last: tuple[str, ...] | None = None
    for number, sentence in enumerate(corpus):
        kept = [comment for comment in sentence.comments if key_and_value(comment)[0] not in new_comments]
        new = [] if number else [f"# {key} = {value}" for key, value in new_comments.items() if value is not None]
        covered = corpus.covered_in(sentence)
        if covered != last:
            new.insert(0, f"# {COVERED} = {_EVERYTHING if covered is None else ' '.join(covered)}")
        last = covered
        yield replace(sentence, comments=(*new, *kept)) if new or len(kept) < len(sentence.comments) else sentence


def implied_format(path: str, argument: str, format: str | None = None) -> str | None:  # noqa: A002
    """Return the format to write a file in that was made from another, unless its name tells."""
    return None if chosen_format(None, path) else stream(argument, format).format.name
