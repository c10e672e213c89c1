"""Applies labelling functions to a corpus, in parallel, and keeps what they say by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tagweave.cluster.executor import Executor, results
from tagweave.cluster.in_process import IN_PROCESS
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.sources.functions.function import FunctionError, LabellingFunction
from tagweave.sources.functions.kept_answers import KeptAnswers

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
