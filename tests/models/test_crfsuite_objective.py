"""The objective against an independent implementation: CRFsuite, on the same features, at the weights that it found.

CRFsuite logs its loss at every iteration of L-BFGS, and `Tagger.info` tells the weights of the model that it wrote.
Its regulariser is c2 times the squared norm, without the customary half, so its gradient is 2 c2 w. It has no weights
for the first and the last label.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive
from pairing import pair, weight_numbers
from pairwise import pairwise
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.labels.sets import LabelRows, LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.objective import ChainObjective

pycrfsuite = pytest.importorskip("pycrfsuite")

TEMPLATES = Templates(("form[-1]", "form[0]", "form[1]", "form[-1] form[0]", "suffix_1[0]", "final[0]"))
LABELS = ("D", "N", "V")


@dataclass
class Corpus:
    """Random gold sentences, as arrays for us and as lists of attributes for CRFsuite."""

    sentences: list[Sentence]
    labels: list[list[str]]
    attributes: list[list[list[str]]]
    encoder: TemplateEncoder
    encoded: Encoded
    masks: Any


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(7)
    texts = [rng.choice(["ab", "b", "cc", "dab", "e"], rng.integers(1, 8)).tolist() for _ in range(40)]
    # labels that lean on the word, so that there is something to learn, with noise
    labels = [[LABELS[(len(w) + int(rng.integers(0, 2))) % 3] for w in words] for words in texts]
    sentences = [Sentence(tuple(words)) for words in texts]
    encoder = TemplateEncoder(TEMPLATES)
    encoded = encoder.encode(sentences)
    encoder.freeze(encoded)
    sets = LabelSets(LabelSpace.plain("tag", LABELS))
    allow = [sets.of_candidates("tag", (label,)) for row in labels for label in row]
    attributes = [naive.features(TEMPLATES.texts, words) for words in texts]
    return Corpus(sentences, labels, attributes, encoder, encoded.with_evidence(np.array(allow, np.int32)), sets.masks)


def train(corpus: Corpus, path: Path, all_pairs: bool, **settings: Any) -> tuple[dict[str, Any], Any]:
    """The last iteration that CRFsuite logged, and its tagger."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for attributes, labels in zip(corpus.attributes, corpus.labels, strict=True):
        trainer.append(attributes, labels)
    trainer.set_params(settings | {"feature.possible_states": all_pairs, "feature.possible_transitions": all_pairs})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer.logparser.last_iteration, tagger


def parameters_of(corpus: Corpus, all_pairs: bool) -> ChainParameters:
    space = LabelSpace.plain("tag", LABELS)
    windows = corpus.encoder.windows
    if all_pairs:
        layout, transitions = Layout.dense(windows, len(LABELS)), None
    else:
        layout = Layout.observed(corpus.encoded, windows, corpus.masks)
        seen = {pair for row in corpus.labels for pair in itertools.pairwise(row)}
        transitions = (np.array([[(a, b) in seen for b in LABELS] for a in LABELS]),)
    free = TransitionScheme.free(len(LABELS))
    return ChainParameters(space, (layout,), free, edges=False, observed_transitions=transitions)


def weights_of(corpus: Corpus, parameters: ChainParameters, tagger: Any) -> tuple[Any, int]:
    """The weights of CRFsuite's model in our order, and how many it has."""
    info = tagger.info()
    features = pair(corpus.encoder, corpus.encoded, corpus.sentences)
    numbers = weight_numbers(parameters.layouts[0], features, len(LABELS))
    weights = np.zeros(parameters.size)
    (part,) = parameters.split(weights)
    for (attribute, label), weight in info.state_features.items():
        part.emission[numbers[attribute, LABELS.index(label)]] = weight
    for (a, b), weight in info.transitions.items():
        part.transition[LABELS.index(a), LABELS.index(b)] = weight
    return weights, len(info.state_features) + len(info.transitions)


@pytest.mark.parametrize(("all_pairs", "iterations", "c2"), pairwise([True, False], [1, 2, 5, 30], [0.0, 0.3, 2.0]))
def test_loss_at_the_weights_that_crfsuite_logged(
    corpus: Corpus, tmp_path: Path, all_pairs: bool, iterations: int, c2: float
) -> None:
    settings = {"c1": 0.0, "c2": c2, "max_iterations": iterations, "delta": 0.0, "epsilon": 0.0}
    logged, tagger = train(corpus, tmp_path / "model", all_pairs, **settings)
    assert logged["num"] == iterations
    parameters = parameters_of(corpus, all_pairs)
    weights, _ = weights_of(corpus, parameters, tagger)
    loss, _ = ChainObjective(parameters, corpus.encoded.under(LabelRows(corpus.masks))).loss_and_gradient(weights)
    # the log and the dump have six decimals
    assert loss + c2 * weights @ weights == pytest.approx(logged["loss"], rel=1e-6)
    assert np.linalg.norm(weights) == pytest.approx(logged["feature_norm"], rel=1e-5)


@pytest.mark.parametrize("all_pairs", [True, False])
@pytest.mark.parametrize("c2", [0.3, 2.0])
def test_gradient_vanishes_where_crfsuite_converged(corpus: Corpus, tmp_path: Path, all_pairs: bool, c2: float) -> None:
    settings = {"c1": 0.0, "c2": c2, "max_iterations": 1000, "delta": 0.0, "epsilon": 1e-9}
    _, tagger = train(corpus, tmp_path / "model", all_pairs, **settings)
    parameters = parameters_of(corpus, all_pairs)
    weights, count = weights_of(corpus, parameters, tagger)
    _, gradient = ChainObjective(parameters, corpus.encoded.under(LabelRows(corpus.masks))).loss_and_gradient(weights)
    np.testing.assert_allclose(gradient, -2 * c2 * weights, atol=1e-4)
    assert np.abs(gradient).max() > 0.1
    assert count <= parameters.size


def test_observed_pairs_are_those_that_crfsuite_generates(corpus: Corpus, tmp_path: Path) -> None:
    logged, _ = train(corpus, tmp_path / "model", False, c2=1.0, max_iterations=1)
    parameters = parameters_of(corpus, False)
    assert parameters.observed_transitions is not None
    assert parameters.layouts[0].size + parameters.observed_transitions[0].sum() == logged["active_features"]


def test_marginals_best_sequences_and_their_probabilities(corpus: Corpus, tmp_path: Path) -> None:
    _, tagger = train(corpus, tmp_path / "model", True, c2=0.1, max_iterations=20)
    parameters = parameters_of(corpus, True)
    weights, _ = weights_of(corpus, parameters, tagger)
    model = ChainModel(parameters, corpus.encoder, weights)
    gamma, log_z = model.marginals(corpus.encoded)
    best = model.best(corpus.encoded)
    for s, attributes in enumerate(corpus.attributes):
        tokens = slice(corpus.encoded.sentence_ptr[s], corpus.encoded.sentence_ptr[s + 1])
        assert [LABELS[y] for y in best[tokens]] == tagger.tag(attributes)
        tagger.set(attributes)
        theirs = [[tagger.marginal(label, t) for label in LABELS] for t in range(len(attributes))]
        np.testing.assert_allclose(gamma[tokens], theirs, atol=1e-5)
        gold = np.array([LABELS.index(label) for label in corpus.labels[s]], np.int32)
        probability = np.exp(model.sequence_scores(corpus.encoded.take(np.array([s])), gold)[0] - log_z[s])
        assert probability == pytest.approx(tagger.probability(corpus.labels[s]), rel=1e-4)
