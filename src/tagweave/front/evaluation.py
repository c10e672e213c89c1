"""Compares systems with a gold standard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Protocol, runtime_checkable

from tagweave.corpus.chunk_schemes import standard_labels
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats.conllu import in_surface_tokens, text_of, without_blanks
from tagweave.corpus.sentence import Candidates, Sentence, kind_of
from tagweave.display.markup import page
from tagweave.errors import StreamError
from tagweave.evaluation.mistakes import content, mistakes, table
from tagweave.evaluation.report import LayerReports, Report, copies, evaluate_layers, layers_of, systems_with_layer
from tagweave.evaluation.report import evaluate as evaluate_layer
from tagweave.evaluation.spans import has_spans
from tagweave.evaluation.words import segmentations, word_scores
from tagweave.exchange.tokenization import Tokenization, for_text
from tagweave.front.corpora import Given, corpus_of
from tagweave.front.options import check_names
from tagweave.streams import say
from tagweave.version import __version__


@runtime_checkable
class LabellingModel(Protocol):
    """What can annotate the text of a gold standard: a `tagweave.Model`."""

    threads: int
    trained: Any

    @property
    def tokenization(self) -> Tokenization: ...
    def relabelled(self, corpus: Corpus) -> Corpus: ...
    def layer_in(self, corpus: Corpus) -> str | None: ...


def evaluate(
    gold: Given,
    systems: Mapping[str, LabellingModel | Given],
    all_layers: bool = False,
    errors: str | PathLike[str] | None = None,
    raw: bool = False,
    **options: Any,
) -> Report | LayerReports:
    """Compare systems with a gold standard: `print(evaluate(dev, {"mine": model}))`.

    Args:
        gold: the gold standard: a corpus, what `Corpus` takes, or a file.
        systems: by name: models, which label the text of the gold standard, corpora, what `Corpus` takes, or files. The
            first one is the baseline of the comparison.
        all_layers: if the gold standard has several layers, report each one that differs between systems.
        errors: a file for every mistake in its sentence, by kind: a page (.html) or a table (.tsv).
        raw: whether models get the raw text of the gold standard (`# text = ` of its sentences), cut as text of users
            is, in place of its tokens. Words are told apart by their characters, and so are spans; a multiword token is
            one word without labels.
        options: of `tagweave.evaluation.report.evaluate`: `training`, `punctuation`, `relations`.

    Raises:
        CorpusError: a system with another text, or without the layer to compare; `raw` without raw text.
        StreamError: models that learned different layers of the gold standard; `raw` without a model,
            with a model of characters, or with `errors`.
        ValueError: no system.
        TypeError: something else in place of the gold standard, the systems or the options.
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"found {kind_of(systems)} as the systems, expected them by name: {{'mine': model}}")
    check_names("tw.evaluate", options, ("training", "punctuation", "relations"))
    gold = corpus_of(gold)
    if options.get("training") is not None:
        options["training"] = corpus_of(options["training"])
    has_several = all_layers and gold.unit == "word" and len(layers_of(gold)) > 1
    models = {name: system for name, system in systems.items() if isinstance(system, LabellingModel)}
    if raw:
        _check_raw(models, errors)
    if not has_several:
        gold = _with_layer_of(gold, models)
    outputs = {}
    for name, system in systems.items():
        if isinstance(system, LabellingModel):
            text = _cut(gold, system) if raw else gold
            outputs[name] = system.relabelled(replace(text, guideline=system.layer_in(gold) or gold.guideline))
        else:
            outputs[name] = corpus_of(system)
    if raw:
        gold, outputs = _comparable(gold, outputs)
    for name, layer in copies(gold, outputs):
        say(
            f"{name} has all labels of the gold standard, and a layer {layer} besides: {name}#{layer} compares that one"
        )
    report = (evaluate_layers if has_several else evaluate_layer)(gold, outputs, **options)
    if errors is not None:
        _write_mistakes(fspath(errors), gold, outputs, report)
    if raw or isinstance(report, LayerReports):
        return report
    if not models:
        return report
    from tagweave.evaluation.calibration import calibrations  # files without models need none

    by_model = {n: calibrations(model.trained, gold, outputs[n], model.threads) for n, model in models.items()}
    return replace(report, calibrations={name: kinds for name, kinds in by_model.items() if kinds})


def _check_raw(models: Mapping[str, LabellingModel], errors: object) -> None:
    if not models:
        raise StreamError("found `raw` without a model, expected one: other outputs have their words")
    for name, model in models.items():
        if getattr(model.trained, "of_characters", False):
            raise StreamError(f"found `raw` with {name}, a model of characters, expected a model of words")
    if errors is not None:
        raise StreamError("found `errors` with `raw`, expected one of them: mistakes are shown in the gold tokens")


def _cut(gold: Corpus, model: LabellingModel) -> Corpus:
    """Cut the raw text of a gold standard as a model's text."""
    texts = [text_of(sentence) for sentence in gold]
    cut = for_text(model.tokenization, texts)
    return gold.with_sentences(
        Sentence(tuple(text[start:stop] for start, stop in cut(text)), location=sentence.location)
        for sentence, text in zip(gold, texts, strict=True)
    )


def _comparable(gold: Corpus, outputs: Mapping[str, Corpus]) -> tuple[Corpus, dict[str, Corpus]]:
    """Tell the F of words, and return corpora that can be compared: trees as they are, spans by character."""
    surface = gold.with_sentences(without_blanks(in_surface_tokens(each)) for each in gold)
    systems = {name: each.with_sentences(map(without_blanks, each)) for name, each in outputs.items()}
    words = segmentations(surface.sentences, surface.guideline, "word")
    for name, each in systems.items():
        score = word_scores(words, segmentations(each.sentences, each.guideline, "word")).words
        say(
            f"{name}: F of words {100 * score.f:.2f}: {score.right:,} right, {score.gold:,} in the gold standard,"
            f" {score.system:,} cut from its text"
        )
    if any(gold.guideline in sentence.heads for sentence in gold):
        return gold, dict(outputs)
    same = all(one.forms == other.forms for each in systems.values() for one, other in zip(surface, each, strict=True))
    if same or not has_spans(surface):
        return surface, systems
    return _by_character(surface), {name: _by_character(each) for name, each in systems.items()}


def _by_character(corpus: Corpus) -> Corpus:
    """Return a corpus whose spans are over characters."""
    name = corpus.guideline
    return corpus.with_sentences(
        Sentence(
            tuple("".join(each.forms)),
            {
                name: tuple(
                    candidates if not at else _continued(candidates)
                    for form, candidates in zip(each.forms, each.layers[name], strict=True)
                    for at in range(len(form))
                )
            }
            if name in each.layers
            else {},
            location=each.location,
        )
        for each in standard_labels(corpus)
    )


def _continued(candidates: Candidates) -> Candidates:
    """Return what the characters of a word have after the first one."""
    if candidates is None:
        return None
    return tuple(dict.fromkeys(f"I-{each[2:]}" if each.startswith("B-") else each for each in candidates))


def _write_mistakes(path: str, gold: Corpus, outputs: Mapping[str, Corpus], report: Report | LayerReports) -> None:
    """Write the mistakes of every system, of several layers one after the other."""
    by_layer = report.reports if isinstance(report, LayerReports) else {"": report}
    by_system = {}
    for layer, layer_report in by_layer.items():
        gold_of_layer = replace(gold, guideline=layer) if layer else gold
        systems = systems_with_layer(layer, gold, outputs) if layer else outputs
        for name, scores in layer_report.systems.items():
            title = f"{name}, layer {layer}" if layer else name
            by_system[title] = mistakes(gold_of_layer, systems.get(name, outputs[name]), scores)
    with written(path) as stream:
        if path.lower().endswith((".html", ".htm")):
            title = f"Mistakes against {gold.path}" if gold.path else "Mistakes"
            stream.write(page(title, content(gold, by_system), __version__))
        else:
            stream.writelines(table(gold, by_system))


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
