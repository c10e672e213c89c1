"""Checks before training that evidence is of use: some label sequence satisfies it, and the learner can read it.

Each position may have a valid set of labels although no sequence runs through all of them (a word that begins before
the last one has ended). The check follows the reachable labels from set to set; there are few different steps, and each
is computed once, so the check costs one look-up per token.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets, rejected_spans, token_noise
from tagweave.evidence.sequences import pointers
from tagweave.features.encoded import Encoded
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.spans import SplitLabels, span_types
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.training.fit.recipe import Recipe

_SHOWN = 8  # labels in a message


def no_evidence(space: LabelSpace, path: str) -> CorpusError:
    """Return the error of a corpus in which every token allows every label."""
    names = " ".join(space.names[:_SHOWN])
    problem = f"no evidence: every token allows every label ({names})"
    return CorpusError(problem, "a corpus that tells labels from one another", path)


def with_evidence(encoded: Encoded, corpora: Sequence[Corpus], sets: LabelSets, scheme: TransitionScheme) -> Encoded:
    """Return the encoded sentences of all corpora with their label sets, noise and rejected spans."""
    allow, noise, rejected = evidence_of(corpora, sets, scheme)
    return encoded.with_evidence(allow, noise=noise, rejected=rejected, rows=sets.rows)


def check_evidence(
    sentences: Sequence[Sentence], encoded: Encoded, sets: LabelSets, scheme: TransitionScheme, recipe: Recipe
) -> None:
    """Refuse evidence that no label sequence satisfies, or that the learner cannot use."""
    evidence = encoded.evidence
    rejected = evidence.rejected
    check_consistent(sentences, evidence.sets, evidence.noise, sets.masks, scheme, rejected, sets.space.names)
    if recipe.mistake_driven and (sets.has_numbers or len(rejected)):
        place = sentences[int(rejected[0, 0])].location if len(rejected) else sentences[0].location[:1]
        problem = "rejected spans" if len(rejected) else "candidates with numbers"
        raise CorpusError(f"{problem} for the learner {recipe.learner}", "a learner that follows a gradient", *place)


def evidence_of(
    corpora: Sequence[Corpus], sets: LabelSets, scheme: TransitionScheme
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """int32[N], the label set of every token of all corpora, its noise as in `token_noise`, and the rejected spans.

    Evidence with confidence 0 is dropped.
    """
    allow = np.concatenate([allowed_sets(corpus.sentences, sets, scheme, corpus.covered) for corpus in corpora])
    sentences = [sentence for corpus in corpora for sentence in corpus.sentences]
    noise = token_noise(sentences)
    rejected = rejected_spans(sentences, sets.space)
    if len(noise):
        allow[noise >= 1] = ALL
        for t in np.flatnonzero((noise > 0) & sets.are_likelihoods[allow]):
            allow[t], noise[t] = sets.believed_in_part(int(allow[t]), float(noise[t])), 0
    if sets.posteriors is not None:
        # a confidence says once more how far labels are to be believed, and rejected spans are no marginals
        is_posterior = sets.posteriors.of_set[allow] >= 0
        sentence_of_token = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
        conflicts = {"rejected spans": np.isin(sentence_of_token, rejected[:, 0]), "a confidence in them": noise > 0}
        for what, is_there in conflicts.items():
            if len(is_there) and (both := is_posterior & is_there).any():
                place = sentences[int(sentence_of_token[both.argmax()])].location
                raise CorpusError(f"probabilities of labels and {what}", "one of them", *place)
    return allow, noise, rejected


_NOTHING = np.zeros((0, 5), np.int32)


def check_consistent(
    sentences: Sequence[Sentence],
    allow: NDArray[Any],
    noise: NDArray[np.float64],
    masks: NDArray[Any],
    scheme: TransitionScheme,
    rejected: NDArray[np.int32] = _NOTHING,
    names: Sequence[str] = (),
) -> None:
    """Refuse evidence that no label sequence satisfies.

    Args:
        allow: int32[N], the number of the label set of every token.
        noise: float64[N], the noise of every token; empty if all evidence is certain.
        masks: uint8[sets, Y], the label sets.
        rejected: int32[R, 5], the rejected spans, as `Encoded` has them.
    """
    if scheme.transition.all() and scheme.start.all() and scheme.end.all():
        return
    # a set with noise excludes nothing for certain
    numbers = iter((np.where(noise > 0, ALL, allow) if len(noise) else allow).tolist())
    allowed = masks.astype(bool)

    @cache
    def step(before: bytes, number: int) -> bytes:
        """The labels that can be reached in a set, bool[Y], from those that were reached before."""
        reached = scheme.transition[np.frombuffer(before, bool)].any(axis=0) if before else scheme.start
        return bytes((reached & allowed[number]).tobytes())

    @cache
    def ends(reached: bytes) -> bool:
        return not reached or bool((np.frombuffer(reached, bool) & scheme.end).any())

    for sentence in sentences:
        if not ends(reduce(step, islice(numbers, len(sentence)), b"")):
            raise CorpusError("labels that exclude one another", "a sequence that they allow", *sentence.location)
    if len(rejected):
        certain = np.where(noise > 0, ALL, allow) if len(noise) else allow
        _check_rejected(sentences, masks[certain] > 0, scheme, rejected, names)


def _check_rejected(
    sentences: Sequence[Sentence],
    allowed: NDArray[np.bool_],
    scheme: TransitionScheme,
    rejected: NDArray[np.int32],
    names: Sequence[str],
) -> None:
    """Refuse sentences whose allowed labels, bool[N, Y], leave only sequences with rejected spans."""
    ptr = pointers(np.array([len(sentence) for sentence in sentences]))
    for number in np.unique(rejected[:, 0]).tolist():
        spans = rejected[rejected[:, 0] == number] - np.array([number, 0, 0, 0, 0])
        rows = allowed[ptr[number] : ptr[number + 1]]
        split = SplitLabels(names, spans)
        labels = split.projection
        kept = split.allowed(np.array([0, len(rows)]))
        follows = split.follows & scheme.transition[np.ix_(labels, labels)]
        reached = scheme.start[labels]
        for t, row in enumerate(rows[:, labels] & kept):
            reached = row & (follows[reached].any(axis=0) if t else reached)
        if not (reached & split.ends & scheme.end[labels]).any():
            types = span_types(names)
            shown = ", ".join(f"{start + 1}-{stop} {types[kind]}" for _, start, stop, kind, _ in spans.tolist())
            problem = f"labels that leave nothing but what is rejected: {shown}"
            raise CorpusError(problem, "other labels, or no such rejection", *sentences[number].location)
