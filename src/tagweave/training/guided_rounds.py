"""A guided tagger or parser for conversion: the annotation that guides its training is bettered in rounds.

The guide of Model 1 errs on the training text, so the model learns to distrust it, and goes on to distrust the gold
annotation that takes its place in a conversion. So gold annotation is transformed instead (the transfer models of
jiang-2015, Algorithm 4): of two rounds, the first leads back from the target's guideline to the source's, and what it
makes of the target's gold annotation guides the model in the second.

    round      1                  ...   rounds - 1                      rounds
    to the     target or source         source                          target
    guided by  a model's annotation     gold ones, transformed before   gold ones, transformed by round - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.training.guided import check_guidelines
from tagweave.training.system import Annotation, GuidingSystem, Model, Parallel, Steps


class _Side(NamedTuple, Generic[Annotation]):
    """All text of one guideline: training data, development data, and the annotation of both, open places filled in."""

    corpora: Sequence[Corpus]
    dev: Corpus | None
    given: Sequence[Sequence[Annotation]]

    @property
    def guideline(self) -> str:
        return self.corpora[0].guideline

    @property
    def texts(self) -> list[Corpus]:
        return [*self.corpora, *_dev(self.dev)]

    def parallel(
        self, guides: Sequence[Sequence[Annotation]]
    ) -> tuple[list[Parallel[Annotation]], Parallel[Annotation] | None]:
        """Training and development data with annotation that guides."""
        shown = [Parallel(text, told) for text, told in zip(self.texts, guides, strict=True)]
        return shown[: len(self.corpora)], shown[-1] if self.dev else None


def fit_guided_in_rounds(
    system: GuidingSystem[Model, Annotation],
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus | None = None,
    rounds: int = 2,
    source_dev: Corpus | None = None,
) -> Model:
    """A guided model, with a model of the source guideline in it, that has learned from bettered annotation.

    It trusts what it is given. Where it is given nothing, it trusts its guide as much: text without annotation is
    better served by one round (`fit_guided`, `fit_guided_parser`).

    Args:
        system: how every model is fitted, and the run.
        targets: corpora of the guideline that is wanted.
        sources: of one other guideline.
        dev: development data of the target guideline; it is guided as the training data is.
        rounds: 2 or more.
        source_dev: development data of the source guideline.

    Raises:
        ValueError: fewer rounds.
        CorpusError, TrainingError: as `System.train`; or the guidelines are the same.
        KeyboardInterrupt: the user stopped a step before the last.
    """
    if rounds < 2:
        raise ValueError(f"found {rounds} rounds, expected 2 or more")
    check_guidelines(targets, sources[0].guideline)
    steps = Steps(rounds + 2, system.run)
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


def _side(
    system: GuidingSystem[Model, Annotation], model: Model, corpora: Sequence[Corpus], dev: Corpus | None
) -> _Side[Annotation]:
    return _Side(corpora, dev, [system.given(model, text) for text in (*corpora, *_dev(dev))])


def _dev(dev: Corpus | None) -> Iterator[Corpus]:
    if dev is not None:
        yield dev
