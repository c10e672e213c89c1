"""Parsers on disk, in the form of all models (`models.storage`): arrays, and a description that executes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.relation_templates import RelationTemplates
from tagweave.models.arc_features import ArcFeatures
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.description import Arrays, nested, unnested
from tagweave.models.storage import read_parts, write_parts
from tagweave.models.tree import TreeModel
from tagweave.models.tree_rules import KIND, check_tree_arrays


def save_parser(model: TreeModel, path: Path | str) -> None:
    """Write a parser; the file appears whole or not at all.

    Raises:
        OSError: it cannot be written; an older file stays as it was.
    """
    write_parts(path, _described(model), _arrays_of(model))


def _described(model: TreeModel) -> dict[str, Any]:
    """All of a model but its arrays, as JSON has it."""
    description: dict[str, Any] = {
        "kind": KIND,
        "task": "parse",
        "coding": "",
        "guideline": model.guideline,
        "single_root": model.single_root,
        "templates": list(model.features.templates.texts),
        "rows": model.features.rows,
        "about": model.about,
    }
    if model.labels is not None:
        description["relations"] = list(model.labels.names)
        description["relation_rows"] = len(model.labels.weights)
        description["relation_templates"] = list(model.labels.templates.texts)
    if model.features.templates.guide:
        description["guided_by"] = model.features.templates.guide
    if model.guide is not None:
        description["guide"] = _described(model.guide)
    return description


def _arrays_of(model: TreeModel) -> Arrays:
    """The arrays of a model, by the names that they have on disk; those of its guide are named `guide.NAME`."""
    arrays: Arrays = {"weights": model.weights}
    if model.labels is not None:
        arrays["relation_weights"] = model.labels.weights
    return arrays if model.guide is None else {**arrays, **nested(_arrays_of(model.guide), "guide")}


def load_parser(path: Path | str) -> TreeModel:
    """Read a parser.

    Raises:
        ModelFileError: not a model of this program, a damaged file, one of a newer version, or a model of labels.
        FileNotFoundError: no such file.
    """
    return read_parts(path, KIND, _assembled)


def _assembled(description: dict[str, Any], arrays: Arrays) -> TreeModel:
    """The model of its parts, of which `check_tree` has seen the description."""
    templates = ArcTemplates(tuple(description["templates"]), description.get("guided_by", ""))
    _ = templates.codes  # reads them
    features = ArcFeatures(templates, description["rows"])
    check_tree_arrays(description, arrays)
    weights = arrays["weights"]
    labels = _labels(description, arrays["relation_weights"]) if "relations" in description else None
    guide = _assembled(description["guide"], unnested(arrays, "guide")) if "guide" in description else None
    return TreeModel(
        features, weights, labels, description["single_root"], description["guideline"], description["about"], guide
    )


def _labels(description: dict[str, Any], weights: NDArray[Any]) -> ArcLabels:
    templates = RelationTemplates(tuple(description["relation_templates"]))
    _ = templates.codes  # reads them
    return ArcLabels(templates, tuple(description["relations"]), weights)
