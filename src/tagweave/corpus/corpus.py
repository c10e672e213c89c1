"""The corpus: sentences that share a guideline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tagweave.corpus.sentence import Sentence

Unit = Literal["word", "character"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sentences, and the name of the layer that is the corpus's own annotation.

    Attributes:
        sentences: the sentences, in the order of the file.
        guideline: the layer (key of `Sentence.layers`) that training and evaluation use.
        unit: what a token is. A corpus of characters carries word boundaries as labels B, M, E, S.
        covered: the labels that the annotators looked for; outside these "no label" means unknown. `None`: all labels.
        path: the file, for messages.
        weight: how often each sentence counts in training.
        layer: the name of the guideline's layer in the file; empty if the corpus is not from a file.
    """

    sentences: tuple[Sentence, ...]
    guideline: str = "tag"
    unit: Unit = "word"
    covered: tuple[str, ...] | None = None
    path: str = ""
    weight: float = 1.0
    layer: str = ""

    def __len__(self) -> int:
        return len(self.sentences)

    def covered_in(self, sentence: Sentence) -> tuple[str, ...] | None:
        """The labels that the annotators of one of its sentences looked for; `None`: all labels."""
        return self.covered if sentence.covered is None else sentence.covered

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __getitem__(self, index: int) -> Sentence:
        return self.sentences[index]

    def with_sentences(self, sentences: Iterable[Sentence]) -> Corpus:
        """The same corpus with other sentences."""
        return replace(self, sentences=tuple(sentences))

    def map(self, step: Callable[[Sentence], Sentence]) -> Corpus:
        """The corpus with `step` applied to every sentence."""
        return self.with_sentences(step(sentence) for sentence in self.sentences)

    def tokens(self) -> int:
        """The number of tokens (words or characters)."""
        return sum(len(sentence) for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """The corpus in a notebook: how much of it is known, and its first sentences."""
        from tagweave.corpus.describe import describe
        from tagweave.display.corpus import corpus_picture
        from tagweave.display.markup import picture

        about = describe(self)
        return picture(corpus_picture(self, about.layers, about.heads))
