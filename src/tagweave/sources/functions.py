"""Labelling functions: their base, Python functions as such, and how they are applied to a corpus, in parallel.

A function labels some tokens and abstains on all others: these are unknown. Only a function that is declared with
`outside` gives `O` to every token in none of its spans.

Answers are kept from one run to the next in a file that is called by the digest of the function. It has a line for each
sentence: the digest of its contents, and the fields of its labels as in column files, `null` where nothing is known.

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
import json
import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, overload

from tagweave.corpus.candidates import Soft, format_candidates, parse_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import digest, written
from tagweave.corpus.sentence import Candidates, Layer, Sentence, kind_of
from tagweave.corpus.spans import SPANS, FoundSpan, layer_of
from tagweave.errors import CorpusError, TagweaveError
from tagweave.signals import leave_with_parent
from tagweave.version import __version__


class FunctionError(TagweaveError):
    """A labelling function that cannot be read or applied, or gives no labels."""


class LabellingFunction(ABC):
    """A source of labels that is computed."""

    name: str  # the name of its layer

    @abstractmethod
    def digest(self) -> str | None:
        """Return a digest of all that determines its answers; `None` if nobody knows: nothing can be kept."""

    def check(self, sentences: Sequence[Sentence]) -> str | None:
        """Return a note on its answers to the text as a whole, if any. Raises unless it fits the text."""
        return None

    @abstractmethod
    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """Label sentences, which have forms and columns, and no labels."""


@dataclass(frozen=True)
class DeclaredFunction(LabellingFunction):
    """A labelling function whose fields say all about it, and may stand in a file."""

    path_field: ClassVar[str] = ""
    """The field with the file or folder that it reads, if there is one."""

    name: str  # the name of its layer
    outside: bool = field(default=False, kw_only=True)  # whether a token in no span is `O`; otherwise it is unknown
    task: str = field(default=SPANS, kw_only=True)  # `spans` or `tags`

    def digest(self) -> str:
        """Return the digest of its class, of its fields but the name, and of the bytes of its file or folder."""
        values = {declared.name: getattr(self, declared.name) for declared in fields(self) if declared.name != "name"}
        text = json.dumps([__version__, type(self).__name__, values], sort_keys=True, ensure_ascii=False)
        contents = [_digest(Path(getattr(self, self.path_field)))] if self.path_field else []
        return hashlib.sha256("\n".join([text, *contents]).encode()).hexdigest()


def _digest(path: Path) -> str:
    files = [file for file in sorted(path.iterdir()) if file.is_file()] if path.is_dir() else [path]
    return "\n".join(digest(str(file)) for file in files)


def stamp(path: str) -> tuple[int, int]:
    """Return the time of change and the size of a file. Raises OSError without the file."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size


_BLOCK = 500  # sentences of a call

Progress = Callable[[int, int], None]
"""Receives how many calls are done, and how many there are."""


class _Call(NamedTuple):
    """A call of a function on sentences, whose keys are the digests of their contents."""

    number: int
    function: LabellingFunction
    keys: tuple[str, ...]
    sentences: tuple[Sentence, ...]


def apply_functions(
    corpus: Corpus,
    functions: Sequence[LabellingFunction],
    processes: int = 1,
    cache: Path | None = None,
    progress: Progress = lambda done, total: None,
    tell: Callable[[str], None] = lambda line: None,
) -> Corpus:
    """Add a layer for each function to a corpus. Sentences with the same content are labelled once.

    Functions see forms, and columns that are no layers; no labels.

    Args:
        corpus: the text.
        functions: with different names that no layer or column has.
        processes: how many processes call them at the same time; 1 is this one.
        cache: a folder for their answers, which are found again while function and sentence stay the same.
        progress: hears of finished calls.
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
    keys = [_key(sentence) for sentence in bare]
    by_key = dict(zip(keys, bare, strict=True))
    for function in functions:
        if note := function.check(bare):
            tell(f"{function.name}: {note}")
    kept = [_KeptAnswers.of(function.name, function.digest(), cache) for function in functions]
    calls = []
    for number, (function, answers_kept) in enumerate(zip(functions, kept, strict=True)):
        lacking = iter([key for key in by_key if key not in answers_kept.layers])
        while block := tuple(islice(lacking, _BLOCK)):
            calls.append(_Call(number, function, block, tuple(by_key[key] for key in block)))
    for done, (call, layers) in enumerate(_answers(calls, processes), 1):
        kept[call.number].layers.update(zip(call.keys, layers, strict=True))
        progress(done, len(calls))
    for each in kept:
        each.save()
    answers = {function.name: answers_kept.layers for function, answers_kept in zip(functions, kept, strict=True)}
    return corpus.with_sentences(
        replace(sentence, layers={**sentence.layers, **{name: of[key] for name, of in answers.items()}})
        for sentence, key in zip(corpus, keys, strict=True)
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


def _key(sentence: Sentence) -> str:
    """Return the digest of the part of a sentence that functions see, but for its location."""
    contents = json.dumps([sentence.forms, sorted(sentence.columns.items())], ensure_ascii=False)
    return hashlib.sha256(contents.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass
class _KeptAnswers:
    """The answers of a function, by the digest of the sentence."""

    path: Path | None = None  # the file; `None` if nothing is kept
    layers: dict[str, Layer] = field(default_factory=dict)
    before: int = 0  # how many answers were in the file

    @classmethod
    def of(cls, name: str, digest: str | None, folder: Path | None) -> _KeptAnswers:
        """Read the file of a function. Lines that hold no answer are left out; their sentences are labelled again."""
        if folder is None or digest is None:
            return cls()
        path = (
            folder / f"{''.join(character if character.isalnum() else '_' for character in name)}-{digest[:32]}.jsonl"
        )
        layers = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                key, fields = json.loads(line)
                layers[str(key)] = tuple(None if text is None else parse_candidates(text) for text in fields)
            except (ValueError, TypeError):
                continue
        return cls(path, layers, len(layers))

    def save(self) -> None:
        if self.path is None or len(self.layers) == self.before:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with written(str(self.path)) as stream:
            for key, layer in self.layers.items():
                fields = [None if candidates is None else format_candidates(candidates) for candidates in layer]
                stream.write(json.dumps([key, fields], ensure_ascii=False) + "\n")


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
        identity = f"{__version__} {self.function.__qualname__} {self.outside}\n".encode()
        return hashlib.sha256(identity + Path(path).read_bytes()).hexdigest()

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
