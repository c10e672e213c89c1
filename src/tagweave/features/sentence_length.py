"""How long a sentence may be that is parsed, or that a parser is trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence

LONGEST = 1000
"""Tokens. Trees cost the third power of the length, charts its square. Measured on one thread, a sentence of 1,000
tokens takes 0.5 seconds to parse and 3 of a training pass, with 60 MB; one of 2,000 takes 3 and 33, with 160 MB. What
is longer is hardly one sentence."""


def check_lengths(sentences: Iterable[Sentence]) -> None:
    """Nothing, if all sentences have `LONGEST` tokens at most.

    Raises:
        CorpusError: one has more, by file and line.
    """
    for sentence in sentences:
        if len(sentence) > LONGEST:
            expected = f"at most {LONGEST:,} in a sentence that is parsed"
            raise CorpusError(f"{len(sentence):,} tokens", expected, *sentence.location)


def of_fit_length(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those that have `LONGEST` tokens at most."""
    return [sentence for sentence in sentences if len(sentence) <= LONGEST]
