"""Compares systems with a gold standard."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Protocol, runtime_checkable

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.overlapping import by_types
from tagweave.corpus.sentence import kind_of
from tagweave.display.markup import page
from tagweave.errors import CorpusError, StreamError
from tagweave.evaluation.mistakes import Mistake, content, mistakes, table
from tagweave.evaluation.report import LayerReports, Report, copies, evaluate_layers, layers_of, systems_with_layer
from tagweave.evaluation.report import evaluate as evaluate_layer
from tagweave.front.corpora import Given, corpus_of
from tagweave.front.options import check_names
from tagweave.labels import LAYERS
from tagweave.streams import say
from tagweave.structures import CHAIN
from tagweave.version import __version__


@runtime_checkable
class LabellingModel(Protocol):
    """What can annotate the text of a gold standard: a `tagweave.Model`."""

    threads: int
    trained: Any

    def relabelled(self, corpus: Corpus) -> Corpus: ...
    def layer_in(self, corpus: Corpus) -> str | None: ...


def evaluate(
    gold: Given,
    systems: Mapping[str, LabellingModel | Given],
    all_layers: bool = False,
    errors: str | PathLike[str] | None = None,
    **options: Any,
) -> Report | LayerReports:
    """Compare systems with a gold standard: `print(evaluate(dev, {"mine": model}))`.

    Args:
        gold: the gold standard: a corpus, what `Corpus` takes, or a file.
        systems: by name: models, which label the text of the gold standard, corpora, what `Corpus` takes, or files. The
            first one is the baseline of the comparison.
        all_layers: if the gold standard has several layers, report each one that differs between systems.
        errors: a file for every mistake in its sentence, by kind: a page (.html) or a table (.tsv).
        options: of `tagweave.evaluation.report.evaluate`: `training`, `punctuation`, `relations`.

    Raises:
        CorpusError: a system with another text, or without the layer to compare.
        StreamError: models that learned different layers of the gold standard.
        ValueError: no system.
        TypeError: something else in place of the gold standard, the systems or the options.
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"found {kind_of(systems)} as the systems, expected them by name: {{'mine': model}}")
    check_names("tw.evaluate", options, ("training", "punctuation", "relations"))
    gold = corpus_of(gold)
    if options.get("training") is not None:
        options["training"] = corpus_of(options["training"])
    models = {name: system for name, system in systems.items() if isinstance(system, LabellingModel)}
    layered = [model.trained for model in models.values() if model.trained.kind == LAYERS]
    gold = by_types(gold, layered[0].names) if layered else gold
    has_several = (all_layers or layered) and gold.unit == "word" and len(layers_of(gold)) > 1
    if not has_several:
        gold = _with_layer_of(gold, models)
    outputs = {}
    for name, system in systems.items():
        if isinstance(system, LabellingModel):
            outputs[name] = system.relabelled(replace(gold, guideline=system.layer_in(gold) or gold.guideline))
        else:
            outputs[name] = corpus_of(system)
    for name, layer in copies(gold, outputs) if not layered else ():
        say(
            f"{name} has all labels of the gold standard, and a layer {layer} besides: {name}#{layer} compares that one"
        )
    if has_several:
        names = () if all_layers else layered[0].names
        report: Report | LayerReports = evaluate_layers(gold, outputs, names=names, **options)
    else:
        report = evaluate_layer(gold, outputs, **options)
    if errors is not None:
        _write_mistakes(fspath(errors), gold, outputs, report, models)
    if isinstance(report, LayerReports) or not models:
        return report
    from tagweave.evaluation.calibration import calibrations  # files without models need none

    by_model = {
        name: calibrations(model.trained, gold, outputs[name], model.threads)
        for name, model in models.items()
        if model.trained.kind != LAYERS
    }
    return replace(report, calibrations={name: kinds for name, kinds in by_model.items() if kinds})


def _write_mistakes(
    path: str,
    gold: Corpus,
    outputs: Mapping[str, Corpus],
    report: Report | LayerReports,
    models: Mapping[str, LabellingModel],
) -> None:
    """Write the mistakes of every system, of several layers one after the other; explain those of taggers."""
    by_layer = report.reports if isinstance(report, LayerReports) else {"": report}
    by_system = {}
    for layer, layer_report in by_layer.items():
        gold_of_layer = replace(gold, guideline=layer) if layer else gold
        systems = systems_with_layer(layer, gold, outputs) if layer else outputs
        for name, scores in layer_report.systems.items():
            title = f"{name}, layer {layer}" if layer else name
            by_system[title] = mistakes(gold_of_layer, systems.get(name, outputs[name]), scores)
            if name in models:
                by_system[title] = _explained(by_system[title], gold_of_layer, models[name].trained)
    with written(path) as stream:
        if path.lower().endswith((".html", ".htm")):
            title = f"Mistakes against {gold.path}" if gold.path else "Mistakes"
            stream.write(page(title, content(gold, by_system), __version__))
        else:
            stream.writelines(table(gold, by_system))


def _explained(wrong: list[Mistake], gold: Corpus, model: Any) -> list[Mistake]:
    """Return the mistakes with the reasons for them, if the model is a tagger of words."""
    if model.kind != CHAIN or model.of_characters or gold.unit != "word":
        return wrong
    from tagweave.explanation.labels import LabelExplainer  # scores need no explanation

    names = model.space.guidelines
    guideline = gold.guideline if gold.guideline in names else names[0]
    bare = [replace(sentence, layers={}, rejected={}) for sentence in gold]
    explainer = LabelExplainer(model, guideline, bare)
    explained = []
    for mistake in wrong:
        layer = gold[mistake.sentence].layers[gold.guideline][mistake.start : mistake.stop]
        reason = None
        with suppress(CorpusError):  # a label that the model does not know
            reason = explainer.against(mistake.sentence, mistake.start, layer)
        explained.append(mistake._replace(why=reason.short() if reason else ""))
    return explained


def _with_layer_of(gold: Corpus, models: Mapping[str, LabellingModel]) -> Corpus:
    """Choose the layer that models learned; say so if it is another or missing."""
    layers = {name: model.layer_in(gold) for name, model in models.items()}
    learned = list(dict.fromkeys(filter(None, layers.values())))
    if len(learned) > 1:
        raise StreamError(
            f"found models of the layers {', '.join(learned)} of {gold.path}, expected models of one layer"
        )
    for name in (name for name, layer in layers.items() if layer is None):
        say(f"{gold.path} lacks the layer that {name} learned: {name} is compared with {gold.layer or gold.guideline}")
    if learned and learned[0] != gold.guideline:
        say(f"{gold.path}: the layer {learned[0]} is compared, as {' and '.join(models)} learned it")
        return replace(gold, guideline=learned[0], layer=learned[0])
    return gold
