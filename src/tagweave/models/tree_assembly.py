"""Parsers from their descriptions and arrays, which are not trusted: parts that do not fit are refused."""

from __future__ import annotations

from typing import Any

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.relation_templates import RelationTemplates
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.arc_scorers import ARC_SCORERS
from tagweave.models.parts import Arrays, unnested
from tagweave.models.tree import TreeModel
from tagweave.models.tree_rules import check_tree, check_tree_arrays

Description = dict[str, Any]

check = check_tree


def assemble(description: Description, arrays: Arrays) -> TreeModel:
    """The parser whose `to_json` and `arrays` gave these, with its guide.

    Args:
        description: one that `check` accepts.
        arrays: those of the file, unchecked.

    Raises:
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError: parts that do not fit.
    """
    templates = ArcTemplates(tuple(description["templates"]), description.get("guided_by", ""))
    _ = templates.codes  # parses them
    features = ARC_SCORERS[description["scorer"]].of_parts(description, templates)
    check_tree_arrays(description, arrays, features.size)
    labels = _relations(description, arrays) if "relations" in description else None
    guide = assemble(description["guide"], unnested(arrays, "guide")) if "guide" in description else None
    single_root, guideline, about = description["single_root"], description["guideline"], description["about"]
    projective = description["projective"]
    return TreeModel(features, arrays["weights"], labels, single_root, guideline, about, projective, guide)


def _relations(description: Description, arrays: Arrays) -> ArcLabels:
    templates = RelationTemplates(tuple(description["relation_templates"]))
    _ = templates.codes  # parses them
    return ArcLabels(templates, tuple(description["relations"]), arrays["relation_weights"])
