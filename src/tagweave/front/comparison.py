"""Compares guidelines with one another, and files of systems with the file of a gold standard."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import parse_argument
from tagweave.errors import CorpusError, StreamError
from tagweave.evaluation.alignment import check_tokens
from tagweave.evaluation.report import LayerReports, Report
from tagweave.exchange.load import load
from tagweave.front.corpora import Given, corpus_of
from tagweave.front.description import is_model
from tagweave.front.evaluation import evaluate
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.evaluation.divergence import Divergence
    from tagweave.front.model import Model


def evaluate_files(
    gold: str,
    systems: Sequence[str],
    layer: str | None = None,
    training: str | None = None,
    format: str | None = None,  # noqa: A002
    reliability: str | None = None,
    **options: Any,
) -> Report | LayerReports:
    """Compare files, some of which may be models, as `tagweave evaluate` does.

    Args:
        gold, systems: arguments `[GUIDELINE=]PATH[#LAYER]`.
        layer: the layer of all files that name none.
        training: the training corpus.
        format: of all corpora.
        reliability: a file for a picture of how many answers of models are right, by their probability.
        options: as for `evaluate`. Raises as it.
    """
    if repeated := [system for at, system in enumerate(systems) if system in systems[:at]]:
        raise StreamError(f"found the system {repeated[0]} twice, expected each once")
    models = [system for system in systems if is_model(system)]
    if reliability and not models:
        raise StreamError("found `reliability` without a model, expected one: other outputs have no probabilities")

    def read(argument: str, unnamed: str | None = None) -> Corpus:
        is_bare = layer is not None and parse_argument(argument).layer is None
        return load(f"{argument}#{layer}" if is_bare else argument, format, unnamed)

    if models:
        from tagweave.front.loading import load_model  # files without models need no kernels

    gold_corpus = read(gold)
    outputs = {
        system: load_model(system) if system in models else read(system, gold_corpus.layer) for system in systems
    }
    is_named = layer is not None or any(parse_argument(argument).layer for argument in (gold, *systems))
    corpus = load(training, format) if training else None
    report = evaluate(gold_corpus, outputs, all_layers=not is_named and not models, training=corpus, **options)
    if reliability and isinstance(report, Report):
        report.plot(reliability)
    return report


def compare(
    first: Given, second: Given, model: Model | str | PathLike[str] | None = None, threads: int = 1
) -> Divergence:
    """Count which labels of two guidelines occur at the same tokens, and on which words.

    Args:
        first: a corpus of one guideline, what `Corpus` takes, or a file.
        second: a corpus of another guideline, with the same sentences or others.
        model: for different sentences, a model of both guidelines, or its file (read only if needed), which gives the
            probabilities of the missing labels.
        threads: how many threads share the work.

    Raises:
        StreamError: different sentences and no model, or a model that does not know both guidelines.
        CorpusError: no token with a label of each guideline.
    """
    from tagweave.evaluation.divergence_counts import counted, expected, same_sentences
    from tagweave.front.loading import load_model

    first, second = corpus_of(first), corpus_of(second)
    if same_sentences(first, second):
        if model:
            say("both corpora have the same sentences: pairs are counted, without the model")
        return counted(first, second)
    if model is None:
        raise StreamError(
            f"found different sentences in {first.path} and {second.path}, expected the same ones under two guidelines,"
            " or `model`, one of both (trained with `method=coupled`)"
            f"{_first_difference(first, second)}"
        )
    loaded = load_model(model, threads) if isinstance(model, (str, PathLike)) else model
    for corpus in (first, second):
        if corpus.guideline not in loaded.guidelines:
            problem = f"{corpus.path}: found the guideline {corpus.guideline!r}"
            names = ", ".join(loaded.guidelines)
            raise StreamError(f"{problem}, expected one of {loaded.name}: {names} (named GUIDELINE=FILE)")
    return expected(loaded.chain, first, second, threads)


def compare_files(
    first: str,
    second: str,
    model: str | None = None,
    format: str | None = None,  # noqa: A002
    threads: int = 1,
) -> Divergence:
    """Compare the files of two guidelines. Raises as `compare`."""
    return compare(load(first, format), load(second, format), model, threads)


def _first_difference(first: Corpus, second: Corpus) -> str:
    """Tell where the sentences first differ, if they differ only in their Unicode normal forms."""
    texts = ([normalize("NFC", " ".join(sentence.forms)) for sentence in corpus] for corpus in (first, second))
    if next(texts) == next(texts):
        try:
            check_tokens(first.sentences, second.sentences, first.path, second.path)
        except CorpusError as error:
            return f"; {error}"
    return ""
