"""Models on disk: one safetensors file, arrays and a JSON description in its header. Loading one executes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave import __version__
from tagweave.corpus.whole_file import whole_file
from tagweave.features.digest import digest_of
from tagweave.features.rules import check_unicode, one_of, record, text, whole
from tagweave.models.assembly import assemble
from tagweave.models.chain import ChainModel
from tagweave.models.chain_rules import check_chain
from tagweave.models.description import Arrays, arrays_of, describe
from tagweave.models.packing import FORMS, pack, unpack
from tagweave.models.tree_rules import check_tree

_Model = TypeVar("_Model")
_CHECKS = {"chain": check_chain, "tree": check_tree}
_HEAD = record({"format": whole(), "version": text, "kind": one_of(*_CHECKS)}, others=True)
_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_KEY = "tagweave"  # the only one: several would stand in an order of chance
_FORMAT = 5  # raised with every change of what a file holds


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or is of a newer version."""


def save_model(model: ChainModel, path: Path | str) -> None:
    """Write a model; the file appears whole or not at all.

    Raises:
        OSError: it cannot be written; an older file stays as it was.
    """
    write_parts(path, describe(model), arrays_of(model))


def write_parts(path: Path | str, parts: dict[str, Any], arrays: Arrays) -> None:
    """Write the description and the arrays of a model of any kind. Raises as `save_model`."""
    path = Path(path)
    forms, packed = pack(arrays)
    description = {"format": _FORMAT, "version": __version__, **parts, FORMS: forms}
    description["digest"] = digest_of(json.loads(json.dumps(description)), packed)
    try:
        with whole_file(path) as part:
            save_file(packed, part, {_KEY: json.dumps(description, ensure_ascii=False)})
    except SafetensorError as error:
        raise OSError(f"{path}: the model cannot be written ({error})") from error


def load_model(path: Path | str) -> ChainModel:
    """Read a model of labels.

    Raises:
        ModelFileError: not a model of this program, a damaged file, one of a newer version, or a parser.
        FileNotFoundError: no such file.
    """
    return read_parts(path, "chain", assemble)


def read_parts(path: Path | str, kind: str, build: Callable[[dict[str, Any], Arrays], _Model]) -> _Model:
    """Read the description and the arrays of a model of a kind, and build it of them. Raises as `load_model`."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        with safe_open(path, "numpy") as file:
            description = _described(path, file.metadata() or {})
            packed = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        if description.pop("digest", None) != digest_of(description, packed):
            raise ModelFileError(f"{path}: found a damaged file, expected what was written when the model was saved")
        if (found := description.get("kind")) != kind:
            raise ModelFileError(f"{path}: found a {found} model, expected a {kind} model")
        forms = description.pop(FORMS)
        _check(description)
        return build(description, unpack(forms, packed))
    except ModelFileError:
        raise
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error
    except _UNFIT as error:
        raise _unfit(path, error) from error


def describe_model(path: Path | str) -> dict[str, Any]:
    """The description in a model's header, without its arrays. Raises as `load_model`."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        with safe_open(path, "numpy") as file:
            description = _described(path, file.metadata() or {})
        description.pop("digest", None)
        del description[FORMS]
        _check(description)
        return description
    except ModelFileError:
        raise
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error
    except _UNFIT as error:
        raise _unfit(path, error) from error


def _check(description: dict[str, Any]) -> None:
    """Nothing, if a description is one of a model of its kind. Raises one of `_UNFIT`."""
    _HEAD(description, "")
    check_unicode(description)
    _CHECKS[description["kind"]](description)


def _unfit(path: Path, error: Exception) -> ModelFileError:
    told = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    return ModelFileError(f"{path}: found a model whose parts do not fit ({told}), expected a whole tagweave model")


def _unreadable(path: Path, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path}: found a damaged file or one of another kind ({error}), expected a tagweave model")


def _described(path: Path, metadata: dict[str, str]) -> dict[str, Any]:
    if _KEY not in metadata:
        raise ModelFileError(f"{path}: found a safetensors file of another program, expected a tagweave model")
    try:
        description: dict[str, Any] = json.loads(metadata[_KEY])
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, error) from error
    if not isinstance(description, dict) or not isinstance(description.get("format"), int):
        raise ModelFileError(f"{path}: found a checkpoint or another file of tagweave, expected a tagweave model")
    if description["format"] != _FORMAT:
        raise ModelFileError(
            f"{path}: found a model of tagweave {description.get('version')} (format {description['format']}), expected"
            f" format {_FORMAT}: this is tagweave {__version__}"
        )
    return description
