"""The method `stacked`: labels or trees predicted by a source model are features of the target model (Model 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.methods.method import Method
from tagweave.training.options import Options, check_ranges, option

if TYPE_CHECKING:
    from tagweave.training.job import Job


@dataclass(frozen=True)
class StackedOptions(Options):
    """Options of the method `stacked`."""

    guide: Literal["window", "joined"] | None = option(
        None,
        "How features use the other guideline's labels: those around a token (window), or its own joined to every"
        " feature. Default: joined for the perceptron, else window.",
        structure=CHAIN,
    )
    rounds: int = option(
        1,
        "How many rounds to predict the guiding labels of the training data: 1 suits text without labels, 2"
        " conversion.",
        "N",
        1,
    )

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def why_incomparable(self) -> str:
        """A model of several rounds trusts the labels in its input, and is no better on text without labels."""
        return "a guided model of several rounds is for conversion" if self.rounds > 1 else ""


def _fit(job: Job[Any]) -> Any:
    rounds = job.options(StackedOptions).rounds
    if rounds == 1:
        return job.fit_guided()
    from tagweave.training.guided_rounds import fit_guided_in_rounds

    data = job.data
    return fit_guided_in_rounds(job.system, data.targets, data.sources, job.dev, rounds)


METHOD = Method(
    "stacked",
    "the labels of a model of the source are features",
    (CHAIN, TREE),
    StackedOptions,
    _fit,
    of_two=True,
)
