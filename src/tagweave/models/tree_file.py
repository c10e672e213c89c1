"""Parsers in files: the rules for a description and its arrays, and the parser assembled from them.

| array | type | shape | entries |
|---|---|---|---|
| `weights` | float | [rows * 8] | finite |
| `relation_weights` | float | [relation rows, relations] | finite |

The numbers of rows are powers of two, since hashes are cut to bits. The names of a guide's arrays begin with `guide.`.
A new scorer takes a line in `ARC_SCORERS`.
"""

from __future__ import annotations

from typing import Any

from tagweave.features.arc_templates import ArcTemplates, RelationTemplates
from tagweave.features.rules import (
    ArrayRule,
    Description,
    Rule,
    check_arrays,
    distinct,
    flag,
    list_of,
    name,
    one_of,
    record,
    refuse,
    text,
    weights_of,
)
from tagweave.features.templates import MOST_TEMPLATES
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.arc_scorer import ROWS, ArcFeatures, ArcParameters
from tagweave.models.chain_file import ABOUT, OF_A_FILE
from tagweave.models.packing import Arrays, unnested
from tagweave.models.tree import TreeModel
from tagweave.structures import TREE

ARC_SCORERS: dict[str, type[ArcParameters]] = {ArcFeatures.kind: ArcFeatures}
_TEMPLATES = list_of(text, 1, MOST_TEMPLATES)
_RELATIONS = {"relations": list_of(name, 1), "relation_rows": ROWS, "relation_templates": _TEMPLATES}


def check(value: Any, where: str = "") -> None:
    """Raise unless a value describes a parser, its guide included."""
    record({"scorer": one_of(*ARC_SCORERS)}, others=True)(value, where)
    record({**_TREE, **ARC_SCORERS[value["scorer"]].rules()}, _OF_A_PARSER)(value, where)
    if len(found := _RELATIONS.keys() & value.keys()) not in (0, len(_RELATIONS)):
        refuse(sorted(found), where, f"{', '.join(_RELATIONS)}, or none of these")
    distinct(value.get("relations", []), "relations")
    if "guide" in value and value["guide"]["guideline"] != value.get("guided_by"):
        refuse(value["guide"]["guideline"], "guide.guideline", "the guideline that templates use")


_TREE: dict[str, Rule] = {
    "kind": one_of(TREE),
    "task": one_of("parse"),
    "coding": one_of(""),
    "guideline": name,
    "single_root": flag,
    "projective": flag,
    "templates": _TEMPLATES,
    "scorer": text,
    "about": ABOUT,
}
_OF_A_PARSER: dict[str, Rule] = {**OF_A_FILE, "guided_by": name, "guide": check, **_RELATIONS}


def assemble(description: Description, arrays: Arrays) -> TreeModel:
    """Return the parser whose checked description and unchecked arrays these are, with its guide."""
    templates = ArcTemplates(tuple(description["templates"]), description.get("guided_by", ""))
    _ = templates.codes  # parses them
    features = ARC_SCORERS[description["scorer"]].of_parts(description, templates)
    rules: dict[str, ArrayRule] = {"weights": weights_of((features.size,))}
    if "relations" in description:
        shape = description["relation_rows"], len(description["relations"])
        rules["relation_weights"] = weights_of(shape)
    of_guide = "guide." if "guide" in description else ()
    check_arrays({each: arrays[each] for each in arrays if not each.startswith(of_guide)}, rules)
    labels = None
    if "relations" in description:
        relation_templates = RelationTemplates(tuple(description["relation_templates"]))
        _ = relation_templates.codes  # parses them
        labels = ArcLabels(relation_templates, tuple(description["relations"]), arrays["relation_weights"])
    guide = assemble(description["guide"], unnested(arrays, "guide")) if "guide" in description else None
    single_root, guideline, about = description["single_root"], description["guideline"], description["about"]
    projective = description["projective"]
    return TreeModel(features, arrays["weights"], labels, single_root, guideline, about, projective, guide)
