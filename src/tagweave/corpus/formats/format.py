"""The description of a format: how its files are read, written and recognised, and what they can hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import repeat
from typing import IO, NamedTuple, Protocol

from tagweave.corpus.candidates import format_candidates, parse_candidates
from tagweave.corpus.characters import BLANKS, split_blanks
from tagweave.corpus.corpus import Unit
from tagweave.corpus.sentence import Candidates, Layer, Location, Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError


class Reader(Protocol):
    """A function from lines without line breaks to sentences; `path` is for messages."""

    def __call__(self, lines: Iterable[str], path: str = "") -> Iterator[Sentence]: ...


class Sign(IntEnum):
    """Signs of a format, from weak to strong."""

    TEXT = 0  # any text can be read this way
    WORDS = 1  # words between blanks, or text for a model of words
    ROWS = 2  # rows of equally many words, with blank lines between them
    LABELS = 3  # apparent labels after words
    MARKS = 4  # marks between characters
    FIELDS = 5  # fields between tabs
    LAYOUT = 6  # rows that no other format has


class Look(NamedTuple):
    """What a format recognises in the first lines of a file."""

    sign: Sign
    is_format: bool = True  # whether the file is of this format, unless another format sees a stronger sign
    note: str = ""  # for the user; if the file is not of this format, only shown if it is read without labels
    read: Reader | None = None  # if not the usual one of the format


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How files of a format are read, written and recognised, and what they can hold.

    A writer refuses what its format cannot hold. If a format holds something new, such as spans, that becomes a field
    here, which the other formats lack by default; code that writes it asks for the field.
    """

    name: str  # for the option `--format`
    read: Reader
    # writes sentences to a stream, given the name of the layer that is the corpus's own annotation
    write: Callable[[Iterable[Sentence], IO[str], str], None]
    look: Callable[[FirstLines], Look | None]  # recognises a file; `None` if there is no sign of the format
    extensions: tuple[str, ...] = ()  # of file names, with the dot
    unit: Unit = "word"  # what a token of the file is
    layers: tuple[str, ...] = ("tag",)  # of labels in a file that does not name them, the usual one first
    names_layers: bool = False  # whether a file may name any number of layers, of which the last is the usual one
    partial: bool = True  # whether labels may be unknown, and positions may have several candidates
    # adds the labels of a guideline, named second, to those of a sentence. They may replace others if a fourth argument
    # names the layer that has to stay. `None`: a file can hold one layer only
    put_beside: Callable[[Sentence, str, Layer, str | None], Sentence] | None = None
    heads: str | None = None  # the layer of heads
    confidence: Confidence | None = None  # where files hold the confidence in labels
    comments: bool = False  # whether sentences can have comments: the guideline, covered labels, rejected spans

    @property
    def labels(self) -> Unit | None:
        """What has labels: words or characters; `None` if nothing has."""
        return self.unit if self.layers else None

    @property
    def layer(self) -> str | None:
        """The usual layer of labels; `None` if that is the last one of a file, or there are no labels."""
        return self.layers[0] if self.layers and not self.names_layers else None

    @property
    def holds_several(self) -> bool:
        return self.put_beside is not None

    def held(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield sentences for `write`. Raises CorpusError for rejected spans if the format has no comments."""
        for sentence in sentences:
            if not self.comments and any(sentence.rejected.values()):
                raise sentence.error("rejected spans", f"none: the {self.name} format has no comments to hold them")
            yield sentence

    def with_labels(self, sentence: Sentence, name: str, layer: Layer, beside: str | None = None) -> Sentence:
        """Add labels of a guideline, or replace the only layer that files hold; the layer `beside` has to stay."""
        if self.put_beside is None:
            return replace(sentence, layers={name: layer})
        return self.put_beside(sentence, name, layer, beside)


@dataclass(frozen=True, slots=True)
class Confidence:
    """Where a format holds the confidence in the label of each token."""

    # from a sentence, the texts of these numbers, `None` for a missing one, and the sentence without them
    take: Callable[[Sentence], tuple[Sequence[str | None], Sentence]]
    put: Callable[[Sentence, Sequence[str]], Sentence]  # replaces these texts

    def read(self, sentence: Sentence) -> Sentence:
        """Take the confidence from a sentence, 1 where there is none. Raises CorpusError unless it is from 0 to 1."""
        texts, rest = self.take(sentence)
        if not any(texts):
            return sentence
        confidence = []
        for text in texts:
            try:
                value = 1.0 if text is None else float(text)
            except ValueError:
                value = -1.0
            if not 0 <= value <= 1:
                raise sentence.error(f"the confidence {text!r}", "a number from 0 to 1")
            confidence.append(value)
        return replace(rest, confidence=tuple(confidence))

    def written(self, sentence: Sentence, confidence: Sequence[float]) -> Sentence:
        """Put a number for each token where the format holds it."""
        return self.put(sentence, [f"{number:.6f}" for number in confidence])


FEW = 0.1
"""The share of words above which a pattern in them is not a coincidence."""
_UNKNOWN = ("_", "?", "-X-", "")  # fields that mean an unknown label in one format or another


@dataclass(frozen=True)
class ModelLabels:
    """The labels of the model that text is for, which distinguish words with labels from words with a slash."""

    known: Callable[[str], bool]  # whether a candidate is one of the labels
    share: float = FEW  # of words with a label above which the text counts as labelled

    def among(self, field: str) -> bool:
        try:
            return bool(field) and all(map(self.known, parse_candidates(field)))
        except CorpusError:
            return False

    def fill(self, fields: Iterable[str]) -> bool:
        """Return whether at least half of the fields are these labels, or mean that the label is unknown."""
        fits = [field in _UNKNOWN or self.among(field) for field in fields]
        return 2 * sum(fits) >= len(fits)


@dataclass(frozen=True)
class FirstLines:
    """The first lines of a file, without line breaks, by which formats recognise their files."""

    lines: Sequence[str]
    labels: ModelLabels | None = None  # of a model of words that the text is for; `None` if it is not for a model

    @cached_property
    def rows(self) -> list[str]:
        return [line for line in self.lines if line.strip(BLANKS)]

    @cached_property
    def tabbed(self) -> list[list[str]]:
        return [row.split("\t") for row in self.rows if "\t" in row]

    @cached_property
    def fields(self) -> list[list[str]]:
        return [row.split("\t") if "\t" in row else split_blanks(row) for row in self.rows]

    @cached_property
    def tokens(self) -> list[str]:
        return [token for row in self.rows for token in split_blanks(row)]


_REJECTED = re.compile(r"# ?rejected =")
_IN_COMMENT = re.compile(r"(\S+) ([1-9]\d{0,8})-([1-9]\d{0,8}) (.+)")
_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")


def layer_to_write(sentence: Sentence, name: str) -> Layer:
    """Return the layer `name`; a sentence without any layers is unknown at every position."""
    if name in sentence.layers:
        return sentence.layers[name]
    if sentence.layers:
        raise sentence.error(f"the layers {', '.join(sentence.layers)}", f"a layer {name!r} to write")
    return (None,) * len(sentence)


def fields_to_write(sentence: Sentence, name: str, unknown: Sequence[str]) -> Sequence[str]:
    """Return the fields of a layer or column, `unknown[0]` where a label is unknown; refuse labels like `unknown`."""
    if name in sentence.columns and name not in sentence.layers:
        return sentence.columns[name]
    layer = sentence.layers.get(name, (None,) * len(sentence))
    try:
        return list(map(_field, layer, repeat(tuple(unknown))))
    except LookupError as error:
        raise sentence.error(f"the label {error.args[0]!r}", "labels that do not mean unknown in this column") from None


@lru_cache(1 << 14)
def _field(candidates: Candidates, unknown: tuple[str, ...]) -> str:
    """Return the field of a position. Raises LookupError for a label that would be read as unknown."""
    if candidates is None:
        return unknown[0]
    field = format_candidates(candidates)
    if field in unknown:
        raise LookupError(field)
    return field


def layer_of_fields(
    fields: Sequence[str], parse: Callable[[str], Candidates], path: str, lines: Iterable[int]
) -> Layer:
    """Return the layer that fields of these lines hold. Raises CorpusError, with the line, for one that is no label."""
    try:
        return tuple(map(parse, fields))
    except CorpusError:
        for field, line in zip(fields, lines, strict=False):
            try:
                parse(field)
            except CorpusError as error:
                raise error.at(path, line) from None
        raise


def blocks(lines: Iterable[str]) -> Iterator[tuple[list[str], int]]:
    """Yield the lines between blank lines, and the line of the file with which they begin."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        if line:
            block.append(line)
        elif block:
            yield block, number - len(block)
            block = []
    if block:
        yield block, number - len(block) + 1


def refuse_labels(sentence: Sentence, format_name: str) -> None:
    """Raise CorpusError unless all layers of the sentence are unknown: the format cannot hold labels."""
    for name, layer in sentence.layers.items():
        if any(candidates is not None for candidates in layer):
            raise sentence.error(f"labels in layer {name!r}", f"no labels: the {format_name} format holds forms only")


def checked(line: str, sentence: Sentence) -> str:
    """Return a line. Raises CorpusError if it contains a line break, a NUL or half of a surrogate pair."""
    if bad := _UNWRITABLE.search(line):
        raise sentence.error(f"the character {bad.group()!r} in a token", "text without line breaks")
    return line


def refuse_blanks(texts: Iterable[str], what: str, blanks: str, sentence: Sentence) -> None:
    """Raise CorpusError for a text that is empty or has one of the `blanks`, which separate texts in the format."""
    for text in texts:
        if not text or any(blank in text for blank in blanks):
            raise sentence.error(f"the {what} {text!r}", f"a {what} that is neither empty nor has blanks")


def take_rejected(comments: Sequence[str], location: Location) -> tuple[tuple[str, ...], dict[str, tuple[Span, ...]]]:
    """Split comments from those on rejected spans, and return these spans by layer.

    Such a comment has the layer, the first token and the last one, from 1, and the type: `# rejected = tag 1-2 PER`.
    """
    rest, rejected = [], dict[str, tuple[Span, ...]]()
    for comment in comments:
        if not _REJECTED.match(comment):
            rest.append(comment)
        elif parts := _IN_COMMENT.fullmatch(comment.partition("=")[2].strip()):
            layer, first, last, label = parts.groups()
            rejected[layer] = (*rejected.get(layer, ()), Span(int(first) - 1, int(last), label))
        else:
            raise CorpusError(f"the comment {comment!r}", "`# rejected = LAYER FIRST-LAST TYPE`", *location)
    return tuple(rest), rejected


def rejected_comments(sentence: Sentence, names: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield comments on the rejected spans of a sentence; `names` maps its layers to the names in the file."""
    for layer, spans in sentence.rejected.items():
        name = layer if names is None else names.get(layer, "")
        if spans and len(name.split()) != 1:
            expected = f"those of {' or '.join(names)}" if names else "the name of a layer without blanks"
            raise sentence.error(f"rejected spans of the layer {layer!r}", expected)
        yield from (f"# rejected = {name} {start + 1}-{stop} {label}" for start, stop, label in spans)
