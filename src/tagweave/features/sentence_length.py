"""The longest sentence that is parsed, or on which a parser is trained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence

LONGEST = 1000
"""Tokens. Trees take time cubic in the length, charts quadratic memory. On one thread, a sentence of 1,000 tokens takes
0.5 seconds to parse and 3 in a training epoch, with 60 MB; one of 2,000 takes 3 and 33, with 160 MB. Longer text is
hardly one sentence."""


def check_lengths(sentences: Iterable[Sentence]) -> None:
    """Raise unless all sentences have at most `LONGEST` tokens.

    Raises:
        CorpusError: a sentence has more; the error gives file and line.
    """
    for sentence in sentences:
        if len(sentence) > LONGEST:
            expected = f"at most {LONGEST:,} in a sentence that is parsed"
            raise CorpusError(f"{len(sentence):,} tokens", expected, *sentence.location)


def of_fit_length(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with at most `LONGEST` tokens."""
    return [sentence for sentence in sentences if len(sentence) <= LONGEST]
