"""The sentence: its tokens, and the labels that each annotation layer still allows at each of them.

A position of a layer is either `None` (nothing is known) or a non-empty tuple of candidates in the order of the file.
There is no accessor for "the gold label": a position that has one is a tuple of length one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.given import is_layer, labels_of, tokens_of

if TYPE_CHECKING:
    from tagweave.corpus.spans import Span, SpanCandidates

Candidates = tuple[str, ...] | None
"""The labels that a position still allows; `None` allows every label."""


class Arc(NamedTuple):
    """One candidate attachment: the head's position (1 is the first token, 0 the root) and the relation.

    Either is `None` where it is unknown.
    """

    head: int | None
    relation: str | None


ArcCandidates = tuple[Arc, ...] | None
"""The attachments that a token still allows; `None` allows every one."""

Layer = tuple[Candidates, ...]
HeadLayer = tuple[ArcCandidates, ...]
Value = TypeVar("Value")


class Location(NamedTuple):
    """Where a sentence was read: the file, and the line of its first token (1 is the first line; 0 is unknown)."""

    path: str = ""
    line: int = 0


_TEXT = frozenset({str})


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens with annotation layers.

    Attributes:
        forms: the T tokens: words, or single characters where the corpus is a corpus of characters.
        layers: per guideline, T positions, each `None` or a non-empty tuple of candidate labels without repeats.
            Text is one label.
        columns: per name, T strings (lemma, features of other tools, the output of another model).
        heads: per guideline, T positions, each `None` or a non-empty tuple of candidate `Arc`s.
        comments: comment lines as they stood in the file, without the line break.
        extra_rows: rows that are not tokens (CoNLL-U multiword tokens and empty nodes), as pairs of the number of
            tokens before the row, and the row.
        covered: the labels that the annotators of the sentence looked for; `None`: those of its corpus.
        confidence: T numbers in 0..1, the confidence in the evidence of a position; `None` means 1 everywhere.
        rejected: per guideline, spans that are known not to be there, with exactly these tokens and this type.
        weight: how often the sentence counts in training.
        location: file and line, for messages.

    Raises:
        CorpusError: a layer or column whose length is not T, an empty candidate set, a repeated candidate, or a
            rejected span without tokens, without a type, or beyond the sentence.
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
        for what in ("layers", "columns", "heads"):
            if not isinstance(getattr(self, what), Mapping):
                raise TypeError(f"found {getattr(self, what)!r} as {what}, expected a dict from names to values")
        if not all(map(is_layer, self.layers.values())):
            object.__setattr__(self, "layers", {name: labels_of(layer) for name, layer in self.layers.items()})
        for name, layer in self.layers.items():
            self._check(f"layer {name!r}", layer, str)
        for name, heads in self.heads.items():
            if not is_layer(heads):
                raise TypeError(
                    f"found {heads!r} as head layer {name!r}, expected None or (Arc(head, relation),) a token"
                )
            self._check(f"head layer {name!r}", heads, Arc)
        for name, column in self.columns.items():
            if type(column) is not tuple or not _TEXT.issuperset(map(type, column)):
                raise TypeError(f"found {column!r} as column {name!r}, expected a tuple of text")
            self._check_length(f"column {name!r}", len(column))
        if self.confidence is not None:
            self._check_length("confidence", len(self.confidence))
        for start, stop, label in (span for spans in self.rejected.values() for span in spans):
            if stop is None or not label or not 0 <= start < stop <= len(self.forms):
                expected = f"tokens from 0 to {len(self.forms)}, and a type"
                raise self._error(f"the rejected span {start}:{stop} {label}", expected)

    def __len__(self) -> int:
        return len(self.forms)

    def _check(self, what: str, layer: tuple[tuple[Any, ...] | None, ...], kind: type) -> None:
        self._check_length(what, len(layer))
        for candidates in set(layer):
            if candidates is None or (len(candidates) == 1 and type(candidates[0]) is kind):
                continue  # nearly always, so these come first
            if candidates == ():
                raise self._error(f"an empty candidate set in {what}", "at least one candidate, or None for unknown")
            if not isinstance(candidates, tuple) or not all(isinstance(each, kind) for each in candidates):
                raise TypeError(f"found {candidates!r} in {what}, expected None or a tuple of {kind.__name__}")
            if len(set(candidates)) != len(candidates):
                raise self._error(f"a repeated candidate in {what}: {candidates}", "each candidate once")

    def _check_length(self, what: str, length: int) -> None:
        if length != len(self.forms):
            raise self._error(f"{length} positions in {what}", f"{len(self.forms)}, one a token")

    def _error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, *self.location)

    def with_layer(self, name: str, layer: Iterable[Candidates]) -> Sentence:
        """The same sentence with one layer added or replaced."""
        return replace(self, layers={**self.layers, name: tuple(layer)})

    def with_valid_layers(self, layers: Mapping[str, Layer]) -> Sentence:
        """The same sentence with these layers only. They are not checked, which takes as long as finding them."""
        new = object.__new__(Sentence)
        _set_layers(new, layers)
        for set_value, value in zip(_SETTERS, _others(self), strict=True):
            set_value(new, value)
        return new

    def spans(self, layer: str) -> tuple[SpanCandidates, ...]:
        """The spans of a layer of labels in IOB2. Raises as `tagweave.corpus.spans.spans_of`, or KeyError."""
        from tagweave.corpus.spans import spans_of

        return spans_of(self.layers[layer], self.location)

    def with_spans(self, layer: str, groups: Iterable[SpanCandidates], elsewhere: Candidates = ("O",)) -> Sentence:
        """The sentence with a layer of labels in IOB2 that spans allow. Raises as `tagweave.corpus.spans.labels_of`."""
        from tagweave.corpus.spans import labels_of

        return self.with_layer(layer, labels_of(groups, len(self), elsewhere, self.location))

    def renamed(self, names: Mapping[str, str]) -> Sentence:
        """Return the sentence with other names of layers and head layers, and of those that have rejected spans."""

        def called(given: Mapping[str, Value]) -> dict[str, Value]:
            return {names.get(name, name): each for name, each in given.items()}

        return replace(self, layers=called(self.layers), heads=called(self.heads), rejected=called(self.rejected))

    def rejecting(self, layer: str, spans: Iterable[Span]) -> Sentence:
        """Return the sentence with spans that a layer does not have; without any, as before."""
        more = tuple(spans)
        if not more:
            return self
        return replace(self, rejected={**self.rejected, layer: (*self.rejected.get(layer, ()), *more)})

    def with_layers_of(self, names: Collection[str]) -> Sentence:
        """The same sentence with only these layers of labels, and their rejected spans."""
        layers, rejected = self.layers.items(), self.rejected.items()
        return replace(
            self,
            layers={name: layer for name, layer in layers if name in names},
            rejected={name: spans for name, spans in rejected if name in names},
        )

    def with_heads(self, name: str, heads: Iterable[ArcCandidates]) -> Sentence:
        """The same sentence with one head layer added or replaced."""
        return replace(self, heads={**self.heads, name: tuple(heads)})

    def _repr_html_(self) -> str:
        """The sentence in a notebook."""
        from tagweave.display.markup import picture
        from tagweave.display.sentence import sentence_picture

        return picture(sentence_picture(self))

    def with_column(self, name: str, column: Iterable[str]) -> Sentence:
        """The same sentence with one column added or replaced."""
        return replace(self, columns={**self.columns, name: tuple(column)})


_OTHERS = [field.name for field in fields(Sentence) if field.name != "layers"]
_others = attrgetter(*_OTHERS)
_set_layers, *_SETTERS = (vars(Sentence)[name].__set__ for name in ("layers", *_OTHERS))


def narrow(layer: Layer, choose: Callable[[tuple[str, ...]], Candidates]) -> Layer:
    """The layer with `choose` applied to every known position; unknown positions stay unknown."""
    return tuple(None if candidates is None else choose(candidates) for candidates in layer)
