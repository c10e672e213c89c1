"""Labelling functions: every function a source of annotation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.given import kind_of
from tagweave.front.corpora import corpus_of
from tagweave.sources.functions.python_function import PythonFunction, labelling_function, load_functions

if TYPE_CHECKING:
    from tagweave.sources.functions.application import Progress
    from tagweave.sources.functions.function import LabellingFunction

__all__ = ["apply_functions", "functions_in", "labelling_function", "scored_layer"]


def apply_functions(
    corpus: Corpus,
    *functions: Callable[..., Any] | str | PathLike[str],
    cluster: str | None = None,
    workers: int | None = None,
    cache: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Corpus:
    """Apply labelling functions to a corpus: each becomes a layer of its name.

    Functions see words and columns of a sentence, and none of its labels.

    Args:
        corpus: the text.
        functions: Python functions over a sentence (`labelling_function`), and files that declare functions.
        cluster: `local`, `auto` or the address of a Ray cluster, to call functions on many processes.
        workers: with a cluster, how many.
        cache: a folder for what functions say, where it is found again until function or sentence change.
        progress: hears how many calls are done, and how many there are.

    Raises:
        FunctionError: a function that cannot be read, fails, or has a name that is in use.
        CorpusError, OSError: a file of a function cannot be read, or does not fit the text.
        ClusterError: the cluster cannot be reached.
    """
    from tagweave.cluster.executor import executor_at
    from tagweave.sources.functions.application import apply_functions

    found = [function for each in functions for function in _functions(each)]
    with executor_at(cluster, workers) as executor:
        folder = None if cache is None else Path(cache)
        return apply_functions(corpus_of(corpus), found, executor, folder, progress or _silently)


def scored_layer(corpus: Corpus, *functions: Callable[..., Any] | str | PathLike[str]) -> str:
    """Return the layer that labels of functions are compared with: that which all of them learned, or the corpus's own.

    Raises:
        FunctionError, OSError: a function that cannot be read.
    """
    from tagweave.sources.functions.tagweave_model import TagweaveModel

    names = [*corpus[0].layers] if len(corpus) else []
    called = [function for each in functions for function in _functions(each)]
    layers = {each.layer_in(names) if isinstance(each, TagweaveModel) else None for each in called}
    return (layers.pop() if len(layers) == 1 else None) or corpus.guideline


def _functions(given: Callable[..., Any] | str | PathLike[str]) -> Sequence[LabellingFunction]:
    from tagweave.sources.functions.declaration import read_functions

    if isinstance(given, str | PathLike):
        return read_functions(fspath(given))
    if not callable(given):
        raise TypeError(
            f"found {kind_of(given)}, expected a function over a sentence, or the path of a file of functions"
        )
    return [given if isinstance(given, PythonFunction) else labelling_function(given)]


def _silently(done: int, total: int) -> None:
    """Hear of progress, and do nothing."""


def functions_in(argument: str) -> Sequence[Callable[..., Any]]:
    """The Python functions that `MODULE.py` or `MODULE.py:NAME,NAME` names. Runs the file.

    Raises:
        FunctionError: no such file or function, or an exception in the file.
    """
    return load_functions(argument)
