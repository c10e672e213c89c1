"""Compares systems with a gold standard, and guidelines with one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from tagweave.corpus.chunk_schemes import standard_labels
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import in_surface_tokens, text_of, without_blanks
from tagweave.corpus.sentence import Candidates, Sentence, kind_of
from tagweave.errors import StreamError
from tagweave.exchange.tokenization import for_text
from tagweave.front.corpora import Given, corpus_of
from tagweave.front.model import Model, load_model
from tagweave.front.options import check_names
from tagweave.front.taggers import Segmenter
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.evaluation.calibration import Calibration
    from tagweave.evaluation.divergence import Divergence, TreeDivergence
    from tagweave.evaluation.report import LayerReports, Report


def evaluate(
    gold: Given,
    systems: Mapping[str, Model | Given],
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
    from tagweave.evaluation.report import LayerReports, copies, evaluate_layers, layers_of
    from tagweave.evaluation.report import evaluate as evaluate_layer

    if not isinstance(systems, Mapping):
        raise TypeError(f"found {kind_of(systems)} as the systems, expected them by name: {{'mine': model}}")
    check_names("tw.evaluate", options, ("training", "punctuation", "relations"))
    gold = corpus_of(gold, "gold standard")
    if options.get("training") is not None:
        options["training"] = corpus_of(options["training"], "training corpus")
    if raw:
        _check_raw(systems, errors)
    has_several = all_layers and gold.unit == "word" and len(layers_of(gold)) > 1
    evaluation = evaluate_layers if has_several else evaluate_layer
    if not has_several:
        gold = _with_layer_of(gold, {name: each for name, each in systems.items() if isinstance(each, Model)})
    text = {name: _cut(gold, each) if raw else gold for name, each in systems.items() if isinstance(each, Model)}
    outputs = {
        name: system.relabelled(replace(text[name], guideline=system.layer_in(gold) or gold.guideline))
        if isinstance(system, Model)
        else corpus_of(system, "system")
        for name, system in systems.items()
    }
    if raw:
        gold, outputs = _comparable(gold, outputs)
    for name, other in copies(gold, outputs):
        say(
            f"{name} has all labels of the gold standard, and a layer {other} besides: {name}#{other} compares that one"
        )
    report = evaluation(gold, outputs, **options)
    if errors is not None:
        _write_mistakes(fspath(errors), gold, outputs, report)
    if raw or isinstance(report, LayerReports):
        return report
    found = {
        name: _calibrations(gold, each, outputs[name]) for name, each in systems.items() if isinstance(each, Model)
    }
    return replace(report, calibrations={name: kinds for name, kinds in found.items() if kinds})


def _check_raw(systems: Mapping[str, Model | Given], errors: object) -> None:
    models = {name: each for name, each in systems.items() if isinstance(each, Model)}
    if not models:
        raise StreamError("found `raw` without a model, expected one: other outputs have their words")
    for name, each in models.items():
        if isinstance(each, Segmenter):
            raise StreamError(f"found `raw` with {name}, a model of characters, expected a model of words")
    if errors is not None:
        raise StreamError("found `errors` with `raw`, expected one of them: mistakes are shown in the gold tokens")


def _cut(gold: Corpus, model: Model) -> Corpus:
    """Cut the raw text of a gold standard as a model's text."""
    texts = [text_of(sentence) for sentence in gold]
    cut = for_text(model.tokenization, texts)
    return gold.with_sentences(
        Sentence(tuple(text[start:stop] for start, stop in cut(text)), location=sentence.location)
        for sentence, text in zip(gold, texts, strict=True)
    )


def _comparable(gold: Corpus, outputs: Mapping[str, Corpus]) -> tuple[Corpus, dict[str, Corpus]]:
    """Tell the F of words, and return corpora that can be compared: trees as they are, spans by character."""
    from tagweave.evaluation.spans import has_spans
    from tagweave.evaluation.words import segmentations, word_scores

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
