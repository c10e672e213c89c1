"""What a model on disk is: a plain description, and arrays by name. A model that guides another is part of both."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tagweave.models.chain import ChainModel

Arrays = dict[str, NDArray[Any]]


def describe(model: ChainModel) -> dict[str, Any]:
    """All of a model but its arrays, as JSON has it."""
    return {
        "kind": "chain",
        "task": model.task,
        "coding": model.coding,
        "space": model.structure.space.to_json(),
        "weighted": [layout is not None for layout in model.structure.layouts],
        "encoder": model.encoder.to_json(),
        "transitions": model.structure.transitions,
        "edges": model.structure.edges,
        "about": model.about,
    }


def arrays_of(model: ChainModel) -> Arrays:
    """The arrays of a model, by the names that they have on disk."""
    structure, scheme = model.structure, model.structure.scheme
    arrays: Arrays = {
        "weights": model.weights,
        "scheme.transition": scheme.transition,
        "scheme.start": scheme.start,
        "scheme.end": scheme.end,
        **model.encoder.arrays(),
    }
    for i, layout in enumerate(structure.layouts):
        if layout is not None:
            arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"] = layout.ptr, layout.cell
    for i, licensed in enumerate(structure.licensed_transitions or ()):
        arrays[f"licensed.{i}"] = licensed
    return arrays


def nested(arrays: Arrays, part: str) -> Arrays:
    """The arrays under the name of the part of a model that they belong to: `PART.NAME`."""
    return {f"{part}.{name}": array for name, array in arrays.items()}


def unnested(arrays: Arrays, part: str) -> Arrays:
    """The arrays of a part, under their own names."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
