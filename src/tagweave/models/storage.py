"""Models on disk: one safetensors file, arrays and a JSON description in its header. Loading one executes nothing.

Models of other programs are recognised by how their files begin.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, overload

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave.corpus.files import digest, whole_file
from tagweave.errors import TagweaveError
from tagweave.features.rules import check_unicode, digest_of
from tagweave.models import memory
from tagweave.models.hub import model_file
from tagweave.models.packing import FORMS, Arrays, pack, shared_arrays, unpack, unpacked_bytes
from tagweave.version import __version__

_CRFSUITE = b"lCRF"  # what models of CRFsuite begin with
_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_KEY = "tagweave"  # a single key: the order of several would be random
_FORMAT = 8  # raised with every change of the file's content


class StoredModel(Protocol):
    """Labels, scorer, weights, structure and facts about the model; `about["plan"]` is how it was trained."""

    kind: ClassVar[str]

    @property
    def about(self) -> dict[str, Any]: ...

    def to_json(self) -> dict[str, Any]: ...

    def arrays(self) -> Arrays: ...


def is_foreign(path: Path | str) -> bool:
    """Return whether a file begins like a model of another program."""
    with Path(path).open("rb") as file:
        return file.read(len(_CRFSUITE)) == _CRFSUITE


_Model = TypeVar("_Model", bound=StoredModel)


class ModelFileError(TagweaveError):
    """A file that is not a model, is damaged, or is of a newer version."""


def save_model(model: StoredModel, path: Path | str) -> None:
    """Write a model of any kind; the file appears whole or not at all.

    Bytes in names of corpora that are no UTF-8 become question marks: labels have none.
    """
    path = Path(path)
    parts, arrays = model.to_json(), model.arrays()
    try:
        check_unicode(parts)
    except ValueError:
        parts = json.loads(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace"))
    forms, packed = pack(arrays)
    unpacked = sum(array.nbytes for array in arrays.values())
    if memory.needed_bytes(parts, unpacked) > memory.most_bytes(sum(array.nbytes for array in packed.values())):
        forms, packed = pack(arrays, compressed=False)  # or it would be refused, like a small file that asks for much
    description = {"format": _FORMAT, "version": __version__, **parts, FORMS: forms}
    description["digest"] = digest_of(json.loads(json.dumps(description)), packed)
    try:
        with whole_file(path) as unfinished:
            save_file(packed, unfinished, {_KEY: json.dumps(description, ensure_ascii=False)})
    except SafetensorError as error:
        raise OSError(f"{path}: the model cannot be written ({error})") from error


@overload
def load_model(path: Path | str, *, folder: Path | None = None) -> StoredModel: ...
@overload
def load_model(path: Path | str, expected: type[_Model], *, folder: Path | None = None) -> _Model: ...
def load_model(path: Path | str, expected: type[Any] | None = None, *, folder: Path | None = None) -> Any:
    """Read a model of any kind, or of the one that is expected; also one of CRFsuite, or `hf:OWNER/NAME[@REVISION]`.

    With a `folder`, which nobody else may be able to write, processes share its unpacked arrays (`shared_arrays`).

    Raises:
        HubError: a model on the hub that cannot be fetched.
        ModelFileError: not such a model, a damaged file, one of a newer version, or of another kind.
        FileNotFoundError: no such file.
    """
    from tagweave.models import assembly  # it imports kernels, for which no help text should wait

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
        memory.check_model(description, unpacked_bytes(forms), Path(path).stat().st_size)
        unpacked = partial(unpack, forms, packed)
        arrays = unpacked() if folder is None else shared_arrays(folder, digest(str(path)), unpacked)
        return assembly.assemble(description, arrays)


def describe_model(path: Path | str) -> dict[str, Any]:
    """Return the description in a model's header, without its arrays."""
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
    """Return the model of another program in a file; `None` if it is of none."""
    try:
        if not Path(path).is_file() or not is_foreign(path):
            return None
        from tagweave.models.crfsuite_file import model_of

        return model_of(Path(path).read_bytes())
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise ModelFileError(f"{path}: found {error}") from error


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
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
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        problem = f"found a model whose parts do not fit ({reason})"
        raise ModelFileError(f"{path}: {problem}, expected a whole tagweave model") from error


def _check(description: dict[str, Any]) -> None:
    from tagweave.models import assembly  # it imports kernels, for which no help text should wait

    check_unicode(description)
    assembly.check(description)


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
