"""Selective prediction: a model says only what it is sure of, or all that might be right, at a promised level.

What a model says is spans with a type, tokens with a label, or words; each has a probability. It is said if that
reaches a threshold, which `evaluation.selective` computes from development data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.overlapping import of_layer
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.errors import StreamError
from tagweave.labels import LAYERS, OF_CHARACTERS, SPANS
from tagweave.models.chain_predictor import ChainPredictor, TaggedSpans

if TYPE_CHECKING:
    from tagweave.models.layered import LayeredModel

LEAST = 5e-3
"""What is less probable is never said beside the best labels."""
EVERY = "*"
"""Stands for all labels where they have one threshold."""


class Candidate(NamedTuple):
    """The tokens start .. stop - 1 of a sentence with a label, or as a word, and their probability."""

    start: int
    stop: int
    label: str  # of spans their type, or `O` for a token outside
    probability: float
    is_best: bool  # whether the best labels have it


def candidates(tagger: ChainPredictor, corpus: Corpus) -> Iterator[tuple[Sentence, list[Candidate]]]:
    """Yield sentences with their best labels under the evidence of a corpus, and what they and others say."""
    completed = tagger.complete(corpus).sentences
    if tagger.model.task in OF_CHARACTERS:
        words = [tagger.words(sentence) for sentence in completed]
        of_words = tagger.word_probabilities(corpus.sentences, words, corpus.guideline)
        yield from zip(completed, map(_words, words, of_words), strict=True)
        return
    tables = tagger.probabilities(corpus.sentences, corpus.guideline, corpus.covered)
    if tagger.model.task != SPANS:
        number = {label: at for at, label in enumerate(tagger.labels)}
        for sentence, table in zip(completed, tables, strict=True):
            best = [number[label] for label in _first(sentence.layers[tagger.guideline])]
            yield sentence, _labels(tagger.labels, table, best)
        return
    proposed = tagger.spans(corpus.sentences, LEAST, corpus.guideline)
    outside = tagger.labels.index(OUTSIDE) if OUTSIDE in tagger.labels else None
    for sentence, table, spans in zip(completed, tables, proposed, strict=True):
        layer = sentence.layers[tagger.guideline]
        best_spans = {(span.start, span.stop or 0, str(span.label)) for group in spans_of(layer) for span in group}
        numbers = {(span.start, span.stop, span.label): span.probability for span in spans}
        of_sentence = [Candidate(*span, numbers.get(span, 0.0), span in best_spans) for span in {*numbers, *best_spans}]
        if outside is not None:
            rows = zip(table[:, outside].tolist(), _first(layer), strict=True)
            of_sentence += [Candidate(t, t + 1, OUTSIDE, p, label == OUTSIDE) for t, (p, label) in enumerate(rows)]
        yield sentence, sorted(of_sentence)


def _first(layer: Layer) -> list[str]:
    return [candidates[0] for candidates in layer if candidates]


def _words(words: Sentence, probabilities: Sequence[float]) -> list[Candidate]:
    stops = np.cumsum([len(form) for form in words.forms]).tolist()
    return [
        Candidate(stop - len(form), stop, EVERY, p, True)
        for form, stop, p in zip(words.forms, stops, probabilities, strict=True)
    ]


def _labels(names: Sequence[str], table: NDArray[Any], best: Sequence[int]) -> list[Candidate]:
    is_best = np.arange(len(names)) == np.array(best, np.int64).reshape(-1, 1)
    cells = np.argwhere((table >= LEAST) | is_best).tolist()
    return [Candidate(t, t + 1, names[label], float(table[t, label]), label == best[t]) for t, label in cells]


@dataclass(frozen=True)
class Selection:
    """What is said at a level.

    Attributes:
        least: the smallest probability that is said, by type of spans or for `EVERY` label; `None`: nothing is said.
        adds: whether all that might be right is added to the best labels (recall), or only what is sure of them is said
            (precision).
    """

    least: Mapping[str, float | None]
    adds: bool = False

    @property
    def unpromised(self) -> list[str]:
        """The labels for which no level is promised, in order."""
        return sorted(label for label, threshold in self.least.items() if threshold is None)

    def says(self, candidate: Candidate) -> bool:
        """Return whether a candidate is said."""
        is_likely = self._is_likely(candidate.label, candidate.probability)
        return (candidate.is_best or is_likely) if self.adds else (candidate.is_best and is_likely)

    def _is_likely(self, label: str, probability: float) -> bool:
        least = self.least.get(EVERY, self.least.get(label))
        return least is not None and probability >= least

    def labelled(self, tagger: Any, corpus: Corpus) -> Iterator[tuple[Sentence, TaggedSpans]]:
        """Yield sentences with what is said, sets of labels or `None`, and their spans with probabilities.

        Positions with one label in the corpus keep it. Segmentation is in letters B, M, E, S.
        """
        name, task = tagger.guideline, tagger.model.task
        for evidence, (sentence, everything) in zip(corpus, candidates(tagger, corpus), strict=True):
            said = [candidate for candidate in everything if self.says(candidate)]
            best = sentence.layers[name]
            labels = [dict.fromkeys((position or ()) if self.adds else ()) for position in best]
            for start, stop, label, *_ in sorted(said, key=lambda candidate: -candidate.probability):
                for t, spelt in zip(range(start, stop), _spelt(stop - start, label, task), strict=True):
                    labels[t].setdefault(spelt)
            layer: Sequence[Candidates] = [tuple(names) or None for names in labels]
            if task not in OF_CHARACTERS:
                annotated = evidence.layers.get(corpus.guideline, (None,) * len(sentence))
                layer = _kept(annotated, best, layer)
            spans: TaggedSpans = [c[:4] for c in said if c.label != OUTSIDE]
            yield sentence.with_valid_layers({**sentence.layers, name: tuple(layer)}), spans

    def of_text(self, tagger: Any, text: Iterable[Sentence]) -> Iterator[tuple[Sentence, TaggedSpans]]:
        """Yield what `labelled` does for sentences whose labels are ignored."""
        bare = (sentence.with_layers_of({*sentence.layers} - {*tagger.guidelines}) for sentence in text)
        return self.labelled(tagger, Corpus(tuple(bare), tagger.guideline))

    def heads(self, tree: Sentence, layer: str, table: NDArray[Any]) -> Sentence:
        """Return a tree with the arcs whose heads are said; `table` has the probabilities of arcs, by head and word."""
        rows = enumerate(tree.heads[layer], 1)
        said = (
            arcs if arcs and self._is_likely(EVERY, table[arcs[0].head or 0, word]) else None for word, arcs in rows
        )
        return replace(tree, heads={**tree.heads, layer: tuple(said)})


@dataclass(frozen=True)
class LayeredSelection(Selection):
    """What is said at a level by a model of layers: what each of its chains says."""

    chains: Sequence[Selection] = ()

    def labelled(self, tagger: Any, corpus: Corpus) -> Iterator[tuple[Sentence, TaggedSpans]]:
        of_chains = [chain.labelled(*part) for chain, part in zip(self.chains, tagger.parts(corpus), strict=True)]
        for sentence, *said in zip(corpus, *of_chains, strict=True):
            layers, spans = dict(sentence.layers), TaggedSpans()
            for types, predictor, (labelled, of_chain) in zip(tagger.model.types, tagger.predictors, said, strict=True):
                for name, kinds in types.items():
                    known = sentence.layers.get(name, (None,) * len(sentence))
                    layers[name] = _kept(known, known, of_layer(labelled.layers[predictor.guideline], kinds))
                    spans += [span for span in of_chain if span[2] in kinds]
            yield sentence.with_valid_layers(layers), sorted(spans, key=lambda span: (span[0], -span[1]))


def _kept(known: Layer, best: Layer, layer: Sequence[Candidates]) -> Layer:
    """Return a layer with the best labels where one label is known."""
    pairs = zip(known, best, layer, strict=True)
    return tuple(one if evident and len(evident) == 1 else new for evident, one, new in pairs)


def _spelt(length: int, label: str, task: str) -> Sequence[str]:
    """Return the labels of the tokens of a candidate: of spans in IOB2, of words in letters B, M, E, S."""
    if task in OF_CHARACTERS:
        return "S" if length == 1 else f"B{'M' * (length - 2)}E"
    return [f"B-{label}", *[f"I-{label}"] * (length - 1)] if task == SPANS and label != OUTSIDE else [label]


def is_promised(row: Mapping[str, Any], kind: str) -> bool:
    """Return whether a level of `kind`, precision or recall, is promised for some labels, of recall for all."""
    promised = [least is not None for label, least in row["least"].items() if kind == "recall" or label != OUTSIDE]
    return bool(promised) and (all if kind == "recall" else any)(promised)


def costs(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines on what levels cost by the facts of a model."""
    of = facts["of"]
    shares = (
        f"{row['level']:g}: {100 * row['said']:.0f} %" for row in facts["precision"] if is_promised(row, "precision")
    )
    yield f"{of} that are said at a precision of {', '.join(shares) or 'no level'}"
    if facts["recall"]:
        numbers = (f"{row['level']:g}: {row['said']:.2f}" for row in facts["recall"] if is_promised(row, "recall"))
        yield f"{of} that are said for one right one at a recall of {', '.join(numbers) or 'no level'}"


def selection(model: Any, precision: float | None, recall: float | None, name: str) -> Selection | None:
    """Return what a model, called `name`, says at a level by what is known about it; `None` without a level.

    A level between two that have thresholds has those of the higher one. Raises StreamError if nothing is promised.
    """
    if precision is not None and recall is not None:
        raise StreamError("found `precision` and `recall`, expected one of them")
    kind, level = ("recall", recall) if precision is None else ("precision", precision)
    if level is None:
        return None
    if not isinstance(level, Real) or not 0 < level <= 1:
        raise StreamError(f"found `{kind}={level}`, expected a number above 0, at most 1")
    if model.kind == LAYERS:
        return _of_chains(model, kind, level, name)
    return _selection(model.about, kind, level, name)


def _of_chains(model: LayeredModel, kind: str, level: float, name: str) -> LayeredSelection:
    """Return what chains say: those for which no precision is promised say nothing, if it is for others."""
    chains, errors = list[Selection](), list[StreamError]()
    for chain in model.chains:
        try:
            chains.append(_selection(chain.about, kind, level, name))
        except StreamError as error:
            errors.append(error)
            chains.append(Selection({}))
    if errors and (kind == "recall" or len(errors) == len(chains)):
        raise errors[0]
    least = {
        label if label == layer else f"{label} of {layer}": chain.least.get(label)
        for chain, types in zip(chains, model.types, strict=True)
        for layer, labels in types.items()
        for label in labels
    }
    return LayeredSelection(least, kind == "recall", chains)


def _selection(about: Mapping[str, Any], kind: str, level: float, name: str) -> Selection:
    asked = f"found `{kind}={level:g}` and {name}"
    if not (facts := about.get("selective")):
        expected = "a model of tags, spans, words or heads that was trained with development data (`dev`)"
        raise StreamError(f"{asked}, of whose probabilities nothing is known, expected {expected}")
    if not facts[kind]:
        raise StreamError(f"{asked}, which says {facts['of']}, expected `precision`")
    promised = [row for row in facts[kind] if is_promised(row, kind)]
    row = min((row for row in facts[kind] if row["level"] >= level), key=lambda row: row["level"], default=None)
    if row is None or row not in promised:
        most = max((row["level"] for row in promised), default=None)
        expected = "it without" if most is None else f"at most {most:g}"
        raise StreamError(f"{asked}, expected {expected}: its development data promise no more")
    return Selection(row["least"], kind == "recall")
