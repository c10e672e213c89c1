"""Tsuboi et al. (2008): words of a list are asked for in a new domain, the rest is left open (Figure 3, Chinese)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.lab import page
from reproductions.lab.comparison import Finding, Measured, compare, counts_of, judged, unknown_counts, verdict
from reproductions.lab.corpora import corpora_folder, drawn, of_sample, read_parts
from reproductions.lab.models import pointwise, trained
from reproductions.lab.study import Numbers, Result, Run, Setting, Study
from tagweave.annotate.selection import Occurrences, most_uncertain, occurrences
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import wilcoxon_test
from tagweave.features.templates import PRESETS
from tagweave.harvest.matching import word_marks
from tagweave.learning.run import Schedule

SOURCE, POINTWISE_SOURCE, EVERYTHING = "A alone", "A alone, pointwise", "A and all of C1"
LINES = (SOURCE, POINTWISE_SOURCE, EVERYTHING)
"""What no number of words moves."""
CURVES = tuple(
    f"{treatment}, {choice}" for choice in ("entropy", "random") for treatment in ("marginal", "argmax", "pointwise")
)
"""What becomes of unknown labels, and how questions are chosen: those of Figure 3."""
PROPOSED = CURVES[0]
SIZES = (100, 200, 400, 700, 1000)
"""How many words are marked."""

TABLE_2 = {"A": (11_700, 145_925), "B": (1_300, 16_348), "C": (1_000, 29_216)}
"""Sentences and words of the paper's corpora."""
TERMS = 224
"""Terms of the paper's list that occur in C1, on average."""
PAPER_F = {"B": 96.84, "C2": 92.3}
"""F of the paper's model of A alone."""


class Domain:
    """One fold: what is annotated, and what it is measured on.

    Attributes:
        source: (A), fully segmented.
        dev: (B), of the source domain: tells which iteration is kept.
        asked: (C1), fully segmented, which nobody but the annotator sees.
        test: (C2).
        words: the list, whose occurrences in C1 are asked for.
        schedule: of every training.
    """

    def __init__(
        self, source: Corpus, dev: Corpus, asked: Corpus, test: Corpus, words: Sequence[str], schedule: Schedule
    ) -> None:
        self.source, self.dev, self.asked, self.test = source, dev, asked, test
        self.words, self.schedule = tuple(words), schedule
        self.raw = tuple(Sentence(tuple("".join(sentence.forms))) for sentence in asked)
        self.known = frozenset(form for sentence in source for form in sentence.forms)

    def about(self) -> Numbers:
        """Return what the page tells of the fold."""
        corpora = {"A": self.source, "B": self.dev, "C1": self.asked, "C2": self.test}
        return {
            "sizes": {name: [len(corpus), corpus.tokens()] for name, corpus in corpora.items()},
            "list": len(self.words),
            "terms": len(np.unique(occurrences(self.raw, self.words).word)),
            "budget": [self.schedule.iterations, self.schedule.patience],
        }

    def answers(self, asked: Occurrences) -> NDArray[np.bool_]:
        """Return whether each occurrence in C1 is a word."""
        ends = np.cumsum([len(form) for sentence in self.asked for form in sentence.forms])
        begins = np.concatenate([[0], ends])
        word = np.searchsorted(begins, asked.start)
        is_end = begins[np.minimum(word + 1, len(begins) - 1)] == asked.stop
        return np.asarray((begins[word] == asked.start) & is_end)

    def marked(self, words: Occurrences) -> Corpus:
        """Return the sentences of C1 with these words, as characters of which all else is unknown."""
        begins = np.cumsum([0, *map(len, self.raw)])
        marks = word_marks(int(begins[-1]), words.start, words.stop)
        sentences = (
            self.raw[at].with_layer(SEGMENTATION, segmentation_layer(marks[begins[at] : begins[at + 1] - 1]))
            for at in np.unique(words.sentence).tolist()
        )
        return Corpus(tuple(sentences), self.source.guideline, "character")


def settings(quick: bool) -> list[Setting]:
    """Two folds: the halves of Zhuxian, for a segmenter of as much of the People's Daily as the paper has of news."""
    if quick:
        (news,), (novel,) = of_sample("pd.txt", "words", 80), of_sample("ctb.txt", "words", 60)
        source, dev = (news.with_sentences(each) for each in (news.sentences[:60], news.sentences[60:]))
        words = sorted({form for each in novel for form in each.forms if len(form) > 1})
        sizes: Sequence[int] = (5, 10)
        schedule = Schedule(2, 1)
    else:
        parts, novel = read_parts("zh/pd199801", "words"), read_parts("zh/zx", "words").train
        source, dev = (drawn(each, count, 0) for each, count in ((parts.train, 2_535), (parts.dev, 250)))
        words = (corpora_folder() / "zh/lexicons/zhuxian-names.txt").read_text(encoding="utf-8").splitlines()
        sizes, schedule = SIZES, Schedule(12, 5)
    order = np.random.default_rng(0).permutation(len(novel)) < len(novel) // 2
    halves = [
        novel.with_sentences(each for each, one in zip(novel, order, strict=True) if one == own)
        for own in (True, False)
    ]
    methods = [*LINES, *(f"{curve}, {size}" for size in sizes for curve in CURVES)]
    domains = [Domain(source, dev, one, other, words, schedule) for one, other in (halves, halves[::-1])]
    return [
        Setting(f"fold {number}", f"fold {number}", lambda _, own=domain: own, methods, Domain.about)  # type: ignore[misc]
        for number, domain in enumerate(domains, 1)
    ]


def train(domain: Domain, method: str, seed: int) -> Result:
    """Train on A and on what is annotated of C1, and segment C2."""
    questions = words = 0
    if method in LINES:
        corpora = [domain.source, *([domain.asked] if method == EVERYTHING else [])]
        treatment = "pointwise" if method == POINTWISE_SOURCE else "marginal"
    else:
        treatment, choice, size = method.split(", ")
        ranked, answers = _ranked(domain, choice, seed)
        positive = np.flatnonzero(answers)
        questions = int(positive[int(size) - 1]) + 1 if int(size) <= len(positive) else len(answers)
        asked = ranked.only(slice(questions))
        marked = domain.marked(asked.only(answers[:questions]))
        words = int(answers[:questions].sum())
        corpora = [domain.source, _base(domain, seed).complete(marked) if treatment == "argmax" else marked]
    model = _base(domain, seed) if method == SOURCE else _trained(domain, corpora, treatment, seed)
    answer = model.relabelled(domain.test)
    counts = {
        "dev": counts_of(domain.dev, model),
        "test": counts_of(domain.test, answer, "F"),
        "unknown": unknown_counts(domain.test, answer, domain.known),
    }
    return {"counts": counts, "questions": questions, "words": words, "weights": len(model.chain.weights)}


@lru_cache(maxsize=2)
def _base(domain: Domain, seed: int) -> Any:
    """The model of A alone, which ranks the questions and completes what is marked."""
    return _trained(domain, [domain.source], "marginal", seed)


@lru_cache(maxsize=4)
def _ranked(domain: Domain, choice: str, seed: int) -> tuple[Occurrences, NDArray[np.bool_]]:
    """The questions in their order, and the answers."""
    ranked = most_uncertain(_base(domain, seed).chain, domain.raw, domain.words, choice, seed=seed).occurrences
    return ranked, domain.answers(ranked)


def _trained(domain: Domain, corpora: Sequence[Corpus], treatment: str, seed: int) -> Any:
    templates, settings = PRESETS["liu-2014"].texts, {"batch": 16, "initial": 1e-8}
    if treatment == "pointwise":
        return pointwise(corpora, domain.dev, "segment", templates, {**settings, "seed": seed}, domain.schedule)
    return trained(
        corpora,
        dev=domain.dev,
        task="segment",
        method="single",
        templates=templates,
        settings=settings,
        seed=seed,
        average_seeds=1,
        iterations=domain.schedule.iterations,
        patience=domain.schedule.patience,
    )


Folds = list[dict[str, Measured]]
"""The measures of a method, of every fold."""


def summary(run: Run) -> Numbers:
    """Return the numbers of the page, means over folds and seeds."""
    names = run.settings[0].methods
    sizes = sorted({int(name.rpartition(", ")[2]) for name in names if name not in LINES})
    measured: dict[str, Folds] = {name: [run.measured(fold, name) for fold in run.settings] for name in names}
    numbers = {name: _means(run, name, measured[name]) for name in names}
    about = {fold.title: fold.about(fold.data(0)) for fold in run.settings}

    def pairs(curve: str) -> list[float]:
        """F of a curve in every fold at every size, the mean of the seeds."""
        points = (measured[f"{curve}, {size}"] for size in sizes)
        return [float(np.mean(fold["test"].values)) for point in points for fold in point]

    ends = {
        curve: Measured(np.concatenate([fold["test"].counts for fold in measured[f"{curve}, {sizes[-1]}"]], axis=1))
        for curve in CURVES
    }
    against = {}
    for curve in CURVES[1:]:
        last = compare(ends[PROPOSED], ends[curve], run.trials)
        ours, theirs = pairs(PROPOSED), pairs(curve)
        mean, p = float(np.mean(np.subtract(ours, theirs))), wilcoxon_test(ours, theirs)
        against[curve] = {"difference": mean, "wilcoxon": p, "last": last["difference"], "p": last["p_all"]}
    judgements = []
    for finding in FINDINGS:
        first, second = pairs(finding.first), pairs(finding.second)
        mean, p = float(np.mean(np.subtract(first, second))), wilcoxon_test(first, second)
        told = {"text": finding.text, "paper": None, "measure": "all sizes", "difference": mean, "p_all": p}
        judgements.append({**told, "here": verdict(finding.sign, mean, p)})
    at_end = judged(FINDINGS, {curve: {"test": own} for curve, own in ends.items()}, run.trials)
    judgements += [{**each, "measure": f"{sizes[-1]:,} words"} for each in at_end]
    return {
        "folds": about,
        "sizes": sizes,
        "lines": {name: numbers[name] for name in LINES},
        "curves": {curve: [numbers[f"{curve}, {size}"] for size in sizes] for curve in CURVES},
        "against": against,
        "findings": judgements,
    }


def _means(run: Run, method: str, folds: Folds) -> Numbers:
    results = [result for fold in run.settings for result in run.of(fold, method)]
    return {
        **{measure: float(np.mean([fold[measure].values for fold in folds])) for measure in ("dev", "test", "unknown")},
        "values": [fold["test"].values for fold in folds],
        **{key: float(np.mean([own[key] for own in results])) for key in ("questions", "words", "seconds", "weights")},
    }


FINDINGS = (
    Finding("Marginal likelihood is better than argmax, asking by entropy.", PROPOSED, "argmax, entropy", 1),
    Finding("It is better than the pointwise classifier, asking by entropy.", PROPOSED, "pointwise, entropy", 1),
    Finding("It is better than argmax, asking at random.", "marginal, random", "argmax, random", 1),
    Finding(
        "It is better than the pointwise classifier, asking at random.", "marginal, random", "pointwise, random", 1
    ),
    Finding("Asking by entropy is better than asking at random.", PROPOSED, "marginal, random", 1),
)
"""The paper tests its method against the other two with Wilcoxon's signed-rank test, p < 0.05."""


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    folds, sizes = numbers["folds"], numbers["sizes"]
    fold = next(iter(folds.values()))
    yield from page.opening("Tsuboi et al. (2008): Figure 3, in Chinese", numbers["command"])
    yield (
        "A segmenter of news learns the words of a novel. The paper has example sentences of a dictionary and a medical"
        " manual; A and B are random paragraphs of the People's Daily, as many words as the paper has, C1 and C2 the"
        " two halves of Zhuxian's training sentences, each once C1 and once C2. The list is of names of the novel,"
        " written without looking at its annotation.\n"
    )
    yield (
        "The words of Zhuxian are those of another guideline than the People's Daily's: a part of the errors on C2 is"
        " no matter of the domain, and words of a list that are names cannot mend it.\n"
    )
    yield (
        "The model of A ranks all occurrences of words of the list in C1. One after the other is asked for until so"
        " many are marked; occurrences with the same two characters on both sides are asked for once. `entropy` and"
        " `random` are the order of the questions, by the entropy of the labels of the span or at random. Then a model"
        " is trained on A and the marked sentences. `marginal` sums over labels that are unknown, `argmax` takes those"
        " that the model of A finds most probable, given what is marked, and `pointwise` leaves them out, and no label"
        " depends on its neighbours.\n"
    )
    iterations, patience = fold["budget"]
    yield (
        f"- Every training: AdaGrad from zero, at most {iterations} iterations, the one that is best on B, stopped"
        f" after {patience} without a better one. The paper has conjugate gradient from the weights of the model of A,"
        " with a Gaussian prior whose variance is chosen on B."
    )
    yield (
        "- Features: those of Liu et al. (2014). The paper has n-grams of characters and their types, and whether they"
        " stand in UniDic or in the list of terms."
    )
    yield (
        f"- Scores are F x 100, means of the folds and of {numbers['seeds']} seeds. A seed draws the order of sentences"
        " and of questions."
    )
    yield page.significance(numbers["trials"])
    yield "- Wilcoxon: the signed-rank test over pairs of F, one of every fold and size, two-sided."
    terms = " and ".join(f"{own['terms']:,}" for own in folds.values())
    yield f"- The list has {fold['list']:,} words, of which {terms} occur in C1; in the paper {TERMS}, on average.\n"
    yield "### Corpora\n"
    every = {**{name: own["sizes"] for name, own in folds.items()}, "the paper": TABLE_2}
    rows = [[name, corpus, *(f"{each:,}" for each in own)] for name, of in every.items() for corpus, own in of.items()]
    yield from page.table(["", "corpus", "sentences", "words"], rows)
    yield "### Without questions\n"
    rows = [
        [
            name,
            f"{own['dev']:.2f}",
            f"**{own['test']:.2f}**",
            "; ".join(map(page.values, own["values"])),
            f"{own['unknown']:.2f}",
        ]
        for name, own in numbers["lines"].items()
    ]
    rows.append([f"the paper: {SOURCE}", f"{PAPER_F['B']:.2f}", f"{PAPER_F['C2']:.1f}", "-", "-"])
    yield from page.table(
        ["trained on", "F on B", "F on C2", "each fold and seed", "recall of words that A lacks"], rows
    )
    cells: dict[str, Callable[[Numbers], str]] = {
        "F on C2 by the number of words marked": lambda own: f"{own['test']:.2f}",
        "Recall on C2 of words that A lacks": lambda own: f"{own['unknown']:.2f}",
        "Questions that it takes": lambda own: f"{own['questions']:,.0f} ({own['words']:,.0f} yes)",
    }
    for title, cell in cells.items():
        yield f"### {title}\n"
        points = enumerate(sizes)
        rows = [[f"{size:,}", *(cell(own[at]) for own in numbers["curves"].values())] for at, size in points]
        yield from page.table(["words", *numbers["curves"]], rows)
    yield f"### `{PROPOSED}` less the others\n"
    rows = [
        [name, f"{own['difference']:+.2f}", f"{own['wilcoxon']:.4f}", f"{own['last']:+.2f}", f"{own['p']:.4f}"]
        for name, own in numbers["against"].items()
    ]
    yield from page.table(["", "all sizes", "p, Wilcoxon", f"{sizes[-1]:,} words", "p, randomisation"], rows)
    yield from page.findings(numbers["findings"])
    yield f"![Figure 3](pictures/{PICTURE})\n"


PICTURE = "tsuboi-2008-chinese.png"


def draw(numbers: Numbers, folder: Path) -> None:
    """Draw Figure 3: F on C2 over the number of words that are marked; all curves begin with a model of A alone."""
    series = {}
    for curve, points in numbers["curves"].items():
        begin = numbers["lines"][POINTWISE_SOURCE if curve.startswith("pointwise") else SOURCE]
        series[curve] = [begin["test"], *(own["test"] for own in points)]
    path = folder / "pictures" / PICTURE
    page.curve(path, [0, *numbers["sizes"]], series, score="F", axis="words marked", title="Figure 3")


STUDIES = [Study("tsuboi-2008-chinese", 3, settings, train, lines, draw=draw, summary=summary)]
