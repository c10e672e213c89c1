"""Span labels as arrays: the sets that a gold standard allows, and the labels that a system gave."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.corpus.errors import CorpusError
from tagweave.evaluation.accuracy import guideline_layers
from tagweave.evaluation.candidates import Booleans, CandidateCodes, Integers, encode
from tagweave.labels.space import is_wildcard
from tagweave.labels.span_evidence import SpanEvidence, SpanVerdict
from tagweave.labels.span_rules import (
    OUTSIDE,
    UNTYPED,
    SpanRules,
    all_span_labels,
    are_span_labels,
    ends_are_marked,
    is_span_label,
    sentence_begins,
)
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates


class SpanCodes(NamedTuple):
    """The evidence of a gold standard for N tokens, and the labels of a system.

    Attributes:
        types: the names of the types.
        evidence: of the sets of labels in the gold standard.
        gold: int64[N], the number of the set of every token.
        system: int64[N], the label of every token; -1 means none, or several.
        begins: bool[N + 1], where a sentence begins, and the end.
    """

    types: tuple[str, ...]
    evidence: SpanEvidence
    gold: Integers
    system: Integers
    begins: Booleans

    @classmethod
    def of(cls, gold: Corpus, system: Corpus) -> SpanCodes:
        """The codes of the guideline layers of two corpora with the same tokens.

        Raises:
            CorpusError: a corpus without its layer, or with labels that do not code spans.
        """
        layers = guideline_layers(gold)
        codes = encode(chain.from_iterable(layers), chain.from_iterable(guideline_layers(system)))
        _check(gold, codes, codes.gold)
        _check(system, codes, codes.system)
        used, numbers = np.unique(codes.gold, return_inverse=True)
        sets = [codes.sets[number] for number in used.tolist()]
        possible, marked = _possible(sets, codes.labels)
        labels = tuple(dict.fromkeys([*possible, *codes.labels]))
        rules, allowed = SpanRules(labels), _allowed(sets, possible, labels, gold.covered)
        evidence = SpanEvidence(rules, allowed, ~codes.known[used], closes=not marked)
        given = np.array([*map(labels.index, codes.labels), -1])[codes.alone[codes.system]]
        return cls(rules.types, evidence, numbers, given, sentence_begins(np.cumsum([0, *map(len, layers)])))

    def verdict(self) -> SpanVerdict:
        """What the gold standard says about the spans of the system."""
        return self.evidence.verdict(self.gold, self.system, self.begins)


def has_spans(corpus: Corpus) -> bool:
    """Whether the labels in the corpus's guideline layer code spans (`are_span_labels`)."""
    sets = {each for sentence in corpus for each in set(sentence.layers.get(corpus.guideline, ()))}
    return are_span_labels(_plain(name) for each in sets for name in each or ())


def spans_of_training(corpus: Corpus, guideline: str) -> frozenset[tuple[str, ...]] | None:
    """The words of all certain spans of a corpus, whatever their type.

    They are those of the layer `guideline`, or of the corpus's own if it has none of this name; `None` if the labels of
    this layer code no spans.

    Raises:
        CorpusError: as `SpanCodes.of`.
    """
    named = any(guideline in sentence.layers for sentence in corpus)
    training = replace(corpus, guideline=guideline) if named else corpus
    if not has_spans(training):
        return None
    codes = SpanCodes.of(training, training)
    starts, stops, _ = codes.evidence.certain(codes.gold, codes.begins)
    return frozenset(words_of(training, starts, stops))


def words_of(corpus: Corpus, starts: Integers, stops: Integers) -> Iterator[tuple[str, ...]]:
    """The words of spans, whose first tokens, and tokens after the last ones, are counted over all sentences."""
    forms = [form for sentence in corpus for form in sentence.forms]
    return (tuple(forms[start:stop]) for start, stop in zip(starts.tolist(), stops.tolist(), strict=True))


def _plain(name: str) -> str:
    """The label that a candidate names, also one that it excludes (`!O`)."""
    return name[1:] if name.startswith("!") and is_wildcard(name) else name


def _check(corpus: Corpus, codes: CandidateCodes, numbers: Integers) -> None:
    """Refuse labels that do not code spans, and say where the first one is."""
    strange = {number for number in np.unique(numbers).tolist() if not _are_span_labels(codes.sets[number])}
    if strange:
        token = int(np.flatnonzero(np.isin(numbers, list(strange)))[0])
        number = int(np.searchsorted(np.cumsum([len(sentence) for sentence in corpus]), token, side="right"))
        found = f"the label {'|'.join(codes.sets[numbers[token]] or ())!r}"
        path, line = corpus[number].location
        expected = "O, or B, I, E or S, alone or with -TYPE"
        raise CorpusError(found, expected, path or corpus.path, line)


def _are_span_labels(candidates: Candidates) -> bool:
    return all(is_span_label(_plain(name)) for name in candidates or ())


def _possible(sets: Iterable[Candidates], given: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """The labels that an unknown token may have, and whether they mark right ends.

    They are those of the gold standard's coding, with the types of its sets and of the labels that were given.
    """
    names = [_plain(name) for candidates in sets for name in candidates or ()]
    marked = ends_are_marked(names)
    named = (name for name in names if not is_wildcard(name))
    kinds = (f"B{name[1:]}" for name in given if name != OUTSIDE)
    return all_span_labels(dict.fromkeys([*named, *kinds]), marked), marked


def _allowed(
    sets: Sequence[Candidates], possible: Sequence[str], labels: Sequence[str], covered: Iterable[str] | None
) -> Booleans:
    """bool[K, L]: the labels that each set allows; wildcards and unknown positions allow those that are `possible`."""
    number = {name: at for at, name in enumerate(labels)}
    allowed = np.zeros((len(sets), len(labels)), np.bool_)
    others = () if covered is None else tuple(_of_other_types(possible, covered))
    for row, candidates in zip(allowed, sets, strict=True):
        for name in ("!",) if candidates is None else candidates:
            row[[number[label] for label in _meant(name, possible, others)]] = True
    return allowed


def _meant(candidate: str, possible: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """The labels that a candidate stands for; `others` are those that `O` stands for besides."""
    if candidate.startswith("!"):
        return [name for name in possible if name != candidate[1:]]
    if is_wildcard(candidate):
        return [name for name in possible if name[0] == candidate[0] and name != OUTSIDE]
    return [candidate, *others] if candidate == OUTSIDE else [candidate]


def _of_other_types(possible: Iterable[str], covered: Iterable[str]) -> Iterator[str]:
    """The labels of types that nobody looked for."""
    types = {split_label(name)[1] or UNTYPED for name in covered if name != OUTSIDE}
    return (name for name in possible if name != OUTSIDE and (split_label(name)[1] or UNTYPED) not in types)
