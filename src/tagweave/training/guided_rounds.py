"""A guided tagger or parser for conversion, with the guiding annotation of its training improved in rounds.

The guide of Model 1 errs on the training text, so the model learns to distrust it, and then also distrusts the gold
annotation that replaces it in a conversion. Here the guiding annotation is gold annotation, transformed by the transfer
models of jiang-2015, Algorithm 4: of two rounds, the first transforms the target's gold annotation to the source's
guideline, and the result guides the model in the second.

    round      1                  ...   rounds - 1                      rounds
    to the     target or source         source                          target
    guided by  a model's annotation     gold ones, transformed before   gold ones, transformed by round - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.training.guided import check_guidelines
from tagweave.training.system import Annotation, GuidingSystem, Model, Parallel, Steps, System


class _Side(NamedTuple, Generic[Annotation]):
    """All text of one guideline: training data, development data, and the completed annotation of both."""

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
        """Training and development data with guiding annotation."""
        pairs = [Parallel(text, guide) for text, guide in zip(self.texts, guides, strict=True)]
        return pairs[: len(self.corpora)], pairs[-1] if self.dev else None


def fit_guided_in_rounds(
    system: GuidingSystem[Model, Annotation],
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus | None = None,
    rounds: int = 2,
    source_dev: Corpus | None = None,
) -> Model:
    """Fit a guided model, which contains a model of the source guideline, on improved guiding annotation.

    The model trusts the annotation in its input. Without any it trusts its guide just as much, so one round is better
    for text without annotation (`fit_guided`, `fit_guided_parser`).

    Args:
        system: the system, with recipe and run.
        targets: corpora of the target guideline.
        sources: corpora of one other guideline.
        dev: development data of the target guideline, guided like the training data.
        rounds: 2 or more.
        source_dev: development data of the source guideline.

    Raises:
        ValueError: fewer than 2 rounds.
        CorpusError, TrainingError: as `System.train`; or the guidelines are the same.
        KeyboardInterrupt: the user stopped a step before the last.
    """
    if rounds < 2:
        raise ValueError(f"found {rounds} rounds, expected 2 or more")
    check_guidelines(targets, sources[0].guideline)
    steps = Steps(rounds + 2, system.run)
    guide = system.train(sources, source_dev, steps.next(f"source model of {sources[0].guideline}"))
    model = system.train(targets, dev, steps.next(f"target model of {targets[0].guideline}"))
    parallel = guided_texts(system, (targets, dev, model), (sources, source_dev, guide), rounds, steps)
    last = steps.next(f"round {rounds}: guided model of {targets[0].guideline}", last=True)
    return system.train_guided(guide, *parallel, last)


def guided_texts(
    system: System[Model, Annotation],
    target: tuple[Sequence[Corpus], Corpus | None, Model],
    source: tuple[Sequence[Corpus], Corpus | None, Model],
    rounds: int,
    steps: Steps,
) -> tuple[list[Parallel[Annotation]], Parallel[Annotation] | None]:
    """Training and development data of the target with the guiding annotation of its last round.

    Args:
        system: the system.
        target, source: training data, development data, and a model of these.
        rounds: 1 or more; all but the last one train a transfer model.
        steps: counts these.
    """
    mine, theirs = _side(system, *target), _side(system, *source)
    to, other, annotator = (mine, theirs, source[2]) if rounds % 2 else (theirs, mine, target[2])
    guides = [system.annotate(annotator, text) for text in to.texts]
    for number in range(1, rounds):
        step = steps.next(f"round {number}: transfer model, {other.guideline} to {to.guideline}")
        transfer = system.train_transfer(*to.parallel(guides), step)
        guides = [system.transform(transfer, Parallel(*each)) for each in zip(other.texts, other.given, strict=True)]
        to, other = other, to
    return mine.parallel(guides)


def _side(
    system: System[Model, Annotation], corpora: Sequence[Corpus], dev: Corpus | None, model: Model
) -> _Side[Annotation]:
    return _Side(corpora, dev, [system.given(model, text) for text in (*corpora, *_dev(dev))])


def _dev(dev: Corpus | None) -> Iterator[Corpus]:
    if dev is not None:
        yield dev
