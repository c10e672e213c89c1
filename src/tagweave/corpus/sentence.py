"""The sentence: its tokens, and the labels that each annotation layer still allows at each of them.

A position of a layer is either `None` (nothing is known) or a non-empty tuple of candidates in the order of the file.
There is no accessor for "the gold label": a position that has one is a tuple of length one. Tokens and labels that
Python code gives may be lists and data frames, but nothing that could mean two things: a text in place of tokens has
letters, a set has no order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import groupby
from math import isnan
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from tagweave.corpus.characters import is_text
from tagweave.corpus.spans import Span, SpanCandidates, span_labels, spans_of
from tagweave.errors import CorpusError

Candidates = tuple[str, ...] | None
"""The labels that a position still allows; `None` allows every label."""


class Arc(NamedTuple):
    """A candidate attachment: the head's position (0 is the root) and the relation; `None` where one is unknown."""

    head: int | None
    relation: str | None


ArcCandidates = tuple[Arc, ...] | None
"""The attachments that a token still allows; `None` allows every one."""

Layer = tuple[Candidates, ...]
HeadLayer = tuple[ArcCandidates, ...]
Value = TypeVar("Value")

ACCEPTED = "sentences: (tokens, labels) pairs, tw.Sentence, or a data frame with the columns sentence, token and label"
_TEXT = frozenset({str})
_POSITIONS = {tuple, type(None)}
_FRAME_COLUMNS = ("sentence", "token", "label")


class Location(NamedTuple):
    """The file and line of a sentence's first token (1 is the first line; 0 is unknown)."""

    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens with annotation layers.

    Attributes:
        forms: the T tokens: words, or single characters in a corpus of characters.
        layers: per guideline, T positions, each `None` or a non-empty tuple of candidate labels without repeats.
            Text is one label.
        columns: per name, T strings (lemma, features of other tools, the output of another model).
        heads: per guideline, T positions, each `None` or a non-empty tuple of candidate `Arc`s.
        comments: comment lines as they stood in the file, without the line break.
        extra_rows: rows that are not tokens (CoNLL-U multiword tokens and empty nodes), as pairs of the number of
            tokens before the row, and the row.
        covered: the labels that the annotators of the sentence looked for; `None`: as in its corpus.
        confidence: T numbers in 0..1, the confidence in the evidence of a position; `None` means 1 everywhere.
        rejected: per guideline, spans that are known not to be there, with exactly these tokens and this type.
        weight: how often the sentence counts in training.
        location: file and line, for messages.

    Raises:
        CorpusError: a layer or column whose length is not T, an empty candidate set, a repeated candidate, or a
            rejected span without tokens, without a type, or beyond the sentence; a label with half of a surrogate pair.
        TypeError: a text in place of tokens or labels, or one of these that is not text.
    """

    forms: tuple[str, ...]
    layers: Mapping[str, Layer] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    heads: Mapping[str, HeadLayer] = field(default_factory=dict)
    comments: tuple[str, ...] = ()
    extra_rows: tuple[tuple[int, str], ...] = ()
    covered: tuple[str, ...] | None = None
    confidence: tuple[float, ...] | None = None
    rejected: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    weight: float = 1.0
    location: Location = Location()

    def __post_init__(self) -> None:
        if type(self.forms) is not tuple or not _TEXT.issuperset(map(type, self.forms)):
            object.__setattr__(self, "forms", tokens_of(self.forms))
        for what, value in (("layers", self.layers), ("columns", self.columns), ("heads", self.heads)):
            if type(value) is not dict and not isinstance(value, Mapping):
                raise TypeError(f"found {value!r} as {what}, expected a dict from names to values")
        if not all(map(_is_layer, self.layers.values())):
            object.__setattr__(self, "layers", {name: labels_of(layer) for name, layer in self.layers.items()})
        for name, layer in self.layers.items():
            if len(layer) != len(self.forms) or not all(map(_is_valid, set(layer))):
                self._check(f"layer {name!r}", layer, str)
        for name, heads in self.heads.items():
            if not _is_layer(heads):
                expected = "None or (Arc(head, relation),) a token"
                raise TypeError(f"found {heads!r} as head layer {name!r}, expected {expected}")
            self._check(f"head layer {name!r}", heads, Arc)
        for name, column in self.columns.items():
            if type(column) is not tuple or not _TEXT.issuperset(map(type, column)):
                raise TypeError(f"found {column!r} as column {name!r}, expected a tuple of text")
            self._check_length(f"column {name!r}", len(column))
        if self.confidence is not None:
            self._check_length("confidence", len(self.confidence))
        for start, stop, label in (span for spans in self.rejected.values() for span in spans):
            if stop is None or not label or not 0 <= start < stop <= len(self.forms):
                raise self.error(f"the rejected span {start}:{stop} {label}", f"tokens 0 to {len(self)}, and a type")

    def __len__(self) -> int:
        return len(self.forms)

    def _check(self, what: str, layer: tuple[tuple[Any, ...] | None, ...], kind: type) -> None:
        self._check_length(what, len(layer))
        for candidates in set(layer):
            if candidates is None:
                continue
            if len(candidates) == 1 and type(candidates[0]) is kind:  # nearly always, so these come first
                self._check_text(what, candidates)
                continue
            if candidates == ():
                raise self.error(f"an empty candidate set in {what}", "at least one candidate, or None for unknown")
            if not isinstance(candidates, tuple) or not all(isinstance(candidate, kind) for candidate in candidates):
                raise TypeError(f"found {candidates!r} in {what}, expected None or a tuple of {kind.__name__}")
            if len(set(candidates)) != len(candidates):
                raise self.error(f"a repeated candidate in {what}: {candidates}", "each candidate once")
            self._check_text(what, candidates)

    def _check_text(self, what: str, candidates: tuple[Any, ...]) -> None:
        """Refuse labels that no model file can hold."""
        for candidate in candidates:
            label = candidate.relation if type(candidate) is Arc else candidate
            if label is not None and not label.isascii() and not is_text(label):
                raise self.error(f"half of a surrogate pair in {what}: {label!r}", "Unicode text")

    def _check_length(self, what: str, length: int) -> None:
        if length != len(self.forms):
            raise self.error(f"{length} positions in {what}", f"{len(self.forms)}, one a token")

    def error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, *self.location)

    def is_annotated(self, layer: str) -> bool:
        """Return whether a layer says anything of the sentence: candidates of a position, or rejected spans."""
        return any(self.layers.get(layer, ())) or bool(self.rejected.get(layer))

    def with_layer(self, name: str, layer: Iterable[Candidates]) -> Sentence:
        return replace(self, layers={**self.layers, name: tuple(layer)})

    def with_heads(self, name: str, heads: Iterable[ArcCandidates]) -> Sentence:
        return replace(self, heads={**self.heads, name: tuple(heads)})

    def with_column(self, name: str, column: Iterable[str]) -> Sentence:
        return replace(self, columns={**self.columns, name: tuple(column)})

    def with_layers_of(self, names: Collection[str]) -> Sentence:
        """Return the sentence with only these layers of labels, and their rejected spans."""
        layers = {name: layer for name, layer in self.layers.items() if name in names}
        rejected = {name: spans for name, spans in self.rejected.items() if name in names}
        return replace(self, layers=layers, rejected=rejected)

    def with_valid_layers(self, layers: Mapping[str, Layer]) -> Sentence:
        """Return the sentence with these layers only, unchecked: checking them takes as long as finding them."""
        new = object.__new__(Sentence)
        _set_layers(new, layers)
        for set_value, value in zip(_SETTERS, _others(self), strict=True):
            set_value(new, value)
        return new

    def spans(self, layer: str) -> tuple[SpanCandidates, ...]:
        """Return the spans of a layer of labels in IOB2. Raises as `tagweave.corpus.spans.spans_of`, or KeyError."""
        return spans_of(self.layers[layer], self.location)

    def with_spans(self, layer: str, groups: Iterable[SpanCandidates], elsewhere: Candidates = ("O",)) -> Sentence:
        """Return the sentence with a layer of spans in IOB2. Raises as `tagweave.corpus.spans.span_labels`."""
        return self.with_layer(layer, span_labels(groups, len(self), elsewhere, self.location))

    def rejecting(self, layer: str, spans: Iterable[Span]) -> Sentence:
        """Return the sentence with more spans that a layer does not have."""
        more = (*self.rejected.get(layer, ()), *spans)
        return replace(self, rejected={**self.rejected, layer: more}) if more else self

    def renamed(self, names: Mapping[str, str]) -> Sentence:
        """Return the sentence with other names of layers, head layers and rejected spans."""

        def called(by_name: Mapping[str, Value]) -> dict[str, Value]:
            return {names.get(name, name): value for name, value in by_name.items()}

        return replace(self, layers=called(self.layers), heads=called(self.heads), rejected=called(self.rejected))

    def _repr_html_(self) -> str:
        from tagweave.corpus.picture import sentence_html  # only notebooks need it

        return sentence_html(self.forms, self.layers, self.heads, self.confidence)


@lru_cache(1 << 16)
def _is_valid(candidates: Candidates) -> bool:
    """Return whether a position of a layer is unknown, or has one label in ASCII, as nearly all have."""
    return candidates is None or (len(candidates) == 1 and type(candidates[0]) is str and candidates[0].isascii())


_OTHERS = [field.name for field in fields(Sentence) if field.name != "layers"]
_others = attrgetter(*_OTHERS)
_set_layers, *_SETTERS = (vars(Sentence)[name].__set__ for name in ("layers", *_OTHERS))


def narrow(layer: Layer, choose: Callable[[tuple[str, ...]], Candidates]) -> Layer:
    """Apply `choose` to every known position; unknown positions stay unknown."""
    return tuple(None if candidates is None else choose(candidates) for candidates in layer)


def tokens_of(value: Any) -> tuple[str, ...]:
    """Return tokens as a tuple of text."""
    tokens = tuple(_in_order(value, "tokens, as in text.split()"))
    for token in tokens:
        if not isinstance(token, str):
            how = " (pandas.read_csv reads NA as nan: keep_default_na=False)" if is_missing(token) else ""
            raise TypeError(f"found {token!r} as a token, expected text{how}")
    tokens = tuple(map(str, tokens))
    if "" in tokens:
        raise CorpusError(f"an empty token among {' '.join(tokens)!r}", "text in every token")
    return tokens


def lines_of(value: Any) -> Iterator[str]:
    """Yield lines of text. Raises TypeError for a single text, and for anything but several."""
    for line in _in_order(value, "lines, as in text.splitlines()"):
        if not isinstance(line, str):
            raise TypeError(f"found {line!r} as a line, expected text")
        yield line


def labels_of(value: Any) -> Layer:
    """Return labels as positions of a layer: text is one label, `None` and nan are unknown, several are candidates."""
    return tuple(map(_candidates, _in_order(value, "labels, one for each token")))


def is_frame(value: Any) -> bool:
    """Return whether something is a data frame: it has named columns, and gives one by its name."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__") and not isinstance(value, type)


def rows_of(frame: Any) -> Iterator[tuple[tuple[str, ...], Layer | None, dict[str, tuple[str, ...]]]]:
    """Yield the tokens of each sentence of a data frame, its labels if there are any, and its other columns."""
    names = [str(name) for name in frame.columns]
    if missing := [name for name in _FRAME_COLUMNS[:2] if name not in names]:
        problem = f"a data frame with the columns {', '.join(names) or 'none'}"
        raise TypeError(f"found {problem}, expected {missing[0]!r}, too: {ACCEPTED}")
    values = {name: list(frame[name]) for name in names}
    seen: set[Any] = set()
    for key, group in groupby(range(len(values["token"])), key=values["sentence"].__getitem__):
        rows = list(group)
        if is_missing(key) or key in seen:
            expected = "a name for each, in rows that follow one another"
            raise CorpusError(f"the sentence {key} in row {rows[0]}", expected)
        seen.add(key)
        of_sentence = {name: [values[name][row] for row in rows] for name in names}
        columns = {name: tuple(map(str, column)) for name, column in of_sentence.items() if name not in _FRAME_COLUMNS}
        try:
            labels = labels_of(of_sentence["label"]) if "label" in of_sentence else None
            yield tokens_of(of_sentence["token"]), labels, columns
        except TypeError as error:
            raise TypeError(f"sentence {key}: {error}") from None


def kind_of(value: Any) -> str:
    """Name a value in a message: `dict`, `None`, `the text 'Jan'`."""
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return "None" if value is None else type(value).__name__


def _is_layer(value: Any) -> bool:
    """Return whether every position is a tuple or `None`: their types are few, so this is quick."""
    if type(value) is not tuple:
        return False
    other_types = set(map(type, value)) - _POSITIONS
    return not other_types or all(issubclass(kind, tuple) for kind in other_types)


def _in_order(value: Any, expected: str) -> Iterable[Any]:
    if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable):
        raise TypeError(f"found {kind_of(value)}, expected a list of {expected}")
    return value


def is_missing(value: Any) -> bool:
    """Return whether a value is `None`, nan or pandas' NA, which is neither equal nor unequal to anything."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and isnan(value))


def _candidates(value: Any) -> Candidates:
    if is_missing(value):
        return None
    several = (str(value),) if isinstance(value, str) else value
    if isinstance(value, Set):
        several = sorted(value, key=str)
    if not isinstance(several, (tuple, list)) or not all(isinstance(candidate, str) for candidate in several):
        raise TypeError(f"found {value!r} as a label, expected text, None for unknown, or a tuple of candidates")
    return several if isinstance(several, tuple) else tuple(several)
