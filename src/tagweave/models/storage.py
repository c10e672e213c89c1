"""Models on disk: one safetensors file, arrays and a JSON description in its header. Loading one executes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave import __version__
from tagweave.encoding.attributes import AttributeEncoder
from tagweave.encoding.digest import digest_of
from tagweave.encoding.encoder import TemplateEncoder
from tagweave.encoding.index import FeatureIndex
from tagweave.encoding.templates import Templates
from tagweave.labels.scheme import TransitionScheme
from tagweave.labels.space import LabelSpace
from tagweave.models.chain import ChainModel
from tagweave.models.layout import Layout
from tagweave.models.structure import ChainStructure

_KEY = "tagweave"  # the only one: several would stand in an order of chance
_FORMAT = 1  # raised when a file of the new form cannot be read by older versions


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or is of a newer version."""


def save_model(model: ChainModel, path: Path | str) -> None:
    """Write a model; the file appears whole or not at all.

    Raises:
        OSError: it cannot be written; an older file stays as it was.
    """
    path = Path(path)
    arrays = {"weights": model.weights, **_scheme_arrays(model.structure), **model.encoder.arrays()}
    for i, layout in enumerate(model.structure.layouts):
        arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"] = layout.ptr, layout.cell
    description = {
        "format": _FORMAT,
        "version": __version__,
        "kind": "chain",
        "task": model.task,
        "coding": model.coding,
        "space": model.structure.space.to_json(),
        "encoder": model.encoder.to_json(),
        "transitions": model.structure.transitions,
        "edges": model.structure.edges,
        "about": model.about,
    }
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    description["digest"] = digest_of(json.loads(json.dumps(description)), contiguous)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        save_file(contiguous, temporary, {_KEY: json.dumps(description, ensure_ascii=False)})
        temporary.replace(path)
    except SafetensorError as error:
        raise OSError(f"{path}: the model cannot be written ({error})") from error
    finally:
        temporary.unlink(missing_ok=True)


def load_model(path: Path | str) -> ChainModel:
    """Read a model.

    Raises:
        ModelFileError: not a model of this program, a damaged file, or one of a newer version.
        FileNotFoundError: no such file.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        with safe_open(path, "numpy") as file:
            description = _described(path, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        if description.pop("digest", None) != digest_of(description, arrays):
            raise ModelFileError(f"{path}: found a damaged file, expected what was written when the model was saved")
        return _assemble(description, arrays)
    except ModelFileError:
        raise
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(
            f"{path}: found a model whose parts do not fit ({error!r}), expected a whole tagweave model"
        ) from error


def describe_model(path: Path | str) -> dict[str, Any]:
    """The description in a model's header, without its arrays. Raises as `load_model`."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        with safe_open(path, "numpy") as file:
            return _described(path, file.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path}: found a damaged file or one of another kind ({error}), expected a tagweave model")


def _described(path: Path, metadata: dict[str, str]) -> dict[str, Any]:
    if _KEY not in metadata:
        raise ModelFileError(f"{path}: found a safetensors file of another program, expected a tagweave model")
    try:
        description: dict[str, Any] = json.loads(metadata[_KEY])
    except ValueError as error:
        raise _unreadable(path, error) from error
    if not isinstance(description, dict) or not isinstance(description.get("format"), int):
        raise ModelFileError(f"{path}: found a checkpoint or another file of tagweave, expected a tagweave model")
    if description["format"] > _FORMAT:
        raise ModelFileError(
            f"{path}: found a model of tagweave {description.get('version')} (format {description['format']}), expected"
            f" format {_FORMAT} or older: this is tagweave {__version__}"
        )
    return description


def _scheme_arrays(structure: ChainStructure) -> dict[str, Any]:
    scheme = structure.scheme
    arrays: dict[str, Any] = {
        "scheme.transition": scheme.transition,
        "scheme.start": scheme.start,
        "scheme.end": scheme.end,
    }
    for i, licensed in enumerate(structure.licensed_transitions or ()):
        arrays[f"licensed.{i}"] = licensed
    return arrays


def _assemble(description: dict[str, Any], arrays: dict[str, Any]) -> ChainModel:
    space = LabelSpace.from_json(description["space"])
    views = range(len(space.views))
    layouts = tuple(Layout(arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"]) for i in views)
    scheme = TransitionScheme(*(arrays[f"scheme.{part}"] for part in ("transition", "start", "end")))
    licensed = tuple(arrays[f"licensed.{i}"] for i in views) if "licensed.0" in arrays else None
    structure = ChainStructure(space, layouts, scheme, description["transitions"], description["edges"], licensed)
    encoder = _encoder(description["encoder"], arrays)
    _check_shapes(structure, encoder.windows, arrays["weights"])
    return ChainModel(
        structure,
        encoder,
        arrays["weights"],
        description["task"],
        description["coding"],
        description["about"],
    )


def _encoder(description: dict[str, Any], arrays: dict[str, Any]) -> TemplateEncoder | AttributeEncoder:
    if "templates" not in description:
        return AttributeEncoder.of_arrays(arrays)
    index = FeatureIndex.of_codes(arrays["index.codes"])
    windows = arrays["index.windows"]
    if len(index) != len(windows):
        raise ValueError(f"{len(windows)} windows where the index has {len(index)} features")
    return TemplateEncoder(Templates(tuple(description["templates"])), index, windows)


def _check_shapes(structure: ChainStructure, windows: NDArray[Any], weights: NDArray[Any]) -> None:
    """Refuse what kernels, which do not check their indices, would read beyond its end.

    Raises:
        ValueError: arrays that do not fit each other.
    """
    Y, scheme = len(structure.space), structure.scheme
    expected = {"transition": (Y, Y), "start": (Y,), "end": (Y,)}
    fits = [(part := getattr(scheme, name)).shape == shape and part.dtype == bool for name, shape in expected.items()]
    for view, layout in zip(structure.space.views, structure.layouts, strict=True):
        tags = len(view.names)
        rows = np.diff(layout.ptr.astype(np.int64))
        fits.append(view.projection.shape == (Y,) and bool(((view.projection >= 0) & (view.projection < tags)).all()))
        fits.append(len(layout.ptr) == len(windows) + 1 and int(layout.ptr[0]) == 0)
        if not len(layout.cell):  # dense, unless there is nothing at all
            fits.append(not rows.any() or np.array_equal(rows, windows * tags))
        else:
            room = np.repeat(windows * tags, np.maximum(rows, 0))
            fits.append(
                (rows >= 0).all()
                and len(room) == len(layout.cell)
                and bool(((layout.cell >= 0) & (layout.cell < room)).all())
            )
    for licensed, view in zip(structure.licensed_transitions or (), structure.space.views, strict=False):
        fits.append(licensed.shape == (len(view.names),) * 2 and licensed.dtype == bool)
    fits.append(weights.shape == (structure.size,) and weights.dtype in (np.float32, np.float64))
    if not all(fits):
        raise ValueError("arrays of sizes that do not fit each other")
