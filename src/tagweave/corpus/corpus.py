"""The corpus: sentences that share a guideline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

from tagweave.corpus.characters import is_text
from tagweave.corpus.sentence import ACCEPTED, Sentence, is_frame, kind_of, labels_of, rows_of, tokens_of
from tagweave.errors import CorpusError

Unit = Literal["word", "character"]
EVERYTHING: Literal["all"] = "all"
"""Covered by a corpus whose annotators looked for all labels."""
Covers = tuple[str, ...] | Literal["all"]
"""The labels, or types of labels, that the annotators of a corpus looked for."""
_SENTENCES = frozenset({Sentence})


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """Sentences, and the name of the layer that is the corpus's own annotation.

    Attributes:
        sentences: the sentences, in the order of the file; also given as (tokens, labels) pairs, by an iterator, or as
            a data frame with the columns `sentence`, `token` and `label`, whose rows of a sentence follow one another.
        guideline: the layer (key of `Sentence.layers`) that training and evaluation use.
        unit: what a token is. A corpus of characters carries word boundaries as labels B, M, E, S.
        covered: the labels that the annotators looked for; outside these "no label" means unknown. `None`: all labels.
        path: the file, for messages.
        weight: how often each sentence counts in training.
        layer: the name of the guideline's layer in the file; empty if the corpus is not from a file.

    Raises:
        TypeError: anything but sentences; the message names the accepted types.
        CorpusError: tokens and labels of different numbers.
    """

    sentences: tuple[Sentence, ...]
    guideline: str = "tag"
    unit: Unit = "word"
    covered: tuple[str, ...] | None = None
    path: str = ""
    weight: float = 1.0
    layer: str = ""

    def __post_init__(self) -> None:
        if not is_text(self.guideline):
            raise CorpusError(f"half of a surrogate pair in the guideline {self.guideline!r}", "Unicode text")
        if type(self.sentences) is not tuple or not _SENTENCES.issuperset(map(type, self.sentences)):
            object.__setattr__(self, "sentences", tuple(_sentences(self.sentences, self.guideline)))

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __getitem__(self, index: int) -> Sentence:
        return self.sentences[index]

    def __repr__(self) -> str:
        return f"<Corpus: {len(self):,} sentences, {self.tokens():,} {self.unit}s, guideline {self.guideline!r}>"

    @property
    def name(self) -> str:
        """What messages call it: its file, or `a corpus`."""
        return self.path or "a corpus"

    def covered_in(self, sentence: Sentence) -> tuple[str, ...] | None:
        """Return the labels that the annotators of one of its sentences looked for; `None`: all labels."""
        return self.covered if sentence.covered is None else sentence.covered

    def covering(self, covers: str | Iterable[str] | None) -> Corpus:
        """Return the corpus with other covered labels or types: `PER,LOC`, a list, or `all`; `None` changes nothing."""
        covered = covers_of(covers)
        if covered is None:
            return self
        sentences = (
            sentence if sentence.covered is None else replace(sentence, covered=None) for sentence in self.sentences
        )
        return replace(self, sentences=tuple(sentences), covered=None if covered == EVERYTHING else covered)

    def with_sentences(self, sentences: Iterable[Sentence]) -> Corpus:
        return replace(self, sentences=tuple(sentences))

    def part(self, share: float) -> Corpus:
        """Return sentences from everywhere in the corpus, about this share of it."""
        if share >= 1:
            return self
        return self.with_sentences(
            sentence for at, sentence in enumerate(self) if int((at + 1) * share) > int(at * share)
        )

    def map(self, step: Callable[[Sentence], Sentence]) -> Corpus:
        return self.with_sentences(step(sentence) for sentence in self.sentences)

    def tokens(self) -> int:
        """Count the tokens (words or characters)."""
        return sum(len(sentence) for sentence in self.sentences)


def by_guideline(corpora: Iterable[Corpus]) -> dict[str, list[Corpus]]:
    """Return the corpora of each guideline, both in their order."""
    groups: dict[str, list[Corpus]] = {}
    for corpus in corpora:
        groups.setdefault(corpus.guideline, []).append(corpus)
    return groups


def covers_of(covers: str | Iterable[str] | None) -> Covers | None:
    """Read what a corpus covers: `PER,LOC`, a list, or `all`; `None` and "" leave it to the file."""
    if covers is None or covers in ("", EVERYTHING):
        return EVERYTHING if covers else None
    if not isinstance(covers, Iterable):
        raise TypeError(f"found {kind_of(covers)} as covers, expected labels or types: PER,LOC, a list, or all")
    return tuple(label.strip() for label in (covers.split(",") if isinstance(covers, str) else covers))


def _sentences(sentences: Any, layer: str) -> Iterator[Sentence]:
    if is_frame(sentences):
        for forms, labels, columns in rows_of(sentences):
            yield Sentence(forms, {} if labels is None else {layer: labels}, columns)
        return
    if isinstance(sentences, (str, bytes, Mapping, Set)) or not isinstance(sentences, Iterable):
        raise TypeError(f"found {kind_of(sentences)}, expected {ACCEPTED}")
    for number, item in enumerate(sentences, 1):
        yield item if isinstance(item, Sentence) else _of_pair(item, layer, f"sentence {number}")


def _of_pair(pair: Any, layer: str, place: str) -> Sentence:
    if isinstance(pair, list) and pair and all(isinstance(item, tuple) for item in pair):
        raise TypeError(f"{place}: found a list of tuples, expected (tokens, labels): tuple(zip(*sentence)) makes it")
    if not isinstance(pair, (tuple, list)) or len(pair) != len(("tokens", "labels")):
        problem = f"{kind_of(pair)}{f' of {len(pair)}' if isinstance(pair, (tuple, list)) else ''}"
        raise TypeError(f"{place}: found {problem}, expected {ACCEPTED}")
    try:
        tokens, labels = tokens_of(pair[0]), labels_of(pair[1])
    except TypeError as error:
        raise TypeError(f"{place}: {error}") from None
    if len(tokens) != len(labels):
        raise CorpusError(f"{len(tokens)} tokens and {len(labels)} labels", "one label for each token", place)
    return Sentence(tokens, {layer: labels})
