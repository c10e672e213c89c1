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
from tagweave.evidence.sequences import Evidence, pointers
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


class _Features(NamedTuple):
    """The features of forms, numbers[ptr[i]] .. numbers[ptr[i + 1] - 1] of form i.

    They score the tokens -high .. -low from it.
    """

    low: int
    high: int
    ptr: NDArray[np.int64]
    numbers: NDArray[np.int32]
    values: NDArray[np.float64] = np.zeros(0)  # empty, or a factor for each


class RowEmission(ViewEmission):
    """The emission scores of a view, from the rows of forms and the grams of several forms.

    A form adds to the tokens from its own minus `high` to its own minus `low`; there are `most` rows.
    """

    def __init__(self, general: ViewEmission, low: int, high: int, most: int) -> None:
        super().__init__(general.view, general.layout, general.weights)
        self._low, self._high = low, high
        self._rows = np.empty((most, (high - low + 1) * self._tags), self.weights.dtype)

    def set_rows(self, first: int, count: int, parts: Sequence[_Features]) -> None:
        """Set rows from `first` on to the sums of the weights of the features of so many forms."""
        rows, layout = self._rows[first : first + count], self.layout
        rows[:] = 0
        for low, high, ptr, features, values in parts:
            begin, width = (self._high - high) * self._tags, (high - low + 1) * self._tags
            if len(values):
                scores = np.empty((count, width), rows.dtype)
                every = np.arange(count, dtype=np.int32)
                of_types = ptr, features, values, every
                weight_vectors.type_scores(self.weights, layout.ptr, layout.cell, *of_types, scores)
                rows[:, begin : begin + width] += scores
            else:
                weight_vectors.add_to_rows(self.weights, layout.ptr, layout.cell, ptr, features, begin, width, rows)

    def with_table(self, encoded: Encoded) -> RowEmission:
        return self  # rows serve as one

    def write_scores(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        window = self._low, self._high
        weight_vectors.row_scores(self._rows, encoded.word_types, encoded.sentence_ptr, first, last, *window, scores)
        self.add_grams(encoded, first, last, scores)


class WordRows:
    """The rows of the word forms that models of one encoder have met, at most 32 MB of them; then it starts over.

    Features that look at one form, of the token itself or of one beside it, are looked up when the form is met for the
    first time, and their weights added up. All others are looked up at each token, as ever. Scores are
    sums in another order than the model's, so they may differ by rounding. Threads may share it.
    """

    def __init__(self, encoder: TemplateEncoder, weighted: Sequence[tuple[ChainParameters, Floats]]) -> None:
        self._encoder, self._weighted = encoder, weighted
        families = encoder.templates.families
        self._alone = [family for family in families if family.looks_at_one_form]
        self._joint = Reach.of([family for family in families if not family.looks_at_one_form])
        # the smallest and the largest offset of a form from a token that it adds to
        self._low = min([0, *(family.low for family in self._alone)])
        self._high = max([0, *(family.high for family in self._alone)])
        bytes_of_token = sum(
            weights.itemsize * len(view.names) for parameters, weights in weighted for view, _ in parameters.weighted
        )
        self._most = int(_BYTES // ((self._high - self._low + 1) * bytes_of_token))
        self._columns = sorted({term.column for family in self._joint.families for term in family.terms})
        self._terms = term_numbers(self._joint.families, self._columns, lambda column: int(column == "final"))
        self._starts = np.arange(len(self._columns) + 1, dtype=np.int64) * self._most
        self._met, self._lock = 0, Lock()
        self._views: list[list[RowEmission]] = []  # of each model

    @classmethod
    def of(cls, *models: ChainModel) -> WordRows | None:
        """Return the rows of models with one encoder; `None` if its features do not depend on forms, or labels are too
        many."""
        encoder, parameters = models[0].encoder, [model.parameters for model in models]
        linear = [one for one in parameters if isinstance(one, ChainParameters)]
        if type(encoder) is not TemplateEncoder or len(linear) < len(models):
            return None
        rows = cls(encoder, list(zip(linear, (model.weights for model in models), strict=True)))
        return rows if encoder.index.frozen and encoder.templates.of_forms and rows._most >= _FEWEST else None

    def encoded(self, sentences: Sequence[Sentence]) -> tuple[Encoded, list[LinearScoring]] | None:
        """Return what rows lack of sentences, and each model's scores; None if forms are too many or texts so far
        few."""
        tokens = sum(map(len, sentences))
        with self._lock:
            self._met += tokens
            if self._met < _BEFORE:
                return None
            ids = self._numbers_of(sentences) if self._views else None
            if ids is None:
                self._start()
                ids = self._numbers_of(sentences)
            if ids is None:
                return None
            ptr = pointers(np.fromiter(map(len, sentences), np.int64, len(sentences)))
            sources, codes = np.stack([ids, final_forms(ids, ptr)]), self._codes.reshape(-1)
            grams = hashed_grams(sources, ptr, codes, self._starts, self._terms, self._joint, self._encoder.index)
            views = self._views
        encoded = Encoded(
            evidence=Evidence.unknown(ptr, np.array([sentence.weight for sentence in sentences], np.float64)),
            word_types=ids,
            type_ptr=np.zeros(1, np.int64),
            type_features=np.zeros(0, np.int32),
            type_values=np.zeros(0),
            grams=grams,
            lead=self._joint.lead,
            low=self._joint.low,
            high=self._joint.high,
        )
        triples = zip(self._weighted, self._scorings, views, strict=True)
        return encoded, [
            LinearScoring(parameters, scoring.transitions, of_model) for (parameters, _), scoring, of_model in triples
        ]

    def _start(self) -> None:
        """Begin with the rows of positions outside sentences. Who has the old ones keeps them."""
        self._numbers = defaultdict[str, int](count_from(self._high - self._low).__next__)
        self._codes = np.empty((len(self._columns), self._most), np.uint64)
        self._scorings = [parameters.scoring(weights) for parameters, weights in self._weighted]
        outside = [*range(1, 1 - self._low), *range(_AFTER, _AFTER + self._high)]
        self._views = [
            [RowEmission(view, self._low, self._high, self._most) for view in scoring.views]
            for scoring in self._scorings
        ]
        codes = np.array(outside, np.uint64) + OUTSIDE
        self._set_rows(0, len(outside), self._features(lambda _column: codes))

    def _numbers_of(self, sentences: Sequence[Sentence]) -> NDArray[np.int32] | None:
        """Return the numbers of all forms; `None`, until it starts over, if they are too many beside the known ones.

        New forms get rows, and their codes are kept.
        """
        texts = [sentence.forms for sentence in sentences]  # then the loop below runs no Python code for a step
        count_before = len(self._numbers)
        ids = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(texts)), np.int32, sum(map(len, texts)))
        count, first = len(self._numbers) - count_before, count_before + self._high - self._low
        if first + count > self._most:
            return None
        if count:
            forms = list(islice(reversed(self._numbers), count))[::-1]
            new = FormColumns(forms, self._encoder.lookups.bits)
            for codes, column in zip(self._codes, self._columns, strict=True):
                codes[first : first + count] = new.scalar(column)
            ptr, codes_of_forms, values = self._encoder.of_forms(forms, new)
            of_itself = _Features(0, 0, ptr, self._encoder.index.ids(codes_of_forms), values)
            self._set_rows(first, count, [of_itself, *self._features(new.scalar)])
        return ids

    def _set_rows(self, first: int, count: int, features: Sequence[_Features]) -> None:
        for view in chain.from_iterable(self._views):
            view.set_rows(first, count, features)

    def _features(self, codes: Callable[[str], Codes]) -> list[_Features]:
        """Return the features of the families that look at one form, given the codes of a column."""
        features = []
        for family in self._alone:
            values = [codes(term.column) for term in family.terms]
            numbers = self._encoder.index.ids(joined_codes(np.uint64(family.seed), values, family.window))
            features.append(_Features(family.low, family.high, np.arange(len(numbers) + 1), numbers))
        return features
