"""Models on disk: one safetensors file, arrays and a JSON description in its header. Loading one executes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, overload

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave import __version__
from tagweave.corpus.describe import digest
from tagweave.corpus.errors import InputError
from tagweave.corpus.whole_file import whole_file
from tagweave.features.digest import digest_of
from tagweave.features.rules import check_unicode, one_of, record, text, whole
from tagweave.models.foreign import foreign_model, is_foreign
from tagweave.models.hub import model_file
from tagweave.models.memory import check_model, most_bytes, needed_bytes
from tagweave.models.packing import FORMS, pack, unpack, unpacked_bytes
from tagweave.models.parts import Arrays
from tagweave.models.shared_arrays import shared_arrays
from tagweave.models.stored_model import StoredModel
from tagweave.structures.kinds import CHAIN, TREE

_Model = TypeVar("_Model", bound=StoredModel)
_ASSEMBLIES = {CHAIN: "tagweave.models.chain_assembly", TREE: "tagweave.models.tree_assembly"}
"""Where models of each kind are put together: `check` is the rule for their descriptions, and `assemble` makes one."""
_HEAD = record({"format": whole(), "version": text, "kind": one_of(*_ASSEMBLIES)}, others=True)
_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_KEY = "tagweave"  # a single key: the order of several would be random
_FORMAT = 7  # raised with every change of the file's content


class ModelFileError(InputError):
    """A file that is not a model, is damaged, or is of a newer version."""


def save_model(model: StoredModel, path: Path | str) -> None:
    """Write a model of any kind; the file appears whole or not at all.

    Raises:
        OSError: it cannot be written; an older file is kept.
    """
    write_parts(path, model.to_json(), model.arrays())


def write_parts(path: Path | str, parts: dict[str, Any], arrays: Arrays) -> None:
    """Write the description and the arrays of a model. Raises as `save_model`."""
    path = Path(path)
    forms, packed = pack(arrays)
    unpacked = sum(array.nbytes for array in arrays.values())
    if needed_bytes(parts, unpacked) > most_bytes(sum(array.nbytes for array in packed.values())):
        forms, packed = pack(arrays, compressed=False)  # or it would be refused, like a small file that asks for much
    description = {"format": _FORMAT, "version": __version__, **parts, FORMS: forms}
    description["digest"] = digest_of(json.loads(json.dumps(description)), packed)
    try:
        with whole_file(path) as part:
            save_file(packed, part, {_KEY: json.dumps(description, ensure_ascii=False)})
    except SafetensorError as error:
        raise OSError(f"{path}: the model cannot be written ({error})") from error


@overload
def load_model(path: Path | str, *, folder: Path | None = None) -> StoredModel: ...
@overload
def load_model(path: Path | str, expected: type[_Model], *, folder: Path | None = None) -> _Model: ...
def load_model(path: Path | str, expected: type[Any] | None = None, *, folder: Path | None = None) -> Any:
    """Read a model: of any kind, or of the one that is expected.

    With a `folder`, which nobody else may be able to write, processes share its unpacked arrays (`shared_arrays`).

    Models of other programs whose features are attributes are read as well (`foreign`), and those of the Hugging Face
    hub by the name `hf:OWNER/NAME[@REVISION]` (`hub`).

    Raises:
        HubError: a model on the hub that cannot be fetched.
        ModelFileError: not such a model, a damaged file, one of a newer version, or of another kind.
        FileNotFoundError: no such file.
    """
    path = model_file(path)
    if (foreign := _foreign(path)) is not None:
        if expected is not None and not isinstance(foreign, expected):
            raise ModelFileError(f"{path}: found a {foreign.kind} model, expected a {expected.kind} model")
        return foreign
    with _reading(Path(path)) as file:
        description = _described(path, file.metadata() or {})
        packed = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        if description.pop("digest", None) != digest_of(description, packed):
            raise ModelFileError(f"{path}: found a damaged file, expected what was written when the model was saved")
        forms = description.pop(FORMS)
        _check(description)
        if expected is not None and description["kind"] != expected.kind:
            raise ModelFileError(f"{path}: found a {description['kind']} model, expected a {expected.kind} model")
        check_model(description, unpacked_bytes(forms), Path(path).stat().st_size)
        unpacked = partial(unpack, forms, packed)
        arrays = unpacked() if folder is None else shared_arrays(folder, digest(str(path)), unpacked)
        return import_module(_ASSEMBLIES[description["kind"]]).assemble(description, arrays)


def describe_model(path: Path | str) -> dict[str, Any]:
    """The description in a model's header, without its arrays. Raises as `load_model`."""
    path = model_file(path)
    if (foreign := _foreign(path)) is not None:
        return {"format": _FORMAT, "version": __version__, **foreign.to_json()}
    with _reading(Path(path)) as file:
        description = _described(path, file.metadata() or {})
        description.pop("digest", None)
        del description[FORMS]
        _check(description)
        return description


def _foreign(path: Path | str) -> StoredModel | None:
    """The model of another program in a file; `None` if it is of none. Raises as `load_model`."""
    try:
        return foreign_model(path) if Path(path).is_file() and is_foreign(path) else None
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise ModelFileError(f"{path}: found {error}") from error


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """The open file; errors are raised as `ModelFileError`."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        with safe_open(path, "numpy") as file:
            yield file
    except ModelFileError:
        raise
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error
    except _UNFIT as error:
        raise _unfit(path, error) from error


def _check(description: dict[str, Any]) -> None:
    """Raise one of `_UNFIT` unless the description is one of a model."""
    _HEAD(description, "")
    check_unicode(description)
    import_module(_ASSEMBLIES[description["kind"]]).check(description, "")


def _unfit(path: Path, error: Exception) -> ModelFileError:
    reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    return ModelFileError(f"{path}: found a model whose parts do not fit ({reason}), expected a whole tagweave model")


def _unreadable(path: Path | str, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path}: found a damaged file or one of another kind ({error}), expected a tagweave model")


def _described(path: Path | str, metadata: dict[str, str]) -> dict[str, Any]:
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
