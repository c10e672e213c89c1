"""Models on disk: one safetensors file, arrays and a JSON description in its header. Loading one executes nothing.

Models of other programs are recognised by how their files begin. The memory that a model needs is estimated before
anything is allocated: labels take memory by the square, and a packed zero takes none on disk, so a small file could ask
for any amount.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from math import isqrt
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, overload

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave import __version__
from tagweave.corpus.files import digest, whole_file
from tagweave.errors import CorpusError, TagweaveError
from tagweave.features.rules import check_unicode, digest_of, one_of, record, text, whole
from tagweave.models.hub import model_file
from tagweave.models.packing import FORMS, Arrays, pack, shared_arrays, unpack, unpacked_bytes
from tagweave.structures import KINDS

_CRFSUITE = b"lCRF"  # what models of CRFsuite begin with
_OF_PAIR = 20  # bytes for each pair of labels: weights, potentials, their exponentials, and what codings allow
_OF_ARRAYS = 2  # times the arrays of a file: an index of their codes, and other copies
_LEAST, _RATIO = 1 << 29, 64  # most bytes for a model: this many times those of its file, but at least _LEAST
_SHARE = 16  # of the memory of the machine, what tables of labels may take in training
_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
_HEAD = record({"format": whole(), "version": text, "kind": one_of(*KINDS)}, others=True)
_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_KEY = "tagweave"  # a single key: the order of several would be random
_FORMAT = 7  # raised with every change of the file's content


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


def machine_memory() -> int:
    """Return how many bytes of memory this process may use: all, or what its control group or its limits leave it."""
    limits = [1 << 62]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    if _CONTROL_GROUP.is_file() and (group := _CONTROL_GROUP.read_text("ascii").strip()).isdigit():
        limits.append(int(group))
    try:
        import resource
    except ImportError:  # Windows
        return min(limits)
    own = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min([*limits, own] if own >= 0 else limits)  # without a limit it is -1


def check_model(description: dict[str, Any], arrays: int, file: int) -> None:
    """Refuse a model that needs far more memory than its file (in bytes, arrays unpacked) lets expect, or than is."""
    labels = max(_labels(description), default=0)
    _check_memory(needed_bytes(description, arrays), file, f"{labels:,} labels and {_size(arrays)} of arrays")


def check_labels_of_file(labels: int, file: int) -> None:
    """Refuse as many labels if they would need far more memory than a file of this size lets expect."""
    _check_memory(2 * _OF_PAIR * labels**2, file, f"{labels:,} labels")  # in double precision


def _check_memory(needed: int, file: int, what: str) -> None:
    if needed > (most := most_bytes(file)):
        of_file = f"what a file of {_size(file)} may ask for"
        why = "the memory of this machine" if most == machine_memory() else of_file
        raise ValueError(f"{what}, which need {_size(needed)}, expected at most {_size(most)}, {why}")


def needed_bytes(description: dict[str, Any], arrays: int) -> int:
    """Estimate the memory of a model in use, from its checked description and the bytes of its arrays."""
    return _OF_ARRAYS * arrays + sum(_OF_PAIR * labels**2 for labels in _labels(description))


def most_bytes(file: int) -> int:
    """Return the most memory that a model in a file of so many bytes may need."""
    return min(machine_memory(), max(_LEAST, _RATIO * file))


def check_labels(names: Sequence[str], path: str, bytes_of_each: int = 0) -> None:
    """Refuse to train with so many labels that their tables take too much memory: pairs, or `bytes_of_each`."""
    most, count = max(_LEAST, machine_memory() // _SHARE), len(names)
    needed = bytes_of_each * count if bytes_of_each else _OF_PAIR * count**2
    if needed > most:
        fewer = most // bytes_of_each if bytes_of_each else isqrt(most // _OF_PAIR)
        shown = ", ".join(repr(name) for name in names[:3])
        expected = f"at most {fewer:,} on this machine: these would need {_size(needed)}. Are words taken for labels?"
        hint = "Name the layer of the labels, FILE#LAYER; for pairs of labels, give a `mapping`"
        raise CorpusError(f"{count:,} labels ({shown} ...)", f"{expected} {hint}", path)


def _labels(description: dict[str, Any]) -> Iterator[int]:
    """Yield the number of labels of a chain model, and of all models inside it."""
    if "space" in description:
        yield len(description["space"]["names"])
    for value in (value for key, value in description.items() if key != "about"):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield from _labels(each)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB" if count >= 1e6 else f"{count:,} bytes"


_Model = TypeVar("_Model", bound=StoredModel)


class ModelFileError(TagweaveError):
    """A file that is not a model, is damaged, or is of a newer version."""


def save_model(model: StoredModel, path: Path | str) -> None:
    """Write a model of any kind; the file appears whole or not at all.

    Bytes in names of corpora that are no UTF-8 become question marks: labels have none.
    """
    path, parts, arrays = Path(path), model.to_json(), model.arrays()
    try:
        check_unicode(parts)
    except ValueError:
        parts = json.loads(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace"))
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
    """Read a model of any kind, or of the one that is expected; also one of CRFsuite, or `hf:OWNER/NAME[@REVISION]`.

    With a `folder`, which nobody else may be able to write, processes share its unpacked arrays (`shared_arrays`).

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
        return _file_module(description).assemble(description, arrays)


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
        found = f"found a model whose parts do not fit ({reason})"
        raise ModelFileError(f"{path}: {found}, expected a whole tagweave model") from error


def _check(description: dict[str, Any]) -> None:
    _HEAD(description, "")
    check_unicode(description)
    _file_module(description).check(description, "")


def _file_module(description: dict[str, Any]) -> Any:
    """Return the module that reads models of this kind: `check` is its rule for descriptions, `assemble` makes one."""
    return import_module(f"tagweave.models.{description['kind']}_file")


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
