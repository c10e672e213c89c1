"""Parsers on disk, in the form of all models (`models.storage`): arrays, and a description that executes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.encoding.arc_templates import ArcTemplates
from tagweave.encoding.relation_templates import RelationTemplates
from tagweave.models.arc_features import ArcFeatures
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.description import Arrays, nested, unnested
from tagweave.models.nonzero import with_zeros, without_zeros
from tagweave.models.storage import read_parts, write_parts
from tagweave.models.tree import TreeModel

KIND = "tree"


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
    arrays = without_zeros("weights", model.weights)
    if model.labels is not None:
        arrays |= without_zeros("relation_weights", model.labels.weights)
    return arrays if model.guide is None else {**arrays, **nested(_arrays_of(model.guide), "guide")}


def load_parser(path: Path | str) -> TreeModel:
    """Read a parser.

    Raises:
        ModelFileError: not a model of this program, a damaged file, one of a newer version, or a model of labels.
        FileNotFoundError: no such file.
    """
    return read_parts(path, KIND, _assembled)


def _assembled(description: dict[str, Any], arrays: Arrays) -> TreeModel:
    """The model of its parts; refuses what kernels, which do not check their indices, would read beyond its end."""
    templates = _templates(description["templates"], description.get("guided_by", ""))
    features = ArcFeatures(templates, _power_of_two(description["rows"]))
    weights = with_zeros(arrays, "weights", (features.size,))
    _check(weights, (features.size,))
    if not isinstance(description["single_root"], bool) or not isinstance(description["guideline"], str):
        raise ValueError("a description with values of other types")
    labels = _labels(description, arrays) if "relations" in description else None
    guide = _assembled(description["guide"], unnested(arrays, "guide")) if "guide" in description else None
    if guide and guide.guideline != templates.guide:
        raise ValueError("a guide of another guideline than that which templates look at")
    return TreeModel(
        features, weights, labels, description["single_root"], description["guideline"], description["about"], guide
    )


def _labels(description: dict[str, Any], arrays: Arrays) -> ArcLabels:
    names = tuple(description["relations"])
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError("relations without names")
    shape = _power_of_two(description["relation_rows"]), len(names)
    weights = with_zeros(arrays, "relation_weights", shape)
    _check(weights, shape)
    templates = RelationTemplates(tuple(description["relation_templates"]))
    if not templates.parsed:
        raise ValueError("no templates of relations")
    return ArcLabels(templates, names, weights)


def _templates(texts: list[str], guide: str) -> ArcTemplates:
    templates = ArcTemplates(tuple(texts), guide)
    if not templates.parsed or not isinstance(guide, str):
        raise ValueError("no templates")
    return templates


def _power_of_two(number: int) -> int:
    if not isinstance(number, int) or number < 1 or number & (number - 1):
        raise ValueError(f"{number} rows of weights")
    return number


def _check(weights: NDArray[Any], shape: tuple[int, ...]) -> None:
    if weights.shape != shape or weights.dtype not in (np.float32, np.float64):
        raise ValueError(f"weights {weights.dtype}{list(weights.shape)} where {list(shape)} are expected")
