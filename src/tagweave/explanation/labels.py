"""Explanations of labels and spans: which are explained, and what the runner-up says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.explanation.contrast import Contrast, ExplanationError, Labels
from tagweave.explanation.explanation import Explanation, Explanations
from tagweave.explanation.training_text import TrainingText
from tagweave.features.feature_names import FeatureNames
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain_predictor import ChainPredictor

_LEAST_SURE = 3  # tokens that are explained if nobody says which


class _Answer(NamedTuple):
    """What a model says of tokens start .. stop - 1."""

    start: int
    stop: int
    name: str
    probability: float
    is_span: bool


class LabelExplainer:
    """Explains what a model says of sentences under one of its guidelines.

    Args:
        predictor: the model.
        training: its training text, for similar sentences.
    """

    def __init__(self, predictor: ChainPredictor, training: TrainingText | None = None) -> None:
        self._predictor, self._training = predictor, training
        self._view = predictor.model.space.view(predictor.guideline)

    def explain(self, text: Sequence[Sentence], number: int = 0, token: int | None = None) -> Explanations:
        """Explain a token of a sentence, or the span that it is in.

        Without a token, explain all spans; where there are none, the tokens that the model is least sure of.

        Args:
            text: sentences of the model's tokens: the document, for a model that looks at documents.
            number: which of them.
            token: which of its tokens, from 0.

        Raises:
            ExplanationError: no such token, or a model of one label.
        """
        contrast = Contrast(self._predictor.model, FeatureNames(self._predictor.model.encoder, text, number))
        length = len(contrast.best)
        if token is not None and not 0 <= token < length:
            raise ExplanationError(f"found token {token} (from 0), expected one of {length:,}")
        spans = self._spans(text, number)
        answers = [span for span in spans if token is None or span.start <= token < span.stop]
        if not answers:
            answers = self._tokens(contrast, token)
        return Explanations(tuple(self._explanation(contrast, answer) for answer in answers))

    def against(self, text: Sequence[Sentence], number: int, start: int, stop: int) -> Explanation | None:
        """Explain why tokens start .. stop - 1 have other labels than their layer says; `None` if they have not.

        The layer of the predictor's guideline has to say nothing of other tokens.
        """
        model, guideline = self._predictor.model, self._predictor.guideline
        contrast = Contrast(model, FeatureNames(model.encoder, [s.with_layers_of(()) for s in text], number))
        evidence = self._predictor.under_evidence([text[number]], guideline).evidence
        assert evidence.rows is not None  # noqa: S101 - `under_evidence` has them
        other = model.best(contrast.encoded.with_evidence(evidence.sets), evidence.rows.masks)
        if other.min() < 0 or (other == contrast.best).all():
            return None
        return self._contrasted(contrast, _Answer(start, stop, self._changed(contrast, contrast.best, other), 0, False), other)

    def _spans(self, text: Sequence[Sentence], number: int) -> list[_Answer]:
        if not codes_spans(self._view.names):
            return []
        tagged = list(self._predictor.tag_spans(text))[number][1]
        return [_Answer(start, stop, name, probability or 0.0, True) for start, stop, name, probability in tagged]

    def _tokens(self, contrast: Contrast, token: int | None) -> list[_Answer]:
        """Return the answers at one token, or those that are least sure."""
        gamma, _ = self._predictor.model.marginals(contrast.encoded)
        tags = self._view.projection
        best = tags[contrast.best]
        sure = (gamma * (tags[None, :] == best[:, None])).sum(axis=1)
        chosen = sorted(np.argsort(sure, kind="stable")[:_LEAST_SURE].tolist()) if token is None else [token]
        return [_Answer(at, at + 1, self._view.names[best[at]], float(sure[at]), False) for at in chosen]

    def _explanation(self, contrast: Contrast, answer: _Answer) -> Explanation:
        other = contrast.runner_up(self._view, answer.start, answer.stop, answer.is_span)
        return self._contrasted(contrast, answer, other)

    def _contrasted(self, contrast: Contrast, answer: _Answer, other: Labels) -> Explanation:
        difference = contrast.difference(contrast.best, other)
        return Explanation(
            forms=contrast.names.sentence.forms,
            start=answer.start,
            stop=answer.stop,
            answer=answer.name,
            probability=answer.probability or None,
            other=self._changed(contrast, other, contrast.best),
            difference=difference,
            occlusions=contrast.occlusions(contrast.best, other),
            examples=self._training.similar(difference.contributions) if self._training else (),
        )

    def _changed(self, contrast: Contrast, labels: Labels, others: Labels) -> str:
        """Return the tokens at which labels differ from others, with these labels."""
        return " ".join(self._texts(contrast.names.sentence.forms, labels, others))

    def _texts(self, forms: Sequence[str], labels: Labels, others: Labels) -> Iterator[str]:
        one, two = (self._view.projection[each] for each in (labels, others))
        for at in np.flatnonzero(one != two).tolist():
            yield f"{forms[at]}/{self._view.names[one[at]]}"
