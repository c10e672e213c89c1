"""Parsers: trees with relations, given arcs, models on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_parts import parts, rewrite

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import RelationEvidence
from tagweave.features.arc_templates import ArcTemplates, RelationTemplates
from tagweave.models.arc_labels import ArcLabels, LabelObjective
from tagweave.models.arc_scorer import ArcFeatures, LinearArcScoring
from tagweave.models.chain import ChainModel
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor
from treebank import sentence, treebank, with_evidence

TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "h.upos[0]", "m.form[0]"))
RELATIONS = RelationTemplates(("h.upos[0] m.last[0]", "m.form[0] p.upos[0] d", "g.upos[0]"))
NAMES = ("det", "obj", "punct", "root")


def random_model(seed: int = 0, labels: bool = True) -> TreeModel:
    rng = np.random.default_rng(seed)
    features = ArcFeatures(TEMPLATES, 32)
    of_arcs = ArcLabels(RELATIONS, NAMES, rng.normal(size=(16, 4)).astype(np.float32)) if labels else None
    return TreeModel(features, rng.normal(size=features.size).astype(np.float32), of_arcs, about={"seed": seed})


def arcs_of(given: Sentence) -> list[Arc]:
    return [candidates[0] for candidates in given.heads["head"] if candidates is not None and len(candidates) == 1]


def test_every_token_gets_one_arc() -> None:
    sentences = [*treebank(5), Sentence((), {"upos": ()})]
    parsed = list(TreePredictor(random_model()).parse(sentences))
    for given, out in zip(sentences, parsed, strict=True):
        found = arcs_of(out)
        assert len(found) == len(given)
        assert sum(arc.head == 0 for arc in found) == (len(given) > 0)
        assert {arc.relation for arc in found} <= set(NAMES)
        assert (out.forms, out.layers) == (given.forms, given.layers)


@pytest.mark.parametrize("projective", [True, False])
def test_threads_and_blocks_change_nothing(projective: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences, model = treebank(50), random_model()
    one = list(TreePredictor(model, projective=projective).parse(sentences))
    monkeypatch.setattr("tagweave.models.tree_predictor._BLOCK", 7)
    monkeypatch.setattr("tagweave.models.batches._ARCS", 100)
    assert list(TreePredictor(model, 2, projective).parse(sentences)) == one


@pytest.mark.parametrize("seed", range(5))
def test_given_arcs_are_kept(seed: int) -> None:
    given = with_evidence(
        sentence("DNVN", [2, 3, 0, 3]), (Arc(3, None),), None, (Arc(4, "obj"), Arc(0, "det")), (Arc(None, "punct"),)
    )
    (out,) = TreePredictor(random_model(seed)).complete([given])
    found = arcs_of(out)
    assert found[0].head == 3
    assert found[2] in (Arc(4, "obj"), Arc(0, "det"))
    assert found[3].relation == "punct"
    assert len(found) == 4


def test_a_whole_tree_stays_even_if_it_crosses() -> None:
    crossing = sentence("NNNN", [3, 4, 0, 3])
    (out,) = TreePredictor(random_model()).complete([crossing])
    assert out.heads["head"] == crossing.heads["head"]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_whole_trees_are_not_scored(single_root: bool, projective: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [*treebank(4), sentence("NV", [0, 0]), sentence("NVN", [2, 3, 2]), sentence("DNVN", [3, 0, 2, 1])]
    arcs = (None, (Arc(3, None), Arc(1, None)), None)
    given = [*whole[:2], with_evidence(whole[5], *arcs), *whole[2:], Sentence((), {"upos": ()})]
    model = replace(random_model(3), single_root=single_root)
    encoded = model.encode(given, "head")
    found = model.best(encoded, True, projective=projective)
    scored: list[int] = []
    scores = LinearArcScoring.scores
    monkeypatch.setattr(
        LinearArcScoring, "scores", lambda self, batch: scored.append(len(batch.lengths)) or scores(self, batch)
    )
    assert found.tolist() == model.best(encoded, True, projective=projective).tolist()
    # several roots, a circle, arcs that cross, and what is unknown
    assert sum(scored) == 4 - (not single_root) - (not projective)
    monkeypatch.setattr("tagweave.models.tree.are_whole", lambda of, structure: np.zeros(len(of), np.bool_))
    assert found.tolist() == model.best(encoded, True, projective=projective).tolist()


def test_relations_that_the_model_does_not_know_stay() -> None:
    given = with_evidence(sentence("NV", [2, 0]), (Arc(2, "strange"),), (Arc(0, None),))
    (out,) = TreePredictor(random_model()).complete([given])
    assert arcs_of(out)[0] == Arc(2, "strange")
    assert arcs_of(out)[1].relation in NAMES


def test_contradictions_name_the_sentence() -> None:
    crossing = sentence("NNNN", [3, 4, 0, 3])
    bad = with_evidence(crossing, *crossing.heads["head"][:2], None, None)
    with pytest.raises(CorpusError, match="a projective tree that they allow"):
        list(TreePredictor(random_model()).complete([sentence("NV", [2, 0]), bad]))


def test_without_relations_arcs_have_none() -> None:
    (out,) = TreePredictor(random_model(labels=False)).parse(treebank(1))
    assert all(arc.relation is None for arc in arcs_of(out))


# Relations


def test_the_objective_of_relations_adds_up() -> None:
    rng = np.random.default_rng(3)
    features = rng.integers(0, 16, (20, 3)).astype(np.int32)
    allowed = rng.random((20, 4)) < 0.6
    allowed[:, 0] = True
    allowed[:5] = True  # unknown
    evidence = RelationEvidence(allowed, np.linspace(0, 0.5, 20), np.ones(20), np.zeros(20, bool))
    own = LabelObjective(features, evidence, 16)
    weights = rng.normal(size=own.size)
    loss, gradient = own.loss_and_gradient(weights)
    assert len(own) == (~allowed.all(axis=1)).sum() <= 15
    parts = np.zeros(own.size)
    losses = [own.add_batch(weights, a, min(a + 4, len(own)), parts) for a in range(0, len(own), 4)]
    assert sum(losses) == pytest.approx(loss)
    np.testing.assert_allclose(parts, gradient)
    mark = np.zeros(own.size, bool)
    for start, stop in zip(*own.touched(0, len(own)), strict=True):
        mark[start:stop] = True
    assert not gradient[~mark].any()


# On disk


def rewritten(path: Path, change: Any) -> None:
    description, arrays = parts(path)
    change(description)
    rewrite(path, description, arrays)


CHANGES = {
    "rows": lambda d: d.update(rows=64),
    "no power of two": lambda d: d.update(rows=31),
    "no number": lambda d: d.update(rows="32"),
    "no templates": lambda d: d.update(templates=[]),
    "bad template": lambda d: d.update(templates=["h.upos"]),
    "no relations": lambda d: d.update(relations=[]),
    "more relations": lambda d: d.update(relations=[*NAMES, "more"]),
    "relations between": lambda d: d.update(relation_templates=["h.upos[0] b.upos[0] m.upos[0]"]),
    "no templates of relations": lambda d: d.update(relation_templates=[]),
    "root": lambda d: d.update(single_root="yes"),
    "crossing": lambda d: d.update(projective="no"),
    "no guideline": lambda d: d.pop("guideline"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_parts_that_do_not_fit_are_refused(tmp_path: Path, change: str) -> None:
    save_model(random_model(), tmp_path / "p.model")
    rewritten(tmp_path / "p.model", CHANGES[change])
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(tmp_path / "p.model")


def test_other_models_are_refused(tmp_path: Path) -> None:
    save_model(random_model(), tmp_path / "p.model")
    with pytest.raises(ModelFileError, match="found a tree model, expected a chain model"):
        load_model(tmp_path / "p.model", ChainModel)
    rewritten(tmp_path / "p.model", lambda d: d.update(kind="chain"))
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(tmp_path / "p.model")
