"""The method `coupled`: one model for the tags of several guidelines (li-2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tagweave.errors import PlanError
from tagweave.labels import SPANS
from tagweave.options import option
from tagweave.structures import CHAIN
from tagweave.training.job import Job, Method
from tagweave.training.plan import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.labels.mapping import TagMapping
    from tagweave.models.chain import ChainModel
    from tagweave.training.cascades.coupled import Coupling
    from tagweave.training.cascades.narrowing import Narrowing
    from tagweave.training.fit.problem import Fitted

AUTOMATIC, COMPLETE = "automatic", "complete"
_NARROW = 0.01  # better than none on dev and test of four pairs (docs/results/li-2015-narrowing.md)
_POOLED = ("tag", "segment", SPANS)
"""The tasks in whose models a guided tagger has a share."""
_VIEWS = {"both": (True, True), "joint": (True, False), "separate": (False, True)}


@dataclass(frozen=True)
class CoupledOptions(Options):
    """Options of the method `coupled`."""

    mapping: tuple[str, ...] = option(
        (),
        "Which labels of two guidelines may pair up: automatic, those that do when a model of TRAIN labels the"
        " other corpora; complete, all; or those in a file; ctb-pd is built in (repeatable). Default: complete for the"
        " task segment, else automatic.",
        "automatic|complete|FILE",
        flag=True,
    )
    mapping_tight: bool = option(False, "Keep only the most frequent pairs: nine tenths of each label's.")
    views: Literal["both", "joint", "separate"] = option(
        "both", "What has weights: pairs of labels (joint), the labels of each guideline (separate), or both."
    )
    narrow: float | None = option(
        None,
        "Of the labels that a corpus lacks, allow at each token those to which a tagger gives at least this"
        " probability, so that rare labels do not become hidden states; 0: all. For the task tag. Default: 0.01.",
        "PROBABILITY",
        0,
        1,
    )
    guided: float | None = option(
        None,
        "The share that a tagger of the target, which looks at labels of the source, has in the weights; 0: none."
        " Default: for two guidelines, but not for segtag, 0, 0.33 or 0.5, as is best on dev (0.33 without dev).",
        "SHARE",
        0,
        1,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if COMPLETE in self.mapping and (len(set(self.mapping)) > 1 or self.mapping_tight):
            conflict = f"found `mapping={COMPLETE}` with another `mapping` or `mapping_tight`"
            raise ValueError(f"{conflict}, expected it alone: it has all pairs")

    def check_files(self) -> None:
        _ = self.files

    def for_task(self, task: str) -> CoupledOptions:
        """Fill in the mapping, complete for segmentation, and for words how far labels are narrowed."""
        mapping = self.mapping or (COMPLETE if task == "segment" else AUTOMATIC,)
        narrow = _NARROW if self.narrow is None and task == "tag" else self.narrow
        return replace(self, mapping=mapping, narrow=narrow)

    @cached_property
    def files(self) -> list[tuple[str, TagMapping]]:
        return [(name, _read(name)) for name in dict.fromkeys(self.mapping) if name not in (AUTOMATIC, COMPLETE)]

    def identity(self) -> dict[str, Any]:
        pairs = [[mapping.first, mapping.second, sorted(mapping.counts.items())] for _, mapping in self.files]
        return {**super().identity(), "pairs": pairs}


def _read(name: str) -> TagMapping:
    from tagweave.labels.mapping import SHIPPED, read_mapping

    if Path(name).exists():
        return read_mapping(name)
    if name not in SHIPPED:
        names = ", ".join((AUTOMATIC, COMPLETE, *SHIPPED))
        raise PlanError(f"found `mapping={name}`, expected {names}, or a file")
    return read_mapping(SHIPPED[name])


def _coupling(job: Job, automatic: Sequence[TagMapping] = ()) -> Coupling:
    """Couple the tags of a job. Automatic mappings also get every pair attested at one token, however rare."""
    from tagweave.training.cascades.coupled import Coupling, with_attested

    options = job.options(CoupledOptions)
    guidelines = job.data.guidelines
    mappings = [_named(mapping, name, guidelines) for name, mapping in options.files]
    if options.mapping_tight:
        mappings, automatic = ([mapping.tight() for mapping in group] for group in (mappings, automatic))
    attested = (with_attested(mapping, job.data.corpora) for mapping in automatic)
    return Coupling((*mappings, *attested), *_VIEWS[options.views])


def _named(mapping: TagMapping, name: str, guidelines: Sequence[str]) -> TagMapping:
    """Give a mapping that names no guidelines the only two there are."""
    if not (mapping.first or mapping.second) and len(guidelines) == 2:
        return replace(mapping, first=guidelines[0], second=guidelines[1])
    if not {mapping.first, mapping.second} <= set(guidelines):
        sides = f"{mapping.first} and {mapping.second}" if mapping.first else "no guidelines"
        expected = f"two of {', '.join(guidelines)} (corpora can be named: GUIDELINE=FILE)"
        raise PlanError(f"`mapping={name}`: found a mapping of {sides}, expected {expected}")
    return mapping


def _check(job: Job) -> None:
    from tagweave.training.cascades.coupled import refuse_contradictions

    if job.options(CoupledOptions).narrow and (task := job.plan.task) != "tag":
        raise PlanError(f"found `narrow` with the task {task}, expected tag")
    if job.options(CoupledOptions).guided and (obstacle := _obstacle(job)):
        raise PlanError(f"found `guided` with {obstacle}, expected it without")
    refuse_contradictions(job.data.corpora, job.recipe, _coupling(job).mappings)


def _fit(job: Job) -> Fitted:
    from tagweave.training.cascades.coupled import for_bundles, prepare_coupled
    from tagweave.training.cascades.narrowing import fit_narrowing
    from tagweave.training.fit.chain_problem import mapping_lines, sample_line
    from tagweave.training.fit.problem import fit_problem

    options, data, run = job.options(CoupledOptions), job.data, job.run
    corpora, narrowing = data.corpora, None
    target_dev = job.dev if job.dev and job.dev.guideline == data.target else None
    if options.narrow:
        run.tell(f"first taggers, which allow labels with a probability of at least {options.narrow:g}")
        narrowing = fit_narrowing(corpora, job.recipe, options.narrow, target_dev, run, job.guided)
    is_automatic = AUTOMATIC in options.mapping
    coupling = _coupling(job, _automatic(job, narrowing, target_dev) if is_automatic else ())
    problem = prepare_coupled(corpora, job.recipe, coupling, narrowing)
    for line in mapping_lines(problem, coupling.mappings):
        run.tell(line)
    recipe = for_bundles(job.recipe, len(problem.model.space))
    run.tell(sample_line(data.corpora, recipe.sample))
    tagger = _guided(job, narrowing, target_dev)
    fitted = fit_problem(problem, recipe, job.dev, run)
    return fitted if tagger is None or fitted.outcome.interrupted else _pooled(job, fitted, tagger, target_dev)


def _guided(job: Job, narrowing: Narrowing | None, dev: Corpus | None) -> ChainModel | None:
    """Return a tagger of the target that looks at the labels of the source, if it is to have a share."""
    from tagweave.models.cascades import GuidedEncoder
    from tagweave.training.cascades.guided import fit_quickly
    from tagweave.training.methods.adaptation import STACKED

    data = job.data
    share = job.options(CoupledOptions).guided
    suits = _obstacle(job) is None and (job.dev is None or dev is not None)
    if not (share if share is not None else suits and job.plan.task in _POOLED):
        return None
    if narrowing is not None:
        tagger = narrowing.taggers[data.guidelines[1], data.target]
        return tagger if isinstance(tagger.encoder, GuidedEncoder) else None
    fitted = job.guided
    run = job.run
    if fitted is None:
        run.tell(f"first a tagger of {data.guidelines[1]}, then one of {data.target} that looks at its labels")
        recipe = job.with_method(STACKED).recipe
        runs = (run.part("source-1"), run.part("target-1"))
        fitted = fit_quickly(data.targets, data.sources, recipe, dev, runs)
    model: ChainModel = fitted.finished_model()
    return model


def _obstacle(job: Job) -> str | None:
    """Return why no tagger can have a share in the model, if there is a reason."""
    if len(job.data.guidelines) > 2:
        return "three guidelines"
    return "a network" if job.plan.folder else None


def _pooled(job: Job, fitted: Fitted, tagger: ChainModel, dev: Corpus | None) -> Fitted:
    """Return the coupled model with a share of a tagger."""
    from tagweave.training.cascades.coupled import with_share

    data, tell = job.data, job.run.tell
    if fitted.model.space.views[0].names != tagger.space.views[0].names:
        tell(f"no share of a tagger of TRAIN: other corpora have other labels of {data.target}, too")
        return fitted
    shared, scores = with_share(fitted, tagger, job.recipe, dev, job.options(CoupledOptions).guided)
    if scores:
        scores_told = ", ".join(f"{share:.2g}: {score:.4f}" for share, score in scores.items())
        tell(f"share of a tagger that looks at labels of {data.guidelines[1]}, dev: {scores_told}")
    return shared


def _automatic(job: Job, narrowing: Narrowing | None, target_dev: Corpus | None) -> tuple[TagMapping, ...]:
    from tagweave.training.cascades.coupled import fit_mappings, mappings_by, mappings_by_narrowing

    data, run = job.data, job.run
    if narrowing:
        run.tell("the same taggers label the other corpora, for the automatic mapping")
        mappings = mappings_by_narrowing(narrowing, data.corpora, job.recipe)
    elif job.plain and len(data.targets) == data.train_count:
        run.tell(f"the plain model labels the other corpora, for the automatic mapping of {data.target} and their tags")
        mappings = mappings_by(job.plain.model, data.corpora, job.recipe)
    else:
        run.tell(f"first a model of {data.target}, whose labels of the other corpora give the automatic mapping")
        mappings = fit_mappings(data.targets, data.sources, job.recipe, target_dev, run)
    for mapping in mappings:
        run.tell(f"automatic mapping of {mapping.first} and {mapping.second}: {len(mapping.counts):,} pairs of tags")
    return mappings


METHODS = (
    Method(
        "coupled", "one model of both guidelines", (CHAIN,), CoupledOptions, _fit, _check, samples=True, balances=True
    ),
)
