"""Explanations of heads: what makes a tree better than the best one in which a word has another head.

The score of a tree is a sum over templates. A parser with one template alone, under the same weights, gives its part.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.explanation.explanation import Contribution, Explanation, ExplanationError, Explanations
from tagweave.explanation.labels import LEAST_SURE, check_token
from tagweave.features.arc_templates import ArcTemplate, ArcTemplates, is_form_column
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.features.feature_names import FormValues, outside
from tagweave.models.arc_scorer import ArcFeatures
from tagweave.models.tree import TreePredictor, guided
from tagweave.structures.tree import word_scores

Heads = NDArray[np.int32]
_LAYER = "why"  # of heads that are not the best one


def explain_heads(predictor: TreePredictor, sentence: Sentence, token: int | None = None) -> Explanations:
    """Explain the head of a token, from 0, or of those that the parser is least sure of.

    Raises:
        ExplanationError: no such token, or a word that can have no other head.
    """
    check_token(token, sentence)
    model, names = predictor.model, ("ROOT", *sentence.forms)
    best = model.best(predictor.encode([sentence]))
    sure = predictor.probabilities([sentence])[0][best, np.arange(1, len(names))]
    explanations = []
    for at in sorted(np.argsort(sure, kind="stable")[:LEAST_SURE].tolist()) if token is None else [token]:
        other = _runner_up(predictor, sentence, best, at)
        answer, rival = (f"head {names[heads[at]]}" for heads in (best, other))
        parts = _contributions(predictor, sentence, best, other)
        explanations.append(Explanation(sentence.forms, at, at + 1, answer, float(sure[at]), rival, parts))
    return Explanations(tuple(explanations))


def _runner_up(predictor: TreePredictor, sentence: Sentence, best: Heads, token: int) -> Heads:
    """Return the heads of the best tree in which a token has another head."""
    other_heads = tuple(Arc(head, None) for head in range(len(sentence) + 1) if head not in (best[token], token + 1))
    if other_heads:
        evidence = sentence.with_heads(_LAYER, [other_heads if at == token else None for at in range(len(sentence))])
        heads = predictor.model.best(predictor.encode([evidence], _LAYER), True)
        if heads.min() >= 0:
            return heads
    raise ExplanationError(f"found one head alone for {sentence.forms[token]!r}, expected a choice")


def _contributions(predictor: TreePredictor, sentence: Sentence, best: Heads, other: Heads) -> list[Contribution]:
    model = predictor.model
    if not isinstance(model.parameters, ArcFeatures):
        raise ExplanationError(f"found a parser with {model.parameters.kind} scores, expected linear ones")
    [seen] = guided([sentence], model.guide) if model.guide else [sentence]
    values, guide = FormValues(seen.forms, model.lookups), model.parameters.templates.guide
    contributions, of_path = [], np.zeros(len(best))
    if guide:  # its path is joined to every template, and a feature of its own
        of_path = _of_templates(predictor, seen, ArcTemplates((), guide), best, other)
        contributions = [Contribution("path in the guide tree", at, float(of_path[at])) for at in range(len(best))]
    for template in model.parameters.templates.parsed:
        of_words = _of_templates(predictor, seen, ArcTemplates((template.text,), guide), best, other) - of_path
        for at in np.flatnonzero(of_words).tolist():
            one, two = (_values(seen, values, template, int(heads[at]), at + 1) for heads in (best, other))
            name = f'{template.text} = "{one}"' + (f', not "{two}"' if two != one else "")
            contributions.append(Contribution(name, at, float(of_words[at])))
    return sorted(contributions, key=lambda contribution: -contribution.score)


def _of_templates(
    predictor: TreePredictor, sentence: Sentence, templates: ArcTemplates, best: Heads, other: Heads
) -> NDArray[np.float64]:
    """Return float64[L]: by word, the difference of the scores of both trees with these templates alone."""
    model = predictor.model
    parameters = replace(model.parameters, templates=templates)  # type: ignore[type-var]
    batch = parameters.batch(encode_arcs([sentence], templates, lookups=model.lookups), 0, 1)
    scores = parameters.scoring(model.weights).scores(batch)
    return word_scores(scores, batch, best) - word_scores(scores, batch, other)


def _values(sentence: Sentence, values: FormValues, template: ArcTemplate, head: int, modifier: int) -> str:
    """Return what a template sees of head and modifier, positions from 1; 0 is the root."""

    def value(column: str, position: int) -> str:
        if position == 0:
            return "ROOT"
        if text := outside(position, len(sentence) + 1):
            return text
        if is_form_column(column):
            return "".join(values.of_form(column, position - 1))
        if column in sentence.layers:
            return "|".join(sentence.layers[column][position - 1] or ("?",))
        return sentence.columns.get(column.removeprefix("user:"), ("?",) * len(sentence))[position - 1]

    sides = zip((head, modifier), template.sides, strict=False)
    return " ".join(value(column, position + offset) for position, side in sides for column, offset in side)
