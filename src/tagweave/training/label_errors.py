"""Which labels of a corpus may be wrong: models of the other folds judge the annotation.

A model that has not seen a sentence gives each token t probabilities p(k | x) of its labels. Annotators confuse some
labels more often than others, most often a label with "nothing here", and a model of their annotation does the same.
So the noise c(a | k), how often a token of the label k is annotated a, is estimated first, by expectation maximisation
with the model in place of the prior (Dawid and Skene 1979, with one annotator). The suspicion of an annotation a is

    1 - p(a | x) c(a | a) / sum over k of p(k | x) c(a | k)

The tokens of a span or word have the suspicion of the most suspicious one. A suspect is a span or word beside the most
probable one that overlaps it, or a span that the annotation lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.evidence.layers import OUTSIDE, allowed_sets
from tagweave.kernels.compiled_code import one_blas_thread
from tagweave.labels import SPANS
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, collect_names
from tagweave.labels.transition_scheme import split_label
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.ranking import probable_spans
from tagweave.structures import TREE
from tagweave.training.chain_problem import prepare_corpora
from tagweave.training.jackknife import Answers, by_others, members
from tagweave.training.recipe import Recipe, in_batches

Floats = NDArray[Any]
Masks = NDArray[np.bool_]

_LEAST = 0.01  # spans that are less probable are no rivals
_TINY = 1e-6  # the smallest probability of a label: models are sure too easily
_STEPS = 20  # of expectation maximisation
_ADDED = 1e-3  # to counts of confusions
_IOB2 = {"S": "B", "E": "I"}


class Part(NamedTuple):
    """The tokens start .. stop - 1 of a sentence, and their label or type; "" for words without tags."""

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


Spans = Mapping[Part, float]
"""The probabilities of spans; of a span of the label `O`, that no token of it is in a span."""


class _Judgement(NamedTuple):
    """What a model says of a sentence: float[T, K], the probabilities of labels, and the probabilities of spans."""

    table: Floats
    spans: Spans


def suspicions(
    corpus: Corpus, recipe: Recipe, folds: int = 5, repeats: int = 2, seed: int = 0, run: Run = SILENT
) -> Suspicions:
    """Judge every annotated label, span or word, and every place where a span may be missing.

    Args:
        folds: the parts of the text; a model of the others judges each.
        repeats: how often the text is cut into folds, by other seeds; probabilities are averaged.

    Raises CorpusError if nothing is annotated, or fewer sentences than folds are.
    """
    if recipe.structure == TREE:
        raise PlanError("found the task parse, expected tag, spans, segment or segtag: heads are not judged yet")
    (coded,) = prepare_corpora([corpus], recipe)
    names = collect_names([each.layers.get(coded.guideline, ()) for each in coded])
    reading = _Reading(LabelSpace.plain(coded.guideline, recipe.task.labels(sorted(names))), recipe.task.name)
    asked = [replace(sentence, covered=coded.covered_in(sentence)) for sentence in coded]
    every = judgements(corpus, asked, recipe, reading.judged, names, (folds, repeats, seed), run)
    masks = reading.allowed(asked)
    table = np.maximum(np.concatenate([np.mean([each.table for each in own], axis=0) for own in every]), _TINY)
    doubts = _doubts(table, np.concatenate(masks) @ reading.projection > 0)
    ends = np.cumsum([len(each) for each in asked])[:-1]
    tables, tokens, rows = np.split(table, ends), np.split(doubts, ends), list[Suspect]()
    for at, (own, mask, doubt) in enumerate(zip(every, masks, tokens, strict=True)):
        for start, stop, _ in reading.units(mask):
            doubt[start:stop] = doubt[start:stop].max()
        spans = _averaged([each.spans for each in own])
        found = reading.labels(tables[at], mask) if reading.task == "tag" else reading.parts(spans, mask)
        rows += (row._replace(sentence=at, suspicion=float(doubt[row.start : row.stop].max())) for row in found)
    return Suspicions(asked, tokens, sorted(rows, key=lambda row: (-row.suspicion, row.sentence, row.start)))


def judgements(
    corpus: Corpus,
    asked: Sequence[Sentence],
    recipe: Recipe,
    answers: Answers,
    names: Sequence[str],
    cuts: tuple[int, int, int],
    run: Run,
) -> list[list[Any]]:
    """Return for each sentence what models say that have not seen it; `cuts`: folds, repeats, seed."""
    folds, repeats, seed = cuts
    layers = (sentence.layers.get(corpus.guideline) or sentence.heads.get(corpus.guideline, ()) for sentence in corpus)
    known = len(corpus) if recipe.task.of_characters else sum(any(layer) for layer in layers)
    if known < 2 * folds:
        expected = f"at least {2 * folds}, two for each of {folds} folds"
        raise CorpusError(f"{known} sentences with annotation", expected, corpus.path)
    every: list[list[Any]] = [[] for _ in asked]
    for number in range(repeats):
        settings = {**recipe.settings, "seed": seed + number} if in_batches(recipe.learner) else recipe.settings
        own, cut = replace(recipe, settings=settings), members([corpus], folds, seed + number)
        for done, (held_out, found) in enumerate(by_others([corpus], [asked], cut, own, answers, run, names), 1):
            for at, judgement in zip(held_out, found, strict=True):
                every[at.sentence].append(judgement)
            run.tell(f"{number * folds + done} of {repeats * folds} models")
    return every


class _Reading:
    """How labels of a task are read: as labels of single tokens, spans in IOB2, and as spans or words."""

    def __init__(self, space: LabelSpace, task: str) -> None:
        self.space, self.task = space, task
        parts = [split_label(name) for name in space.names]
        self.letters = [letter for letter, _ in parts]
        self.types = [OUTSIDE if name == OUTSIDE else kind for name, (_, kind) in zip(space.names, parts, strict=True)]
        of_span = [f"{_IOB2.get(letter, letter)}-{kind}" if kind else letter for letter, kind in parts]
        tokens = of_span if task == SPANS else space.names
        names = list(dict.fromkeys(tokens))
        self.projection = np.eye(len(names))[[names.index(name) for name in tokens]]

    def allowed(self, sentences: Sequence[Sentence]) -> list[Masks]:
        """Return bool[T, Y] of each sentence: the labels that its annotation allows."""
        sets = LabelSets(self.space)
        numbers = allowed_sets(sentences, sets)
        return np.split(sets.masks[numbers] > 0, np.cumsum([len(each) for each in sentences])[:-1])

    def judged(self, model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[_Judgement]:
        """Return what a model says of sentences, whose annotation it does not see."""
        encoded, found = model.encoder.encode([replace(each, layers={}) for each in sentences], threads), []
        for number, mask in enumerate(self.allowed(sentences)):
            with one_blas_thread():
                gamma, pairs = model.pair_marginals(encoded, number)
            spans = {} if self.task == "tag" else self._spans(gamma, pairs, mask)
            found.append(_Judgement(gamma @ self.projection, spans))
        return found

    def _spans(self, gamma: Floats, pairs: Floats, mask: Masks) -> Spans:
        coded = [
            f"{'I' if letter == 'M' else letter}-{kind or '*'}" if kind != OUTSIDE else OUTSIDE
            for letter, kind in zip(self.letters, self.types, strict=True)
        ]
        found = probable_spans(gamma, pairs, coded, _LEAST)
        spans = {Part(start, stop, kind.strip("*")): p for start, stop, kind, p in found}
        if self.task != SPANS:
            return spans
        out = self.types.index(OUTSIDE)
        stays = pairs[:, out, out] / np.maximum(np.roll(gamma[:, out], 1), np.finfo(gamma.dtype).tiny)
        for start, stop in {each[:2] for each in (*spans, *self.units(mask))}:
            spans[Part(start, stop, OUTSIDE)] = float(gamma[start, out] * stays[start + 1 : stop].prod())
        return spans

    def units(self, mask: Masks) -> list[tuple[int, int, tuple[str, ...]]]:
        """Return the spans or words that are certainly annotated, with the types that they may have."""
        units, start = [], -1
        for at, row in enumerate(mask if self.task != "tag" else ()):
            letters = {self.letters[label] for label in np.flatnonzero(row)}
            start = at if letters in ({"B"}, {"S"}) else start if letters in ({"I"}, {"M"}, {"I", "M"}, {"E"}) else -1
            if start >= 0 and letters in ({"E"}, {"S"}):
                kinds = [{self.types[label] for label in np.flatnonzero(each)} for each in mask[start : at + 1]]
                units.append((start, at + 1, tuple(sorted(set.intersection(*kinds)))))
                start = -1
        return units

    def labels(self, table: Floats, mask: Masks) -> Iterator[Suspect]:
        """Yield the annotated labels of single tokens, each beside the most probable other one."""
        for at in np.flatnonzero(~mask.all(axis=1)).tolist():
            others = np.where(mask[at], 0, table[at])
            best = int(others.argmax())
            given = Part(at, at + 1, "|".join(self.space.names[label] for label in np.flatnonzero(mask[at])))
            rival, own = Part(at, at + 1, self.space.names[best]), float(table[at][mask[at]].sum())
            yield Suspect(0, 0, at, at + 1, (given,), rival, min(own, 1.0), float(others[best]))

    def parts(self, spans: Spans, mask: Masks) -> Iterator[Suspect]:
        """Yield annotated spans or words beside their rivals, grouped by rival, and missing spans."""
        found: dict[Part, list[tuple[Part, float]]] = {}
        for start, stop, kinds in self.units(mask):
            own = {Part(start, stop, kind) for kind in kinds}
            others = {key: p for key, p in spans.items() if _overlap(key, start, stop) and key not in own}
            if others:
                best = max(others, key=lambda key: (others[key], key))
                given = Part(start, stop, "|".join(kinds))
                found.setdefault(best, []).append((given, sum(spans.get(each, 0.0) for each in own)))
        outside = np.array([label == OUTSIDE for label in self.types])
        free = ~(mask & ~outside).any(axis=1)
        for key in sorted(spans, key=lambda key: (-spans[key], key)):
            if key.label != OUTSIDE and free[key.start : key.stop].all():
                free[key.start : key.stop] = False
                nothing = key._replace(label=OUTSIDE)
                found[key] = [(nothing, spans[nothing])]
        for rival, pairs in found.items():
            parts = tuple(part for part, _ in pairs)
            start, stop = min(rival.start, parts[0].start), max(rival.stop, parts[-1].stop)
            yield Suspect(0, 0, start, stop, parts, rival, min(1.0, *(p for _, p in pairs)), min(spans[rival], 1.0))


def _overlap(part: Part, start: int, stop: int) -> bool:
    """Return whether a part shares tokens with others; `O` only if it has the same tokens."""
    return part[:2] == (start, stop) if part.label == OUTSIDE else part.start < stop and start < part.stop


def _averaged(every: Sequence[Spans]) -> Spans:
    """Return the means of probabilities; a span that is missing is improbable, a missing `O` was not asked for."""
    said: dict[Part, list[float]] = {}
    for key, probability in ((key, p) for spans in every for key, p in spans.items()):
        said.setdefault(key, []).append(probability)
    return {key: sum(p) / (len(p) if key.label == OUTSIDE else len(every)) for key, p in said.items()}


def _doubts(table: Floats, allowed: Masks) -> Floats:
    """Return float[N]: the suspicion of what tokens are annotated, from probabilities and bool[N, K]; 0: unknown."""
    single = allowed.sum(axis=1) == 1
    given, own, size = allowed[single].argmax(axis=1), table[single], table.shape[1]
    noise = 0.9 * np.eye(size) + 0.1 / size  # [a, k]
    for _ in range(_STEPS):
        shares = own * noise[given]
        shares /= shares.sum(axis=1, keepdims=True)
        noise = _ADDED + np.array([shares[given == label].sum(axis=0) for label in range(size)])
        noise /= noise.sum(axis=0)
    likely = table * (allowed @ noise)
    return np.where(allowed.all(axis=1), 0, 1 - (likely * allowed).sum(axis=1) / likely.sum(axis=1))
