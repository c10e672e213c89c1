"""Methods that adapt sources to the target, by guidance (`stacked`), relabelling (`transform`, `iterate`) or pieces.

`stacked` is Model 1 of jiang-2015, `transform` Model 2, `iterate` Model 3; `subword` is sun-wan-2012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from tagweave.errors import PlanError
from tagweave.options import option
from tagweave.structures import CHAIN, TREE
from tagweave.training.job import Job, Method
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from tagweave.training.fit.problem import Fitted


@dataclass(frozen=True)
class GuidedOptions(Options):
    """Options of methods whose models see annotation of another guideline."""

    guide: Literal["window", "joined"] | None = option(
        None,
        "How features use the other guideline's labels: those around a token (window), or its own joined to every"
        " feature. Default: joined for the perceptron, else window.",
        structure=CHAIN,
    )


@dataclass(frozen=True)
class StackedOptions(GuidedOptions):
    """Options of the method `stacked`."""

    rounds: int = option(
        1,
        "How many rounds to predict the guiding labels of the training data: 1 suits text without labels, 2"
        " conversion.",
        "N",
        1,
    )

    @property
    def why_incomparable(self) -> str:
        """A model of several rounds trusts the labels in its input, and is no better on text without."""
        return "a guided model of several rounds is for conversion" if self.rounds > 1 else ""


def _fit_stacked(job: Job) -> Fitted:
    data, run, rounds = job.data, job.run, job.options(StackedOptions).rounds
    if rounds == 1:
        from tagweave.training.cascades.guided import fit_stages

        first, seen = ("parser", "trees") if job.recipe.structure == TREE else ("model", "labels")
        run.tell(f"first a {first} of {data.guidelines[1]}, then one of {data.target} that looks at its {seen}")
        return fit_stages(data.targets, data.sources, job.recipe, job.dev, run)
    from tagweave.training.cascades.guided_rounds import fit_guided_in_rounds
    from tagweave.training.cascades.transform import system_of

    return fit_guided_in_rounds(system_of(job.recipe, run), data.targets, data.sources, job.dev, rounds)


STACKED = Method(
    "stacked",
    "the labels of a model of the source are features",
    (CHAIN, TREE),
    StackedOptions,
    _fit_stacked,
    of_two=True,
)


_ROUNDS_OF_PARSERS = 2
"""Better than one on all development sets, for trees of newspapers, the web and Wikipedia."""


@dataclass(frozen=True)
class TransformOptions(GuidedOptions):
    """Options of the method `transform`."""

    rounds: int | None = option(
        None,
        "How many rounds to predict the guiding labels of the transfer model's training data. Default: 2 for parsers,"
        " else 1.",
        "N",
        1,
    )

    def for_task(self, task: str) -> Self:
        return replace(self, rounds=_ROUNDS_OF_PARSERS if task == "parse" else 1) if self.rounds is None else self


def _fit_transform(job: Job) -> Fitted:
    from tagweave.training.cascades.transform import fit_transformed, system_of

    data = job.data
    rounds = job.options(TransformOptions).rounds
    return fit_transformed(system_of(job.recipe, job.run), data.targets, data.sources, job.dev, rounds=rounds or 1)


TRANSFORM = Method("transform", "the sources are relabelled", (CHAIN, TREE), TransformOptions, _fit_transform)


ROUNDS = 5
"""The maximum number of rounds: word segmentation is best at the fourth (5.3, Figure 11)."""
SHARES = (0.0, 0.3)
"""The values of lambda to try in every round."""


@dataclass(frozen=True)
class IterateOptions(TransformOptions):
    """Options of the method `iterate`."""

    rounds: int = option(ROUNDS, "The maximum number of rounds of transformation.", "N", 1)
    predict_self: tuple[float, ...] = option(
        SHARES,
        "How much it counts, from 0 to 1, that a transformation leads back to the annotation of `sources`; of several"
        " values, the best on `dev` is kept.",
        "LAMBDA,...",
    )
    filter: bool = option(False, "Instead, drop sentences whose transformation does not lead back.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.filter and self.predict_self != SHARES:
            raise ValueError("found `predict_self` and `filter`, expected one of them: filtering has no lambda")
        if not self.predict_self or not all(0 <= share <= 1 for share in self.predict_self):
            raise ValueError(f"found `predict_self={self.predict_self}`, expected numbers from 0 to 1")

    def identity(self) -> dict[str, Any]:
        """Return the options without the number of rounds, which does not change the weights of any step."""
        return {**super().identity(), "rounds": None}


def _fit_iterate(job: Job) -> Fitted:
    """Return the best model of all rounds, with the scores of the rounds in its `about`."""
    from tagweave.training.cascades.transform import PredictSelf, fit_iterated, system_of

    if job.dev is None:
        raise PlanError("found no `dev` with the method iterate, expected one: it tells which round is best")
    data = job.data
    options = job.options(IterateOptions)
    system = system_of(job.recipe, job.run)
    way_back = PredictSelf(options.predict_self, options.filter)
    result = fit_iterated(system, data.targets, data.sources, job.dev, way_back, options.rounds)
    job.run.tell(f"round {result.best.number} is the best")
    rounds = [{"round": n, "predict_self": share, "dev_score": score} for n, share, score in result.rounds]
    best = {"round": result.best.number, "predict_self": result.best.share, "rounds": rounds}
    fitted = result.model
    outcome = replace(fitted.outcome, interrupted=result.interrupted)
    about = {**fitted.model.about, **best}
    return replace(fitted, model=replace(fitted.model, about=about), outcome=outcome)


ITERATE = Method(
    "iterate", "all corpora are relabelled, in rounds", (CHAIN, TREE), IterateOptions, _fit_iterate, needs_dev=True
)


def _fit_merged(job: Job) -> Fitted:
    from tagweave.training.cascades.guided import merged
    from tagweave.training.fit.fit import fit

    corpora = merged(job.data.targets, job.data.sources)
    target, originals, sample = job.data.target, job.data.corpora, job.recipe.sample
    order = sorted(range(len(originals)), key=lambda at: originals[at].guideline != target)  # the order of `merged`
    recipe = replace(job.recipe, sample=tuple(sample[at] for at in order if sample))
    return fit(corpora, recipe, job.dev, job.run)


MERGED = Method(
    "merged",
    "all corpora as if they were of one guideline",
    (CHAIN, TREE),
    Options,
    _fit_merged,
    samples=True,
    balances=True,
)


@dataclass(frozen=True)
class SubwordOptions(Options):
    """Options of the method `subword`."""

    folds: int = option(10, "In how many folds taggers label training text that they have not seen.", "N", 2)
    retrain: bool = option(False, "Train again, with the corpora of each `sources` relabelled and added.")


def _fit_subword(job: Job) -> Fitted:
    from tagweave.training.cascades.subword import Stacking, fit_stack

    options = job.options(SubwordOptions)
    data = job.data
    stacking = Stacking(options.folds, characters=options.retrain, pieces=options.retrain, seed=job.plan.seed)
    return fit_stack(data.targets, data.sources, job.recipe, stacking, job.dev, job.run)


SUBWORD = Method(
    "subword", "taggers cut pieces, which a model joins into words", (CHAIN,), SubwordOptions, _fit_subword
)

METHODS = (STACKED, MERGED, SUBWORD, TRANSFORM, ITERATE)
