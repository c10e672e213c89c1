"""What is taken away from a treebank, and what may then be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproductions.lab.corpora import Parts, digest, read_parts, there
from reproductions.lab.run import Setting
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.evidence.trees import only_head
from tagweave.learning.run import Schedule
from tagweave.models.tree import TreeModel

Kept = NDArray[np.bool_]
"""Of a sentence, which of its tokens keep their head."""


@dataclass(frozen=True)
class Treebank:
    """A fully annotated treebank.

    Attributes:
        name: where it is from, in the page.
        parts: its sentences; relations are not looked at.
        schedule: the budget of every training.
    """

    name: str
    parts: Parts
    schedule: Schedule

    @cached_property
    def digests(self) -> list[str]:
        """What tells its parts from others."""
        return [digest(part) for part in self.parts]


@dataclass(frozen=True)
class Partial:
    """A treebank of which some heads are taken away.

    Attributes:
        bank: the treebank; its development and test data stay as they are.
        share: of the heads that are kept.
        whole: so many sentences, the first, keep all of theirs.
        uncertain: of every other sentence those heads are kept of which the parser of the whole sentences is least
            certain, not random ones.
    """

    bank: Treebank
    share: float = 1.0
    whole: int = 0
    uncertain: bool = False


@dataclass(frozen=True)
class Method:
    """A way to a parser.

    Attributes:
        name: in the tables.
        learner: of `tagweave.training.fit.recipe.Recipe`.
        whole_only: all sentences but the whole ones are dropped.
        first: the method whose parser fills in the unknown heads, under those that are known, before training.
        local: every known head is a decision of its own in training; decoding is as ever.
    """

    name: str
    learner: str = "adagrad"
    whole_only: bool = False
    first: Method | None = None
    local: bool = False


MARGINAL = Method("marginal")
DISCARD = Method("discard", whole_only=True)
ARGMAX = Method("argmax", first=DISCARD)
ARGMAX_OF_MARGINAL = Method("argmax of marginal", first=MARGINAL)
LOCAL = Method("local", local=True)
PERCEPTRON = Method("perceptron", "perceptron")

_FULL = (MARGINAL, PERCEPTRON)
_RANDOM = (MARGINAL, DISCARD, ARGMAX, ARGMAX_OF_MARGINAL, PERCEPTRON)
_UNCERTAIN = (MARGINAL, DISCARD, ARGMAX)
_ALONE = (MARGINAL, LOCAL)
SHARES = (0.15, 0.3, 0.5)
WHOLE = 0.05
"""The share of sentences, from the first, that keep all heads."""


def settings(corpora: Path | None, quick: bool = False) -> list[Setting[Partial, Method]]:
    """All settings on `en/wsj-dep` in a folder of corpora; `quick`: its first sentences, and two iterations.

    Raises:
        CorpusError: the corpus is not there or has no trees.
    """
    folder = there((corpora or Path()) / "en" / "wsj-dep")
    parts = Parts(*map(without_relations, read_parts(folder, "head", "head")))
    if quick:
        first = (part.with_sentences(part.sentences[:count]) for part, count in zip(parts, (80, 20, 20), strict=True))
        return settings_of(Treebank("the first of en/wsj-dep", Parts(*first), Schedule(2, 2)))
    return settings_of(Treebank("en/wsj-dep", parts, Schedule(20, 3)))


def settings_of(bank: Treebank) -> list[Setting[Partial, Method]]:
    """All settings on a treebank."""
    whole = max(1, round(WHOLE * len(bank.parts.train)))
    found = [_setting("full", "All heads", Partial(bank, whole=whole), _FULL)]
    for share in SHARES:
        told = f"{share:.0%} of the heads"
        ways = {
            "random": (f"A random {told}, and whole sentences", Partial(bank, share, whole), _RANDOM),
            "uncertain": (f"The least certain {told}, and whole ones", Partial(bank, share, whole, True), _UNCERTAIN),
            "alone": (f"A random {told}, no whole sentences", Partial(bank, share), _ALONE),
        }
        found += [_setting(f"{way}-{100 * share:.0f}", *each) for way, each in ways.items()]
    return found


def _setting(name: str, title: str, given: Partial, methods: tuple[Method, ...]) -> Setting[Partial, Method]:
    return Setting(name, title, lambda _seed: given, methods)


def without_relations(corpus: Corpus) -> Corpus:
    """The heads alone: this treebank has no relations worth the name, and what is measured is heads."""

    def step(sentence: Sentence) -> Sentence:
        arcs = sentence.heads[corpus.guideline]
        heads = (each and tuple(Arc(arc.head, None) for arc in each) for each in arcs)
        return replace(sentence, heads={corpus.guideline: tuple(heads)})

    return corpus.map(step)


def random_heads(corpus: Corpus, share: float, seed: int) -> list[Kept]:
    """A random share of all tokens; with the same seed a larger share has all of a smaller one."""
    rng = np.random.default_rng(seed)
    return [rng.random(len(sentence)) < share for sentence in corpus]


def uncertain_heads(model: TreeModel, corpus: Corpus, share: float) -> list[Kept]:
    """The share of the tokens of each sentence (rounded) whose likeliest head has the least probability."""
    encoded = model.encode(corpus.sentences)
    probabilities, _ = model.marginals(encoded)
    matrices = np.split(probabilities, encoded.evidence.cells[1:-1])
    found = []
    for cells, length in zip(matrices, encoded.lengths.tolist(), strict=True):
        best = cells.reshape(length + 1, length + 1)[:, 1:].max(axis=0)
        rank = np.empty(length, np.int64)
        rank[np.argsort(best, kind="stable")] = np.arange(length)
        found.append(rank < round(share * length))
    return found


def keep(corpus: Corpus, kept: Iterable[Kept], whole: int = 0) -> Corpus:
    """The corpus with those heads only; all of the first `whole` sentences."""
    layer = corpus.guideline
    return corpus.with_sentences(
        sentence if number < whole else _keep(sentence, layer, tokens)
        for number, (sentence, tokens) in enumerate(zip(corpus, kept, strict=True))
    )


def _keep(sentence: Sentence, layer: str, kept: Kept) -> Sentence:
    arcs = tuple(arc if keep else None for arc, keep in zip(sentence.heads[layer], kept.tolist(), strict=True))
    return replace(sentence, heads={**sentence.heads, layer: arcs})


def heads_of(corpus: Corpus) -> list[list[int]]:
    """The heads of every sentence, below 0 where there is not one that is known."""
    return [list(map(only_head, sentence.heads[corpus.guideline])) for sentence in corpus]


def with_heads(corpus: Corpus, heads: Sequence[Sequence[int]]) -> Corpus:
    """The corpus with other heads."""
    layer = corpus.guideline
    return corpus.with_sentences(
        replace(sentence, heads={layer: tuple((Arc(head, None),) for head in own)})
        for sentence, own in zip(corpus, heads, strict=True)
    )
