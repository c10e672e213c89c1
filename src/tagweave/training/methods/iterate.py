"""The method `iterate`: relabel all corpora in rounds until the development score stops improving (Model 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.structures.kinds import CHAIN, TREE
from tagweave.training.errors import PlanError
from tagweave.training.methods.method import Method
from tagweave.training.methods.transform import TransformOptions
from tagweave.training.options import check_ranges, option

if TYPE_CHECKING:
    from tagweave.training.job import Job

_ROUNDS = 5
_SHARES = (0.0, 0.3)


@dataclass(frozen=True)
class IterateOptions(TransformOptions):
    """Options of the method `iterate`."""

    rounds: int = option(_ROUNDS, "The maximum number of rounds of transformation.", "N", 1)
    predict_self: tuple[float, ...] = option(
        _SHARES,
        "How much it counts, from 0 to 1, that a transformation leads back to the annotation of `sources`; of several"
        " values, the best on `dev` is kept.",
        "LAMBDA,...",
    )
    filter: bool = option(False, "Instead, drop sentences whose transformation does not lead back.")

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.filter and self.predict_self != _SHARES:
            raise ValueError("found `predict_self` and `filter`, expected one of them: filtering has no lambda")
        if not self.predict_self or not all(0 <= share <= 1 for share in self.predict_self):
            raise ValueError(f"found `predict_self={self.predict_self}`, expected numbers from 0 to 1")

    def identity(self) -> dict[str, Any]:
        """The options without the number of rounds, which does not change the weights of any step."""
        return {**super().identity(), "rounds": None}


def _fit(job: Job[Any]) -> Any:
    """The best model of all rounds, with the scores of the rounds in its `about`.

    Raises:
        PlanError: there are no development data to judge a round by.
    """
    from tagweave.training.predict_self import PredictSelf
    from tagweave.training.transform import fit_iterated

    if job.dev is None:
        raise PlanError("found no `dev` with the method iterate, expected one: it tells which round is best")
    data, options = job.data, job.options(IterateOptions)
    way_back = PredictSelf(options.predict_self, options.filter)
    result = fit_iterated(job.system, data.targets, data.sources, job.dev, way_back, options.rounds)
    job.run.tell(f"round {result.best.number} is the best")
    rounds = [{"round": n, "predict_self": share, "dev_score": score} for n, share, score in result.rounds]
    best = {"round": result.best.number, "predict_self": result.best.share, "rounds": rounds}
    fitted: Any = result.model
    outcome, about = replace(fitted.outcome, interrupted=result.interrupted), {**fitted.model.about, **best}
    return replace(fitted, model=replace(fitted.model, about=about), outcome=outcome)


METHOD = Method("iterate", "all corpora are relabelled, in rounds", (CHAIN, TREE), IterateOptions, _fit, needs_dev=True)
