"""Labelling functions: their base, Python functions as such, and how they are applied to a corpus, in parallel.

A function labels some tokens and abstains on all others: these are unknown. Only a function that is declared with
`outside` gives `O` to every token in none of its spans.

A Python function over a sentence becomes a labelling function by a decorator:

    @tw.labelling_function
    def titles(sentence):
        for at, form in enumerate(sentence.forms[:-1]):
            if form in ("Mr.", "Mrs."):
                yield at + 1, at + 2, "PER"
"""

from __future__ import annotations

import hashlib
import inspect
import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, overload

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Layer, Sentence, kind_of
from tagweave.corpus.spans import SPANS, FoundSpan, layer_of
from tagweave.errors import CorpusError, TagweaveError
from tagweave.signals import leave_with_parent


class FunctionError(TagweaveError):
    """A labelling function that cannot be read or applied, or gives no labels."""


Progress = Callable[[int, int], None]
"""Receives how many calls or requests are done, and how many there are."""


class LabellingFunction(ABC):
    """A source of labels that is computed."""

    name: str  # the name of its layer

    def check(self, sentences: Sequence[Sentence]) -> str | None:
        """Return a note on its answers to the text as a whole, if any. Raises unless it fits the text."""
        return None

    def prepared(
        self, sentences: Sequence[Sentence], progress: Progress, tell: Callable[[str], None]
    ) -> LabellingFunction:
        """Do what takes long and is done once for the text, such as requests to a server; return what is to be called.

        Args:
            sentences: the text.
            progress: hears of what is done.
            tell: receives notes, perhaps in other threads.
        """
        return self

    @abstractmethod
    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """Label sentences, which have forms and columns, and no labels."""


@dataclass(frozen=True)
class DeclaredFunction(LabellingFunction):
    """A labelling function whose fields say all about it, and may stand in a file."""

    path_fields: ClassVar[tuple[str, ...]] = ()
    """The fields with files and folders; one that is `None` has none."""

    name: str  # the name of its layer
    outside: bool = field(default=False, kw_only=True)  # whether a token in no span is `O`; otherwise it is unknown
    task: str = field(default=SPANS, kw_only=True)  # `spans` or `tags`


def stamp(path: str) -> tuple[int, int]:
    """Return the time of change and the size of a file. Raises OSError without the file."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size


_BLOCK = 500  # sentences of a call


class _Call(NamedTuple):
    """A call of a function on sentences."""

    function: LabellingFunction
    sentences: Sequence[Sentence]


def apply_functions(
    corpus: Corpus,
    functions: Sequence[LabellingFunction],
    processes: int = 1,
    progress: Progress = lambda done, total: None,
    tell: Callable[[str], None] = lambda line: None,
) -> Corpus:
    """Add a layer for each function to a corpus.

    Functions see forms, and columns that are no layers; no labels.

    Args:
        corpus: the text.
        functions: with different names that no layer or column has.
        processes: how many processes call them at the same time; 1 is this one.
        progress: hears of finished requests, then of calls.
        tell: receives notes on what functions read.
    """
    taken = {"form", *(name for sentence in corpus for name in (*sentence.layers, *sentence.columns))}
    for function in functions:
        if not function.name or function.name.split() != [function.name]:
            raise FunctionError(f"found the function name {function.name!r}, expected one without blanks")
        if function.name in taken:
            raise FunctionError(f"found the function name {function.name!r} in use, expected another")
        taken.add(function.name)
    bare = [_bare(sentence) for sentence in corpus]
    for function in functions:
        if note := function.check(bare):
            tell(f"{function.name}: {note}")
    called = [function.prepared(bare, progress, tell) for function in functions]
    blocks = [bare[low : low + _BLOCK] for low in range(0, len(bare), _BLOCK)]
    calls = [_Call(function, block) for function in called for block in blocks]
    answers: dict[str, list[Layer]] = {function.name: [] for function in functions}
    for done, (call, layers) in enumerate(_answers(calls, processes), 1):
        answers[call.function.name] += layers
        progress(done, len(calls))
    return corpus.with_sentences(
        replace(sentence, layers={**sentence.layers, **{name: layers[at] for name, layers in answers.items()}})
        for at, sentence in enumerate(corpus)
    )


def _answers(calls: Sequence[_Call], processes: int) -> Iterator[tuple[_Call, list[Layer]]]:
    if processes == 1 or not calls:
        yield from ((call, _called(call)) for call in calls)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), leave_with_parent) as pool:
        try:
            yield from zip(calls, pool.map(_called, calls), strict=True)
        except BrokenProcessPool as error:
            raise FunctionError("found a function that ended its process, expected memory for each of them") from error


def _called(call: _Call) -> list[Layer]:
    return call.function.layers(call.sentences)


def _bare(sentence: Sentence) -> Sentence:
    columns = {name: column for name, column in sentence.columns.items() if name not in sentence.layers}
    return Sentence(sentence.forms, columns=columns, location=sentence.location)


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

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        return [self._layer(sentence) for sentence in sentences]

    def _layer(self, sentence: Sentence) -> Layer:
        try:
            answers = list(self.function(sentence) or ())
        except Exception as error:
            raise self._error(sentence, f"{type(error).__name__}: {error}", "spans or labels") from error
        try:
            if not any(isinstance(answer, str | dict) for answer in answers) and (not answers or any(answers)):
                return layer_of((_span(answer) for answer in answers), len(sentence), self.outside)
            if len(answers) != len(sentence):
                raise CorpusError(f"{len(answers)} labels", f"{len(sentence)}, one for each token, or spans")
            return tuple(map(_candidates, answers))
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


def _span(span: Any) -> FoundSpan:
    """Read a span from a tuple, which may have a probability, and several types."""
    values = tuple(span) if isinstance(span, tuple | list) else ()
    if len(values) not in (3, 4) or not all(isinstance(number, int) for number in values[:2]) or not values[2]:
        raise CorpusError(f"{span!r}", "a span (start, stop, type), or a label for each token")
    types = (values[2],) if isinstance(values[2], str) else tuple(values[2])
    return FoundSpan(int(values[0]), int(values[1]), types, float(values[3]) if len(values) == 4 else 1.0)


def _candidates(label: Any) -> Candidates:
    if label is None or isinstance(label, str):
        return (label,) if label else None
    if not isinstance(label, Mapping) or not all(isinstance(number, int | float) for number in label.values()):
        raise CorpusError(f"{label!r}", "a label, None, or labels with their probabilities")
    return Soft.by_number(label)


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
        name: the name of its layer; by default the function's name.
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
        decorated = [value for value in vars(module).values() if isinstance(value, PythonFunction)]
        if not decorated:
            raise FunctionError(f"{path}: found no labelling function, expected some with @tagweave.labelling_function")
        return decorated
    functions = []
    for name in names.split(","):
        function = getattr(module, name, None)
        if not callable(function):
            raise FunctionError(f"{path}: found no function {name!r}, expected one of the file")
        functions.append(function if isinstance(function, PythonFunction) else labelling_function(function))
    return functions


def _travelled(path: str, qualified: str, name: str, outside: bool) -> PythonFunction:
    value: Any = _module(path, stamp(path))
    for attribute in qualified.split("."):
        value = getattr(value, attribute)
    function = value.function if isinstance(value, PythonFunction) else value
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
