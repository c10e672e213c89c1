"""Models of other programs, which are read where models are; they are recognised by how their files begin."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tagweave.models.stored_model import StoredModel

FOREIGN = {b"lCRF": "tagweave.models.crfsuite_file"}
"""What the files of a program begin with, and the module whose `model_of` reads their bytes."""


def is_foreign(path: Path | str) -> bool:
    """Whether a file begins like a model of another program.

    Raises:
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as file:
        return _module(file.read(_LONGEST)) is not None


def foreign_model(path: Path | str) -> StoredModel:
    """The model of another program in a file.

    Raises:
        OSError: it cannot be read.
        ValueError: damaged, or a model of a kind that has no counterpart here.
    """
    data = Path(path).read_bytes()
    if (module := _module(data[:_LONGEST])) is None:
        raise ValueError(
            f"a file that begins with {data[:_LONGEST]!r}, expected one of {', '.join(map(repr, FOREIGN))}"
        )
    model: StoredModel = import_module(module).model_of(data)
    return model


_LONGEST = max(map(len, FOREIGN))


def _module(start: bytes) -> str | None:
    return next((module for magic, module in FOREIGN.items() if start.startswith(magic)), None)
