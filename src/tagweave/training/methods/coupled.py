"""The method `coupled`: one model for the tags of several guidelines (li-2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tagweave.errors import PlanError
from tagweave.structures import CHAIN
from tagweave.training.methods.method import Method
from tagweave.training.options import Options, check_ranges, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.labels.mapping import TagMapping
    from tagweave.training.coupled import Coupling
    from tagweave.training.job import Job
    from tagweave.training.pruning import Narrowing, Pruning

AUTOMATIC, COMPLETE = "automatic", "complete"
_NARROW = 0.01  # better than none on dev and test of four pairs, a small target or a large one (docs/coupled.md)
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
    )
    mapping_minimum: int | None = option(
        None,
        "Drop pairs seen less often, except the most frequent one of each label. Default: once in 10,000 tokens, for"
        " the automatic mapping.",
        "N",
        1,
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
    prune: float | None = option(
        None,
        "At each token, consider only pairs of labels to which models of the single guidelines give at least this"
        " probability: faster where there are many pairs.",
        "PROBABILITY",
        0,
        1,
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if COMPLETE in self.mapping and (len(set(self.mapping)) > 1 or self.mapping_tight or self.mapping_minimum):
            conflict = f"found `mapping={COMPLETE}` with another `mapping`, `mapping_minimum` or `mapping_tight`"
            raise ValueError(f"{conflict}, expected it alone: it has all pairs")

    def check_files(self) -> None:
        """See `Options.check_files`."""
        _ = self.files

    @property
    def has_folds(self) -> bool:
        """Taggers of the other half propose labels for each half."""
        return self.prune is not None

    def for_task(self, task: str) -> CoupledOptions:
        """The options with the defaults of a task filled in.

        The mapping is complete for segmentation, otherwise automatic; taggers of words are narrowed.
        """
        mapping = self.mapping or (COMPLETE if task == "segment" else AUTOMATIC,)
        narrow = _NARROW if self.narrow is None and task == "tag" else self.narrow
        return replace(self, mapping=mapping, narrow=narrow)

    @cached_property
    def files(self) -> list[tuple[str, TagMapping]]:
        """The mappings read from files, with the names the user gave them.

        Raises:
            PlanError: an unknown name.
            CorpusError, OSError: a file is not a mapping or cannot be read.
        """
        return [(name, _read(name)) for name in dict.fromkeys(self.mapping) if name not in (AUTOMATIC, COMPLETE)]

    def identity(self) -> dict[str, Any]:
        """The options and the contents of the mapping files."""
        pairs = [[mapping.first, mapping.second, sorted(mapping.counts.items())] for _, mapping in self.files]
        return {**super().identity(), "pairs": pairs}


def _read(name: str) -> TagMapping:
    from tagweave.labels.mapping import SHIPPED, read_mapping

    if Path(name).exists():
        return read_mapping(name)
    if name not in SHIPPED:
        known = ", ".join((AUTOMATIC, COMPLETE, *SHIPPED))
        raise PlanError(f"found `mapping={name}`, expected {known}, or a file")
    return read_mapping(SHIPPED[name])


@dataclass(frozen=True)
class _Coupling:
    """The steps of the method."""

    job: Job
    options: CoupledOptions

    @property
    def is_automatic(self) -> bool:
        return AUTOMATIC in self.options.mapping

    def coupling(self, automatic: Sequence[TagMapping] = ()) -> Coupling:
        """The coupling. Automatic mappings also get every pair attested at one token, however rare.

        Raises:
            PlanError: a mapping is for other guidelines.
        """
        from tagweave.training.coupled import Coupling, with_attested

        guidelines, corpora = self.job.data.guidelines, self.job.data.corpora
        joint, separate = _VIEWS[self.options.views]
        mappings = [self._frequent(_named(mapping, name, guidelines)) for name, mapping in self.options.files]
        if self.options.mapping_tight:
            mappings, automatic = ([each.tight() for each in group] for group in (mappings, automatic))
        return Coupling((*mappings, *(with_attested(each, corpora) for each in automatic)), joint, separate)

    def _frequent(self, mapping: TagMapping) -> TagMapping:
        return mapping.at_least(self.options.mapping_minimum) if self.options.mapping_minimum else mapping

    def fit(self) -> Any:
        from tagweave.training.chain_problem import mapping_lines
        from tagweave.training.coupled import for_bundles, prepare_coupled

        job, narrowing = self.job, self._narrowing()
        coupling = self.coupling(self._automatic(narrowing) if self.is_automatic else ())
        corpora, pruning = self._pruned()
        problem = prepare_coupled(corpora, job.recipe, coupling, pruning, narrowing)
        for line in mapping_lines(problem, coupling.mappings):
            job.run.tell(line)
        return job.fit(job.data.corpora, for_bundles(job.recipe, len(problem.model.space)), problem)

    def _pruned(self) -> tuple[Sequence[Corpus], Pruning | None]:
        """The corpora with the candidate labels of each token, and the models that proposed them."""
        from tagweave.training.pruning import fit_pruning, with_proposals

        job, threshold = self.job, self.options.prune
        corpora, tell = job.data.corpora, job.run.tell
        if threshold is None:
            return corpora, None
        tell(
            f"first models of {' and '.join(job.data.guidelines)}, which propose labels:"
            f" those with a probability of at least {threshold:g}"
        )
        pruning = fit_pruning(corpora, job.recipe, threshold, job.run)
        return with_proposals(corpora, job.recipe, pruning, job.run), pruning

    def _narrowing(self) -> Narrowing | None:
        """The taggers that narrow the labels that corpora lack."""
        from tagweave.training.pruning import fit_narrowing

        job, threshold = self.job, self.options.narrow
        if not threshold:
            return None
        job.run.tell(f"first taggers, which allow labels with a probability of at least {threshold:g}")
        return fit_narrowing(job.data.corpora, job.recipe, threshold, self._target_dev, job.run)

    @property
    def _target_dev(self) -> Corpus | None:
        dev = self.job.dev
        return dev if dev and dev.guideline == self.job.data.target else None

    def _automatic(self, narrowing: Narrowing | None) -> tuple[TagMapping, ...]:
        """The automatic mappings between the target and every other guideline."""
        from tagweave.training.coupled import mappings_by, mappings_by_narrowing

        job, minimum = self.job, self.options.mapping_minimum
        data, tell = job.data, job.run.tell
        if narrowing:
            tell("the same taggers label the other corpora, for the automatic mapping")
            mappings = mappings_by_narrowing(narrowing, data.corpora, job.recipe, minimum)
        elif job.plain and len(data.targets) == data.own:
            tell(f"the plain model labels the other corpora, for the automatic mapping of {data.target} and their tags")
            mappings = mappings_by(job.plain.model, data.corpora, job.recipe, minimum)
        else:
            mappings = self._mappings_by_a_tagger(minimum)
        for mapping in mappings:
            tell(f"automatic mapping of {mapping.first} and {mapping.second}: {len(mapping.counts):,} pairs of tags")
        return mappings

    def _mappings_by_a_tagger(self, minimum: int | None) -> tuple[TagMapping, ...]:
        from tagweave.training.coupled import fit_mappings

        job, data, run = self.job, self.job.data, self.job.run
        run.tell(f"first a model of {data.target}, whose labels of the other corpora give the automatic mapping")
        return fit_mappings(data.targets, data.sources, job.recipe, minimum, self._target_dev, run)


def _named(mapping: TagMapping, name: str, guidelines: Sequence[str]) -> TagMapping:
    """The mapping with its guidelines; one that names none takes the only two there are.

    Raises:
        PlanError: the mapping is not between two of these guidelines.
    """
    if not (mapping.first or mapping.second) and len(guidelines) == 2:
        return replace(mapping, first=guidelines[0], second=guidelines[1])
    if not {mapping.first, mapping.second} <= set(guidelines):
        sides = f"{mapping.first} and {mapping.second}" if mapping.first else "no guidelines"
        expected = f"two of {', '.join(guidelines)} (corpora can be named: GUIDELINE=FILE)"
        raise PlanError(f"`mapping={name}`: found a mapping of {sides}, expected {expected}")
    return mapping


def _of(job: Job) -> _Coupling:

    return _Coupling(job, job.options(CoupledOptions))


def _check(job: Job) -> None:
    from tagweave.training.coupled import refuse_contradictions

    coupling = _of(job)
    if coupling.options.narrow and (task := job.plan.task) != "tag":
        raise PlanError(f"found `narrow` with the task {task}, expected tag")
    refuse_contradictions(job.data.corpora, coupling.job.recipe, coupling.coupling().mappings)


def _fit(job: Job) -> Any:
    return _of(job).fit()


METHOD = Method(
    "coupled", "one model of both guidelines", (CHAIN,), CoupledOptions, _fit, _check, samples=True, balances=True
)
