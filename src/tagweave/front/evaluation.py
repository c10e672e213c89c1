"""Systems against a gold standard, and guidelines against one another."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.front.corpora import load

if TYPE_CHECKING:
    from tagweave.evaluation.divergence import Divergence
    from tagweave.evaluation.report import Report
    from tagweave.evaluation.tree_divergence import TreeDivergence
    from tagweave.front.model import Model


def evaluate(gold: Corpus, systems: Mapping[str, Model | Corpus | str | PathLike[str]], **options: Any) -> Report:
    """Compare systems with a gold standard: `evaluate(dev, {"mine": model}).render()`.

    Args:
        gold: the gold standard.
        systems: models, which label the text of the gold standard; corpora; or files. By name; the first one is what
            the others are compared against.
        options: of `tagweave.evaluation.report.evaluate`: `training_words`, `punctuation`, `relations`.

    Raises:
        CorpusError: a system with another text, or without the layer that is compared.
        ValueError: no system.
    """
    from tagweave.evaluation.report import evaluate as compared

    return compared(gold, {name: _output(system, gold) for name, system in systems.items()}, **options)


def _output(system: Model | Corpus | str | PathLike[str], gold: Corpus) -> Corpus:
    if isinstance(system, Corpus):
        return system
    if isinstance(system, (str, PathLike)):
        return load(fspath(system))
    return system.relabelled(gold)


def compare(first: Corpus, second: Corpus, model: Model | None = None) -> Divergence | TreeDivergence:
    """Which labels of two guidelines stand beside each other, how often, and on which words.

    Args:
        first: a corpus of one guideline.
        second: of another one: the same sentences, or others.
        model: for different text, a model of both guidelines, which tells how probable each missing label is.

    Raises:
        CorpusError: different sentences, and no model.
    """
    from tagweave.corpus.errors import CorpusError
    from tagweave.evaluation.divergence import counted, expected, same_sentences
    from tagweave.evaluation.tree_divergence import counted_trees

    if any(corpus.guideline in sentence.heads for corpus in (first, second) for sentence in corpus):
        return counted_trees(first, second)
    if same_sentences(first, second):
        return counted(first, second)
    if model is None:
        raise CorpusError("different sentences", "the same ones under two guidelines, or a model of both", second.path)
    return expected(model.chain, first, second, model.threads)
