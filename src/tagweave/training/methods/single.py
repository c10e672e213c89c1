"""The method `single`: one model of corpora of one guideline; incomplete annotation stays incomplete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tagweave.labels import SPANS
from tagweave.options import option
from tagweave.structures import CHAIN, KINDS
from tagweave.training.job import Job, Method
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from tagweave.training.fit.problem import Fitted

_ROUNDS = 2

Strategy = Literal["marginal", "posterior", "outside", "folds"]


@dataclass(frozen=True)
class SingleOptions(Options):
    """Options of the method `single`."""

    incomplete: Strategy = option(
        "marginal",
        "How to treat incomplete annotation: marginal sums over all that it allows; posterior takes what a model of the"
        " complete sentences believes of it; folds completes it by models of other parts of the text; outside puts O"
        " where nothing is known.",
        "STRATEGY",
        structure=CHAIN,
        flag=True,
    )
    entity_ratio: float | str | None = option(
        None,
        "The share of tokens inside spans that the model is to expect, or a completely annotated corpus to count it in"
        " (task spans). Default: where incomplete sentences have spans alone, the share in the development data, or in"
        " the complete sentences.",
        "NUMBER|FILE",
        structure=CHAIN,
    )
    ratio_margin: float = option(
        0.02, "How far the expected share may be from `entity_ratio` at no cost.", "SHARE", 0, 1, structure=CHAIN
    )
    ratio_weight: float = option(0.1, "How much a token beyond the margin costs.", "WEIGHT", 0, structure=CHAIN)
    span_confidence: float | None = option(
        None,
        "How far labels of spans are believed: distant annotation is often wrong. Default: 1; but if a model misses"
        " much of complete development data, a second one learns from them how far labels are wrong.",
        "P",
        0,
        1,
        structure=CHAIN,
    )
    outside_confidence: float = option(
        1.0, "How far O is believed, also where `incomplete=outside` puts it.", "P", 0, 1, structure=CHAIN
    )
    completion_rounds: int = option(
        _ROUNDS, "With `incomplete=folds`, how often the text is completed.", "N", 1, structure=CHAIN
    )
    soft: bool = option(
        False,
        "With `incomplete=folds`, a completed label counts only as much as its model believes in it.",
        structure=CHAIN,
    )

    documents: bool | None = option(
        None,
        "Whether features look at the whole document, by the labels of a first model (task spans). Default:"
        " if that is better on development data.",
        structure=CHAIN,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        defaults = {"completion_rounds": _ROUNDS, "soft": False}
        chosen = [name for name, value in defaults.items() if getattr(self, name) != value]
        if chosen and self.incomplete != "folds":
            raise ValueError(f"found `{chosen[0]}` with `incomplete={self.incomplete}`, expected `incomplete=folds`")


def _fit(job: Job) -> Fitted:
    from tagweave.errors import as_plan_error
    from tagweave.training.cascades.documents import with_documents
    from tagweave.training.cascades.incomplete import (
        FoldCompletion,
        believed,
        leaves_out_spans,
        ratio_from,
        ratio_of_data,
        treated,
    )
    from tagweave.training.cascades.noise import corrected
    from tagweave.training.fit.fit import fit

    options = job.options(SingleOptions)
    target_corpora = job.data.corpora
    share = options.entity_ratio
    is_open = share is None and options.incomplete == "marginal" and job.plan.task == SPANS
    if is_open and leaves_out_spans([(corpus, corpus.guideline) for corpus in target_corpora]):
        share = ratio_of_data(target_corpora, job.dev, job.run.tell)
    ratio = ratio_from(share, options.ratio_margin, options.ratio_weight, job.run.tell)
    with as_plan_error():
        recipe = replace(job.recipe, ratio=ratio)
    span_confidence = 1.0 if options.span_confidence is None else options.span_confidence
    corpora, recipe = treated(
        options.incomplete,
        believed(target_corpora, span_confidence, options.outside_confidence),
        recipe,
        job.dev,
        job.run,
        options.outside_confidence,
        FoldCompletion(rounds=options.completion_rounds, soft=options.soft, seed=job.plan.seed),
    )
    fitted = fit(corpora, recipe, job.dev, job.run)
    if replace(options, documents=None) == SingleOptions() and ratio is None:
        plain = fitted
        fitted = job.run.if_time(
            "a second model, of labels that may err",
            lambda run: corrected(target_corpora, recipe, job.dev, plain, run),
            fitted,
        )
    if options.documents is False or fitted.first is not None or job.is_trial or job.plan.task != SPANS:
        return fitted
    return job.run.if_time(
        "a second model, which looks at whole documents",
        lambda run: with_documents(corpora, recipe, job.dev, fitted, run, bool(options.documents), job.plan.seed),
        fitted,
    )


METHODS = (
    Method(
        "single",
        "one model of corpora of one guideline",
        KINDS,
        SingleOptions,
        _fit,
        samples=True,
        several=False,
    ),
)
