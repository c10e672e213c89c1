"""The page of a part, drawn from its numbers alone, and beside them what the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from reproductions.lab.page import findings, opening, plots_below, significance, table
from reproductions.tsuboi_2008.methods import PROPOSED, SOURCE
from reproductions.tsuboi_2008.paper import SIZES, SOURCE_F, TERMS

_TITLES = {"chinese": "Figure 3, in Chinese"}
_NOTES = {
    "chinese": (
        "A segmenter of news learns the words of a novel. The paper has example sentences of a dictionary and a medical"
        " manual; A and B are random paragraphs of the People's Daily, as many words as the paper has, C1 and C2 the"
        " two halves of Zhuxian's training sentences, each once C1 and once C2. The list is of names of the novel,"
        " written without looking at its annotation.",
        "The words of Zhuxian are those of another guideline than the People's Daily's: a part of the errors on C2 is"
        " no matter of the domain, and words of a list that are names cannot mend it.",
    ),
}
_COMMON = (
    "The model of A ranks all occurrences of words of the list in C1. One after the other is asked for until so many"
    " are marked; occurrences with the same two characters on both sides are asked for once. `entropy` and `random` are"
    " the order of the questions, by the entropy of the labels of the span or at random; `marginal, marginal` asks"
    " first where the probability that the span is a word is least. Then a model is trained on A and the marked"
    " sentences. `marginal` sums over labels that are unknown, `argmax` takes those that the model of A finds most"
    " probable, given what is marked, and `pointwise` leaves them out, and no label depends on its neighbours."
)
_LEARNER = (
    "- Every training: AdaGrad from zero, at most {} iterations, the one that is best on B, stopped after {} without a"
    " better one. The paper has conjugate gradient from the weights of the model of A, with a Gaussian prior whose"
    " variance is chosen on B. Early stopping takes the place of the prior; begun at the model of A, AdaGrad ended"
    " lower on Zhuxian's development data, which no number here is of."
)
_FEATURES = (
    "- Features: those of Liu et al. (2014). The paper has n-grams of characters and their types, and whether they"
    " stand in UniDic or in the list of terms; here two lines below have the list as features, the others do not."
)

Point = dict[str, Any]


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    yield from opening(f"Tsuboi et al. (2008): {_TITLES[summary['part']]}", summary["command"])
    for note in (*_NOTES[summary["part"]], _COMMON):
        yield f"{note}\n"
    yield from _setup(summary)
    yield from _sizes(summary)
    yield from _lines(summary)
    yield "### F on C2 by the number of words marked\n"
    yield from _curves(summary, lambda point: f"{point['f']:.2f}")
    yield "### Recall on C2 of words that A lacks\n"
    yield from _curves(summary, lambda point: f"{point['unknown']:.2f}")
    yield "### Questions that it takes\n"
    yield from _curves(summary, lambda point: f"{point['questions']:,.0f} ({point['words']:,.0f} yes)")
    yield from _against(summary)
    yield from findings(summary["findings"])
    yield from _cost(summary)
    yield from plots_below(plots)


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    yield _LEARNER.format(*summary["budget"])
    yield _FEATURES
    seeds = f"{summary['seeds']} seed{'s' * (summary['seeds'] > 1)}"
    yield f"- Scores are F x 100, means of the folds and {seeds}. A seed draws the order of sentences and of questions."
    yield significance(summary["trials"])
    yield "- Wilcoxon: the signed-rank test over pairs of F, one of every fold and size, two-sided."
    terms = " and ".join(f"{number:,}" for number in summary["terms"])
    yield f"- The list has {summary['list']:,} words, of which {terms} occur in C1; in the paper {TERMS}, on average.\n"


def _sizes(summary: dict[str, Any]) -> Iterator[str]:
    yield "### Corpora\n"
    rows = []
    for fold, corpora in summary["folds"].items():
        rows += [[fold, name, *(f"{number:,}" for number in numbers)] for name, numbers in corpora.items()]
    rows += [["the paper", name, *(f"{number:,}" for number in numbers)] for name, numbers in SIZES.items()]
    yield from table(["", "corpus", "sentences", "words"], rows)


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    yield "### Without questions\n"
    rows = [
        [name, f"{100 * found['score']:.2f}", f"**{found['f']:.2f}**", _folds(found), f"{found['unknown']:.2f}"]
        for name, found in summary["lines"].items()
    ]
    rows.append([f"the paper: {SOURCE.name}", f"{SOURCE_F['B']:.2f}", f"{SOURCE_F['C2']:.1f}", "-", "-"])
    yield from table(["trained on", "F on B", "F on C2", "each fold and seed", "recall of words that A lacks"], rows)


def _folds(found: Point) -> str:
    return "; ".join(", ".join(f"{value:.2f}" for value in values) for values in found["values"])


def _curves(summary: dict[str, Any], cell: Callable[[Point], str]) -> Iterator[str]:
    """A row a size, a column a curve."""
    rows = [
        [f"{size:,}", *(cell(points[number]) for points in summary["curves"].values())]
        for number, size in enumerate(summary["sizes"])
    ]
    yield from table(["words", *summary["curves"]], rows)


def _against(summary: dict[str, Any]) -> Iterator[str]:
    yield f"### `{PROPOSED.name}` less the others\n"
    head = ["", "all sizes", "p, Wilcoxon", f"{summary['sizes'][-1]:,} words", "p, randomisation"]
    rows = [
        [name, f"{test['difference']:+.2f}", f"{test['wilcoxon']:.4f}", f"{test['last']:+.2f}", f"{test['p']:.4f}"]
        for name, test in summary["against"].items()
    ]
    yield from table(head, rows)


def _cost(summary: dict[str, Any]) -> Iterator[str]:
    yield "### Cost\n"
    last = {f"{name}, {summary['sizes'][-1]:,}": points[-1] for name, points in summary["curves"].items()}
    rows = [
        [name, f"{found['weights'] / 1e6:.1f}", f"{found['iterations']:.1f}", f"{found['seconds']:.1f}"]
        for name, found in {**summary["lines"], **last}.items()
    ]
    yield from table(["method", "weights, millions", "iterations", "seconds"], rows)
