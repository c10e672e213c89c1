"""Chain models in files: the rules for a description and its arrays, and the model assembled from them.

| array | type | shape | entries |
|---|---|---|---|
| `weights` | float | all parts of `ChainParameters` | finite |
| `scheme.transition`, `.start`, `.end` | bool | [Y, Y], [Y], [Y] | |
| `observed.V` | bool | [T, T] | all views with weights, or none |
| `layout.V.ptr` | int | [F + 1] | 0, never falling, to the size of `cell`; dense: the sums of window * T |
| `layout.V.cell` | unsigned | [ptr[F]], or none: dense | below window * T of their feature |
| `index.codes` | uint64 | [F] | distinct; their highest bits are windows, 1 to 15 (`kernels.hashing`) |
| `index.attributes` | uint8 | | JSON: F names |
| `lexicon.words` | uint8 | | JSON: words |
| `gazetteer.entries` | uint8 | | JSON: lines of a gazetteer |
| `clusters.words` | uint8 | | JSON: bit strings with their words |
| `subwords.config`, `.tokenizer` | uint8 | | JSON: the configuration of a network, and its pieces of words |
| `vectors.words`, `.table` | uint8, float | [1 + words, H] | JSON: words; a vector for unknown words and for each |

with Y labels, T tags of a view V, F features. The names of a nested model's arrays begin with the name of the part.
Projections of labels, in the description, are below T. Files are not trusted: parts that do not fit are refused.

A new scorer takes a line in `SCORERS`, a new encoder one in `ENCODERS`.
"""

from __future__ import annotations

from typing import Any

from tagweave.corpus import chunk_schemes
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoder import Encoder, TemplateEncoder
from tagweave.features.rules import (
    FLOATS,
    ArrayRule,
    Description,
    Rule,
    check_arrays,
    distinct,
    flag,
    list_of,
    mapping_of,
    nullable,
    number,
    one_of,
    record,
    refuse,
    text,
    weights_of,
    whole,
)
from tagweave.labels import SPANS
from tagweave.labels.coding import CODINGS_OF, LETTERS
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import split_label
from tagweave.models.chain import ChainModel
from tagweave.models.guide import GuidedEncoder, ProposingEncoder
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.network import NetworkParameters
from tagweave.models.packing import Arrays, unnested
from tagweave.models.pieces import PieceEncoder
from tagweave.models.scorer import ScorerParameters
from tagweave.structures import CHAIN

SCORERS: dict[str, type[ScorerParameters]] = {each.kind: each for each in (ChainParameters, NetworkParameters)}
ENCODERS: dict[str, type[Encoder]] = {
    each.kind: each for each in (TemplateEncoder, AttributeEncoder, GuidedEncoder, ProposingEncoder, PieceEncoder)
}

_OPTIONS = {"mapping": list_of(text), "filter": flag, "rounds": whole()}
_FILE = {"path": text, "sha256": text, "size": whole()}
_FILES = list_of(record(_FILE, others=True))
_PLAN = record(
    {
        "target": _FILES,
        "sources": _FILES,
        "lexicons": _FILES,
        "gazetteers": _FILES,
        "clusters": _FILES,
        "method": text,
        "options": record({}, _OPTIONS, others=True),
    },
    {"ratio_corpus": nullable(record(_FILE, others=True))},
    others=True,
)
_ERRORS = {"before": number(0, 1), "after": number(0, 1)}
_OF_SPANS = {"count": whole(), "slope": number(0.05, 20), "offset": number(-20, 20), **_ERRORS}
_CALIBRATION = {"file": text, "tokens": whole(), **_ERRORS, "spans": record({}, _OF_SPANS)}
ABOUT = record(
    {},
    {
        "plan": _PLAN,
        "rounds": list_of(record({"round": whole(), "predict_self": number(), "dev_score": number()}, others=True)),
        "weights": mapping_of(whole()),
        "layers": mapping_of(list_of(text)),
        "tokens": record(
            {
                "tokens": one_of("blanks", "words", "characters"),
                "version": whole(),
                "joined": text,
                "clitics": list_of(text),
                "of_segmenter": flag,
            }
        ),
        "recipe": record({"learner": text}, others=True),
        "iterations": whole(),
        "round": whole(),
        "dev_score": nullable(number()),
        "calibration": record({"temperature": number(0.01, 100)}, _CALIBRATION),
        "guided": number(0, 1),
        "dev_scores": mapping_of(number()),
        "steps": mapping_of(record({"method": text, "iterations": whole(), "dev_score": nullable(number())})),
        "parameters": record({}, {"threads": nullable(whole(0, 1 << 16))}, others=True),
    },
    others=True,
)
"""The rule for `about`."""

_VIEW = record({"guideline": text, "names": list_of(text, 1), "projection": list_of(whole())})
_SPACE = record({"names": list_of(text, 1), "views": list_of(_VIEW, 1)})


def check(value: Any, where: str = "") -> None:
    """Raise unless a value describes a chain model, nested models included."""
    record({"scorer": one_of(*SCORERS)}, others=True)(value, where)
    record({**_CHAIN, **SCORERS[value["scorer"]].rules()}, OF_A_FILE)(value, where)
    space, coding = value["space"], value["coding"]
    labels = len(space["names"])
    for view in space["views"]:
        distinct(view["names"], "names")
        if len(view["projection"]) != labels or set(view["projection"]) != set(range(len(view["names"]))):
            refuse(view["projection"], "projection", f"the tag of each of {labels} labels, and a label of each tag")
    for view in space["views"][: max(1, len(space["views"]) - 1)]:  # the last view of bundles is the joint one
        _check_labels(view["names"], value["task"], coding)
    SCORERS[value["scorer"]].check(value, where)
    if coding not in CODINGS_OF[value["task"]]:
        refuse(coding, f"{where}coding", f"a coding of the task {value['task']}")
    for part, each in ENCODERS[value["encoder"]["kind"]].models_in(value["encoder"]).items():
        if "taggers" in each["encoder"] or (part.startswith("taggers") and each["coding"] != coding):
            refuse(each["coding"], f"{where}{part}", "a model of the same tokens, and none of pieces")


def _check_labels(labels: list[str], task: str, coding: str) -> None:
    if task == SPANS:
        strange = set(labels) ^ set(chunk_schemes.labels(labels, coding)) | {
            each for each in labels if each[1:] == "-*"
        }
    elif coding in LETTERS:
        strange = {split_label(label)[0] for label in labels} - set(LETTERS[coding])
    else:
        return
    if strange:
        refuse(sorted(strange), "names", f"labels of the coding {coding}")


def _check_encoder(value: Any, where: str) -> None:
    record({"kind": one_of(*ENCODERS)}, others=True)(value, where)
    record({"kind": text, **ENCODERS[value["kind"]].rules(check)})(value, where)


_CHAIN: dict[str, Rule] = {
    "kind": one_of(CHAIN),
    "task": one_of(*CODINGS_OF),
    "coding": text,
    "space": _SPACE,
    "scorer": text,
    "encoder": _check_encoder,
    "about": ABOUT,
}
OF_A_FILE: dict[str, Rule] = {"format": whole(), "version": text}


def assemble(description: Description, arrays: Arrays) -> ChainModel:
    """Return the model whose checked description and unchecked arrays these are, with the models inside it."""
    scorer, of_encoder = SCORERS[description["scorer"]], description["encoder"]
    kind = ENCODERS[of_encoder["kind"]]
    inner = kind.models_in(of_encoder)
    of_inner = tuple(f"{part}." for part in inner)
    own = {name: array for name, array in arrays.items() if not name.startswith(of_inner)}
    of_weights = ArrayRule(FLOATS, (None,))  # checked when their number is known
    rules = {"weights": of_weights, **kind.array_rules(own), **scorer.array_rules(description, own)}
    check_arrays(own, rules)
    space = LabelSpace.from_json(description["space"])
    parameters = scorer.of_parts(description, space, own)
    models = [assemble(each, unnested(arrays, part)) for part, each in inner.items()]
    encoder = kind.of_parts(of_encoder, space, own, models)
    parameters.check_encoder(encoder.windows)
    weights_of((parameters.size,)).check(arrays["weights"], "weights")
    task, coding, about = description["task"], description["coding"], description["about"]
    return ChainModel(parameters, encoder, arrays["weights"], task, coding, about)
