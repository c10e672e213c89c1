"""What a labelling function is, and the labels that it finds as a layer.

A function says something of some tokens and abstains on all others: these are unknown. Only a function that is declared
with `outside` says `O` of every token in none of its spans.

Applies labelling functions to a corpus, in parallel, and keeps what they say by content.

What a labelling function said of sentences, kept in a file from one run to the next.

The file is called by the digest of the function. It has a line for each sentence: the digest of its contents, and the
fields of its labels as they stand in column files, `null` where nothing is known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tagweave import __version__
from tagweave.cluster.executor import IN_PROCESS, Executor, results
from tagweave.corpus.candidates import format_candidates, parse_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import digest
from tagweave.corpus.files import written
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import TagweaveError


class FunctionError(TagweaveError):
    """A labelling function that cannot be read or applied, or gives what is no labels."""


class LabellingFunction(Protocol):
    """A source of labels that is computed.

    Attributes:
        name: the name of its layer.
    """

    @property
    def name(self) -> str:
        """The name of its layer."""
        ...

    def digest(self) -> str | None:
        """A digest of all that determines its answers; `None`: nobody knows, and nothing can be kept.

        Raises:
            OSError: a file that it needs cannot be read.
        """
        ...

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise if the function does not fit the text as a whole."""
        ...

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """What it says of each sentence. Sentences have forms and columns, and no labels."""
        ...


def digest_of(function: Any, *paths: str) -> str:
    """The digest of a declared function: its class and fields but the name, and the bytes of files.

    Raises:
        OSError: a file cannot be read.
    """
    own = {each.name: getattr(function, each.name) for each in fields(function) if each.name != "name"}
    text = json.dumps([__version__, type(function).__name__, own], sort_keys=True, ensure_ascii=False)
    contents = [digest(path) for path in paths]
    return hashlib.sha256("\n".join([text, *contents]).encode()).hexdigest()


def stamp(path: str) -> tuple[int, int]:
    """What changes when a file does: its time of change and its size. Raises OSError without the file."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size


_BLOCK = 500  # sentences of a call

Progress = Callable[[int, int], None]
"""Receives how many calls are done, and how many there are."""


class _Call(NamedTuple):
    """A call of a function on sentences, whose keys are those of their contents."""

    number: int
    function: LabellingFunction
    keys: tuple[str, ...]
    sentences: tuple[Sentence, ...]


def apply_functions(
    corpus: Corpus,
    functions: Sequence[LabellingFunction],
    executor: Executor = IN_PROCESS,
    cache: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> Corpus:
    """The corpus with a layer for each function, which is called once for sentences of the same content.

    Functions see forms, and columns that are no layers; no labels.

    Args:
        corpus: the text.
        functions: with different names that no layer or column has.
        executor: calls them.
        cache: a folder for what they say. It is found again as long as function and sentence stay the same.
        progress: hears of finished calls.

    Raises:
        FunctionError: a name that is in use or not possible; a function that fails, or is in no file that others read.
        CorpusError, OSError: a file of a function cannot be read, or does not fit the text.
    """
    _check_names(corpus, functions)
    bare = [_bare(each) for each in corpus]
    keys = [_key(each) for each in bare]
    for function in functions:
        function.check(bare)
    kept = [KeptAnswers.of(function.name, function.digest(), cache) for function in functions]
    calls = list(_calls(functions, kept, keys, bare))
    for done, (call, layers) in enumerate(results(executor, _called, calls), 1):
        kept[call.number].layers.update(zip(call.keys, layers, strict=True))
        progress(done, len(calls))
    for each in kept:
        each.save()
    said = {function.name: each.layers for function, each in zip(functions, kept, strict=True)}
    pairs = zip(corpus, keys, strict=True)
    return corpus.with_sentences(
        _with(sentence, {name: of[key] for name, of in said.items()}) for sentence, key in pairs
    )


def _called(call: _Call) -> list[Layer]:
    return call.function.layers(call.sentences)


def _with(sentence: Sentence, layers: dict[str, Layer]) -> Sentence:
    return replace(sentence, layers={**sentence.layers, **layers})


def _calls(
    functions: Sequence[LabellingFunction], kept: Sequence[KeptAnswers], keys: Sequence[str], bare: Sequence[Sentence]
) -> Iterator[_Call]:
    """The calls that are needed for answers that are not there."""
    by_key = dict(zip(keys, bare, strict=True))
    for number, (function, own) in enumerate(zip(functions, kept, strict=True)):
        lacking = iter([key for key in by_key if key not in own.layers])
        while block := tuple(islice(lacking, _BLOCK)):
            yield _Call(number, function, block, tuple(by_key[key] for key in block))


def _bare(sentence: Sentence) -> Sentence:
    """What functions see of a sentence."""
    columns = {name: column for name, column in sentence.columns.items() if name not in sentence.layers}
    return Sentence(sentence.forms, columns=columns, location=sentence.location)


def _key(sentence: Sentence) -> str:
    """The digest of what functions see of a sentence, but for its location."""
    contents = json.dumps([sentence.forms, sorted(sentence.columns.items())], ensure_ascii=False)
    return hashlib.sha256(contents.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _check_names(corpus: Corpus, functions: Iterable[LabellingFunction]) -> None:
    taken = {"form", *(name for each in corpus for name in (*each.layers, *each.columns))}
    for function in functions:
        if not function.name or function.name.split() != [function.name]:
            raise FunctionError(f"found the function name {function.name!r}, expected one without blanks")
        if function.name in taken:
            raise FunctionError(f"found the function name {function.name!r} in use, expected another")
        taken.add(function.name)


@dataclass
class KeptAnswers:
    """What a function said, by the digest of the sentence.

    Attributes:
        path: the file; `None`: nothing is kept.
        layers: the answers.
        before: how many of them were in the file.
    """

    path: Path | None = None
    layers: dict[str, Layer] = field(default_factory=dict)
    before: int = 0

    @classmethod
    def of(cls, name: str, digest: str | None, folder: Path | None) -> KeptAnswers:
        """The answers in the file of a function. What is no answer is left out, and will be asked for again."""
        if folder is None or digest is None:
            return cls()
        path = folder / f"{''.join(each if each.isalnum() else '_' for each in name)}-{digest[:32]}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
        layers = dict(entry for entry in map(_entry, lines) if entry is not None)
        return cls(path, layers, len(layers))

    def save(self) -> None:
        """Write the file, if there is something new. Raises OSError if it cannot be written."""
        if self.path is None or len(self.layers) == self.before:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with written(str(self.path)) as stream:
            for key, layer in self.layers.items():
                fields = [None if each is None else format_candidates(each) for each in layer]
                stream.write(json.dumps([key, fields], ensure_ascii=False) + "\n")


def _entry(line: str) -> tuple[str, Layer] | None:
    try:
        key, fields = json.loads(line)
        return str(key), tuple(None if each is None else parse_candidates(each) for each in fields)
    except (ValueError, TypeError):
        return None
