"""Recipes: how to fit a model, as plain data that the model can store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from typing import Any

import numpy as np

from tagweave import learning
from tagweave.corpus.corpus import Corpus
from tagweave.errors import PlanError
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.encoder import FeatureIndex, TemplateEncoder
from tagweave.features.lookups import NOTHING, GazetteerColumns, LexiconColumns, Lookups
from tagweave.features.templates import PRESETS, USUAL, Templates
from tagweave.labels import SPANS
from tagweave.labels.sets import Reading, reading
from tagweave.learning.seed_average import SeedAverage
from tagweave.learning.trainer import Trainer
from tagweave.structures import TREE
from tagweave.training.entity_ratio import EntityRatio
from tagweave.training.task import TASKS, Task

LEARNERS: dict[str, type[Any]] = {
    name: getattr(import_module(f"tagweave.learning.{module}"), learner)
    for name, (module, learner) in ((name, place.split(".")) for name, place in learning.LEARNERS.items())
}
"""The learners by name; the keyword arguments of each are its settings."""

MISTAKE_DRIVEN = tuple(name for name, place in learning.LEARNERS.items() if place.startswith("mistake_driven."))
"""The learners that compare the best labels with the best allowed ones: no gradients, and no probabilities."""


def in_batches(learner: str) -> bool:
    """Return whether a learner takes batches of sentences; the others take all sentences at once."""
    return hasattr(LEARNERS[learner], "batch")


def trainer_of(learner: str, settings: Mapping[str, Any], average_seeds: int = 1) -> Trainer:
    """Return the learner with its settings, or several that begin with its seed, the next one, and so on."""
    trainer: Trainer = LEARNERS[learner](**settings)
    if average_seeds == 1:
        return trainer
    check_average_seeds(learner, average_seeds)
    return SeedAverage.of(trainer, average_seeds)


def check_average_seeds(learner: str, count: int) -> None:
    """Raise unless trainings of a learner differ by their seed, or there is only one."""
    if count < 1:
        raise ValueError(f"found `average_seeds={count}`, expected at least 1")
    if count > 1 and not in_batches(learner):
        others = ", ".join(filter(in_batches, LEARNERS))
        expected = f"one of {others}: the others have no seed"
        raise ValueError(f"found `average_seeds={count}` with the learner {learner}, expected {expected}")


def by_words(targets: Sequence[Corpus], others: Sequence[Corpus], times: float = 1.0) -> tuple[int, ...]:
    """Return all sentences of the targets, and of each other corpus about `times` as many words as the targets have.

    Returns:
        the number of sentences of every corpus, the targets first: a `Recipe.sample`.
    """
    words = times * sum(corpus.tokens() for corpus in targets)
    return (
        *map(len, targets),
        *(min(len(each), int(-(-len(each) * words // max(1, each.tokens())))) for each in others),
    )


GUIDES = ("window", "joined")
"""How features of a guided model may use its guide's labels."""
_DENSE_LABELS = 64  # up to this many, every feature has a weight for every label: more memory, higher accuracy
ARC_SETTINGS: dict[str, Any] = {"rate": 0.05, "batch": 16, "initial": 1.0}
"""AdaGrad for arcs. Test UAS of zh/udc: 81.2 after six epochs; with its usual settings, made for chains, 78.1 after
three."""
_OF_CHAINS = ("task", "features", "minimum_count", "transitions", "edges", "sample", "ratio", "guide")
_OF_TREES = ("bits", "drop_columns", "projective")


@dataclass(frozen=True)
class Recipe:
    """How to fit a model."""

    task: Task = Task()  # the task, which determines tokens, labels and the structure
    # feature templates; by default the preset of the task, or for trees those of `usual_templates`
    templates: Templates | ArcTemplates | None = None
    learner: str = "adagrad"  # learner, settings: the learner's name and its settings; of parsers, the learner of heads
    settings: dict[str, Any] = field(default_factory=dict)
    # `all` gives every feature a weight for every label, `observed` only for labels that the evidence has observed; the
    # default depends on the number of labels
    features: str | None = None
    minimum_count: int = 1  # features that occur less often are dropped
    transitions: bool = True  # whether labels depend on their neighbours
    edges: bool = True  # whether the first and the last label of a sentence have weights
    precision: str = "float32"  # `float32`, or `float64` for results to the last digit
    threads: int = 1  # how many threads share the work
    # how many sentences of each corpus an iteration visits (li-2015, Algorithm 1); () for all
    sample: tuple[int, ...] = ()
    # how features use the guide's labels: a `window` of them, or one `joined` to every template (`guide_templates`);
    # the default depends on the learner
    guide: str | None = None
    ratio: EntityRatio | None = None  # the share of tokens inside spans that a model is to expect; `None`: any
    # what the numbers of candidates are: `posterior`, P(label | what was said), or `likelihood`, P(what was said |
    # label); the labels of trees are arcs
    soft_labels: Reading = "posterior"
    average_seeds: int = 1  # how many seeds a model is the average of
    # features of arcs are hashed into 2^bits rows of weights (test UAS of zh/udc with 17 to 21, without 18: 80.0, 81.7,
    # 82.0, 82.3)
    bits: int = 20
    drop_columns: float = 0.0  # the share of trees that training also sees in a copy without tags and columns
    projective: bool = True  # whether trees are projective, and others are made so for training; else arcs may cross

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"unknown learner {self.learner!r}, expected one of {', '.join(LEARNERS)}")
        if self.features not in (None, "all", "observed"):
            raise ValueError(f"found features={self.features!r}, expected 'all' or 'observed'")
        if self.guide not in (None, *GUIDES):
            raise ValueError(f"unknown features of a guide {self.guide!r}, expected {' or '.join(GUIDES)}")
        if not 4 <= self.bits <= 26:
            raise ValueError(f"found bits={self.bits}, expected 4 to 26")
        if not 0 <= self.drop_columns <= 1:
            raise ValueError(f"found drop_columns={self.drop_columns}, expected 0 to 1")
        reading(self.soft_labels)
        check_average_seeds(self.learner, self.average_seeds)
        if self.precision not in ("float32", "float64"):
            raise ValueError(f"unknown precision {self.precision!r}, expected 'float32' or 'float64'")
        if isinstance(self.templates, ArcTemplates) and self.templates.has_siblings and not self.projective:
            raise ValueError("found templates of siblings for trees whose arcs may cross, expected projective trees")
        if self.ratio is not None and self.task.name != SPANS:
            raise ValueError(f"found an entity ratio with the task {self.task.name}, expected the task spans")
        if self.ratio is not None and self.learner in MISTAKE_DRIVEN:
            expected = "a learner that follows a gradient"
            raise ValueError(f"found an entity ratio with the learner {self.learner}, expected {expected}")

    @property
    def structure(self) -> str:
        """The structure of the task."""
        return self.task.structure

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The type of weights and sums."""
        return np.float32 if self.precision == "float32" else np.float64

    def chosen_templates(self) -> Templates:
        """Return the templates of labels, or the task's preset."""
        assert not isinstance(self.templates, ArcTemplates)  # noqa: S101 - those of trees depend on the corpora
        return self.templates or PRESETS[USUAL[self.task.name]]

    def encoder(self, lookups: Lookups = NOTHING, index: FeatureIndex | None = None) -> TemplateEncoder:
        """Return an encoder of the templates with what they look up; without an index, an empty one."""
        lexicon, gazetteer = LexiconColumns(lookups.words), GazetteerColumns(lookups.gazetteer)
        return TemplateEncoder(self.chosen_templates(), index, lexicon, gazetteer, lookups.clusters)

    def trainer(self) -> Trainer:
        """Return the learner with its settings; AdaGrad has defaults that suit arcs for trees."""
        usual = ARC_SETTINGS if self.structure == TREE and self.learner == "adagrad" else {}
        return trainer_of(self.learner, {**usual, **self.settings}, self.average_seeds)

    def dense(self, labels: int) -> bool:
        """Return whether every feature has a weight for every label, with this many labels."""
        return labels <= _DENSE_LABELS if self.features is None else self.features == "all"

    def joins_guide(self) -> bool:
        """Return whether the label of a guide is joined to every template.

        On ZX with 4,000 sentences of People's Daily this gains the perceptron 0.4 points of F over a window of labels
        (segmentation, development data), and costs AdaGrad 0.3. Other mistake-driven learners follow the perceptron.
        """
        return self.learner in MISTAKE_DRIVEN if self.guide is None else self.guide == "joined"

    def to_json(self) -> dict[str, Any]:
        """Return a plain description of all that concerns the structure, for the model's metadata."""
        others = _OF_CHAINS if self.structure == TREE else _OF_TREES
        values = {name: value for name, value in asdict(self).items() if name not in others}
        templates = self.templates if self.structure == TREE else self.chosen_templates()
        return {**values, "templates": list(templates.texts) if templates else None}


_SWITCH = {"true": True, "1": True, "false": False, "0": False}


def learner_settings(learner: str, values: Mapping[str, str]) -> dict[str, int | float | bool]:
    """Read the settings of a learner, from names and values as text."""
    if learner not in LEARNERS:
        raise PlanError(f"unknown learner {learner!r}, expected one of {', '.join(LEARNERS)}")
    kinds = {field.name: str(field.type) for field in fields(LEARNERS[learner]) if field.name != "seed"}
    if unknown := [name for name in values if name not in kinds]:
        raise PlanError(f"unknown setting {unknown[0]!r} of {learner}, expected one of {', '.join(kinds)}")
    settings: dict[str, int | float | bool] = {}
    for name, value in values.items():
        kind, expected = kinds[name], "a number"
        try:
            if kind == "bool":
                expected = "true or false"
                settings[name] = _SWITCH[value.lower()]
            elif kind == "int":
                expected = "a whole number"
                settings[name] = int(value)
            else:
                settings[name] = float(value)
        except (LookupError, ValueError):
            raise PlanError(f"found `settings={name}={value}`, expected {expected}") from None
    return settings


def template_texts(task: str, presets: Sequence[str], templates: Sequence[str]) -> tuple[str, ...]:
    """Return the templates of all presets and the individual ones, without repeats."""
    if presets and task not in TASKS:
        raise PlanError(f"found `preset` with the task {task}, expected it without: it is for tags and words")
    for name in presets:
        if name not in PRESETS:
            raise PlanError(f"unknown preset {name!r}, expected one of {', '.join(PRESETS)}")
    texts = [text for name in presets for text in PRESETS[name].texts]
    return tuple(dict.fromkeys([*texts, *templates]))
