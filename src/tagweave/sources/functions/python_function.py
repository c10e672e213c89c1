"""Python functions as labelling functions.

import tagweave as tw

@tw.labelling_function
def titles(sentence):
    for at, form in enumerate(sentence.forms[:-1]):
        if form in ("Mr.", "Mrs."):
            yield at + 1, at + 2, "PER"
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, overload

from tagweave import __version__
from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Candidates, Layer, Sentence, kind_of
from tagweave.corpus.spans import FoundSpan, layer_of
from tagweave.errors import CorpusError
from tagweave.sources.functions.function import FunctionError, LabellingFunction, stamp

Finder = Callable[[Sentence], Iterable[Any] | None]
"""Gives spans `(start, stop, type)` or `(start, stop, type, probability)` of some tokens, or a label for each token."""


@dataclass(frozen=True)
class PythonFunction(LabellingFunction):
    """A Python function over a sentence that gives spans, or labels."""

    # what it calls. It gives, as a list or one by one, spans: a start, a stop (the token after the last) and a type,
    # and perhaps a probability; or for each token a label, `None` (unknown), or labels with probabilities, `{"B-PER":
    # 0.9, "O": 0.1}`. `None` or nothing: it abstains.
    function: Finder
    name: str  # the name of its layer
    outside: bool = False  # whether a token in no span is `O`; by default it is unknown

    def __call__(self, sentence: Sentence) -> Iterable[Any] | None:
        return self.function(sentence)

    def __reduce__(self) -> tuple[Callable[..., PythonFunction], tuple[Any, ...]]:
        """Travel to another process as the file that defines the function, and its name there."""
        return _travelled, (self._file(), self.function.__qualname__, self.name, self.outside)

    def digest(self) -> str | None:
        """Return a digest of the whole file that defines the function; `None` without one."""
        try:
            path = self._file()
        except FunctionError:
            return None
        own = f"{__version__} {self.function.__qualname__} {self.outside}\n".encode()
        return hashlib.sha256(own + Path(path).read_bytes()).hexdigest()

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        return [self._layer(each) for each in sentences]

    def _layer(self, sentence: Sentence) -> Layer:
        try:
            found = list(self.function(sentence) or ())
        except Exception as error:
            raise self._error(sentence, f"{type(error).__name__}: {error}", "spans or labels") from error
        try:
            if not any(isinstance(each, str | dict) for each in found) and (not found or any(found)):
                return layer_of((_span(each) for each in found), len(sentence), self.outside)
            if len(found) != len(sentence):
                raise CorpusError(f"{len(found)} labels", f"{len(sentence)}, one for each token, or spans")
            return tuple(map(_candidates, found))
        except CorpusError as error:
            raise self._error(sentence, error.found, error.expected) from None

    def _error(self, sentence: Sentence, found: str, expected: str) -> FunctionError:
        path, line = sentence.location
        where = f" at {path}:{line}" if path else ""
        return FunctionError(f"{self.name}{where}: found {found}, expected {expected}")

    def _file(self) -> str:
        function = inspect.unwrap(self.function)
        path = inspect.getsourcefile(function) if inspect.isfunction(function) else None
        if path is None or not Path(path).is_file() or "<" in self.function.__qualname__:
            raise FunctionError(f"{self.name}: found a function that is in no file, expected one for other processes")
        return path


def _span(found: Any) -> FoundSpan:
    """Read a span from a tuple, which may have a probability, and several types."""
    values = tuple(found) if isinstance(found, tuple | list) else ()
    if len(values) not in (3, 4) or not all(isinstance(each, int) for each in values[:2]) or not values[2]:
        raise CorpusError(f"{found!r}", "a span (start, stop, type), or a label for each token")
    types = (values[2],) if isinstance(values[2], str) else tuple(values[2])
    return FoundSpan(int(values[0]), int(values[1]), types, float(values[3]) if len(values) == 4 else 1.0)


def _candidates(found: Any) -> Candidates:
    if found is None or isinstance(found, str):
        return (found,) if found else None
    if not isinstance(found, Mapping) or not all(isinstance(each, int | float) for each in found.values()):
        raise CorpusError(f"{found!r}", "a label, None, or labels with their probabilities")
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return Soft((name for name, _ in ordered), (float(number) for _, number in ordered))


@overload
def labelling_function(function: Finder) -> PythonFunction: ...
@overload
def labelling_function(*, name: str | None = None, outside: bool = False) -> Callable[[Finder], PythonFunction]: ...
def labelling_function(
    function: Finder | None = None, *, name: str | None = None, outside: bool = False
) -> PythonFunction | Callable[[Finder], PythonFunction]:
    """Make a labelling function of a Python function over a sentence; a decorator, with or without options.

    The sentence has forms and columns, and no labels. `PythonFunction` describes what the function may give.

    Args:
        function: the function.
        name: the name of its layer; by default that of the function.
        outside: whether a token in no span is `O`; by default it is unknown.
    """
    if function is None:
        return lambda decorated: PythonFunction(decorated, name or decorated.__name__, outside)
    if not callable(function):
        raise TypeError(f"found {kind_of(function)}, expected a function from a sentence to spans or labels")
    return PythonFunction(function, name or function.__name__, outside)


def load_functions(argument: str) -> list[PythonFunction]:
    """Load the functions that `MODULE.py:NAME,NAME` names, or all labelling functions of `MODULE.py`. Runs the file."""
    path, _, names = argument.partition(".py:")
    path = f"{path}.py" if names else argument
    if not Path(path).is_file():
        raise FunctionError(f"{path}: found no such file, expected MODULE.py or MODULE.py:FUNCTION")
    module = _module(path, stamp(path))
    if not names:
        found = [each for each in vars(module).values() if isinstance(each, PythonFunction)]
        if not found:
            raise FunctionError(f"{path}: found no labelling function, expected some with @tagweave.labelling_function")
        return found
    functions = []
    for name in names.split(","):
        function = getattr(module, name, None)
        if not callable(function):
            raise FunctionError(f"{path}: found no function {name!r}, expected one of the file")
        functions.append(function if isinstance(function, PythonFunction) else labelling_function(function))
    return functions


def _travelled(path: str, qualified: str, name: str, outside: bool) -> PythonFunction:
    found: Any = _module(path, stamp(path))
    for part in qualified.split("."):
        found = getattr(found, part)
    function = found.function if isinstance(found, PythonFunction) else found
    return PythonFunction(function, name, outside)


@lru_cache(maxsize=64)
def _module(path: str, _stamp: object) -> ModuleType:
    name = f"_tagweave_functions_{hashlib.sha256(path.encode()).hexdigest()[:12]}"
    spec = spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101 - the name ends in .py
    assert spec.loader is not None  # noqa: S101 - as above
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise FunctionError(f"{path}: found {type(error).__name__}: {error}, expected a file that runs") from error
    return module
