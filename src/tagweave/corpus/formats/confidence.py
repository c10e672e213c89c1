"""Reading and writing the confidence in labels, for formats that can hold it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tagweave.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Confidence:
    """Where a format holds a number for each token.

    Attributes:
        take: from a sentence, the texts of these numbers, `None` for a missing one, and the sentence without them.
        put: the sentence with these texts instead of its own.
    """

    take: Callable[[Sentence], tuple[Sequence[str | None], Sentence]]
    put: Callable[[Sentence, Sequence[str]], Sentence]

    def read(self, sentence: Sentence) -> Sentence:
        """The sentence with the confidence that its file gives, 1 where there is no number.

        Raises:
            CorpusError: anything but numbers from 0 to 1.
        """
        texts, rest = self.take(sentence)
        if not any(texts):
            return sentence
        return replace(rest, confidence=tuple(1.0 if text is None else _number(text, sentence) for text in texts))

    def written(self, sentence: Sentence, confidence: Sequence[float]) -> Sentence:
        """The sentence with a number for each token, where the format holds it."""
        return self.put(sentence, [f"{each:.6f}" for each in confidence])


def _number(text: str, sentence: Sentence) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CorpusError(f"the confidence {text!r}", "a number from 0 to 1", *sentence.location)
    return value
