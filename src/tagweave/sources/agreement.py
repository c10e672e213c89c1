"""How far sources cover a text, overlap, contradict each other, and agree beyond chance; how often they are right.

Agreement is Krippendorff's alpha for nominal data (Krippendorff 1970; Hayes and Krippendorff 2007): 1 - D_o / D_e,
where D_o is the share of disagreeing pairs of answers to the same position, and D_e the share in pairs drawn at random
from all answers that can be paired. A position with m answers counts m times, and answers may be missing
anywhere. If sources give probabilities or candidates, a pair agrees by the probability that both give the same label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Layer
from tagweave.corpus.spans import OUTSIDE, Span, spans_of
from tagweave.errors import CorpusError
from tagweave.sources.answers import Answers


@dataclass(frozen=True, slots=True)
class Coverage:
    """The counts of one source, or of one label.

    Two answers contradict each other if one is a single label, and the other excludes it.
    """

    coverage: int  # the number of positions that the source answers, or at which some source gives the label
    overlap: int  # of these, the number at which there are answers of two sources or more
    conflict: int  # of these, the number at which an answer contradicts that of the source, or one that gives the label
    # of a source: its agreement with the average of the others, as two observers. Of a label: the agreement of all
    # sources on where it is. `None` if no answers can be paired, or there is only one answer.
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Who says what, and how far sources agree."""

    positions: int  # the number of all positions
    everything: Coverage  # all sources and labels together
    sources: Mapping[str, Coverage]  # sources, labels: by name
    labels: Mapping[str, Coverage]
    counts: Mapping[str, Mapping[str, float]]  # how often each source gives each label; candidates count as fractions


def agreement(answers: Answers) -> Agreement:
    """Count coverage, overlap, conflicts and agreement by source and label."""
    size, position, label, answered = len(answers.labels), answers.position, answers.label, answers.answered
    cells = position.astype(np.int64) * size + label
    votes = answers.votes()
    squares = np.bincount(cells, np.square(answers.shares, dtype=np.float64), answers.positions * size)
    squares = squares.reshape(-1, size).astype(np.float64)
    contradicted = _contradicted(answers, cells)

    def coverage(rows: NDArray[np.bool_], alpha: float | None) -> Coverage:
        at, conflict = np.unique(position[rows]), np.unique(position[rows & contradicted])
        return Coverage(len(at), int(np.count_nonzero(answered[at] > 1)), len(conflict), alpha)

    def of_source(number: int) -> Coverage:
        is_of_source = answers.source == number
        rows = np.flatnonzero(is_of_source & (answered[position] > 1))
        share, other_answers = answers.shares[rows].astype(np.float64), answered[position[rows]] - 1
        agreeing = (share * (votes[position[rows], label[rows]] - share) / other_answers).sum()
        at = np.unique(position[rows])
        theirs = (votes[at] / (answered[at] - 1)[:, None]).sum(0)
        counts = np.bincount(label[rows], share - share / other_answers, size) + theirs
        return coverage(is_of_source, nominal_alpha(2 * agreeing, counts))

    paired = answered > 1
    sums, m = votes[paired], answered[paired]

    def of_label(number: int) -> Coverage:
        votes_for_label, own_squares = sums[:, number], squares[paired, number]
        both_not = (m - votes_for_label) ** 2 - (m - 2 * votes_for_label + own_squares)
        agreeing = ((votes_for_label**2 - own_squares + both_not) / (m - 1)).sum()
        return coverage(label == number, nominal_alpha(agreeing, (votes_for_label.sum(), (m - votes_for_label).sum())))

    agreeing = ((sums**2 - squares[paired]).sum(1) / (m - 1)).sum()
    of_sources_and_labels = np.bincount(
        answers.source.astype(np.int64) * size + label, answers.shares, len(answers.sources) * size
    )
    return Agreement(
        answers.positions,
        coverage(np.ones(len(answers), bool), nominal_alpha(agreeing, sums.sum(0))),
        {name: of_source(number) for number, name in enumerate(answers.sources)},
        {name: of_label(number) for number, name in enumerate(answers.labels)},
        {
            name: dict(zip(answers.labels, row.tolist(), strict=True))
            for name, row in zip(answers.sources, of_sources_and_labels.reshape(-1, size), strict=True)
        },
    )


def nominal_alpha(agreeing: float, counts: Iterable[float]) -> float | None:
    """Compute Krippendorff's alpha from the counts of a coincidence matrix (Krippendorff 2011, section D).

    alpha = 1 - (n - sum of o_cc) (n - 1) / (n^2 - sum of n_c^2). `None` without two answers that could differ.

    Args:
        agreeing: the sum of o_cc, the pairs of equal answers to the same position; of m answers, each pair counts
            1 / (m - 1).
        counts: n_c for each label c, the number of answers c to positions with two answers or more; n is their sum.
    """
    by_label = np.array([*counts], float)
    total = by_label.sum()
    chance = total**2 - (by_label**2).sum()
    if total <= 1 or chance <= 1e-9 * total:
        return None
    return float(1 - (total - agreeing) * (total - 1) / chance)


def _contradicted(answers: Answers, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return bool[A]: whether another answer contradicts the row's; `cells` number position and label."""
    total = answers.positions * len(answers.labels)
    number = np.cumsum(answers.first) - 1
    single = (np.bincount(number) == 1)[number]
    allowed = np.bincount(cells, minlength=total)  # how many answers do not exclude the label
    alone = np.bincount(cells[single], minlength=total)
    certain = np.bincount(answers.position[single], minlength=answers.positions)
    within = np.bincount(number, alone[cells])[number]  # certain answers that the row's answer does not exclude
    contradicted: NDArray[np.bool_] = certain[answers.position] > within
    contradicted |= single & (allowed[cells] < answers.answered[answers.position])
    return contradicted


@dataclass(frozen=True, slots=True)
class SourceScores:
    """Scores of a source; of several candidates the most probable one counts, or none without probabilities."""

    accuracy: float | None  # the share of right labels among the labels that it gives
    # the share of right spans among the spans that it gives; of labels that code no spans, the accuracy
    precision: float | None
    recall: float | None  # the share of the spans (else of the tokens) of the gold annotation that it gives


def source_scores(corpus: Corpus, sources: Sequence[str], gold: str) -> dict[str, SourceScores]:
    """Score sources on the sentences whose gold labels are all known.

    Sources and gold annotation are layers; labels of spans are in IOB2.
    """
    annotated = [
        sentence
        for sentence in corpus
        if all(candidates and len(candidates) == 1 for candidates in sentence.layers[gold])
    ]
    gold_corpus = corpus.with_sentences(annotated)
    are_spans = chunk_schemes.codes_chunks(
        {name for sentence in annotated for labels in sentence.layers[gold] for name in labels or ()}
    )
    gold_corpus = chunk_schemes.standard_labels(gold_corpus, gold) if are_spans else gold_corpus
    if are_spans and (scheme := chunk_schemes.readable(gold_corpus, gold)) != "IOB2":
        gold_corpus = chunk_schemes.convert(gold_corpus, "IOB2", scheme, gold)
    return {
        name: _scores([(sentence.layers[name], sentence.layers[gold]) for sentence in gold_corpus], are_spans)
        for name in sources
    }


def _scores(layers: Sequence[tuple[Layer, Layer]], are_spans: bool) -> SourceScores:
    said = right = total = span_count = hits = expected = 0
    for source, gold in layers:
        best = tuple(map(_best, source))
        said += sum(label is not None for label in best)
        right += sum(
            source_label is not None and source_label == label for source_label, label in zip(best, gold, strict=True)
        )
        total += len(gold)
        if are_spans:
            source_spans, gold_spans = _spans(best), _spans(gold)
            span_count, hits, expected = (
                span_count + len(source_spans),
                hits + len(source_spans & gold_spans),
                expected + len(gold_spans),
            )
    accuracy = right / said if said else None
    if not are_spans:
        return SourceScores(accuracy, accuracy, right / total if total else None)
    return SourceScores(accuracy, hits / span_count if span_count else None, hits / expected if expected else None)


def _best(candidates: Candidates) -> Candidates:
    """Return the most probable label; unknown if there are several without probabilities."""
    if isinstance(candidates, Soft):
        numbers = [candidates.numbers[group] for group in candidates.groups]
        return (candidates[numbers.index(max(numbers))],)
    return candidates if candidates is not None and len(candidates) == 1 else None


def _spans(layer: Layer) -> set[Span]:
    """Return the spans with a type; none if the labels are not in IOB2."""
    try:
        groups = spans_of(layer)
    except CorpusError:
        return set()
    return {group[0] for group in groups if len(group) == 1 and group[0].label != OUTSIDE and group[0].stop is not None}
