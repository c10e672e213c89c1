"""The sentences of spaCy's documents, as a model takes them: without blanks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence

_BREAKS = "\n\r"


class DocSentences:
    """The sentences of a document: those that it has, or else its lines.

    Attributes:
        doc: the document.
        positions: int64 for each sentence, of its tokens that are not blank.
        sentences: their texts.
    """

    def __init__(self, doc: Any) -> None:
        from spacy.attrs import ORTH, SENT_START

        self.doc = doc
        array = doc.to_array([ORTH, SENT_START])
        strings = doc.vocab.strings
        forms = [strings[each] for each in array[:, 0].tolist()]
        if not any(map(str.isspace, forms)) and not doc.has_annotation("SENT_START"):  # most documents of one sentence
            self.positions: list[NDArray[np.int64]] = [np.arange(len(forms))] if forms else []
            self.sentences = [Sentence(tuple(forms))] if forms else []
            return
        kept = np.array([not each.isspace() for each in forms], bool)
        ends = np.flatnonzero(array[:, 1] == 1) if doc.has_annotation("SENT_START") else _lines(forms, kept)
        parts = np.split(np.arange(len(forms)), ends[ends > 0])
        found = (each[kept[each]] for each in parts)
        self.positions = [each for each in found if len(each)]
        self.sentences = [Sentence(tuple(forms[at] for at in each.tolist())) for each in self.positions]

    @property
    def tokens(self) -> NDArray[np.int64]:
        """The positions of all tokens that are not blank."""
        return joined(self.positions)


def joined(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The arrays of sentences as that of their document."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def _lines(forms: Sequence[str], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The blank tokens with which a new line begins."""
    breaks = [at for at in np.flatnonzero(~kept).tolist() if any(each in forms[at] for each in _BREAKS)]
    return np.array(breaks, np.int64)
