"""Explanations of heads: what makes a tree better than the best one in which a word has another head.

The score of a tree is a sum over templates. A parser with one template alone, under the same weights, gives its part.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.explanation.contrast import Contribution, Difference, ExplanationError
from tagweave.explanation.explanation import Explanation, Explanations
from tagweave.features.arc_templates import ArcTemplate, ArcTemplates, is_form_column
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.features.feature_names import FormValues, outside
from tagweave.models.arc_scorer import ArcFeatures
from tagweave.models.tree import TreePredictor, guided
from tagweave.structures.tree import word_scores

Heads = NDArray[np.int32]
_LEAST_SURE = 3  # words that are explained if nobody says which
_LAYER = "why"  # of heads that are not the best one


def explain_heads(predictor: TreePredictor, sentence: Sentence, token: int | None = None) -> Explanations:
    """Explain the head of a token, from 0, or of those that the parser is least sure of.

    Raises:
        ExplanationError: no such token, or a word that can have no other head.
    """
    model, length = predictor.model, len(sentence)
    if token is not None and not 0 <= token < length:
        raise ExplanationError(f"found a token beyond the sentence, expected one of its {length:,}")
    best = model.best(predictor.encode([sentence]), projective=predictor.projective)
    sure = predictor.probabilities([sentence])[0][best, np.arange(1, length + 1)]
    chosen = sorted(np.argsort(sure, kind="stable")[:_LEAST_SURE].tolist()) if token is None else [token]
    names = ("ROOT", *sentence.forms)
    explanations = []
    for at in chosen:
        other = _runner_up(predictor, sentence, best, at)
        answer, rival = (f"head {names[heads[at]]}" for heads in (best, other))
        difference = _difference(predictor, sentence, best, other)
        explanations.append(Explanation(sentence.forms, at, at + 1, answer, float(sure[at]), rival, difference))
    return Explanations(tuple(explanations))


def _runner_up(predictor: TreePredictor, sentence: Sentence, best: Heads, token: int) -> Heads:
    """Return the heads of the best tree in which a token has another head."""
    others = [Arc(head, None) for head in range(len(sentence) + 1) if head not in (int(best[token]), token + 1)]
    if not others:
        raise ExplanationError(f"found one word, {sentence.forms[token]!r}, expected one that can have another head")
    evidence = sentence.with_heads(_LAYER, [tuple(others) if at == token else None for at in range(len(sentence))])
    heads = predictor.model.best(predictor.encode([evidence], _LAYER), True, projective=predictor.projective)
    if heads.min() < 0:
        raise ExplanationError(f"found one tree alone for {sentence.forms[token]!r}, expected a choice")
    return heads


def _difference(predictor: TreePredictor, sentence: Sentence, best: Heads, other: Heads) -> Difference:
    model, contributions = predictor.model, list[Contribution]()
    [seen] = guided([sentence], model.guide) if model.guide else [sentence]
    names = _Names(seen, FormValues(seen.forms, model.lookups))
    guide = model.parameters.templates.guide
    of_path = np.zeros(len(best))
    if guide:  # its path is joined to every template, and a feature of its own
        of_path = _of_templates(predictor, seen, ArcTemplates((), guide), best, other)
        contributions += [
            Contribution("path in the guide tree", at, float(of_path[at])) for at in np.flatnonzero(of_path).tolist()
        ]
    for template in model.parameters.templates.parsed:
        of_words = _of_templates(predictor, seen, ArcTemplates((template.text,), guide), best, other) - of_path
        for at in np.flatnonzero(of_words).tolist():
            name = names.of(template, at + 1, int(best[at]), int(other[at]))
            contributions.append(Contribution(name, at, float(of_words[at])))
    contributions.sort(key=lambda contribution: -contribution.score)
    return Difference(tuple(contributions), {}, tuple(sorted({one.token for one in contributions})))


def _of_templates(
    predictor: TreePredictor, sentence: Sentence, templates: ArcTemplates, best: Heads, other: Heads
) -> NDArray[np.float64]:
    """Return float64[L]: by word, the difference of the scores of both trees with these templates alone."""
    model = predictor.model
    if not isinstance(model.parameters, ArcFeatures):
        raise ExplanationError(f"found a parser with {model.parameters.kind} scores, expected linear ones")
    parameters = replace(model.parameters, templates=templates)
    batch = parameters.batch(encode_arcs([sentence], templates, lookups=model.lookups), 0, 1)
    scores = parameters.scoring(model.weights).scores(batch)
    return word_scores(scores, batch, best) - word_scores(scores, batch, other)


class _Names:
    """The names of the features of arcs, with the values of their heads and modifiers."""

    def __init__(self, sentence: Sentence, values: FormValues) -> None:
        self._sentence, self._values = sentence, values

    def of(self, template: ArcTemplate, modifier: int, one: int, two: int) -> str:
        """Return the name of what a template says of a word with one head, and not another; 0 is the root."""
        texts = [self._text(template, head, modifier) for head in (one, two)]
        more = f', not "{texts[1]}"' if texts[1] != texts[0] else ""
        return f'{template.text} = "{texts[0]}"{more}'

    def _text(self, template: ArcTemplate, head: int, modifier: int) -> str:
        terms = [
            (position, term) for position, side in zip((head, modifier), template.sides, strict=False) for term in side
        ]
        return " ".join(self._value(column, position + offset) for position, (column, offset) in terms)

    def _value(self, column: str, position: int) -> str:
        if position == 0:
            return "ROOT"
        if text := outside(position, len(self._sentence) + 1):
            return text
        if is_form_column(column):
            return "".join(self._values.of_form(column, position - 1))
        if column in self._sentence.layers:
            return "|".join(self._sentence.layers[column][position - 1] or ("?",))
        return self._sentence.columns.get(column.removeprefix("user:"), ("?",) * len(self._sentence))[position - 1]
