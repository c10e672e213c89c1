"""A guided parser for conversion: the trees that guide its training are bettered in rounds.

The guide of Model 1 errs on the training text, so the parser learns to distrust it, and goes on to distrust the gold
trees that take its place in a conversion. So gold trees are transformed instead (the transfer parsers of jiang-2015,
Algorithm 4): of two rounds, the first leads back from the target's guideline to the source's, and what it makes of the
target's gold trees guides the parser in the second.

    round      1                  ...   rounds - 1                       rounds
    to the     target or source         source                           target
    guided by  a parser's trees         gold trees, transformed before   gold trees, transformed by round - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tagweave.adapt.guided import check_guidelines
from tagweave.adapt.parsing import FittedParser
from tagweave.adapt.system import Announce, Parallel, Steps
from tagweave.adapt.trees import Tree, Trees
from tagweave.corpus.corpus import Corpus


class _Side(NamedTuple):
    """All text of one guideline: training data, development data, and the trees of both, the open places filled in."""

    corpora: Sequence[Corpus]
    dev: Corpus | None
    given: Sequence[Sequence[Tree]]

    @property
    def guideline(self) -> str:
        return self.corpora[0].guideline

    @property
    def texts(self) -> list[Corpus]:
        return [*self.corpora, *_dev(self.dev)]

    def parallel(self, guides: Sequence[Sequence[Tree]]) -> tuple[list[Parallel[Tree]], Parallel[Tree] | None]:
        """Training and development data with trees that guide."""
        shown = [Parallel(text, trees) for text, trees in zip(self.texts, guides, strict=True)]
        return shown[: len(self.corpora)], shown[-1] if self.dev else None


def fit_guided_in_rounds(
    system: Trees,
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus | None = None,
    rounds: int = 2,
    source_dev: Corpus | None = None,
    announce: Announce | None = None,
) -> FittedParser:
    """A guided parser, with a parser of the source guideline in it, that has learned from bettered trees.

    It trusts the trees that it is given. Where it is given none, it trusts those of its guide as much: who parses text
    is better served by one round (`fit_guided_parser`).

    Args:
        system: how every parser is fitted.
        targets: treebanks of the guideline that is wanted.
        sources: of one other guideline.
        dev: development data of the target guideline; it is guided as the training data is.
        rounds: 2 or more.
        source_dev: development data of the source guideline.
        announce: is told of every step.

    Raises:
        ValueError: fewer rounds.
        CorpusError, TrainingError: as `fit_parser`; or the guidelines are the same.
        KeyboardInterrupt: the user stopped a step before the last.
    """
    if rounds < 2:
        raise ValueError(f"found {rounds} rounds, expected 2 or more")
    check_guidelines(targets, sources[0].guideline)
    steps = Steps(rounds + 2, announce)
    guide = system.train(sources, source_dev, steps.next(f"source model of {sources[0].guideline}"))
    model = system.train(targets, dev, steps.next(f"target model of {targets[0].guideline}"))
    mine, theirs = _side(system, model, targets, dev), _side(system, guide, sources, source_dev)
    to, other, annotator = (mine, theirs, guide) if rounds % 2 else (theirs, mine, model)
    guides = [system.annotate(annotator, text) for text in to.texts]
    for number in range(1, rounds):
        step = steps.next(f"round {number}: transfer model, {other.guideline} to {to.guideline}")
        transfer = system.train_transfer(*to.parallel(guides), step)
        guides = [system.transform(transfer, Parallel(*each)) for each in zip(other.texts, other.given, strict=True)]
        to, other = other, to
    last = steps.next(f"round {rounds}: guided model of {to.guideline}", last=True)
    return system.train_guided(guide, *mine.parallel(guides), last)


def _side(system: Trees, model: FittedParser, corpora: Sequence[Corpus], dev: Corpus | None) -> _Side:
    return _Side(corpora, dev, [system.given(model, text) for text in (*corpora, *_dev(dev))])


def _dev(dev: Corpus | None) -> Iterator[Corpus]:
    if dev is not None:
        yield dev
