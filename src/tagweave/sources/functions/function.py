"""Labelling functions: what they share, and how they are applied to a corpus, in parallel.

A function labels some tokens and abstains on all others: these are unknown. Only a function that is declared with
`outside` gives `O` to every token in none of its spans.

Answers are kept from one run to the next in a file that is called by the digest of the function. It has a line for each
sentence: the digest of its contents, and the fields of its labels as in column files, `null` where nothing is known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

from tagweave import __version__
from tagweave.cluster.executor import IN_PROCESS, Executor, results
from tagweave.corpus.candidates import format_candidates, parse_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import digest
from tagweave.corpus.files import written
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.spans import SPANS
from tagweave.errors import TagweaveError


class FunctionError(TagweaveError):
    """A labelling function that cannot be read or applied, or gives what is no labels."""


class LabellingFunction:
    """A source of labels that is computed."""

    name: str  # the name of its layer

    def digest(self) -> str | None:
        """Return a digest of all that determines its answers; `None` if nobody knows: nothing can be kept."""
        raise NotImplementedError

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless the function fits the text as a whole."""

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """Label sentences, which have forms and columns, and no labels."""
        raise NotImplementedError


@dataclass(frozen=True)
class DeclaredFunction(LabellingFunction):
    """A labelling function whose fields say all about it, and may stand in a file."""

    path_field: ClassVar[str] = ""
    """The field with the file that it reads, if there is one."""

    name: str  # the name of its layer
    outside: bool = field(default=False, kw_only=True)  # whether a token in no span is `O`; otherwise it is unknown
    task: str = field(default=SPANS, kw_only=True)  # `spans` or `tags`

    def digest(self) -> str:
        """Return the digest of its class, of its fields but the name, and of the bytes of its file."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "name"}
        text = json.dumps([__version__, type(self).__name__, own], sort_keys=True, ensure_ascii=False)
        contents = [digest(getattr(self, self.path_field))] if self.path_field else []
        return hashlib.sha256("\n".join([text, *contents]).encode()).hexdigest()


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
    executor: Executor = IN_PROCESS,
    cache: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> Corpus:
    """Add a layer for each function to a corpus. Sentences with the same content are labelled once.

    Functions see forms, and columns that are no layers; no labels.

    Args:
        corpus: the text.
        functions: with different names that no layer or column has.
        executor: calls them.
        cache: a folder for their answers, which are found again while function and sentence stay the same.
        progress: hears of finished calls.
    """
    taken = {"form", *(name for each in corpus for name in (*each.layers, *each.columns))}
    for function in functions:
        if not function.name or function.name.split() != [function.name]:
            raise FunctionError(f"found the function name {function.name!r}, expected one without blanks")
        if function.name in taken:
            raise FunctionError(f"found the function name {function.name!r} in use, expected another")
        taken.add(function.name)
    bare = [_bare(each) for each in corpus]
    keys = [_key(each) for each in bare]
    by_key = dict(zip(keys, bare, strict=True))
    for function in functions:
        function.check(bare)
    kept = [_KeptAnswers.of(function.name, function.digest(), cache) for function in functions]
    calls = []
    for number, (function, own) in enumerate(zip(functions, kept, strict=True)):
        lacking = iter([key for key in by_key if key not in own.layers])
        while block := tuple(islice(lacking, _BLOCK)):
            calls.append(_Call(number, function, block, tuple(by_key[key] for key in block)))
    for done, (call, layers) in enumerate(results(executor, _called, calls), 1):
        kept[call.number].layers.update(zip(call.keys, layers, strict=True))
        progress(done, len(calls))
    for each in kept:
        each.save()
    answers = {function.name: each.layers for function, each in zip(functions, kept, strict=True)}
    return corpus.with_sentences(
        replace(sentence, layers={**sentence.layers, **{name: of[key] for name, of in answers.items()}})
        for sentence, key in zip(corpus, keys, strict=True)
    )


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
        path = folder / f"{''.join(each if each.isalnum() else '_' for each in name)}-{digest[:32]}.jsonl"
        layers = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                key, fields = json.loads(line)
                layers[str(key)] = tuple(None if each is None else parse_candidates(each) for each in fields)
            except (ValueError, TypeError):
                continue
        return cls(path, layers, len(layers))

    def save(self) -> None:
        if self.path is None or len(self.layers) == self.before:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with written(str(self.path)) as stream:
            for key, layer in self.layers.items():
                fields = [None if each is None else format_candidates(each) for each in layer]
                stream.write(json.dumps([key, fields], ensure_ascii=False) + "\n")
