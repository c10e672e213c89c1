"""Rows of scores by word form: everything that a form adds to the tokens around it, summed when it is first met.

Known forms have numbers, and the codes of their columns are computed once, not once per text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, islice
from itertools import count as count_from
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.evidence.sequences import Evidence
from tagweave.features.columns import FormColumns
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder, final_forms, hashed_grams, joined_codes, term_numbers
from tagweave.features.templates import Reach
from tagweave.kernels import weight_vectors
from tagweave.kernels.hashing import OUTSIDE
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, LinearScoring, ViewEmission

Codes = NDArray[np.uint64]
Floats = NDArray[Any]
_BYTES = 1 << 25  # of all rows, at most; memory is taken as forms are met
_FEWEST = 1 << 13  # forms for which rows are worth while: those of a thousand sentences
_BEFORE = 2000  # tokens are scored in the general way first: rows take a moment to begin with
_AFTER = 1000  # the first position after a sentence, in the codes of positions outside it


class Numbered(NamedTuple):
    """Sentences whose forms have numbers."""

    sentence_ptr: NDArray[np.int64]  # [S + 1], the first token of every sentence
    ids: NDArray[np.int32]  # [N], the number of the form of every token
    new: FormColumns | None  # the columns of the forms that were new; `None` if none was
    first: int  # the number of the first of these


class KnownForms:
    """The forms of the texts so far, at most `most`, by numbers from `first` on; templates look at forms only.

    `alone` are the families that look at the form at their anchor alone, `joint` those that look at several.
    """

    def __init__(self, encoder: TemplateEncoder, most: int, first: int) -> None:
        families = encoder.templates.families
        self.alone = tuple(family for family in families if family.looks_at_one_form)
        self.joint = Reach.of([family for family in families if not family.looks_at_one_form])
        self._encoder, self._most, self._first = encoder, most, first
        self._names = sorted({term.column for family in self.joint.families for term in family.terms})
        starts = np.arange(len(self._names) + 1, dtype=np.int64) * most
        self._terms = starts, term_numbers(self.joint.families, self._names, lambda column: int(column == "final"))
        self._numbers: defaultdict[str, int] = defaultdict(count_from(self._first).__next__)
        self._codes = np.empty((len(self._names), self._most), np.uint64)

    def numbered(self, sentences: Sequence[Sentence]) -> Numbered | None:
        """Return the forms of sentences as numbers; `None`, for good, if they are too many beside the known ones."""
        texts = [sentence.forms for sentence in sentences]  # then neither loop below runs Python code for a step
        ptr = np.concatenate([[0], np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))])
        known = len(self._numbers)
        ids = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(texts)), np.int32, int(ptr[-1]))
        count = len(self._numbers) - known
        first = known + self._first
        if first + count > self._most:
            return None
        if not count:
            return Numbered(ptr, ids, None, first)
        new = FormColumns(list(islice(reversed(self._numbers), count))[::-1], self._encoder.lookups.clusters)
        for row, name in zip(self._codes, self._names, strict=True):
            row[first : first + count] = new.scalar(name)
        return Numbered(ptr, ids, new, first)

    def grams(self, text: Numbered) -> NDArray[np.int32]:
        """Return int32[M, K]: the grams of the families `joint`, as in `Encoded`."""
        ids = np.stack([text.ids, final_forms(text.ids, text.sentence_ptr)])
        table = self._codes.reshape(-1)
        return hashed_grams(ids, text.sentence_ptr, table, *self._terms, self.joint, self._encoder.index)


class _Part(NamedTuple):
    """Features of forms, features[ptr[i]] .. features[ptr[i + 1] - 1] of form i; they score tokens -high .. -low from
    it."""

    low: int
    high: int
    ptr: NDArray[np.int64]
    features: NDArray[np.int32]


class RowEmission(ViewEmission):
    """The emission scores of a view, from the rows of forms and the grams of several forms.

    A form adds to the tokens from its own minus `high` to its own minus `low`; there are `most` rows.
    """

    def __init__(self, general: ViewEmission, low: int, high: int, most: int) -> None:
        super().__init__(general.view, general.layout, general.weights)
        self._low, self._high = low, high
        self._rows = np.empty((most, (high - low + 1) * self._tags), self.weights.dtype)

    def set_rows(self, first: int, count: int, parts: Sequence[_Part]) -> None:
        """Set rows from `first` on to the sums of the weights of the features of so many forms."""
        rows, layout = self._rows[first : first + count], self.layout
        rows[:] = 0
        for low, high, ptr, features in parts:
            begin, width = (self._high - high) * self._tags, (high - low + 1) * self._tags
            weight_vectors.add_to_rows(self.weights, layout.ptr, layout.cell, ptr, features, begin, width, rows)

    def with_table(self, encoded: Encoded) -> RowEmission:
        return self  # rows serve as one

    def write_scores(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        window = self._low, self._high
        weight_vectors.row_scores(self._rows, encoded.word_types, encoded.sentence_ptr, first, last, *window, scores)
        self.add_grams(encoded, first, last, scores)


class WordRows:
    """The rows of the word forms that a model has met, at most 32 MB of them; then it starts over.

    Features that look at one form, of the token itself or of one beside it, are looked up when the form is met for the
    first time, and their weights added up. All others are looked up at each token, as ever. Scores are
    sums in another order than the model's, so they may differ by rounding. Threads may share it.
    """

    def __init__(self, encoder: TemplateEncoder, parameters: ChainParameters, weights: Floats) -> None:
        self._encoder, self._parameters, self._weights = encoder, parameters, weights
        alone = [family for family in encoder.templates.families if family.looks_at_one_form]
        # the smallest and the largest offset of a form from a token that it adds to
        self._low, self._high = min([0, *(each.low for each in alone)]), max([0, *(each.high for each in alone)])
        tags = sum(len(view.names) for view, _ in parameters.weighted)
        self._most = int(_BYTES // (weights.itemsize * (self._high - self._low + 1) * tags))
        self._met, self._lock = 0, Lock()
        self._views: list[RowEmission] = []

    @classmethod
    def of(cls, model: ChainModel) -> WordRows | None:
        """Return the rows of a model; `None` if its features do not depend on forms, or it has too many labels."""
        encoder, parameters = model.encoder, model.parameters
        if type(encoder) is not TemplateEncoder or not isinstance(parameters, ChainParameters):
            return None
        rows = cls(encoder, parameters, model.weights)
        return rows if encoder.index.frozen and encoder.templates.of_forms and rows._most >= _FEWEST else None

    def encoded(self, sentences: Sequence[Sentence]) -> tuple[Encoded, LinearScoring] | None:
        """Return what rows lack of sentences, and their scores; None if forms are too many or texts so far few."""
        tokens = sum(map(len, sentences))
        with self._lock:
            self._met += tokens
            if self._met < _BEFORE:
                return None
            text = self._forms.numbered(sentences) if self._views else None
            if text is None:
                self._start()
                text = self._forms.numbered(sentences)
            if text is None:
                return None
            if text.new is not None:
                ptr, codes = self._encoder.inside(text.new)
                inside = _Part(0, 0, ptr, self._encoder.index.ids(codes))
                self._set_rows(text.first, len(text.new.length), [inside, *self._parts(text.new.scalar)])
            grams, views = self._forms.grams(text), self._views
        joint, weights = self._forms.joint, np.array([sentence.weight for sentence in sentences], np.float64)
        encoded = Encoded(
            evidence=Evidence.unknown(text.sentence_ptr, weights),
            word_types=text.ids,
            type_ptr=np.zeros(1, np.int64),
            type_features=np.zeros(0, np.int32),
            type_values=np.zeros(0),
            grams=grams,
            lead=joint.lead,
            low=joint.low,
            high=joint.high,
        )
        return encoded, LinearScoring(self._parameters, self._scoring.transitions, views)

    def _start(self) -> None:
        """Begin with the rows of positions outside sentences. Who has the old ones keeps them."""
        self._forms = KnownForms(self._encoder, self._most, first=self._high - self._low)
        self._scoring = self._parameters.scoring(self._weights)
        views, outside = self._scoring.views, [*range(1, 1 - self._low), *range(_AFTER, _AFTER + self._high)]
        self._views = [RowEmission(view, self._low, self._high, self._most) for view in views]
        codes = np.array(outside, np.uint64) + OUTSIDE
        self._set_rows(0, len(outside), self._parts(lambda _column: codes))

    def _set_rows(self, first: int, count: int, parts: Sequence[_Part]) -> None:
        for view in self._views:
            view.set_rows(first, count, parts)

    def _parts(self, codes: Callable[[str], Codes]) -> list[_Part]:
        """Return the features of the families that look at one form, given the codes of a column."""
        parts = []
        for family in self._forms.alone:
            values = [codes(term.column) for term in family.terms]
            features = self._encoder.index.ids(joined_codes(np.uint64(family.seed), values, family.window))
            parts.append(_Part(family.low, family.high, np.arange(len(features) + 1), features))
        return parts
