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

with Y labels, T tags of a view V, F features. The names of a nested model's arrays begin with the name of the part.
Projections of labels, in the description, are below T. Files are not trusted: parts that do not fit are refused.

A new scorer takes a line in `SCORERS`. A new kind of encoder takes a class with `kind`, `to_json` and `arrays`, a rule
for its description in `_ENCODERS`, and a case in `_encoder`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tagweave.corpus import chunk_schemes
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoder import FeatureIndex, TemplateEncoder
from tagweave.features.lookups import LOOKED_UP, Lookups
from tagweave.features.rules import (
    BYTES,
    CODES,
    FLOATS,
    ArrayRule,
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
from tagweave.features.templates import MOST_TEMPLATES, Templates
from tagweave.labels import SPANS
from tagweave.labels.coding import CODINGS_OF, LETTERS
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import split_label
from tagweave.models.chain import ChainModel
from tagweave.models.guide import GuidedEncoder, PieceEncoder, ProposingEncoder
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.packing import Arrays, unnested
from tagweave.models.scorer import Description, ScorerParameters
from tagweave.structures import CHAIN

SCORERS: dict[str, type[ScorerParameters]] = {ChainParameters.kind: ChainParameters}
AnyEncoder = TemplateEncoder | AttributeEncoder | GuidedEncoder | ProposingEncoder | PieceEncoder
"""The encoders of tokens; their index grows with the training data, and then freezes."""

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
ABOUT = record(
    {},
    {
        "plan": _PLAN,
        "rounds": list_of(record({"round": whole(), "predict_self": number(), "dev_score": number()}, others=True)),
        "weights": mapping_of(whole()),
        "layers": mapping_of(list_of(text)),
        "recipe": record({"learner": text}, others=True),
        "iterations": whole(),
        "round": whole(),
        "dev_score": nullable(number()),
        "dev_scores": mapping_of(number()),
        "parameters": record({}, {"threads": nullable(whole(0, 1 << 16))}, others=True),
    },
    others=True,
)
"""The rule for `about`."""

GRAMS = ArrayRule(CODES, (None,), least=1 << 40, most=(1 << 44) - 1)
_VIEW = record({"guideline": text, "names": list_of(text, 1), "projection": list_of(whole())})
_SPACE = record({"names": list_of(text, 1), "views": list_of(_VIEW, 1)})
_TEMPLATES = list_of(text, 0, MOST_TEMPLATES)


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
    for part, each in parts_of(value["encoder"]):
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


_PROPOSALS = record({"models": list_of(check, 1), "threshold": number(0, 1)})


_ENCODERS: dict[str, dict[str, Rule]] = {
    "attributes": {},
    "templates": {"templates": _TEMPLATES},
    "guided": {"templates": _TEMPLATES, "guide": check},
    "proposing": {"templates": _TEMPLATES, "proposals": _PROPOSALS},
    "pieces": {"templates": _TEMPLATES, "taggers": list_of(check, 2)},
}
_HAS_KIND = record({"kind": one_of(*_ENCODERS)}, others=True)


def _check_encoder(value: Any, where: str) -> None:
    _HAS_KIND(value, where)
    record({"kind": text, **_ENCODERS[value["kind"]]})(value, where)


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


def parts_of(encoder: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the names and descriptions of all models in an encoder: a guide, proposals or taggers."""
    if "guide" in encoder:
        yield "guide", encoder["guide"]
    for i, each in enumerate(encoder.get("proposals", {}).get("models", ())):
        yield f"proposals.{i}", each
    for i, each in enumerate(encoder.get("taggers", ())):
        yield f"taggers.{i}", each


def _rules(description: dict[str, Any], arrays: Arrays) -> dict[str, ArrayRule]:
    encoder = description["encoder"]
    rules = {
        "weights": ArrayRule(FLOATS, (None,)),  # checked when their number is known
        "index.codes": ArrayRule(CODES, (None,)) if encoder["kind"] == "attributes" else GRAMS,
        **SCORERS[description["scorer"]].array_rules(description, arrays),
    }
    if encoder["kind"] == "attributes":
        rules["index.attributes"] = ArrayRule(BYTES, (None,))
    else:
        rules |= {name: ArrayRule(BYTES, (None,)) for name in LOOKED_UP if name in arrays}
    return rules


def assemble(description: Description, arrays: Arrays) -> ChainModel:
    """Return the model whose checked description and unchecked arrays these are, with the models inside it."""
    of_parts = tuple(f"{part}." for part, _ in parts_of(description["encoder"]))
    own = {name: array for name, array in arrays.items() if not name.startswith(of_parts)}
    check_arrays(own, _rules(description, own))
    space = LabelSpace.from_json(description["space"])
    parameters = SCORERS[description["scorer"]].of_parts(description, space, arrays)
    encoder = _encoder(description["encoder"], arrays, space)
    parameters.check_encoder(encoder.windows)
    weights_of((parameters.size,)).check(arrays["weights"], "weights")
    task, coding, about = description["task"], description["coding"], description["about"]
    return ChainModel(parameters, encoder, arrays["weights"], task, coding, about)


def _encoder(description: Description, arrays: Arrays, space: LabelSpace) -> AnyEncoder:
    kind = description["kind"]
    if kind == AttributeEncoder.kind:
        return AttributeEncoder.of_arrays(arrays)
    models = [assemble(each, unnested(arrays, part)) for part, each in parts_of(description)]
    templates, index = Templates(tuple(description["templates"])), FeatureIndex.of_codes(arrays["index.codes"])
    encoder = TemplateEncoder(templates, index, Lookups.of_arrays(arrays))
    guidelines = tuple(model.space.views[0].guideline for model in models)
    if kind == GuidedEncoder.kind:
        return GuidedEncoder(encoder, *models)
    if kind == ProposingEncoder.kind:
        if guidelines != tuple(side.guideline for side in space.sides):
            raise ValueError("models of other guidelines than the sides of the label space")
        return ProposingEncoder(encoder, space, models, float(description["proposals"]["threshold"]))
    if kind == PieceEncoder.kind:
        if space.guidelines != guidelines[:1]:
            raise ValueError("taggers the first of which is of another guideline than the model of pieces")
        return PieceEncoder(encoder, models)
    return encoder
