"""Compares systems with a gold standard, and guidelines with one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import kind_of
from tagweave.errors import StreamError
from tagweave.front.corpora import Given, corpus_of
from tagweave.front.model import Model, load_model
from tagweave.front.options import check_names
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.evaluation.calibration import Calibration
    from tagweave.evaluation.divergence import Divergence, TreeDivergence
    from tagweave.evaluation.report import LayerReports, Report


def evaluate(
    gold: Given,
    systems: Mapping[str, Model | Given],
    all_layers: bool = False,
    cluster: str | None = None,
    workers: int | None = None,
    errors: str | PathLike[str] | None = None,
    **options: Any,
) -> Report | LayerReports:
    """Compare systems with a gold standard: `print(evaluate(dev, {"mine": model}))`.

    Args:
        gold: the gold standard: a corpus, what `Corpus` takes, or a file.
        systems: by name: models, which label the text of the gold standard, corpora, what `Corpus` takes, or files. The
            first one is the baseline of the comparison.
        all_layers: if the gold standard has several layers, report each one that differs between systems.
        cluster: where tests of significance run: `local` (processes), `auto` or the address of a Ray cluster; by
            default in this process.
        workers: how many of them run at the same time.
        errors: a file for every mistake in its sentence, by kind: a page (.html) or a table (.tsv).
        options: of `tagweave.evaluation.report.evaluate`: `training`, `punctuation`, `relations`.

    Raises:
        CorpusError: a system with another text, or without the layer to compare.
        StreamError: models that learned different layers of the gold standard.
        ClusterError: the cluster cannot be reached.
        ValueError: no system.
        TypeError: something else in place of the gold standard, the systems or the options.
    """
    from tagweave.cluster.executor import executor_at
    from tagweave.evaluation.report import LayerReports, copies, evaluate_layers, layers_of
    from tagweave.evaluation.report import evaluate as evaluate_layer

    if not isinstance(systems, Mapping):
        raise TypeError(f"found {kind_of(systems)} as the systems, expected them by name: {{'mine': model}}")
    check_names("tw.evaluate", options, ("training", "punctuation", "relations"))
    gold = corpus_of(gold, "gold standard")
    if options.get("training") is not None:
        options["training"] = corpus_of(options["training"], "training corpus")
    has_several = all_layers and gold.unit == "word" and len(layers_of(gold)) > 1
    evaluation = evaluate_layers if has_several else evaluate_layer
    if not has_several:
        gold = _with_layer_of(gold, {name: each for name, each in systems.items() if isinstance(each, Model)})
    outputs = {
        name: system.relabelled(replace(gold, guideline=system.layer_in(gold) or gold.guideline))
        if isinstance(system, Model)
        else corpus_of(system, "system")
        for name, system in systems.items()
    }
    for name, other in copies(gold, outputs):
        say(
            f"{name} has all labels of the gold standard, and a layer {other} besides: {name}#{other} compares that one"
        )
    with executor_at(cluster, workers) as executor:
        report = evaluation(gold, outputs, executor=executor, **options)
    if errors is not None:
        _write_mistakes(fspath(errors), gold, outputs, report)
    if isinstance(report, LayerReports):
        return report
    found = {
        name: _calibrations(gold, each, outputs[name]) for name, each in systems.items() if isinstance(each, Model)
    }
    return replace(report, calibrations={name: kinds for name, kinds in found.items() if kinds})


def _write_mistakes(path: str, gold: Corpus, outputs: Mapping[str, Corpus], report: Report | LayerReports) -> None:
    """Write the mistakes of every system, of several layers one after the other."""
    from tagweave import __version__
    from tagweave.corpus.files import written
    from tagweave.display.markup import page
    from tagweave.evaluation.mistakes import content, mistakes, table
    from tagweave.evaluation.report import LayerReports, systems_with_layer

    found = {}
    layers = report.reports if isinstance(report, LayerReports) else {"": report}
    for layer, of_layer in layers.items():
        own_gold = replace(gold, guideline=layer) if layer else gold
        systems = systems_with_layer(layer, gold, outputs) if layer else outputs
        for name, scores in of_layer.systems.items():
            named = f"{name}, layer {layer}" if layer else name
            found[named] = mistakes(own_gold, systems.get(name, outputs[name]), scores)
    with written(path) as stream:
        if path.lower().endswith((".html", ".htm")):
            title = f"Mistakes against {gold.path}" if gold.path else "Mistakes"
            stream.write(page(title, content(gold, found), __version__))
        else:
            stream.writelines(table(gold, found))


def _calibrations(gold: Corpus, model: Model, output: Corpus) -> tuple[Calibration, ...]:
    from tagweave.evaluation.calibration import calibrations

    return tuple(each for each in calibrations(model.trained, gold, output, model.threads) if each.count)


def _with_layer_of(gold: Corpus, models: Mapping[str, Model]) -> Corpus:
    """Choose the layer that models learned; say so if it is another or missing."""
    layers = {name: model.layer_in(gold) for name, model in models.items()}
    found = list(dict.fromkeys(filter(None, layers.values())))
    if len(found) > 1:
        raise StreamError(f"found models of the layers {', '.join(found)} of {gold.path}, expected models of one layer")
    for name in (name for name, layer in layers.items() if layer is None):
        say(f"{gold.path} lacks the layer that {name} learned: {name} is compared with {gold.layer or gold.guideline}")
    if found and found[0] != gold.guideline:
        say(f"{gold.path}: the layer {found[0]} is compared, as {' and '.join(models)} learned it")
        return replace(gold, guideline=found[0], layer=found[0])
    return gold


def compare(
    first: Given, second: Given, model: Model | str | PathLike[str] | None = None, threads: int = 1
) -> Divergence | TreeDivergence:
    """Count which labels of two guidelines occur at the same tokens, and on which words.

    Args:
        first: a corpus of one guideline, what `Corpus` takes, or a file.
        second: a corpus of another guideline, with the same sentences or others.
        model: for different sentences, a model of both guidelines, or its file (read only if needed), which gives the
            probabilities of the missing labels.
        threads: how many threads share the work.

    Raises:
        StreamError: different sentences and no model, a model that does not know both guidelines, or a model with
            trees, which can be compared only in the same sentences.
    """
    first, second = corpus_of(first), corpus_of(second)
    from tagweave.evaluation.divergence import counted, counted_trees, expected, same_sentences

    if any(corpus.guideline in sentence.heads for corpus in (first, second) for sentence in corpus):
        if model:
            raise StreamError("found `model` with head layers, expected it without: they are compared in the same text")
        return counted_trees(first, second)
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


def _first_difference(first: Corpus, second: Corpus) -> str:
    """Tell where the sentences first differ, if they differ only in their Unicode normal forms."""
    from tagweave.errors import CorpusError
    from tagweave.evaluation.alignment import check_tokens

    texts = ([normalize("NFC", " ".join(sentence.forms)) for sentence in corpus] for corpus in (first, second))
    if next(texts) == next(texts):
        try:
            check_tokens(first.sentences, second.sentences, first.path, second.path)
        except CorpusError as error:
            return f"; {error}"
    return ""
