"""How often a source is right, by gold annotation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tagweave.corpus import chunk_labels, chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Layer
from tagweave.corpus.soft import Soft
from tagweave.corpus.spans import OUTSIDE, Span, spans_of


@dataclass(frozen=True, slots=True)
class SourceScores:
    """Scores of a source; of several candidates the most probable one counts, or none without probabilities.

    Attributes:
        accuracy: the share of right labels among those that it gives to tokens.
        precision: the share of right spans among those that it gives; of labels that code no spans, the accuracy.
        recall: the share of the spans (else of the tokens) of the gold annotation that it gives.
    """

    accuracy: float | None
    precision: float | None
    recall: float | None


def source_scores(corpus: Corpus, sources: Sequence[str], gold: str) -> dict[str, SourceScores]:
    """Scores of sources on the sentences whose gold labels are all known.

    Args:
        corpus: sentences with a layer for each source, of labels in IOB2 if they code spans.
        sources: the names of these layers.
        gold: the name of that of gold labels.

    Raises:
        CorpusError: gold labels of spans that follow no scheme.
    """
    own = [each for each in corpus if all(candidates and len(candidates) == 1 for candidates in each.layers[gold])]
    known = corpus.with_sentences(own)
    are_spans = chunk_labels.codes_chunks({label for each in own for label in _labels(each.layers[gold])})
    if are_spans and (scheme := chunk_schemes.readable(known, gold)) != "IOB2":
        known = chunk_schemes.convert(known, "IOB2", scheme, gold)
    return {name: _scores([(each.layers[name], each.layers[gold]) for each in known], are_spans) for name in sources}


def _labels(layer: Layer) -> Iterator[str]:
    return (label for candidates in layer for label in candidates or ())


def _scores(layers: Sequence[tuple[Layer, Layer]], are_spans: bool) -> SourceScores:
    said = right = total = found = hits = expected = 0
    for source, gold in layers:
        best = tuple(map(_best, source))
        said += sum(each is not None for each in best)
        right += sum(each is not None and each == label for each, label in zip(best, gold, strict=True))
        total += len(gold)
        if are_spans:
            own, others = _spans(best), _spans(gold)
            found, hits, expected = found + len(own), hits + len(own & others), expected + len(others)
    accuracy = right / said if said else None
    if not are_spans:
        return SourceScores(accuracy, accuracy, right / total if total else None)
    return SourceScores(accuracy, hits / found if found else None, hits / expected if expected else None)


def _best(candidates: Candidates) -> Candidates:
    """The most probable label; unknown if there are several without probabilities."""
    if isinstance(candidates, Soft):
        numbers = [candidates.numbers[group] for group in candidates.groups]
        return (candidates[numbers.index(max(numbers))],)
    return candidates if candidates is not None and len(candidates) == 1 else None


def _spans(layer: Layer) -> set[Span]:
    """The spans with a type; none if the labels are not in IOB2."""
    try:
        groups = spans_of(layer)
    except CorpusError:
        return set()
    return {group[0] for group in groups if len(group) == 1 and group[0].label != OUTSIDE and group[0].stop is not None}
