"""Forms met before: each has a number, and the codes of its columns are computed once, not once a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from itertools import count as count_from

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.features.columns import FormColumns
from tagweave.features.encoder import TemplateEncoder, final_forms, hashed_grams, term_numbers
from tagweave.features.templates import Family, Reach

Codes = NDArray[np.uint64]


@dataclass(frozen=True)
class Numbered:
    """Sentences whose forms have numbers.

    Attributes:
        sentence_ptr: int64[S + 1], the first token of every sentence.
        ids: int32[N], the number of the form of every token.
        new: the columns of the forms that were new; `None` if none was.
        first: the number of the first of these.
    """

    sentence_ptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    new: FormColumns | None
    first: int


class KnownForms:
    """The forms of the texts so far, for an encoder whose templates look at forms only.

    Attributes:
        alone: the families that look at one form, the form at their anchor.
        joint: those that look at several.

    Args:
        encoder: of the templates.
        most: how many forms are kept at most.
        first: the number of the first form.
    """

    def __init__(self, encoder: TemplateEncoder, most: int, first: int) -> None:
        families = encoder.templates.families
        self.alone = tuple(family for family in families if looks_at_one_form(family))
        self.joint = Reach.of([family for family in families if not looks_at_one_form(family)])
        self._encoder, self._most, self._first = encoder, most, first
        self._names = sorted({term.column for family in self.joint.families for term in family.terms})
        starts = np.arange(len(self._names) + 1, dtype=np.int64) * most
        self._terms = starts, term_numbers(self.joint.families, self._names, lambda column: int(column == "final"))
        self._numbers: defaultdict[str, int] = defaultdict(count_from(self._first).__next__)
        self._codes = np.empty((len(self._names), self._most), np.uint64)

    def numbered(self, sentences: Sequence[Sentence]) -> Numbered | None:
        """The forms of sentences in numbers; `None`, for good, if they are too many beside those that are known."""
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
        new = FormColumns(list(islice(reversed(self._numbers), count))[::-1], self._encoder.clusters)
        for row, name in zip(self._codes, self._names, strict=True):
            row[first : first + count] = new.scalar(name)
        return Numbered(ptr, ids, new, first)

    def grams(self, text: Numbered) -> NDArray[np.int32]:
        """int32[M, K]: the grams of the families `joint`, as in `Encoded`."""
        ids = np.stack([text.ids, final_forms(text.ids, text.sentence_ptr)])
        return hashed_grams(
            ids, text.sentence_ptr, self._codes.reshape(-1), *self._terms, self.joint, self._encoder.index
        )


def looks_at_one_form(family: Family) -> bool:
    """Whether the grams of a family depend on the form at their anchor alone."""
    return all(term.depends_on_form_only for term in family.terms)
