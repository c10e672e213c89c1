"""Explanations of labels and spans: which are explained, and what the runner-up says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import index
from typing import NamedTuple

import numpy as np

from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.explanation.contrast import Contrast, Labels
from tagweave.explanation.explanation import Explanation, ExplanationError, Explanations
from tagweave.explanation.training_text import TrainingText
from tagweave.features.feature_names import FeatureNames
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor

LEAST_SURE = 3
"""Tokens that are explained if nobody says which."""


class _Answer(NamedTuple):
    """What a model says of tokens start .. stop - 1."""

    start: int
    stop: int
    name: str
    probability: float | None


class LabelExplainer:
    """Explains what a model says of a text under one of its guidelines.

    Args:
        model: the model.
        guideline: one of its guidelines.
        text: sentences of the model's tokens, without annotation; for a model of documents, whole ones.
        training: its training text, for similar sentences.
    """

    def __init__(
        self, model: ChainModel, guideline: str, text: Sequence[Sentence], training: TrainingText | None = None
    ) -> None:
        encoder, self._text = model.encoder.plain(text)
        self._model = replace(model, encoder=encoder)
        self._predictor = ChainPredictor(self._model, guideline=guideline)
        self._view, self._training = model.space.view(guideline), training

    def explain(self, number: int = 0, token: int | None = None) -> Explanations:
        """Explain a token of a sentence, or the span that it is in; both count from 0.

        Without a token, explain all spans; where there are none, the tokens that the model is least sure of.

        Raises:
            ExplanationError: no such token, or a model of one label.
        """
        check_token(token, self._text[number])
        contrast = self._contrast(number)
        spans = [span for span in self._spans(number) if token is None or span.start <= token < span.stop]
        explanations = []
        for answer in spans or self._tokens(contrast, token):
            other = contrast.runner_up(self._view, answer.start, answer.stop, bool(spans))
            explanation = self._contrasted(contrast, answer, other)
            examples = self._training.similar(explanation.contributions) if self._training else ()
            hidden = contrast.occlusions(contrast.best, other)
            explanations.append(replace(explanation, occlusions=hidden, examples=examples))
        return Explanations(tuple(explanations))

    def against(self, number: int, start: int, layer: Sequence[Candidates]) -> Explanation | None:
        """Explain why tokens of a sentence, from `start` on, have other labels than a layer says of them.

        Return `None` if the model says the same, or can say nothing of the kind.
        """
        contrast, sentence = self._contrast(number), self._text[number]
        positions = [*(None,) * start, *layer, *(None,) * (len(sentence) - start - len(layer))]
        annotated = sentence.with_layer(self._predictor.guideline, positions)
        evidence = self._predictor.under_evidence([annotated], self._predictor.guideline).evidence
        assert evidence.rows is not None  # noqa: S101 - there is a layer
        other = self._model.best(contrast.encoded.with_evidence(evidence.sets), evidence.rows.masks)
        if other.min() < 0 or (other == contrast.best).all():
            return None
        says = self._changed(sentence, contrast.best, other)
        return self._contrasted(contrast, _Answer(start, start + len(layer), says, None), other)

    def _contrast(self, number: int) -> Contrast:
        return Contrast(self._model, FeatureNames(self._model.encoder, self._text[number]))

    def _spans(self, number: int) -> list[_Answer]:
        if not codes_spans(self._view.names):
            return []
        [(_, spans)] = self._predictor.tag_spans([self._text[number]])
        return [_Answer(*span) for span in spans]

    def _tokens(self, contrast: Contrast, token: int | None) -> list[_Answer]:
        """Return the answers at one token, or those that are least sure."""
        gamma, _ = self._model.marginals(contrast.encoded)
        tags = self._view.projection
        best = tags[contrast.best]
        sure = (gamma * (tags[None, :] == best[:, None])).sum(axis=1)
        chosen = sorted(np.argsort(sure, kind="stable")[:LEAST_SURE].tolist()) if token is None else [token]
        return [_Answer(at, at + 1, self._view.names[best[at]], float(sure[at])) for at in chosen]

    def _contrasted(self, contrast: Contrast, answer: _Answer, other: Labels) -> Explanation:
        sentence, best = contrast.names.sentence, contrast.best
        contributions, by_guideline = contrast.difference(best, other)
        says = self._changed(sentence, other, best)
        return Explanation(sentence.forms, *answer, says, contributions, by_guideline)

    def _changed(self, sentence: Sentence, labels: Labels, others: Labels) -> str:
        """Return the tokens at which labels differ from others, with these labels."""
        one, two = self._view.projection[labels], self._view.projection[others]
        return " ".join(f"{sentence.forms[at]}/{self._view.names[one[at]]}" for at in np.flatnonzero(one != two))


def of_chains(several: Iterable[Explanations], most: int) -> Explanations:
    """Return the explanations of all spans in the chains of a model; where there are none, of the least sure tokens."""
    every = [one for explanations in several for one in explanations]
    shown = [one for one in every if one.answer != OUTSIDE]
    shown = shown or sorted(every, key=lambda one: one.probability or 0.0)[:most]
    return Explanations(tuple(sorted(shown, key=lambda one: (one.start, -one.stop))))


def check_token(token: int | None, sentence: Sentence) -> None:
    """Raise ExplanationError unless a sentence has a token, and the one that is asked for."""
    if not len(sentence) or (token is not None and not 0 <= index(token) < len(sentence)):
        raise ExplanationError(f"found a token beyond the sentence, expected one of its {len(sentence):,}")
