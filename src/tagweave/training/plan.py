"""Training plans: what to train, on what and how, as plain data.

A plan holds everything that determines the weights of a model. Every model stores the plan it was trained by, with its
method, options, templates and corpora filled in, so it can be trained again, on the same corpora or on others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

SCHEMA = 1
"""The version of the JSON form of plans."""


@dataclass(frozen=True)
class FileReference:
    """A file with its digest and size.

    Attributes:
        path: the path of the file; "" for data that are not from a file.
        sha256: the digest of the file; "" if it has not been read yet.
        size: the number of sentences, words of a lexicon or of clusters, phrases of a gazetteer; `None`: not read
            yet.
    """

    path: str = ""
    sha256: str = ""
    size: int | None = None


@dataclass(frozen=True)
class CorpusReference(FileReference):
    """A corpus file, with the weight and sample of the corpus in training.

    Attributes:
        layer: the layer of the file; `None`: the default of its format.
        guideline: the name of the guideline; `None`: that of the layer.
        format: the format of the file; `None`: recognised by its name and text.
        weight: how often a sentence counts.
        sample: how many sentences an iteration visits, or `all`; `None`: the method decides.
    """

    layer: str | None = None
    guideline: str | None = None
    format: str | None = None
    weight: float = 1.0
    sample: int | Literal["all"] | None = None

    @classmethod
    def of(cls, argument: str, format: str | None = None, weight: float = 1.0) -> CorpusReference:  # noqa: A002
        """The reference for `[GUIDELINE=]PATH[#LAYER]`."""
        from tagweave.corpus.load import parse_argument

        parsed = parse_argument(argument)
        return cls(parsed.path, "", None, parsed.layer, parsed.guideline, format, weight)

    @property
    def argument(self) -> str:
        """The reference as `[GUIDELINE=]PATH[#LAYER]`."""
        name = "" if self.guideline is None else f"{self.guideline}="
        return f"{name}{self.path}" + ("" if self.layer is None else f"#{self.layer}")


@dataclass(frozen=True)
class TrainingPlan:
    """What to train, on what and how. `None` leaves a choice to the program.

    Attributes:
        target: corpora of the target guideline.
        sources: corpora of other guidelines, or more of the target's.
        dev: the corpus that selects the best iteration.
        task: `tag`, `segment`, `segtag`, `spans` or `parse`.
        coding: the coding of words in labels of characters, or of spans in labels of words; "": the task's usual one.
        templates: feature templates; (): the preset of the task.
        lexicons: files of words that features look for.
        gazetteers: files of typed phrases that features look for.
        clusters: a file of word clusters, whose bit strings are features; () for none.
        weights: `all` gives every feature a weight for every label, `observed` only for labels that the evidence has
            observed.
        minimum_count: features that occur less often are dropped.
        soft_labels: what the numbers of candidates in corpora are: `posterior`, P(label | what was said), or
            `likelihood`, P(what was said | label).
        drop_columns: for parsers, the share of sentences that training also sees in a copy without tags and columns.
        non_projective: for parsers, whether arcs may cross: training and decoding are over all trees.
        learner, settings: the name of the learner and its settings by name.
        precision: of weights and sums, `float32` or `float64`.
        method: the name of the method.
        options: the options of the method (`Options`); a mapping of plain values while the method is undecided.
        ratio_corpus: the corpus that the option `entity_ratio` names, once it has been read.
        iterations: the maximum number of iterations.
        patience: stop after this many iterations without a better score on `dev`.
        seed: the seed of everything random.
        average_seeds: how many trainings, with this seed and the next ones, every model is the average of.
        threads: the number of threads.
    """

    target: tuple[CorpusReference, ...] = ()
    sources: tuple[CorpusReference, ...] = ()
    dev: CorpusReference | None = None
    task: str = "tag"
    coding: str = ""
    templates: tuple[str, ...] = ()
    lexicons: tuple[FileReference, ...] = ()
    gazetteers: tuple[FileReference, ...] = ()
    clusters: tuple[FileReference, ...] = ()
    weights: str | None = None
    minimum_count: int = 1
    soft_labels: str = "posterior"
    drop_columns: float | None = None
    non_projective: bool = False
    learner: str = "adagrad"
    settings: Mapping[str, int | float] = field(default_factory=dict)
    precision: str = "float32"
    method: str | None = None
    options: Any = None  # `Options`, or plain values
    ratio_corpus: FileReference | None = None
    iterations: int | None = None
    patience: int = 5
    seed: int = 0
    average_seeds: int = 1
    threads: int = 1

    @property
    def corpora(self) -> tuple[CorpusReference, ...]:
        """All training corpora, those of the target first."""
        return (*self.target, *self.sources)

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data for JSON, with its schema."""
        return {"schema": SCHEMA, **json.loads(json.dumps(asdict(self)))}
