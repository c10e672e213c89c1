"""Which labels of a corpus may be wrong: models of the other folds judge the annotation, in several rounds.

A model that has not seen a sentence gives each token t probabilities p(k | x) of its labels. Annotators confuse some
labels more often than others, most often a label with "nothing here", and a model of their annotation does the same.
So the noise c(a | k), how often a token of the label k is annotated a, is estimated first, by expectation maximisation
with the model in place of the prior (Dawid and Skene 1979, with one annotator). The suspicion of an annotation a is

    1 - p(a | x) c(a | a) / sum over k of p(k | x) c(a | k),

what asking somebody about a recorded label would gain (`sources.gain`).
Each round cuts the text anew. Its models believe labels as far as the rounds before do; all are averaged. A suspect is
a label, span or word beside the most probable one that excludes it, or a span that the annotation lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets
from tagweave.labels import SPANS
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, collect_names
from tagweave.labels.transition_scheme import split_label, type_of
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.ranking import probable_spans
from tagweave.sources.gain import gain_over_labels
from tagweave.training.cascades.jackknife import by_others, members
from tagweave.training.fit.chain_problem import prepare_corpora
from tagweave.training.fit.recipe import Recipe, in_batches

Floats = NDArray[Any]
Masks = NDArray[np.bool_]

_LEAST = 0.01  # spans that are less probable are no rivals
_TINY = 1e-6  # the smallest probability of a label: models are sure too easily
_STEPS = 20  # of expectation maximisation
_ADDED = 1e-3  # to counts of confusions
_IOB2 = {"S": "B", "E": "I"}


class Part(NamedTuple):
    """The tokens start .. stop - 1 of a sentence, and their label or type; "" for words without tags.

    For arcs it is the head: the root is -1 .. -1, and -2 .. -1 is any.
    """

    start: int
    stop: int
    label: str


class Suspect(NamedTuple):
    """Tokens start .. stop - 1 of a sentence, by its number, whose annotation may be wrong.

    `given` is the annotation, `rival` what models prefer among the rest, with their probabilities in the text.
    """

    suspicion: float
    sentence: int
    start: int
    stop: int
    given: tuple[Part, ...]
    rival: Part
    given_probability: float
    rival_probability: float


class Suspicions(NamedTuple):
    """Sentences of the task's tokens, the suspicion of each token, 0 to 1, and the suspects, most suspicious first."""

    sentences: Sequence[Sentence]
    tokens: Sequence[Floats]
    suspects: Sequence[Suspect]


class Judge(Protocol):
    """What models say of the annotation of sentences."""

    sentences: Sequence[Sentence]
    names: Sequence[str]

    def judged(self, model: Any, sentences: Sequence[Sentence], threads: int) -> list[Any]:
        """Return what a model says of each sentence, whose annotation it does not see."""

    def doubts(self, said: Sequence[Sequence[Any]]) -> tuple[Floats, Floats]:
        """Return float[N], float[N]: how far the tokens of all sentences are doubted, and what training is told."""

    def suspects(self, number: int, said: Sequence[Any]) -> Iterator[Suspect]:
        """Yield the suspects of a sentence by all that was said of it, without their suspicion."""


def suspicions(
    corpus: Corpus, recipe: Recipe, judge: Judge, folds: int = 5, rounds: int = 4, seed: int = 0, run: Run = SILENT
) -> Suspicions:
    """Judge every annotated label, span or word, and every place where a span may be missing.

    Args:
        folds: the parts of the text; a model of the others judges each.
        rounds: how often the text is cut into folds, by other seeds.
    """
    _check_size(corpus, recipe, folds)
    asked = judge.sentences
    said = [list[Any]() for _ in judge.sentences]
    trusted = corpus
    for at in range(rounds):
        settings = {**recipe.settings, "seed": seed + at} if in_batches(recipe.learner) else recipe.settings
        round_recipe = replace(recipe, settings=settings)
        cut = members([corpus], folds, seed + at)
        answers = by_others([trusted], [asked], cut, round_recipe, judge.judged, run, judge.names)
        for finished, (held_out, judgements) in enumerate(answers, 1):
            for member, judgement in zip(held_out, judgements, strict=True):
                said[member.sentence].append(judgement)
            run.tell(f"{at * folds + finished} of {rounds * folds} models")
        tokens, confidence_doubts = (
            np.split(doubts, np.cumsum([*map(len, asked)])[:-1]) for doubts in judge.doubts(said)
        )
        trusted = corpus.with_sentences(map(believed, corpus, confidence_doubts))
    rows = [
        row._replace(sentence=number, suspicion=float(tokens[number][row.start : row.stop].max()))
        for number, judgements in enumerate(said)
        for row in judge.suspects(number, judgements)
    ]
    return Suspicions(asked, tokens, sorted(rows, key=_rank))


def _rank(suspect: Suspect) -> tuple[float, float, int, int]:
    """Rank by suspicion; equal ones, to four digits, by how far the models prefer the rival."""
    preference = suspect.rival_probability - suspect.given_probability
    return -round(suspect.suspicion, 4), -preference, suspect.sentence, suspect.start


def _check_size(corpus: Corpus, recipe: Recipe, folds: int) -> None:
    layers = (sentence.layers.get(corpus.guideline) or sentence.heads.get(corpus.guideline, ()) for sentence in corpus)
    annotated = len(corpus) if recipe.task.of_characters else sum(any(layer) for layer in layers)
    if annotated < 2 * folds:
        expected = f"at least {2 * folds}, two for each of {folds} folds"
        raise CorpusError(f"{annotated} sentences with annotation", expected, corpus.path)


def believed(sentence: Sentence, doubts: Floats) -> Sentence:
    """Return a sentence with the confidence that doubts of its tokens, or of the characters of its words, leave.

    Candidates with numbers have none.
    """
    if len(doubts) > len(sentence):
        doubts = np.maximum.reduceat(doubts, np.cumsum([0, *map(len, sentence.forms)])[:-1])
    confidence = np.array(sentence.confidence or (1.0,) * len(sentence))
    layers = (*sentence.layers.values(), *sentence.heads.values())
    doubts = np.where(
        [
            any(isinstance(candidates, Soft) for candidates in alternatives)
            for alternatives in zip(*layers, strict=True)
        ],
        0,
        doubts,
    )
    return replace(sentence, confidence=tuple((confidence * (1 - doubts.clip(0, 1))).tolist()))


Spans = Mapping[Part, float]
"""The probabilities of spans."""
Unit = tuple[int, int, tuple[str, ...]]
"""An annotated span or word: first token, token after the last, types."""


class LabelJudge:
    """Models of labels: of single tokens, spans or words. Spans are read in IOB2, and as wholes."""

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        (coded,) = prepare_corpora([corpus], recipe)
        self.names: Sequence[str] = collect_names([sentence.layers.get(coded.guideline, ()) for sentence in coded])
        self.sentences: Sequence[Sentence] = [
            replace(sentence, covered=coded.covered_in(sentence)) for sentence in coded
        ]
        self._space = LabelSpace.plain(coded.guideline, recipe.task.labels(sorted(self.names)))
        self._task = recipe.task.name
        letters = (split_label(name)[0] for name in self._space.names)
        self._letters = ["I" if letter == "M" else letter for letter in letters]
        self._types = [*map(type_of, self._space.names)]
        tokens = [*self._space.names]
        if self._task == SPANS:
            tokens = [_IOB2.get(name[0], name[0]) + name[1:] for name in tokens]
        self._tokens = list(dict.fromkeys(tokens))
        self._projection = np.eye(len(self._tokens), dtype=np.float32)[[self._tokens.index(name) for name in tokens]]
        sets = LabelSets(self._space)
        numbers = allowed_sets(self.sentences, sets)
        self._masks = np.split(sets.masks[numbers] > 0, np.cumsum([len(sentence) for sentence in coded])[:-1])

    def judged(self, model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[Floats, Spans]]:
        """Return float[T, K], the probabilities of labels, and the probabilities of spans."""
        encoded = model.encoder.encode([replace(sentence, layers={}) for sentence in sentences], threads)
        said: list[tuple[Floats, Spans]] = []
        pairs = zip(self._letters, self._types, strict=True)
        names = [OUTSIDE if kind == OUTSIDE else f"{letter}-{kind or '*'}" for letter, kind in pairs]
        for number in range(len(sentences)):
            gamma, steps = model.pair_marginals(encoded, number)
            probable = probable_spans(gamma, steps, names, _LEAST) if self._task != "tag" else ()
            spans = {Part(start, stop, kind.strip("*")): p for start, stop, kind, p in probable}
            said.append((gamma @ self._projection, spans))
        return said

    def doubts(self, said: Sequence[Sequence[tuple[Floats, Spans]]]) -> tuple[Floats, Floats]:
        """Return float[N], float[N]: the suspicion of labels, and the mean of it and of 1 - p(a | x); 0: unknown."""
        table = np.maximum(np.concatenate([_mean_table(judgements) for judgements in said]), _TINY)
        allowed = np.concatenate(self._masks) @ self._projection > 0
        single = allowed.sum(axis=1) == 1
        size = table.shape[1]
        annotated = allowed[single].argmax(axis=1)
        probabilities = table[single]
        noise = 0.9 * np.eye(size) + 0.1 / size  # [a, k]
        for _ in range(_STEPS):
            shares = probabilities * noise[annotated]
            shares /= shares.sum(axis=1, keepdims=True)
            noise = _ADDED + np.array([shares[annotated == label].sum(axis=0) for label in range(size)])
            noise /= noise.sum(axis=0)
        likely = table * (allowed @ noise)
        beliefs = (likelihoods / likelihoods.sum(axis=1, keepdims=True) for likelihoods in (table, likely))
        plain, doubt = (gain_over_labels(belief, allowed) for belief in beliefs)
        is_open = allowed.all(axis=1)
        return np.where(is_open, 0, doubt), np.where(is_open, 0, (plain + doubt) / 2)

    def suspects(self, number: int, said: Sequence[tuple[Floats, Spans]]) -> Iterator[Suspect]:
        """Yield the suspects of a sentence."""
        table = _mean_table(said)
        mask = self._masks[number]
        return self._labels(table, mask) if self._task == "tag" else self._spans(table, _mean_spans(said), mask)

    def _labels(self, table: Floats, mask: Masks) -> Iterator[Suspect]:
        """Yield the annotated labels of single tokens, each beside the most probable other one."""
        for at in np.flatnonzero(~mask.all(axis=1)).tolist():
            rivals = np.where(mask[at], 0, table[at])
            best = int(rivals.argmax())
            annotated = Part(at, at + 1, "|".join(self._space.names[label] for label in np.flatnonzero(mask[at])))
            rival = Part(at, at + 1, self._space.names[best])
            probability = float(table[at][mask[at]].sum())
            yield Suspect(0, 0, at, at + 1, (annotated,), rival, min(probability, 1.0), float(rivals[best]))

    def _spans(self, table: Floats, spans: dict[Part, float], mask: Masks) -> Iterator[Suspect]:
        """Yield annotated spans or words beside their rivals, grouped by rival, and missing spans."""
        units = [*self._units(mask)]
        inside = mask[:, [kind != OUTSIDE for kind in self._types]].any(axis=1)
        missing = [*_apart(sorted(spans, key=lambda key: (-spans[key], key)), np.asarray(~inside))]
        if self._task == SPANS:
            out = table[:, self._tokens.index(OUTSIDE)]
            for start, stop in {unit[:2] for unit in (*spans, *units)}:
                spans[Part(start, stop, OUTSIDE)] = float(out[start:stop].min())
        rivals = _by_rival(units, spans)
        for key in missing:
            rivals[key] = [(key._replace(label=OUTSIDE), spans[key._replace(label=OUTSIDE)])]
        for rival, pairs in rivals.items():
            parts = tuple(annotated for annotated, _ in pairs)
            start, stop = min(rival.start, parts[0].start), max(rival.stop, parts[-1].stop)
            yield Suspect(0, 0, start, stop, parts, rival, min(1.0, *(p for _, p in pairs)), min(spans[rival], 1.0))

    def _units(self, mask: Masks) -> Iterator[Unit]:
        """Yield the spans or words that are certainly annotated, with the types that they may have."""
        start = -1
        for at, row in enumerate(mask):
            letters = {self._letters[label] for label in np.flatnonzero(row)}
            start = at if letters in ({"B"}, {"S"}) else start if letters in ({"I"}, {"E"}) else -1
            if start >= 0 and letters in ({"E"}, {"S"}):
                kinds = [
                    {self._types[label] for label in np.flatnonzero(candidates)} for candidates in mask[start : at + 1]
                ]
                yield start, at + 1, tuple(sorted(set.intersection(*kinds)))
                start = -1


def _by_rival(units: Sequence[Unit], spans: Spans) -> dict[Part, list[tuple[Part, float]]]:
    """Return units with their probabilities, by the most probable span that excludes them."""
    by_rival = dict[Part, list[tuple[Part, float]]]()
    for start, stop, kinds in units:
        parts = {Part(start, stop, kind) for kind in kinds}
        rivals = {key: p for key, p in spans.items() if _overlap(key, start, stop) and key not in parts}
        if rivals:
            best = max(rivals, key=lambda key: (rivals[key], key))
            pair = Part(start, stop, "|".join(kinds)), sum(spans.get(unit, 0.0) for unit in parts)
            by_rival.setdefault(best, []).append(pair)
    return by_rival


def _apart(spans: Sequence[Part], is_free: Masks) -> Iterator[Part]:
    """Yield spans of free tokens that do not overlap, the first ones first."""
    for key in spans:
        if is_free[key.start : key.stop].all():
            is_free[key.start : key.stop] = False
            yield key


def _overlap(span: Part, start: int, stop: int) -> bool:
    """Return whether a part shares tokens with others; `O` only if it has the same tokens."""
    return span[:2] == (start, stop) if span.label == OUTSIDE else span.start < stop and start < span.stop


def _mean_table(said: Sequence[tuple[Floats, Spans]]) -> Floats:
    return np.asarray(np.mean([table for table, _ in said], axis=0))


def _mean_spans(said: Sequence[tuple[Floats, Spans]]) -> dict[Part, float]:
    total: dict[Part, float] = {}
    for key, probability in ((key, p) for _, spans in said for key, p in spans.items()):
        total[key] = total.get(key, 0.0) + probability / len(said)
    return total
