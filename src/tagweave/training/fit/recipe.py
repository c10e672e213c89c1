"""Recipes: how to fit a model, as plain data that the model can store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_type_hints

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.errors import PlanError, as_plan_error
from tagweave.features.arc_templates import ArcTemplates, check_clusters
from tagweave.features.encoder import FeatureIndex, TemplateEncoder
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.features.templates import PRESETS, USUAL, Templates
from tagweave.labels import SPANS
from tagweave.labels.sets import Reading
from tagweave.learning.learners import learner_classes
from tagweave.learning.seed_average import SeedAverage
from tagweave.learning.trainer import Trainer
from tagweave.options import value_of
from tagweave.structures import CHAIN, STRUCTURES, TREE
from tagweave.structures.terms import LabelShare
from tagweave.training.fit.task import TASKS, Task
from tagweave.training.plan import ResolvedPlan

LEARNERS = learner_classes()
"""The learners by name; the keyword arguments of each are its settings."""


FEATURE_LEARNERS = {name: learner for name, learner in LEARNERS.items() if not learner.of_networks}
"""Those that train models of features alone."""


def in_batches(learner: str) -> bool:
    """Return whether a learner takes batches of sentences; the others take all sentences at once."""
    return hasattr(LEARNERS[learner], "batch")


def has_seed(learner: str) -> bool:
    """Return whether what a learner does depends on a seed."""
    return "seed" in LEARNERS[learner].__dataclass_fields__


def rate_of_network(width: int) -> float:
    """Return the rate of a network whose states have so many numbers: wider ones need smaller steps."""
    return float(min(1e-3, _RATE * (_WIDTH / width) ** 2))


def by_words(targets: Sequence[Corpus], sources: Sequence[Corpus], times: float = 1.0) -> tuple[int, ...]:
    """Return all sentences of the targets, and of each other corpus about `times` as many words as the targets have.

    Returns:
        the number of sentences of every corpus, the targets first: a `Recipe.sample`.
    """
    words = times * sum(corpus.tokens() for corpus in targets)
    return (
        *map(len, targets),
        *(min(len(corpus), int(-(-len(corpus) * words // max(1, corpus.tokens())))) for corpus in sources),
    )


@dataclass(frozen=True)
class EntityRatio:
    """The share of tokens inside spans that a model is to expect (Effland and Collins 2021; see `structures.terms`)."""

    target: float  # the share of tokens that are inside spans, 0..1
    margin: float = 0.02  # how far the expected share may be from it at no cost
    weight: float = 0.1

    def penalty(self, names: Sequence[str]) -> LabelShare:
        return LabelShare.inside(names, self.target, self.margin, self.weight)


_DENSE_LABELS = 64  # up to this many, every feature has a weight for every label: more memory, higher accuracy
ARC_SETTINGS: dict[str, Any] = {"rate": 0.05, "batch": 16, "initial": 1.0}
"""AdaGrad for arcs. Test UAS of zh/udc: 81.2 after six epochs; with its usual settings, made for chains, 78.1 after
three."""
SPAN_SETTINGS: dict[str, Any] = {"rate": 0.1}
"""AdaGrad for spans. Dev F with 0.2 and 0.1: 91.5, 91.4 and 80.9, 81.4 in English (14,041 and 2,400 sentences); 76.4,
76.9 and 62.7, 63.4 in Spanish (8,316 and 1,000); 93.3, 93.5 and 86.4, 86.9 of chunks (7,936 and 1,000); 58.9, 60.6 and
44.2, 45.2 of CrossNER (200 and 100); 42.4, 43.6, 48.6, 49.8 and 69.6, 69.6 of three noises of NoiseBench."""
_RATE, _WIDTH = 2e-4, 384
"""The rate of a network whose states have so many numbers."""
DROP_COLUMNS = 0.5
"""Chosen on development sets of four languages: see docs/parsing.md."""
_CHAINS, _TREES = {"structure": CHAIN}, {"structure": TREE}
"""What marks the fields of a recipe that concern one structure alone."""


@dataclass(frozen=True)
class Recipe:
    """How to fit a model."""

    # the task, which determines tokens, labels and the structure
    task: Task = field(default=Task(), metadata=_CHAINS)
    # feature templates; by default the preset of the task, or for trees those of `usual_templates`
    templates: Templates | ArcTemplates | None = None
    learner: str = "adagrad"  # learner, settings: the learner's name and its settings; of parsers, the learner of heads
    settings: dict[str, Any] = field(default_factory=dict)
    # `all` gives every feature a weight for every label, `observed` only for labels that the evidence has observed; the
    # default depends on the number of labels
    features: str | None = field(default=None, metadata=_CHAINS)
    # features that occur less often are dropped
    minimum_count: int = field(default=1, metadata=_CHAINS)
    # whether labels depend on their neighbours
    transitions: bool = field(default=True, metadata=_CHAINS)
    # whether the first and the last label of a sentence have weights
    edges: bool = field(default=True, metadata=_CHAINS)
    precision: str = "float32"  # `float32`, or `float64` for results to the last digit
    threads: int = 1  # how many threads share the work
    # how many sentences of each corpus an iteration visits (li-2015, Algorithm 1); () for all
    sample: tuple[int, ...] = field(default=(), metadata=_CHAINS)
    # how features use the guide's labels: a `window` of them, or one `joined` to every template (`guide_templates`);
    # the default depends on the learner
    guide: str | None = field(default=None, metadata=_CHAINS)
    # the share of tokens inside spans that a model is to expect; `None`: any
    ratio: EntityRatio | None = field(default=None, metadata=_CHAINS)
    # what the numbers of candidates are: `posterior`, P(label | observation), or `likelihood`, P(observation |
    # label); the labels of trees are arcs
    soft_labels: Reading = "posterior"
    average_seeds: int = 1  # how many seeds a model is the average of
    lookups: Lookups = field(default=NOTHING, repr=False)  # what features look up; models store it with their encoders
    # the features of a model that shares them with others; `None`: those that occur in its corpora
    index: FeatureIndex | None = field(default=None, repr=False)
    # features of arcs are hashed into 2^bits rows of weights (test UAS of zh/udc with 17 to 21, without 18: 80.0, 81.7,
    # 82.0, 82.3)
    bits: int = field(default=20, metadata=_TREES)
    # where a network is trained: `auto`, `cpu`, `cuda` or `mps`
    device: str = field(default="auto", metadata=_CHAINS)
    # which pieces of a token a network's vector comes from: `first`, `mean` or `last` (dev F of CrossNER politics,
    # science and AI with the first, 68.2, 63.9 and 53.4, and the mean, 68.1, 65.9 and 54.0)
    pooling: str = field(default="mean", metadata=_CHAINS)
    # the share of trees that training also sees in a copy without tags and columns
    drop_columns: float = field(default=0.0, metadata=_TREES)
    # whether trees are projective, and others are made so for training; else arcs may cross
    projective: bool = field(default=True, metadata=_TREES)

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"unknown learner {self.learner!r}, expected one of {', '.join(LEARNERS)}")
        if self.average_seeds > 1 and not has_seed(self.learner):
            expected = f"one of {', '.join(filter(has_seed, LEARNERS))}: the others have no seed"
            problem = f"found `average_seeds={self.average_seeds}` with the learner {self.learner}"
            raise ValueError(f"{problem}, expected {expected}")
        if isinstance(self.templates, ArcTemplates) and self.templates.has_siblings and not self.projective:
            raise ValueError("found templates of siblings for trees whose arcs may cross, expected projective trees")
        if self.ratio is not None and self.task.name != SPANS:
            raise ValueError(f"found an entity ratio with the task {self.task.name}, expected the task spans")
        if self.ratio is not None and self.mistake_driven:
            expected = "a learner that follows a gradient"
            raise ValueError(f"found an entity ratio with the learner {self.learner}, expected {expected}")

    @classmethod
    def of_plan(cls, plan: ResolvedPlan, sample: tuple[int, ...] = ()) -> Recipe:
        """Return the recipe of a plan; raise PlanError where the options of the plan do not go together."""
        with as_plan_error():
            task = Task(plan.task, plan.coding, plan.gaps)
            kind = ArcTemplates if task.structure == TREE else Templates
            return cls(
                task,
                kind(plan.templates) if plan.templates or not plan.has_features else None,
                settings={**({"seed": plan.seed} if has_seed(plan.learner) else {}), **plan.settings},
                features=plan.feature_weights,
                sample=sample,
                guide=getattr(plan.options, "guide", None),
                average_seeds=plan.average_seeds or 1,
                drop_columns=DROP_COLUMNS if plan.drop_columns is None else plan.drop_columns,
                projective=not plan.non_projective,
                learner=plan.learner,
                minimum_count=plan.minimum_count,
                precision=plan.precision,
                threads=plan.threads,
                soft_labels=plan.soft_labels,
                device=plan.device,
                pooling=plan.pooling,
            )

    def of_features(self) -> Recipe:
        """Return the recipe without its network, which takes minutes: for models that are trained on the side."""
        if self.lookups.subwords is None:
            return self
        lookups, templates = replace(self.lookups, subwords=None), self.chosen_templates()
        return replace(
            self, templates=templates if templates.texts else None, lookups=lookups, learner="adagrad", settings={}
        )

    @property
    def mistake_driven(self) -> bool:
        """Whether the learner compares the best labels with the best allowed ones: no gradients, no probabilities."""
        mistake_driven: bool = LEARNERS[self.learner].mistake_driven
        return mistake_driven

    @property
    def structure(self) -> str:
        return self.task.structure

    @property
    def dtype(self) -> type[np.floating[Any]]:
        return np.float32 if self.precision == "float32" else np.float64

    def chosen_templates(self) -> Templates:
        """Return the templates of labels, or the task's preset."""
        assert not isinstance(self.templates, ArcTemplates)  # noqa: S101 - those of trees depend on the corpora
        return self.templates or PRESETS[USUAL[self.task.name]]

    def encoder(self, index: FeatureIndex | None = None) -> TemplateEncoder:
        """Return an encoder of the templates with what they look up; without an index, the shared one, or an empty
        one."""
        return TemplateEncoder(self.chosen_templates(), index or self.index, self.lookups)

    def trainer(self) -> Trainer:
        """Return the learner with its settings; AdaGrad has defaults that suit arcs and spans, AdamW the network."""
        usual: Mapping[str, Any] = {}
        if self.learner == "adagrad":
            usual = ARC_SETTINGS if self.structure == TREE else SPAN_SETTINGS if self.task.name == SPANS else {}
        elif self.lookups.subwords is not None:
            usual = {"rate": rate_of_network(self.lookups.subwords.width)}
        trainer: Trainer = LEARNERS[self.learner](**{**usual, **self.settings})
        return trainer if self.average_seeds == 1 else SeedAverage.of(trainer, self.average_seeds)

    def dense(self, labels: int) -> bool:
        """Return whether every feature has a weight for every label, with this many labels."""
        return labels <= _DENSE_LABELS if self.features is None else self.features == "all"

    def joins_guide(self) -> bool:
        """Return whether the label of a guide is joined to every template.

        On ZX with 4,000 sentences of People's Daily this gains the perceptron 0.4 points of F over a window of labels
        (segmentation, development data), and costs AdaGrad 0.3. Other mistake-driven learners follow the perceptron.
        """
        return self.mistake_driven if self.guide is None else self.guide == "joined"

    def to_json(self) -> dict[str, Any]:
        """Return a plain description of all that concerns the structure, for the model's metadata."""
        names = [
            field.name for field in fields(self) if field.metadata.get("structure", self.structure) == self.structure
        ]
        plain = asdict(replace(self, lookups=NOTHING, index=None))
        values = {name: plain[name] for name in names if name not in ("lookups", "index")}
        templates = self.templates if self.structure == TREE else self.chosen_templates()
        return {**values, "templates": list(templates.texts) if templates else None}


def learner_settings(learner: str, values: Mapping[str, str]) -> dict[str, int | float | bool]:
    """Read the settings of a learner, from names and values as text."""
    if learner not in LEARNERS:
        raise PlanError(f"unknown learner {learner!r}, expected one of {', '.join(LEARNERS)}")
    kinds = get_type_hints(LEARNERS[learner])
    names = [field.name for field in fields(LEARNERS[learner]) if field.name != "seed"]
    if unknown := [name for name in values if name not in names]:
        raise PlanError(f"unknown setting {unknown[0]!r} of {learner}, expected one of {', '.join(names)}")
    return {name: value_of(f"settings={name}", value, kinds[name], is_text=True) for name, value in values.items()}


def template_texts(task: str | None, presets: Sequence[str], templates: Sequence[str]) -> tuple[str, ...]:
    """Return the templates of all presets and the individual ones, without repeats."""
    if presets and task not in (None, *TASKS):
        raise PlanError(f"found `preset` with the task {task}, expected it without: it is for tags and words")
    for name in presets:
        if name not in PRESETS:
            raise PlanError(f"unknown preset {name!r}, expected one of {', '.join(PRESETS)}")
    texts = [text for name in presets for text in PRESETS[name].texts]
    return tuple(dict.fromkeys([*texts, *templates]))


def templates_of(plan: ResolvedPlan) -> tuple[str, ...]:
    """Return the templates of a plan, parsed now to report a mistake before minutes of loading."""
    if STRUCTURES[plan.task] == TREE:
        with as_plan_error():
            if columns := ArcTemplates(plan.templates).columns:
                check_clusters(columns, bool(plan.clusters or plan.vectors))
        return plan.templates
    if not plan.has_features:
        return ()
    if not plan.templates:
        preset = USUAL[plan.task]
        if plan.lexicons and f"{preset}-lexicon" in PRESETS:  # the lexicon of another task is refused later
            preset = f"{preset}-lexicon"
        of_vectors = plan.vectors and not plan.clusters and plan.task == SPANS  # tags of WSJ: 97.03, without 97.27
        files_of = {"gazetteer": plan.gazetteers, "clusters": plan.clusters, "vector-clusters": of_vectors}
        looked_up = (text for name, files in files_of.items() if files for text in PRESETS[name].texts)
        return (*PRESETS[preset].texts, *looked_up)
    chosen = Templates(plan.templates)
    has_clusters = bool(plan.clusters or (plan.vectors and chosen.cluster_columns))
    chosen.check_lookups(bool(plan.lexicons), bool(plan.gazetteers), has_clusters)
    _ = chosen.families
    return plan.templates
