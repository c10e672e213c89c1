"""Context-aware pruning: which bundles come into question, who says so, and what becomes of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.learning.run import Run, Schedule
from tagweave.models.cascades import ProposingEncoder, proposal_column, proposals
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.training.cascades.coupled import Coupling, fit_coupled, prepare_coupled
from tagweave.training.cascades.pruning import Pruning, fit_pruning, with_proposals
from tagweave.training.fit.recipe import Recipe

RECIPE = Recipe(precision="float64")
BUDGET = Schedule(2)


def part(guideline: str, count: int = 40) -> Corpus:
    corpus = load(f"{guideline}={sample.path(f'{guideline}.txt')}")
    return corpus.with_sentences(corpus.sentences[:count])


@pytest.fixture(scope="module")
def corpora() -> list[Corpus]:
    return [part("ctb"), part("pd")]


@pytest.fixture(scope="module")
def pruning(corpora: list[Corpus]) -> Pruning:
    return fit_pruning(corpora, RECIPE, 0.05)


@pytest.fixture(scope="module")
def proposed(corpora: list[Corpus], pruning: Pruning) -> list[Corpus]:
    return with_proposals(corpora, RECIPE, pruning)


def test_proposals_are_the_likely_tags_and_the_best(pruning: Pruning, corpora: list[Corpus]) -> None:
    model, sentences = pruning.models[0], corpora[1].sentences[:5]
    names = ChainPredictor(model).labels
    for threshold in (0.05, 0.9, 1.0):
        told = proposals(model, sentences, threshold)
        for fields, table in zip(told, ChainPredictor(model).probabilities(sentences), strict=True):
            for field, row in zip(fields, table, strict=True):
                expected = {names[i] for i, p in enumerate(row) if p >= threshold} | {names[int(row.argmax())]}
                assert set(field.split(" ")) == expected


def test_every_corpus_has_the_proposals_of_every_guideline(proposed: list[Corpus], pruning: Pruning) -> None:
    for corpus in proposed:
        for sentence in corpus:
            assert {proposal_column("ctb"), proposal_column("pd")} <= sentence.columns.keys()
    other = proposals(pruning.models[1], proposed[0].sentences, 0.05)
    assert [s.columns[proposal_column("pd")] for s in proposed[0]] == other


def test_own_text_is_not_asked_of_a_tagger_that_knows_it(proposed: list[Corpus], pruning: Pruning) -> None:
    own = proposals(pruning.models[0], proposed[0].sentences, 0.05)
    assert [s.columns[proposal_column("ctb")] for s in proposed[0]] != own


def test_the_scope_is_the_bundles_of_proposed_tags_and_has_what_the_evidence_allows(
    proposed: list[Corpus], pruning: Pruning
) -> None:
    problem = prepare_coupled(proposed, RECIPE, Coupling(), pruning)
    space, encoded, masks = problem.model.space, problem.objective.encoded, problem.sets.masks
    assert encoded.evidence.candidates is not None
    assert len(encoded.evidence.candidates.labels) < 0.3 * encoded.tokens * len(space)
    fields = [
        pair
        for corpus in proposed
        for s in corpus
        for pair in zip(*(s.columns[proposal_column(name)] for name in ("ctb", "pd")), strict=True)
    ]
    for token, (ctb, pd) in enumerate(fields):
        own = encoded.evidence.candidates.labels[
            encoded.evidence.candidates.ptr[token] : encoded.evidence.candidates.ptr[token + 1]
        ]
        allowed = np.flatnonzero(masks[encoded.evidence.sets[token]])
        found, both = {space.names[y] for y in own}, {f"{a}&{b}" for a in ctb.split(" ") for b in pd.split(" ")}
        assert found - both <= {space.names[y] for y in allowed}
        assert both & set(space.names) <= found
        assert set(own.tolist()) & set(allowed.tolist())


def test_where_every_tag_is_proposed_nothing_is_pruned(corpora: list[Corpus], pruning: Pruning) -> None:
    every = {
        proposal_column(ChainPredictor(model).guideline): " ".join(ChainPredictor(model).labels)
        for model in pruning.models
    }
    with_all = [
        corpus.map(lambda s: replace(s, columns={name: (tags,) * len(s) for name, tags in every.items()}))
        for corpus in corpora
    ]
    pruned = fit_coupled(with_all, RECIPE, Coupling(), None, Run(BUDGET), pruning=pruning)
    exact = fit_coupled(corpora, RECIPE, Coupling(), None, Run(BUDGET))
    np.testing.assert_allclose(pruned.model.weights, exact.model.weights, atol=1e-9)


def test_a_pruned_model_tags_saves_and_comes_back(
    proposed: list[Corpus], pruning: Pruning, corpora: list[Corpus], tmp_path: Path
) -> None:
    fitted = fit_coupled(proposed, RECIPE, Coupling(), corpora[0], Run(BUDGET), pruning=pruning)
    assert fitted.outcome.score is not None
    assert fitted.outcome.score > 0.7
    save_model(fitted.model, tmp_path / "pruned.model")
    loaded = load_model(tmp_path / "pruned.model")
    assert isinstance(loaded.encoder, ProposingEncoder)
    new = [replace(sentence, layers={}) for sentence in part("ctb", 60).sentences[40:]]
    both = [list(ChainPredictor(model, others=["pd"]).tag(new)) for model in (fitted.model, loaded)]
    assert both[0] == both[1]
    proposals_of_new = proposals(pruning.models[0], new, 0.05)
    for sentence, fields in zip(both[0], proposals_of_new, strict=True):
        assert all(c and c[0] in field.split(" ") for c, field in zip(sentence.layers["ctb"], fields, strict=True))
    for table in ChainPredictor(loaded).probabilities(new):
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-6)


def test_what_is_given_is_kept_though_nobody_proposed_it(
    proposed: list[Corpus], pruning: Pruning, corpora: list[Corpus]
) -> None:
    model = fit_coupled(proposed, RECIPE, Coupling(), None, Run(BUDGET), pruning=pruning).model
    tags = ChainPredictor(model).labels
    sentences = [s.with_layer("ctb", [(tags[(i + 7) % len(tags)],) for i in range(len(s))]) for s in corpora[0]][:5]
    completed = ChainPredictor(model, others=["pd"]).complete(corpora[0].with_sentences(sentences))
    assert [s.layers["ctb"] for s in completed] == [s.layers["ctb"] for s in sentences]
