"""The settings of the experiment: what is taken away from a fully annotated corpus, and what may then be done about it.

Every step takes a corpus and a seed and returns a corpus; it only ever removes knowledge, so the gold label of a
position is always among those that the step leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence

Step = Callable[[Corpus, int], Corpus]


def complete(corpus: Corpus, _seed: int) -> Corpus:
    """Nothing is taken away."""
    return corpus


def label_tokens(share: float) -> Step:
    """A random `share` of the tokens keep their label; the others are unknown."""

    def step(corpus: Corpus, seed: int) -> Corpus:
        rng = np.random.default_rng(seed)

        def hide(sentence: Sentence) -> Sentence:
            kept = rng.random(len(sentence)) < share
            layer = sentence.layers[corpus.guideline]
            return sentence.with_layer(
                corpus.guideline, (label if keep else None for label, keep in zip(layer, kept, strict=True))
            )

        return corpus.map(hide)

    return step


def tags_of_words(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """The tags of every word form of a fully annotated corpus, in the order in which they first occur."""
    found: dict[str, dict[str, None]] = {}
    for sentence in corpus:
        for form, candidates in zip(sentence.forms, sentence.layers[corpus.guideline], strict=True):
            found.setdefault(form, {}).update(dict.fromkeys(candidates or ()))
    return {form: tuple(tags) for form, tags in found.items()}


def ambiguous_forms(corpus: Corpus) -> frozenset[str]:
    """The word forms of a fully annotated corpus that have more than one tag there: tsuboi-2008's set A here."""
    return frozenset(form for form, tags in tags_of_words(corpus).items() if len(tags) > 1)


def leave_candidates(share: float) -> Step:
    """In a random `share` of the sentences every word gets all the tags that its form has anywhere in the corpus."""

    def step(corpus: Corpus, seed: int) -> Corpus:
        tags = tags_of_words(corpus)
        chosen = np.random.default_rng(seed).permutation(len(corpus)) < round(share * len(corpus))
        return corpus.with_sentences(
            sentence.with_layer(corpus.guideline, (tags[form] for form in sentence.forms)) if choose else sentence
            for sentence, choose in zip(corpus, chosen, strict=True)
        )

    return step


@dataclass(frozen=True)
class Method:
    """A rival: a strategy of `reproductions.lab.baselines`, and what comes before it.

    Attributes:
        name: in the tables.
        strategy: of `reproductions.lab.baselines.treated`.
        by_name: the candidates of every position are first put in alphabetical order, which says nothing of the text.
        warm: marginal likelihood starts from the weights of `pointwise` instead of from zero. It is one or the other
            here, in every setting; `tagweave.training.fit.fit` chooses by how much is unknown.
        by_itself: the corpus is first completed by a model trained by marginal likelihood.
    """

    name: str
    strategy: str
    by_name: bool = False
    warm: bool = False
    by_itself: bool = False


MARGINAL = Method("marginal, from zero", "marginal")
WARM = Method("marginal, from pointwise", "marginal", warm=True)
ARGMAX_OF_MARGINAL = Method("argmax of marginal", "marginal", by_itself=True)
ARGMAX, POINTWISE, DISCARD, RANDOM, FIRST, FREQUENT = (
    Method(name, name) for name in ("argmax", "pointwise", "discard", "random", "first", "frequent")
)
FIRST_BY_NAME = Method("first, by name", "first", by_name=True)


@dataclass(frozen=True)
class Setting:
    """One way in which the training corpus is incomplete.

    Attributes:
        name: in file names.
        title: in the page, what is left.
        step: takes it away.
        methods: the rivals, the one that the others are compared with first.
        ambiguous: whether words are left with candidates, so that they are scored apart (APA).
    """

    name: str
    title: str
    step: Step
    methods: tuple[Method, ...]
    ambiguous: bool = False


_PARTIAL = (MARGINAL, ARGMAX, POINTWISE, DISCARD, WARM, ARGMAX_OF_MARGINAL)
_AMBIGUOUS = (MARGINAL, RANDOM, FIRST, FREQUENT, DISCARD, FIRST_BY_NAME, WARM)

TAGGING = (
    Setting("full", "All labels", complete, (MARGINAL, POINTWISE)),
    Setting("30", "A random 30% of the tokens labelled", label_tokens(0.3), _PARTIAL),
    Setting("10", "A random 10% of the tokens labelled", label_tokens(0.1), _PARTIAL),
    Setting("candidates", "Every ambiguous word with its candidates only", leave_candidates(1.0), _AMBIGUOUS, True),
    Setting(
        "candidates-half",
        "The same in a random half of the sentences, the other half fully labelled",
        leave_candidates(0.5),
        _AMBIGUOUS,
        True,
    ),
)
