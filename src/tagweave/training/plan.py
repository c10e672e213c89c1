"""Training plans: what to train, on what and how, as plain data.

A plan holds everything that determines the weights of a model, and may leave choices to the program. Every model stores
the plan it was trained by, in which nothing is left open (`ResolvedPlan`), so it can be trained again, on the same
corpora or on others. Which options there are is known to the methods alone (`methods.typed`).

As JSON, a plan is read with every field checked, and the files that it names can be found again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, Self, get_type_hints

from tagweave.corpus.chunk_schemes import Gaps
from tagweave.corpus.corpus import Corpus, Covers, covers_of
from tagweave.corpus.files import digest, short_name, whole_file
from tagweave.corpus.sentence import kind_of
from tagweave.errors import PlanError
from tagweave.learning import learners
from tagweave.options import SEED, THREADS, Validated, declared, described, option
from tagweave.structures import CHAIN, TREE

SCHEMA = 1
"""The version of the JSON form of plans."""
LOOKUPS = ("lexicons", "gazetteers", "clusters")
"""The fields of plans that name files which features look up."""
FEATURES, STATIC, ALONE = "features", "static:", "alone:"
"""The encoder that is features alone, and what begins one with word vectors, or with a network without features."""


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
class Source(Validated, FileReference):
    """A corpus, by its file, with its weight and sample in training.

    Attributes:
        layer: the layer of the file; `None`: the default of its format.
        guideline: the name of the guideline; `None`: the name of the layer.
        format: the format of the file; `None`: recognised by its name and text.
        weight: how often a sentence counts.
        sample: how many sentences an iteration visits, or `all`; `None`: the method decides.
        covers: the labels or types that were annotated, or `all`; `None`: as the file tells.
    """

    layer: str | None = None
    guideline: str | None = None
    format: str | None = None
    weight: float = option(1.0, "How often a sentence counts.", "W")
    sample: int | Literal["all"] | None = option(None, "How many sentences an iteration visits.", "N", 1)
    covers: Covers | None = option(
        None,
        "The labels or types that were annotated in a training corpus, as PER,LOC, or all; its O excludes only these."
        " One for each corpus, in their order (repeatable). Default: as the file tells, or all.",
        "TYPES|all",
        panel="Corpora",
        flag=True,
    )

    def __post_init__(self) -> None:
        if type(self.weight) not in (int, float) or not 0 < self.weight < float("inf"):
            raise PlanError(f"found a corpus of weight {self.weight!r}, expected a positive number")
        super().__post_init__()

    @classmethod
    def of(cls, argument: str, format: str | None = None, weight: float = 1.0) -> Source:  # noqa: A002
        """Return the source that `[GUIDELINE=]PATH[#LAYER]` names."""
        from tagweave.corpus.load import parse_argument

        path, guideline, layer = parse_argument(argument)
        return cls(path, layer=layer, guideline=guideline, format=format, weight=weight)

    @property
    def argument(self) -> str:
        """The argument that names it on the command line."""
        name = "" if self.guideline is None else f"{self.guideline}="
        return f"{name}{self.path}" + ("" if self.layer is None else f"#{self.layer}")


def training_sources(
    corpora: Sequence[str | Corpus],
    weights: Sequence[float] | None,
    sample: Sequence[int | str] | None,
    format: str | None = None,  # noqa: A002
    covers: Sequence[str | Sequence[str] | None] | None = None,
    known: int = 0,
) -> list[Source]:
    """Return training corpora as sources of a plan, with the weight, sample and covered labels of each.

    The last ones, `known` of them, are text that a model to go on from has learned, and need no covered labels.

    Raises PlanError unless there is one value for each.
    """
    if covers is not None and not isinstance(covers, str) and len(covers) == len(corpora) - known:
        covers = [*covers, *[None] * known]
    for name, values in (("weights", weights), ("sample", sample), ("covers", covers)):
        if values is not None and (isinstance(values, str) or not isinstance(values, Sequence)):
            raise TypeError(f"found {kind_of(values)} as {name}, expected a list, one for each corpus")
        if values is not None and len(values) != len(corpora):
            what = "values" if name == "covers" else "numbers"
            raise PlanError(f"found {len(values)} {what} as {name}, expected {len(corpora)}, one for each corpus")
    plain = [source_of(corpus, format) for corpus in corpora]
    sizes: Sequence[Any] = sample or [None] * len(plain)
    covered = map(covers_of, covers) if covers else [source.covers for source in plain]
    rows = zip(plain, weights or [source.weight for source in plain], sizes, covered, strict=True)
    return [replace(source, weight=weight, sample=size, covers=labels) for source, weight, size, labels in rows]


def source_of(corpus: str | Corpus, format: str | None = None) -> Source:  # noqa: A002
    """Return the source of a plan that a file argument names, or that is a corpus in memory."""
    if isinstance(corpus, str):
        return Source.of(corpus, format)
    return Source(corpus.path, weight=corpus.weight, covers=corpus.covered)


@dataclass(frozen=True)
class Options(Validated):
    """The options of a method; a method with options has a class of its own."""

    def chosen(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        defaults = asdict(type(self)())
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    def check_files(self) -> None:
        """Raise if a file that an option names cannot be read: before minutes of loading corpora."""

    def for_task(self, task: str) -> Self:
        """Return the options with defaults that depend on the task filled in."""
        return self

    @property
    def why_incomparable(self) -> str:
        """Why a model with these options is not compared with a plain one; "" if it is."""
        return ""

    def identity(self) -> dict[str, Any]:
        """Return the options that influence which weights an iteration reaches."""
        return asdict(self)


@described
@dataclass(frozen=True)
class Plan(Validated):
    """What to train, on what and how. `None` leaves a choice to the program."""

    target: tuple[Source, ...] = option((), "Corpora of the target guideline.")
    sources: tuple[Source, ...] = option((), "Corpora of other guidelines, or more of the target's.")
    dev: Source | None = option(None, "Development corpus: the iteration with the best score is kept.")
    start: FileReference | None = option(
        None,
        "A model to go on from: it learns from TRAIN, and keeps what it knows. Wherever the annotation of TRAIN is"
        " silent, what the model believes is evidence.",
        "MODEL",
        panel="Corpora",
    )
    task: str | None = option(
        None,
        "The task of the model; by default tag, or spans if the labels of the first corpus are like B-PER I-PER O.",
        "tag|segment|segtag|spans|parse",
        panel="Corpora",
        flag=True,
    )
    coding: str = option(
        "",
        "How labels encode words of characters, or spans of words; by default BMES, or BIOES.",
        "BMES|BI|boundary|BIOES|IOB2|IOB1",
        structure=CHAIN,
    )
    gaps: Gaps | None = option(
        None,
        "What unknown tokens are, for the task spans: spans that were left out, so that a span ends before an unknown"
        " token; or tokens, so that it may go on. Default: as the labels of each corpus tell.",
        "spans|tokens",
        structure=CHAIN,
    )
    overlap: bool = option(
        False,
        "Spans may overlap: all layers of spans of a file, and corpora of other guidelines or types, are layers of one"
        " model (the method overlap). Layers that are called like their types are looked at anyway.",
        structure=CHAIN,
        panel="Corpora",
        flag=True,
    )
    templates: tuple[str, ...] = option(
        (), "A feature template such as 'form[-1] form[0]' (repeatable).", "TEXT", panel="Features", flag=True
    )
    lexicons: tuple[FileReference, ...] = option(
        (),
        "Words, one per line; their occurrences are features of characters (repeatable). Default of `preset` with"
        " it: characters-lexicon.",
        "FILE",
        structure=CHAIN,
        panel="Features",
        flag=True,
    )
    gazetteers: tuple[FileReference, ...] = option(
        (),
        "Phrases, one per line, as TYPE TAB phrase; their occurrences are features of words (repeatable). Without"
        " `preset` and `templates`, the preset gazetteer is added.",
        "FILE",
        structure=CHAIN,
        panel="Features",
        flag=True,
    )
    clusters: tuple[FileReference, ...] = option(
        (),
        "Word clusters, as harvest clusters writes them, in place of those of word vectors; the bit strings of words"
        " are features. Without `preset` and `templates`, the preset clusters is added.",
        "FILE",
        panel="Features",
        flag=True,
    )
    encoder: str = option(
        FEATURES,
        "What tokens are scored by beside features: word vectors, by static: and their file or pipeline of spaCy; or a"
        " network, by the folder of a model of transformers. After alone:, a network without features. Parsers look at"
        " clusters of the vectors, and have no network.",
        "static:FILE|static:spacy:NAME|[alone:]FOLDER",
        panel="Features",
        flag=True,
    )
    stored_vectors: Literal["all", "corpora"] = option(
        "all",
        "Which word vectors a model stores: all, or those of the words in its corpora, for text of a closed domain.",
    )
    pooling: Literal["first", "mean", "last"] = option(
        "mean", "Which pieces of a word its vector in the network comes from.", structure=CHAIN
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = option(
        "auto", "Where a network is trained; auto takes a GPU if there is one.", structure=CHAIN
    )
    feature_weights: Literal["all", "observed"] | None = option(
        None,
        "Weights of features for all labels, or only for labels observed in the evidence. Default: by the number of"
        " labels.",
        structure=CHAIN,
    )
    minimum_count: int = option(1, "Drop features that occur less often.", "N", 1, structure=CHAIN)
    soft_labels: Literal["posterior", "likelihood"] = option(
        "posterior",
        "What numbers of candidates (NN:0.7|VV:0.3) are: posterior, of a label given the observation; or likelihood,"
        " of the observation given the label.",
    )
    drop_columns: float | None = option(
        None,
        "Parsers: train also on copies of this share of sentences without tags and FEATS, to parse text without them."
        " Default: 0.5.",
        "SHARE",
        0,
        1,
        structure=TREE,
    )
    non_projective: bool = option(
        False,
        "Parsers: arcs may cross, in training as in use. By default trees whose arcs cross are made projective.",
        structure=TREE,
    )
    learner: str = option(learners.USUAL, f"{', '.join(learners.NAMES)}.", "NAME", panel="Learning", flag=True)
    settings: Mapping[str, int | float] = option(dict, "Settings of the learner by name.")
    precision: Literal["float32", "float64"] = option("float32", "The precision of weights and sums.")
    method: str | None = option(
        None,
        "How to combine corpora. Default: single; with `sources` of another guideline, and for the task segtag, auto.",
        "NAME",
    )
    options: Options | Mapping[str, Any] | None = None  # of the method; plain values while it is undecided
    ratio_corpus: FileReference | None = None  # that which the option `entity_ratio` names, once it has been read
    iterations: int | None = option(
        None,
        "The maximum number of iterations; by default the learner's, or, of most, 100 with `dev`.",
        "N",
        1,
        flag=True,
    )
    patience: int = option(5, "Stop after this many iterations without a better development score.", "N", 1)
    seed: int = SEED
    average_seeds: int | None = option(
        None,
        "Train with N seeds side by side, and keep the mean of their weights. Default: 3 for few tokens of the task"
        " spans, or of the target of a coupled or merged model, and no network, else 1.",
        "N",
        1,
    )
    threads: int = THREADS

    @property
    def has_features(self) -> bool:
        """Whether tokens are scored by features, alone or beside vectors and a network."""
        return not self.encoder.startswith(ALONE)

    @property
    def vectors(self) -> str:
        """The file of word vectors, or `spacy:` and a pipeline; "" without."""
        return self.encoder.removeprefix(STATIC) if self.encoder.startswith(STATIC) else ""

    @property
    def folder(self) -> str:
        """The folder of the network; "" without."""
        return "" if self.encoder == FEATURES or self.encoder.startswith(STATIC) else self.encoder.removeprefix(ALONE)

    @property
    def corpora(self) -> tuple[Source, ...]:
        """All training corpora, the target's first."""
        return (*self.target, *self.sources)

    @property
    def named(self) -> tuple[Source, ...]:
        """All corpora that the plan names: the training corpora, and development data if there are any."""
        return (*self.corpora, self.dev) if self.dev else self.corpora

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON, with its schema."""
        return {"schema": SCHEMA, **json.loads(json.dumps(asdict(self)))}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan as JSON, for `tagweave train --plan`."""
        with whole_file(fspath(path)) as file:
            file.write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class ResolvedPlan(Plan):
    """A plan that leaves nothing open but what the corpora decide: its sources have been read."""

    task: str = field(kw_only=True)
    method: str = field(kw_only=True)
    options: Options = field(kw_only=True)


def plan_of_json(values: object) -> Plan:
    """Return the plan from the JSON of `Plan.to_json`, or one written by hand.

    Options of the method stay plain values, which `methods.typed` checks.
    """
    from msgspec import ValidationError, convert

    if not isinstance(values, dict):
        raise PlanError(f"found {type(values).__name__}, expected a plan: an object")
    values = dict(values)
    if (schema := values.pop("schema", SCHEMA)) != SCHEMA:
        raise PlanError(f"found a plan of schema {schema!r}, expected {SCHEMA}")
    if not isinstance(values.get("options"), dict | None):
        raise PlanError(f"plan.options: found {type(values['options']).__name__}, expected an object")
    try:
        _check_names(Plan, values, "plan")
        kinds = get_type_hints(Plan)
        references = {name: convert(values[name], kinds[name]) for name in _OBJECTS if name in values}
        return Plan(**{**values, **references})
    except ValidationError as error:
        raise PlanError(f"found a plan that cannot be read: {error}") from error


def _check_names(kind: type, values: object, where: str) -> None:
    """Raise if an object or one inside it has a field that its class does not have."""
    names = [entry.name for entry in fields(kind)]
    if not isinstance(values, dict):
        raise PlanError(f"{where}: found {type(values).__name__}, expected an object")
    for name, value in values.items():
        if name not in names:
            raise PlanError(f"{where}: found the field {name!r}, expected {', '.join(names)}")
        inner = _OBJECTS.get(name)
        for item in value if isinstance(value, list) else [value]:
            if inner is not None and item is not None:
                _check_names(inner, item, f"{where}.{name}")


_OBJECTS: dict[str, type] = {
    **dict.fromkeys(("target", "sources", "dev"), Source),
    **dict.fromkeys((*LOOKUPS, "ratio_corpus", "start"), FileReference),
}

_TEACHER_OPTIONS = (
    "target",
    "sources",
    "dev",
    "start",
    "task",
    "coding",
    "gaps",
    "soft_labels",
    "method",
    "pooling",
    "device",
)
STUDENT_OPTIONS = declared(
    {"": Plan}, leave_out=(*_TEACHER_OPTIONS, "feature_weights", "drop_columns", "non_projective")
)
"""The options of a plan that the teachers of a model do not determine."""


def file_places(values: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the objects and lists of a plan as JSON that hold names of files, with the key of each name."""
    for name in ("target", "sources", *LOOKUPS):
        yield from ((reference, "path") for reference in values[name])
    yield from ((values[name], "path") for name in ("dev", "start") if values[name])
    options = values["options"] or {}
    mapping = options.get("mapping") or []
    yield from ((mapping, at) for at in range(len(mapping)))
    if isinstance(options.get("entity_ratio"), str):
        yield options, "entity_ratio"
    if values["ratio_corpus"]:  # a plan that has not been read lacks it
        yield values["ratio_corpus"], "path"


def with_names(values: Any) -> Any:
    """Reduce the files of a plan as JSON to their names, in place, and return it.

    Folders tell who trained a model, and where; a name and a digest are enough to find a file again (`with_files`).
    """
    return _renamed(values, lambda path, _: short_name(path))


def with_files(plan: Plan, folders: Sequence[Path]) -> Plan:
    """Find the files that the plan of a model names: in the current folder, or in one of others."""

    def path_of(name: str, sha256: str) -> str:
        if not name:
            return name
        files = [str(file) for folder in (Path(), *folders) if (file := folder / name).is_file()]
        if not sha256:
            return name if Path(name).exists() or not files else files[0]
        if matching := [file for file in files if digest(file) == sha256]:
            return matching[0]
        where = ", ".join(map(str, dict.fromkeys((Path.cwd(), *folders))))
        raise PlanError(f"found no {name} of sha256 {sha256[:12]} in {where}, expected the file of the model there")

    values = plan.to_json()
    if not isinstance((values["options"] or {}).get("entity_ratio"), str):
        values["ratio_corpus"] = None
    return plan_of_json(_renamed(values, path_of))


def _renamed(values: Any, name_of: Callable[[str, str], str]) -> Any:
    """Rename the files of a plan as JSON by their names and digests, in place, and return it."""
    ratio_corpus = values["ratio_corpus"]
    options = values["options"] or {}
    if ratio_corpus and isinstance(options.get("entity_ratio"), str):  # `[GUIDELINE=]PATH[#LAYER]`
        new = name_of(ratio_corpus["path"], ratio_corpus["sha256"])
        options["entity_ratio"] = options["entity_ratio"].replace(ratio_corpus["path"], new)
    if values["encoder"] != FEATURES:
        file = values["encoder"].removeprefix(STATIC).removeprefix(ALONE)
        values["encoder"] = values["encoder"].removesuffix(file) + name_of(file, "")
    for place, key in file_places(values):
        if key != "entity_ratio":
            place[key] = name_of(place[key], place["sha256"] if key == "path" else "")
    return values
