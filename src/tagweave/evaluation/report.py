"""Compares systems with a gold standard by the metric that fits the corpora, and reports the result.

Labels of words that are the same in every system are scored by accuracy, or if they code spans (`B-PER I-PER O`), by
precision, recall and F of spans. Characters, or words that differ, are scored by precision, recall and F of words, also
with tags if both sides have them. Heads are scored by attachment scores. All systems of a report are compared by the
same metric.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.corpus.chunk_schemes import standard_labels
from tagweave.evaluation.accuracy import Accuracy, accuracy
from tagweave.evaluation.alignment import check_text
from tagweave.evaluation.attachment import Attachment, Relations, attachment
from tagweave.evaluation.score import (
    Measure,
    Result,
    Score,
    Share,
    intervals,
    plain,
    randomisation_test,
    wilcoxon_test,
)
from tagweave.evaluation.spans import Averages, SpanScores, has_spans, span_scores, spans_of_training
from tagweave.evaluation.tables import Printed, add_row, show, titled_table
from tagweave.evaluation.words import WordScores, segmentations, training_words, word_scores

if TYPE_CHECKING:
    from os import PathLike

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import HeadLayer, Layer, Sentence
    from tagweave.evaluation.calibration import Calibration

Scores = Accuracy | SpanScores | WordScores | Attachment
UNDECIDED = "(undecided)"
_MOST_RELATIONS = 15


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """A test of the difference between two systems."""

    first: str  # the system compared against, the first of the report
    second: str  # the other system
    metric: str  # "accuracy", "F", "tagged F", "UAS" or "LAS"
    difference: float  # the score of `second` minus the score of `first`
    randomisation: float  # p of the paired randomisation test over sentences
    wilcoxon: float  # p of Wilcoxon's signed-rank test over the scores of sentences
    json_names: ClassVar = {"randomisation": "randomisation_p", "wilcoxon": "wilcoxon_p"}


@dataclass(frozen=True, slots=True)
class Report(Printed, Result):
    """The scores of one or more systems against one gold standard."""

    gold: str  # the file of the gold standard, or ""
    sentences: int  # how many sentences were compared
    systems: Mapping[str, Scores]  # the scores of each system, all of the same type, in the order given
    # the first system against each of the others, for every metric that is defined for both
    comparisons: tuple[Comparison, ...]
    # of systems that are models, how far their probabilities are to be believed
    calibrations: Mapping[str, tuple[Calibration, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return all scores, with the ends of their 95 % intervals by system and metric, as plain data."""
        ends = {name: intervals(scores.measures()) for name, scores in self.systems.items()}
        return {**Result.to_json(self), "intervals": plain(ends)}

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw how many answers of models are right by their probability, as PNG (needs matplotlib).

        Raises:
            ValueError: no system is a model with probabilities, or there are too many.
            OSError: the file cannot be written.
        """
        from tagweave.evaluation.plots import reliability

        kinds = [(name, calibration) for name, some in self.calibrations.items() for calibration in some]
        reliability(
            Path(path), {f"{name}: {calibration.of}": calibration for name, calibration in kinds}, "Reliability"
        )

    def render(self, console: Console | None = None, confusions: int = 10) -> None:
        show(self.content(confusions), console)

    def content(self, confusions: int = 10) -> Iterator[Text | Table]:
        """Yield tables: a summary, the comparisons, and for each system the labels and its most frequent confusions.

        Ratios are in percent; `-` is an undefined ratio.
        """
        for table in _tables(self, confusions):
            title, table.title = table.title, None  # a table breaks a title that is wider than its columns
            yield cast("Text", title)
            yield table


def evaluate(
    gold: Corpus,
    systems: Mapping[str, Corpus],
    training: Corpus | None = None,
    punctuation: bool = True,
    relations: Relations = "universal",
) -> Report:
    """Compare systems with a gold standard, sentence by sentence in the order of the corpora.

    Args:
        gold: the gold standard, which may be partial or ambiguous (see `candidates`, `words`, `spans`, `attachment`).
        systems: the outputs by name; the others are compared against the first.
        training: the training corpus, for scores of unknown (OOV) and known (IV) words, or of unseen spans.
        punctuation, relations: as for `attachment`.
    """
    if not systems:
        raise ValueError("found no system, expected at least one")
    scores: dict[str, Scores]
    if any(gold.guideline in sentence.heads for sentence in gold):
        scores = {name: attachment(gold, system, punctuation, relations) for name, system in systems.items()}
        return Report(gold.path, len(gold), scores, _comparisons(scores))
    for system in systems.values():
        check_text(gold.sentences, system.sentences, gold.path, system.path)
    gold, training = standard_labels(gold), training and standard_labels(training)
    systems = {name: standard_labels(system) for name, system in systems.items()}
    are_labels = _have_same_labelled_words(gold, systems)
    if are_labels and has_spans(gold):
        spans = None if training is None else spans_of_training(training, gold.guideline)
        scores = {name: span_scores(gold, system, spans) for name, system in systems.items()}
        return Report(gold.path, len(gold), scores, _comparisons(scores))
    words_of_training = None if training is None else training_words(training)
    if are_labels:
        scores = {name: accuracy(gold, system, words_of_training) for name, system in systems.items()}
    else:
        words = segmentations(gold.sentences, gold.guideline, gold.unit)
        scores = {
            name: word_scores(words, segmentations(item.sentences, item.guideline, item.unit), words_of_training)
            for name, item in systems.items()
        }
    return Report(gold.path, len(gold), scores, _comparisons(scores))


def _have_same_labelled_words(gold: Corpus, systems: Mapping[str, Corpus]) -> bool:
    """Return whether all corpora have the same words with labels; plain segmented text is compared by its words."""
    if not any(gold.guideline in sentence.layers for sentence in gold):
        return False
    return gold.unit == "word" and all(
        system.unit == "word"
        and any(sentence.layers for sentence in system)
        and all(one.forms == other.forms for one, other in zip(gold, system, strict=True))
        for system in systems.values()
    )


def _comparisons(scores: Mapping[str, Scores]) -> tuple[Comparison, ...]:
    (first, first_scores), *other_scores = scores.items()
    measures = first_scores.measures()
    return tuple(
        _compare(first, second, name, measures[name], theirs)
        for second, second_scores in other_scores
        for name, theirs in second_scores.measures().items()
        if name in measures and not np.isnan(theirs.score - measures[name].score)
    )


def _compare(first: str, second: str, name: str, ours: Measure, theirs: Measure) -> Comparison:
    metric = ours.metric
    return Comparison(
        first,
        second,
        name,
        theirs.score - ours.score,
        randomisation_test(ours.counts, theirs.counts, metric),
        wilcoxon_test(metric(ours.counts.astype(np.float64)), metric(theirs.counts.astype(np.float64))),
    )


@dataclass(frozen=True, slots=True)
class LayerReports(Printed, Result):
    """Reports on systems against one gold standard, layer by layer."""

    reports: dict[str, Report]  # a report for each layer
    # layers that are the same in all systems and the gold standard, and so are no evidence about systems
    copied: tuple[str, ...]
    absent: tuple[str, ...]  # layers of the gold standard that no system has
    json_names: ClassVar = {"reports": "layers"}

    def spans_together(self) -> dict[str, Score]:
        """Return the score of the spans of all layers, for each system; none unless there are several, all of spans."""
        scores = [report.systems for report in self.reports.values()]
        names = set.intersection(*map(set, scores)) if len(scores) > 1 else set()
        by_name = {name: [of_layer[name] for of_layer in scores] for name in scores[0] if name in names}
        return {
            name: Score.total(of_layer.spans for of_layer in layers if isinstance(of_layer, SpanScores))
            for name, layers in by_name.items()
            if all(isinstance(of_layer, SpanScores) for of_layer in layers)
        }

    def content(self) -> Iterator[Text | Table]:
        for name, report in self.reports.items():
            yield Text(f"layer {printable(name)}")
            yield from report.content()
        for name, score in self.spans_together().items():
            yield Text(f"{printable(name)}: F of the spans of all layers {_percent(score.f)}")
        unscored = (("the same in all systems as in the gold standard", self.copied), ("in no system", self.absent))
        for why, names in unscored:
            if names:
                yield Text(f"not scored: {printable(', '.join(names))}: {why}")


def layers_of(corpus: Corpus) -> list[str]:
    """Return the names of all layers of labels and of heads."""
    return list(dict.fromkeys(name for sentence in corpus for name in (*sentence.layers, *sentence.heads)))


def evaluate_layers(
    gold: Corpus,
    systems: Mapping[str, Corpus],
    training: Corpus | None = None,
    punctuation: bool = True,
    relations: Relations = "universal",
    names: Collection[str] = (),
) -> LayerReports:
    """Report on layers by their names, or if there are none, on each layer in which the gold standard and some system
    differ; on all layers if they differ in none.

    Layers are compared by name. If a system has no layer with the name of the gold standard's guideline, the layer of
    its own guideline is compared instead. A system whose layer is unknown everywhere is left out of the report on it.
    Arguments are as for `evaluate`.
    """
    layers = [name for name in layers_of(gold) if not names or name in names]
    having = {name: systems_with_layer(name, gold, systems) for name in layers if _is_known(gold, name)}
    absent = tuple(name for name, corpora in having.items() if not corpora)
    copied = tuple(
        name
        for name, corpora in having.items()
        if corpora and not names and all(_is_copied(gold, name, corpus) for corpus in corpora.values())
    )
    scored = [name for name in having if name not in (*absent, *copied)]
    if not scored:
        scored, copied = list(copied), ()
    reports = {
        name: evaluate(replace(gold, guideline=name), having[name], training, punctuation, relations) for name in scored
    }
    if not reports:  # only words can be compared, or nothing
        report = evaluate(gold, systems, training, punctuation, relations)
        reports, absent = {gold.guideline: report}, ()
    return LayerReports(reports, copied, absent)


def copies(gold: Corpus, systems: Mapping[str, Corpus]) -> Iterator[tuple[str, str]]:
    """Yield systems whose layer is as in the gold standard to the last label, with a layer that only they have.

    A tagger adds its layer to a file with a layer of another name, and keeps the latter.
    """
    for name, system in systems.items():
        added_layers = [layer for layer in layers_of(system) if layer not in layers_of(gold)]
        if added_layers and _is_known(gold, gold.guideline) and _is_copied(gold, gold.guideline, system):
            yield name, added_layers[0]


def systems_with_layer(name: str, gold: Corpus, systems: Mapping[str, Corpus]) -> dict[str, Corpus]:
    """Return the systems with known positions in a layer, which becomes their guideline."""
    having = {}
    for system, corpus in systems.items():
        is_own = name == gold.guideline and name not in layers_of(corpus)
        layer = corpus.guideline if is_own else name
        if _is_known(corpus, layer):
            having[system] = replace(corpus, guideline=layer)
    return having


def _layer(sentence: Sentence, name: str) -> Layer | HeadLayer:
    return sentence.heads.get(name) or sentence.layers.get(name) or (None,) * len(sentence)


def _is_known(corpus: Corpus, name: str) -> bool:
    return any(candidates is not None for sentence in corpus for candidates in _layer(sentence, name))


def _is_copied(gold: Corpus, name: str, system: Corpus) -> bool:
    return len(gold) == len(system) and all(
        one.forms == other.forms and _layer(one, name) == _layer(other, system.guideline)
        for one, other in zip(gold, system, strict=True)
    )


def _tables(report: Report, confusions: int) -> Iterator[Table]:
    yield _summary(report)
    if report.comparisons:
        yield _significance(report.comparisons)
    for name, scores in report.systems.items():
        if isinstance(scores, Attachment):
            yield _relations(name, scores)
        else:
            yield from _labels(name, scores, confusions)
    for name, kinds in report.calibrations.items():
        yield from (_reliability(name, calibration) for calibration in kinds)


def _summary(report: Report) -> Table:
    """Return the figures of all systems, with the 95 % interval of each that has counts by sentence below it."""
    columns: list[dict[str, str]] = []
    for scores in report.systems.values():
        column: dict[str, str] = {}
        ends = intervals(scores.measures())
        for name, text in _figures(scores).items():
            column[name] = text
            if name in ends:
                column[f"{name}, 95 %"] = " to ".join(map(_percent, ends[name]))
        columns.append(column)
    against = f" against {report.gold}" if report.gold else ""
    table = titled_table(f"{report.sentences:,} sentences{against}", ["", *report.systems], range(1, len(columns) + 1))
    for figure in dict.fromkeys(name for column in columns for name in column):
        add_row(table, figure, *(column.get(figure, "-") for column in columns))
    return table


def _figures(scores: Scores) -> dict[str, str]:
    if isinstance(scores, Attachment):
        ratios = {"UAS": scores.heads.f, "LAS": scores.arcs.f, "whole trees": scores.trees.value}
        counts = {
            "right heads": scores.heads.right,
            "scored": scores.heads.gold,
            "unscored": scores.unscored,
            "gold trees that cross": scores.crossing,
        }
    elif isinstance(scores, SpanScores):
        ratios = _ratios(scores.spans, "") | _ratios(scores.macro, "macro ") | _ratios(scores.unseen, "unseen ")
        ratios |= {"partial overlap F": scores.partial.f, "type only F": scores.type_only.f}
        ratios["accuracy"] = scores.accuracy.value
        counts = {
            "right": scores.spans.right,
            "gold spans": scores.spans.gold,
            "system spans": scores.spans.system,
            "unscored spans": scores.unscored,
            "ambiguous": scores.ambiguous,
            "undecided tokens": scores.undecided,
        }
    elif isinstance(scores, Accuracy):
        ratios = {"accuracy": scores.tokens.value} | _vocabulary(scores.oov, scores.iv, "accuracy")
        counts = {
            "right": scores.tokens.right,
            "scored": scores.tokens.total,
            "unscored": scores.unscored,
            "ambiguous": scores.ambiguous,
            "undecided": scores.undecided,
        }
    else:
        ratios = _ratios(scores.words, "") | _ratios(scores.tagged.words if scores.tagged else None, "tagged ")
        ratios |= _vocabulary(scores.oov, scores.iv, "recall")
        counts = {"unscored characters": scores.unscored, "undecided": scores.undecided}
    return {name: _percent(value) for name, value in ratios.items()} | {name: str(n) for name, n in counts.items()}


def _ratios(score: Score | Averages | None, prefix: str) -> dict[str, float]:
    if score is None:
        return {}
    return {f"{prefix}precision": score.precision, f"{prefix}recall": score.recall, f"{prefix}F": score.f}


def _vocabulary(oov: Share | None, iv: Share | None, what: str) -> dict[str, float]:
    return {f"{name} {what}": share.value for name, share in (("OOV", oov), ("IV", iv)) if share is not None}


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"


def _significance(comparisons: tuple[Comparison, ...]) -> Table:
    columns = ["first", "second", "metric", "second - first", "p (randomisation)", "p (Wilcoxon)"]
    table = titled_table("Significance", columns, range(3, 6))
    for item in comparisons:
        difference = f"{100 * item.difference:+.2f}"
        p_values = f"{item.randomisation:.4g}", f"{item.wilcoxon:.4g}"
        add_row(table, item.first, item.second, item.metric, difference, *p_values)
    return table


def _relations(name: str, scores: Attachment) -> Table:
    table = titled_table(f"{name}: relations", ["relation", "UAS", "support"], range(1, 3))
    for relation, share in sorted(scores.relations.items(), key=lambda item: -item[1].total)[:_MOST_RELATIONS]:
        add_row(table, relation, _percent(share.value), str(share.total))
    return table


def _labels(name: str, scores: Accuracy | SpanScores | WordScores, confusions: int) -> Iterator[Table]:
    labelled = scores.tagged if isinstance(scores, WordScores) else scores
    if labelled is None:
        return
    what = "type" if isinstance(scores, SpanScores) else "label"
    table = titled_table(f"{name}: {what}s", [what, "precision", "recall", "F", "support"], range(1, 5))
    for label, score in labelled.labels.items():
        add_row(table, label, *map(_percent, (score.precision, score.recall, score.f)), str(score.gold))
    yield table
    if most := labelled.confusions[:confusions]:
        table = titled_table(f"{name}: confusions", ["gold", "system", "count"], range(2, 3))
        for confusion in most:
            add_row(table, confusion.gold, confusion.system or UNDECIDED, str(confusion.count))
        yield table


def _reliability(name: str, calibration: Calibration) -> Table:
    """Return a table of the bins of a model's answers; empty bins are left out."""
    what = calibration.of
    table = titled_table(
        f"{name}: reliability of {what}, expected calibration error {calibration.error:.3f}",
        ["probability", what, "mean probability", "right"],
        range(1, 4),
    )
    for bin_ in calibration.bins:
        if bin_.count:
            shares = _percent(bin_.probability), _percent(bin_.right)
            add_row(table, f"{bin_.low:.1f} to {bin_.high:.1f}", f"{bin_.count:,}", *shares)
    return table
