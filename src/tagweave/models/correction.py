"""One correction: the least change of weights after which a model is right about a sentence.

    w' = argmin sum_i n_i (w'_i - w_i)^2    so that    w'd >= k

with d = features(best allowed) - features(best), k wrong positions, and n_i, how often the feature of weight i occurred
in training: weights that much text depends on move least. That is the step of adaptive regularisation with variances
1 / n_i, and no slack (Crammer, Kulesza and Dredze 2009; `kernels.mistakes`), repeated until the best labels are
allowed, since others may be best after the first step. A model remembers the sentences of evidence that it learned from
(`with_known`), so whatever is new, or came while a training ran, corrects its newest version.

Of F on the development data of CoNLL-2003, a correction of a model of 3,000 sentences took 0.22 points with n_i = 1
(the step of passive-aggressive learning), and none with these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.kernels.mistakes import AROW, StepRule
from tagweave.models.cascades import of_pieces
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.objective import ChainObjective

_RULE = StepRule(AROW, bound=1e-6)  # a slack of nearly 0
_MOST = 50  # steps; one to three do
_LEVELS = "selective"
_OF_WEIGHTS = (_LEVELS, "dev_score", "dev_scores")  # facts that nobody knows of other weights


def corrected(model: ChainModel, sentence: Sentence, guideline: str) -> ChainModel:
    """Return a model whose best labels of a sentence are allowed by its layer of a guideline.

    The model itself stays as it is; it is returned if it is right already, or the layer says nothing.

    Raises:
        CorpusError: labels that the model does not know, that exclude one another, or that its features cannot tell
            from its own.
        PlanError: as `refuse`.
    """
    refuse(model)
    encoded = ChainPredictor(model).under_evidence([sentence], guideline)
    objective = ChainObjective(model.parameters, encoded, dtype=model.weights.dtype.type)
    if not len(objective):
        return model
    weights, variances = model.weights.copy(), np.zeros(model.linear.size)
    touched, rareness = model.linear.rareness(objective.encoded)
    for step in range(_MOST):
        variances[touched] = rareness
        if objective.correct(weights, variances, 0, 1, 1, step, _RULE) == 0:
            return replace(model, weights=weights, about=of_other_weights(model.about)) if step else model
    raise CorpusError("labels that the model's features do not tell from its own", "others", *sentence.location)


def of_other_weights(about: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about a model that hold after a correction, too."""
    return {name: value for name, value in about.items() if name not in _OF_WEIGHTS}


_KNOWN = "known"  # in `about`: digests of the sentences of evidence


def with_known(about: dict[str, Any], evidence: Corpus) -> dict[str, Any]:
    """Return the facts about a model that has learned from evidence, so that `corrected_by` leaves it out."""
    return {**about, _KNOWN: [*_digests(evidence)]}


def corrected_by(model: ChainModel, evidence: Corpus, tell: Callable[[str], None]) -> ChainModel:
    """Return a model corrected by the sentences of evidence that it has not learned from, one after the other.

    Its `about` says that it knows them now; its weights are those of `model` if it was right about all. Its levels of
    precision and recall are those of `model`: requests that name them go on. `tell` receives which sentences cannot be
    satisfied. Raises PlanError as `refuse`.
    """
    learned, by_digest = {*model.about.get(_KNOWN, ())}, _digests(evidence)
    if not (new := [sentence for digest, sentence in by_digest.items() if digest not in learned]):
        return model
    levels = {_LEVELS: model.about[_LEVELS]} if _LEVELS in model.about else {}
    for sentence in new:
        try:
            model = corrected(model, sentence, evidence.guideline)
        except CorpusError as error:
            tell(f"{error}; only the next training learns from it")
    return replace(model, about={**model.about, _KNOWN: [*by_digest], **levels})


def refuse(model: object) -> None:
    """Raise PlanError for a model that cannot be corrected: one of a network, of layers, of trees, or of pieces."""
    if not isinstance(model, ChainModel) or not isinstance(model.parameters, ChainParameters):
        raise PlanError("found a model of a network, layers or trees, expected a chain of features to correct")
    if of_pieces(model):  # which other models cut again
        raise PlanError("found a model that cuts text into pieces first, expected one without another model to correct")


def _digests(evidence: Corpus) -> dict[str, Sentence]:
    """Return sentences of evidence by the digest of what they say; of equal ones, one."""
    name = evidence.guideline
    content = ((one.forms, one.layers.get(name), one.rejected.get(name)) for one in evidence)
    digests = (hashlib.blake2b(json.dumps(said).encode(), digest_size=6).hexdigest() for said in content)
    return dict(zip(digests, evidence, strict=True))
