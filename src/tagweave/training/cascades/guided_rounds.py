"""Guided models on guiding annotation that gets better in rounds, for conversion.

A guide (`cascades/guided.py`) errs on the training text, so the model learns to distrust it, and then also distrusts
the gold annotation that replaces it in a conversion. There the guiding annotation is gold, transformed by the
transfer models of jiang-2015, Algorithm 4: of two rounds, the first transforms the target's gold annotation to the
source's guideline, and the result guides the model in the second.

    round      1                  ...   rounds - 1                      rounds
    to the     target or source         source                          target
    guided by  a model's annotation     gold ones, transformed before   gold ones, transformed by round - 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from tagweave.corpus.corpus import Corpus
from tagweave.training.cascades.guided import check_guidelines
from tagweave.training.cascades.system import Annotation, Parallel, Steps, System
from tagweave.training.fit.problem import Fitted


@dataclass(frozen=True)
class _Side(Generic[Annotation]):
    """All text of one guideline: training and development data, and a model, which completes the annotation of both."""

    system: System[Annotation]
    corpora: Sequence[Corpus]
    dev: Corpus | None
    model: Fitted | None  # `None` if nobody asks for the annotation

    @property
    def guideline(self) -> str:
        return self.corpora[0].guideline

    @property
    def texts(self) -> list[Corpus]:
        return [*self.corpora, *([self.dev] if self.dev else [])]

    def with_own_annotations(self) -> list[Parallel[Annotation]]:
        """Return all texts with their own annotation, completed, as guides."""
        assert self.model is not None  # noqa: S101 - it is known where there are several rounds
        return [Parallel(text, self.system.own_annotations(self.model, text)) for text in self.texts]

    def parallel(
        self, guides: Sequence[Sequence[Annotation]]
    ) -> tuple[list[Parallel[Annotation]], Parallel[Annotation] | None]:
        """Training and development data with guiding annotation."""
        pairs = [Parallel(text, guide) for text, guide in zip(self.texts, guides, strict=True)]
        return pairs[: len(self.corpora)], pairs[-1] if self.dev else None


def fit_guided_in_rounds(
    system: System[Annotation],
    targets: Sequence[Corpus],
    sources: Sequence[Corpus],
    dev: Corpus | None = None,
    rounds: int = 2,
    source_dev: Corpus | None = None,
) -> Fitted:
    """Fit a guided model, which contains a model of the source guideline, on improved guiding annotation.

    The model trusts the annotation in its input. Without any it trusts its guide just as much, so one round is better
    for text without annotation (`fit_guided`). `rounds`: 2 or more.
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
    system: System[Annotation],
    target: tuple[Sequence[Corpus], Corpus | None, Fitted | None],
    source: tuple[Sequence[Corpus], Corpus | None, Fitted],
    rounds: int,
    steps: Steps,
) -> tuple[list[Parallel[Annotation]], Parallel[Annotation] | None]:
    """Training and development data of the target with the guiding annotation of its last round.

    Args:
        target, source: corpora, development data and the model of each guideline; one round needs no model of the
            target.
        rounds: 1 or more; all but the last one train a transfer model.
    """
    target_side, source_side = _Side(system, *target), _Side(system, *source)
    to, other = (target_side, source_side) if rounds % 2 else (source_side, target_side)
    assert other.model is not None  # noqa: S101 - of several rounds, both models are known
    guides = [system.annotate(other.model, text) for text in to.texts]
    for number in range(1, rounds):
        step = steps.next(f"round {number}: transfer model, {other.guideline} to {to.guideline}")
        transfer = system.train_transfer(*to.parallel(guides), step)
        guides = [system.transform(transfer, text) for text in other.with_own_annotations()]
        to, other = other, to
    return target_side.parallel(guides)
