"""Tree models: the best trees under evidence, projective or any, relations, sentences that are too long, and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_parts import parts, rewrite

import naive_trees
from tagweave.corpus.sentence import Arc, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import RelationEvidence
from tagweave.features import arc_templates
from tagweave.features.arc_templates import LONGEST, ArcTemplates, RelationTemplates, check_lengths, of_fit_length
from tagweave.models.arc_scorer import ArcFeatures, ArcLabels, LabelObjective, LinearArcScoring
from tagweave.models.chain import ChainModel
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.models.tree import TreeModel, TreePredictor
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
    for before, out in zip(sentences, parsed, strict=True):
        found = arcs_of(out)
        assert len(found) == len(before)
        assert sum(arc.head == 0 for arc in found) == (len(before) > 0)
        assert {arc.relation for arc in found} <= set(NAMES)
        assert (out.forms, out.layers) == (before.forms, before.layers)


@pytest.mark.parametrize("projective", [True, False])
def test_threads_and_blocks_change_nothing(projective: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences, model = treebank(50), random_model()
    one = list(TreePredictor(model, projective=projective).parse(sentences))
    monkeypatch.setattr("tagweave.models.tree._BLOCK", 7)
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


OF_HEADS = ArcTemplates(("h.upos[0] m.upos[0]", "h.form[0] m.form[0]", "m.form[0] m.upos[-1]"))


def model_of_heads(seed: int, single_root: bool = True) -> TreeModel:
    features = ArcFeatures(OF_HEADS, 64)
    weights = np.random.default_rng(seed).normal(size=features.size).astype(np.float32)
    return TreeModel(features, weights, single_root=single_root)


def heads_of(given: Sentence) -> tuple[int, ...]:
    return tuple(arcs[0].head if arcs and arcs[0].head is not None else -1 for arcs in given.heads["head"])


def scores_of(model: TreeModel, given: Sentence) -> Any:
    encoded = model.encode([given])
    return model.scoring.scores(model.parameters.batch(encoded, 0, 1)).reshape(len(given) + 1, -1)


TAGS = st.text("NVDP", min_size=1, max_size=5)


@settings(max_examples=40)
@given(TAGS, st.integers(0, 99), st.booleans(), st.data())
def test_the_best_of_all_trees_that_the_evidence_allows(
    tags: str, seed: int, single_root: bool, data: st.DataObject
) -> None:
    model, n = model_of_heads(seed, single_root), len(tags)
    candidates = st.none() | st.sets(st.integers(0, n), min_size=1, max_size=3)
    allowed = [data.draw(candidates.filter(lambda c, m=m: c is None or c - {m})) for m in range(1, n + 1)]
    layer = [None if c is None else tuple(Arc(h, None) for h in sorted(c - {m})) for m, c in enumerate(allowed, 1)]
    text = with_evidence(sentence(tags, [0] * n), *layer)
    scores = scores_of(model, text)
    for projective in (True, False):
        weights = {
            heads: naive_trees.score(scores, heads)
            for heads in naive_trees.trees(n, projective, single_root)
            if all(c is None or h in c for h, c in zip(heads, allowed, strict=True))
        }
        parser = TreePredictor(model, projective=projective)
        if not weights:
            if all(c is not None and len(c) == 1 for c in layer):
                continue  # a whole tree that is given stays, whatever it is
            with pytest.raises(CorpusError, match="heads that exclude one another"):
                list(parser.complete([text]))
            continue
        (done,) = parser.complete([text])
        assert weights[heads_of(done)] == pytest.approx(max(weights.values()))


# Arcs that cross where no projective tree could be

CROSSED = with_evidence(sentence("NNVN", [0] * 4), (Arc(3, None),), (Arc(4, None),), (Arc(0, None),), None)


def test_given_arcs_may_cross_only_where_trees_may() -> None:
    with pytest.raises(CorpusError, match="expected a projective tree that they allow"):
        list(TreePredictor(model_of_heads(0)).complete([CROSSED]))
    (done,) = TreePredictor(model_of_heads(0), projective=False).complete([CROSSED])
    assert heads_of(done)[:3] == (3, 4, 0)


def test_evidence_that_allows_no_tree_is_named() -> None:
    circle = replace(with_evidence(CROSSED, (Arc(2, None),), (Arc(1, None),), None, None), location=Location("file", 7))
    with pytest.raises(CorpusError, match="file:7: found heads that exclude one another, expected a tree"):
        list(TreePredictor(model_of_heads(0), projective=False).complete([circle]))


# Sentences that are too long


def long_sentence(tokens: int) -> Sentence:
    return replace(sentence("N" * tokens, range(tokens)), location=Location("long.conllu", 12))


def test_a_sentence_that_is_too_long_is_named() -> None:
    expected = r"long.conllu:12: found 1,001 tokens, expected at most 1,000 in a sentence that is parsed"
    assert LONGEST == 1000
    for work in (TreePredictor(model_of_heads(0)).parse, TreePredictor(model_of_heads(0)).complete):
        with pytest.raises(CorpusError, match=expected):
            list(work([long_sentence(LONGEST + 1)]))


def test_the_longest_sentence_is_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(arc_templates, "LONGEST", 30)
    (done,) = TreePredictor(model_of_heads(0)).parse([long_sentence(30)])
    assert naive_trees.is_tree(heads_of(done))
    check_lengths([long_sentence(30), long_sentence(1)])
    with pytest.raises(CorpusError, match="found 31 tokens"):
        check_lengths([long_sentence(1), long_sentence(31)])
    kept = of_fit_length([long_sentence(length) for length in (29, 31, 30)])
    assert [len(each) for each in kept] == [29, 30]
