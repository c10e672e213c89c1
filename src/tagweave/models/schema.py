"""The descriptions of models in files, without their scorers and encoders, which have schemas of their own.

A description of a model is what `to_json` of it gives. Files are not trusted: what does not fit is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tagweave.corpus import chunk_schemes
from tagweave.features.rules import Name, Number, Schema, Share, Whole, check_distinct, checked, refuse
from tagweave.features.templates import MOST_TEMPLATES
from tagweave.labels import SPANS
from tagweave.labels.coding import CODINGS_OF, LETTERS
from tagweave.labels.transition_scheme import split_label

MOST_LAYERS = 1000  # checking a file must not take long
Names = Annotated[list[str], Meta(min_length=1)]
Templates = Annotated[list[str], Meta(min_length=1, max_length=MOST_TEMPLATES)]
Rows = Annotated[int, Meta(ge=1, le=1 << 30)]


class View(Schema):
    """A guideline, its labels, and the label of it that each label of the model means."""

    guideline: str
    names: Names
    projection: list[Whole]

    def __post_init__(self) -> None:
        check_distinct(self.names, "names")


class Space(Schema):
    """The labels of a model, and its views of them."""

    names: Names
    views: Annotated[list[View], Meta(min_length=1)]

    def __post_init__(self) -> None:
        count = len(self.names)
        for view in self.views:
            if len(view.projection) != count or set(view.projection) != set(range(len(view.names))):
                refuse(view.projection, "projection", f"the tag of each of {count} labels, and a label of each tag")


class _Facts(Struct):
    """Facts about a model, among others."""


class _File(_Facts):
    path: str
    sha256: str
    size: Whole


class _MethodOptions(_Facts):
    mapping: list[str] = []
    filter: bool = False
    rounds: Whole = 0


class _Plan(_Facts):
    target: list[_File]
    sources: list[_File]
    lexicons: list[_File]
    gazetteers: list[_File]
    clusters: list[_File]
    method: str
    options: _MethodOptions
    ratio_corpus: _File | None = None


class _Round(_Facts):
    round: Whole
    predict_self: Number
    dev_score: Number


class _Step(Schema):
    method: str
    iterations: Whole
    dev_score: Number | None


class _Tokens(Schema):
    tokens: Literal["blanks", "words", "characters"]
    version: Whole
    joined: str
    clitics: list[str]
    of_segmenter: bool


class _Errors(Schema, kw_only=True):
    before: Share = 0.0
    after: Share = 0.0


class _CalibratedSpans(_Errors, kw_only=True):
    count: Whole = 0
    slope: Annotated[float, Meta(ge=0.05, le=20)] = 1.0
    offset: Annotated[float, Meta(ge=-20, le=20)] = 0.0


class _Calibration(_Errors, kw_only=True):
    temperature: Annotated[float, Meta(ge=0.01, le=100)]
    file: str = ""
    tokens: Whole = 0
    spans: _CalibratedSpans | UnsetType = UNSET


class _Thresholds(Schema):
    level: Share
    least: dict[str, Share | None]
    said: Annotated[float, Meta(ge=0)]


class _Selective(Schema):
    of: Literal["spans", "tokens", "words", "heads"]
    units: Literal["documents", "sentences"]
    count: Whole
    precision: list[_Thresholds]
    recall: list[_Thresholds]


class _Recipe(_Facts):
    learner: str


class _FitParameters(_Facts):
    threads: Annotated[int, Meta(ge=0, le=1 << 16)] | None = None


class About(_Facts):
    """What a model's `about` says, as far as anything reads it."""

    plan: _Plan | UnsetType = UNSET
    rounds: list[_Round] = []
    weights: dict[str, Whole] = {}
    layers: dict[str, list[str]] = {}
    tokens: _Tokens | UnsetType = UNSET
    recipe: _Recipe | UnsetType = UNSET
    iterations: Whole = 0
    round: Whole = 0
    dev_score: Number | None = None
    calibration: _Calibration | UnsetType = UNSET
    selective: _Selective | UnsetType = UNSET
    guided: Share = 0.0
    dev_scores: dict[str, Number] = {}
    steps: dict[str, _Step] = {}
    parameters: _FitParameters | UnsetType = UNSET


class ModelDescription(Schema, kw_only=True):
    """What the descriptions of all models have; `format` and `version` are those of the file."""

    scorer: str
    about: dict[str, Any]
    format: Whole = 0
    version: str = ""

    def __post_init__(self) -> None:
        checked(self.about, About, "about")


class ChainDescription(ModelDescription):
    """A model of label sequences; scorers add their fields."""

    kind: Literal["chain"]
    task: str
    coding: str
    space: Space
    encoder: dict[str, Any]
    transitions: bool
    edges: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coding not in CODINGS_OF.get(self.task, ()):
            refuse(self.coding, "coding", f"a coding of the task {self.task}")
        for view in self.space.views[: max(1, len(self.space.views) - 1)]:  # the last view of bundles is the joint one
            self._check_labels(view.names)

    def _check_labels(self, labels: list[str]) -> None:
        strange: set[str] = set()
        if self.task == SPANS:
            strange = set(labels) ^ set(chunk_schemes.labels(labels, self.coding))
            strange |= {label for label in labels if label[1:] == "-*"}
        elif self.coding in LETTERS:
            strange = {split_label(label)[0] for label in labels} - set(LETTERS[self.coding])
        if strange:
            refuse(sorted(strange), "names", f"labels of the coding {self.coding}")


class TreeDescription(ModelDescription, kw_only=True):
    """A parser; scorers of arcs add their fields. The three fields of relations stand together."""

    kind: Literal["tree"]
    task: Literal["parse"]
    coding: Literal[""]
    guideline: Name
    single_root: bool
    projective: bool
    templates: Templates
    guided_by: Name | UnsetType = UNSET
    guide: dict[str, Any] | UnsetType = UNSET
    relations: Annotated[list[Name], Meta(min_length=1)] | UnsetType = UNSET
    relation_rows: Rows | UnsetType = UNSET
    relation_templates: Templates | UnsetType = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        of_relations = {"relations", "relation_rows", "relation_templates"}
        if len(missing := {name for name in of_relations if getattr(self, name) is UNSET}) not in (0, 3):
            refuse(sorted(of_relations - missing), "", f"{', '.join(sorted(of_relations))}, or none of these")
        if self.relations is not UNSET:
            check_distinct(self.relations, "relations")
        if self.relation_rows is not UNSET:
            check_power_of_two(self.relation_rows, "relation_rows")


class LayeredDescription(Schema, kw_only=True):
    """A model of spans that may overlap: an encoder, and chains without one, each with the types of its layers."""

    kind: Literal["layers"]
    task: Literal["spans"]
    coding: str
    encoder: dict[str, Any]
    chains: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=MOST_LAYERS)]
    types: list[Annotated[dict[Name, list[Name]], Meta(min_length=1)]]
    about: dict[str, Any]
    format: Whole = 0
    version: str = ""

    def __post_init__(self) -> None:
        checked(self.about, About, "about")
        if len(self.types) != len(self.chains):
            refuse(len(self.types), "types", f"{len(self.chains)}, one for each chain")
        check_distinct([name for types in self.types for name in types], "types")

    def chain(self, number: int) -> dict[str, Any]:
        """Return the description of a chain, with the encoder of all."""
        return {**self.chains[number], "encoder": self.encoder}


def check_power_of_two(rows: int, where: str) -> None:
    """Raise ValueError unless rows can be addressed by bits of a hash."""
    if rows & (rows - 1):
        refuse(rows, where, "a power of two")
