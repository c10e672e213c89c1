"""Training plans: what is to be trained, from what and how, as plain data.

A plan is all that decides on the weights of a model. Every model has the plan by which it was trained, with its method,
options, templates and corpora written out; so it can be trained again, on the same corpora or on others.
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
    """A file, and what was in it.

    Attributes:
        path: of the file; "" of data that came from none.
        sha256: digest of the file; "" where nobody has read it yet.
        size: how many sentences it has, or words; `None` as above.
    """

    path: str = ""
    sha256: str = ""
    size: int | None = None


@dataclass(frozen=True)
class CorpusReference(FileReference):
    """A corpus by its file, and how it counts.

    Attributes:
        layer: the layer of the file that is meant; `None`: the usual one.
        guideline: the name of its guideline; `None`: that of the layer.
        format: of the file; `None`: told from its name and text.
        weight: how often a sentence counts.
        sample: how many sentences an iteration visits, or `all`; `None`: as the method chooses.
    """

    layer: str | None = None
    guideline: str | None = None
    format: str | None = None
    weight: float = 1.0
    sample: int | Literal["all"] | None = None

    @classmethod
    def of(cls, argument: str, format: str | None = None, weight: float = 1.0) -> CorpusReference:  # noqa: A002
        """The corpus that `[GUIDELINE=]PATH[#LAYER]` names."""
        from tagweave.corpus.load import parse_argument

        parsed = parse_argument(argument)
        return cls(parsed.path, "", None, parsed.layer, parsed.guideline, format, weight)

    @property
    def argument(self) -> str:
        """`[GUIDELINE=]PATH[#LAYER]`."""
        name = "" if self.guideline is None else f"{self.guideline}="
        return f"{name}{self.path}" + ("" if self.layer is None else f"#{self.layer}")


@dataclass(frozen=True)
class TrainingPlan:
    """What is to be trained, from what, and how. `None` leaves a choice to the program.

    Attributes:
        target: corpora of the guideline that is wanted.
        sources: corpora of other guidelines, or more of that one.
        dev: the corpus by which the best iteration is chosen.
        task: `tag`, `segment`, `segtag` or `parse`.
        coding: of words in labels of characters.
        templates: feature templates; (): the preset of the task.
        lexicons: files of words that features look for.
        weights: `all` gives every feature a weight for every label, `observed` only for those that evidence has seen.
        minimum_count: features that occur less often are dropped.
        drop_columns: parsers: the share of sentences of which training sees a copy without tags and columns.
        learner, settings: by name.
        precision: of weights and sums.
        method: by name.
        options: of the method (`Options`); plain values, by name, where the method is not known yet.
        iterations: how many at most.
        patience: stop after so many iterations without a better score on `dev`.
        seed: of everything random.
        threads: how many share the work.
    """

    target: tuple[CorpusReference, ...] = ()
    sources: tuple[CorpusReference, ...] = ()
    dev: CorpusReference | None = None
    task: str = "tag"
    coding: str = "BMES"
    templates: tuple[str, ...] = ()
    lexicons: tuple[FileReference, ...] = ()
    weights: str | None = None
    minimum_count: int = 1
    drop_columns: float | None = None
    learner: str = "adagrad"
    settings: Mapping[str, int | float] = field(default_factory=dict)
    precision: str = "float32"
    method: str | None = None
    options: Any = None  # `Options`, or plain values
    iterations: int | None = None
    patience: int = 5
    seed: int = 0
    threads: int = 1

    @property
    def corpora(self) -> tuple[CorpusReference, ...]:
        """All training corpora, those of the target first."""
        return (*self.target, *self.sources)

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON has it, with its schema."""
        return {"schema": SCHEMA, **json.loads(json.dumps(asdict(self)))}
