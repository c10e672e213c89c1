"""KyTea (Neubig et al. 2011), which decides on every boundary by itself, by the library in its Python package.

The package runs models; that its library can train them it does not tell Python. `train` calls what the program
`train-kytea` calls. A mistake in the arguments ends the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

_ROOM = 1 << 16  # bytes for an object of C++, more than it needs


def is_installed() -> bool:
    """Whether the package and its library are there."""
    return _library() is not None


def train(*words: str) -> None:
    """`train-kytea WORD ...`.

    Raises:
        FileNotFoundError: no library.
    """
    path = _library()
    if path is None:
        raise FileNotFoundError("found no library of KyTea, expected the package kytea")
    library = ctypes.CDLL(str(path))
    given = [b"train-kytea", b"-debug", b"0", *(word.encode() for word in words)]
    config, program = ctypes.create_string_buffer(_ROOM), ctypes.create_string_buffer(_ROOM)
    library._ZN5kytea11KyteaConfigC1Ev(config)
    library._ZN5kytea11KyteaConfig21parseTrainCommandLineEiPPKc(
        config, len(given), (ctypes.c_char_p * len(given))(*given)
    )
    (ctypes.c_void_p * 2).from_buffer(program)[1] = ctypes.addressof(config)
    library._ZN5kytea5Kytea4initEv(program)
    library._ZN5kytea5Kytea8trainAllEv(program)


def segmenter(model: str) -> Callable[[str], list[str]]:
    """A function from text to words."""
    from Mykytea import Mykytea

    program = Mykytea(f"-model {model} -notags")
    return lambda text: list(program.getWS(text))


def _library() -> Path | None:
    spec = find_spec("Mykytea")
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("kytea.libs/libkytea*"))), None)
