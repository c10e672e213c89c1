"""Parsers with a guide: trees that replace the guide's, features of guide trees, models on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_parts import rewrite

import naive_trees
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates, RelationTemplates, guide_layer
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.models.arc_scorer import ArcFeatures, ArcLabels
from tagweave.models.storage import ModelFileError, describe_model, load_model, save_model
from tagweave.models.tree import TreeModel, TreePredictor, guided
from treebank import sentence, treebank

PLAIN = ArcTemplates(("h.upos[0] m.upos[0]", "h.upos[0]", "m.form[0]", "h.upos[0] b.upos[0] m.upos[0]"))
RELATIONS = RelationTemplates(("h.upos[0] m.last[0]", "m.guide:ud[0] h.guide:ud[0]"))
NAMES = ("det", "obj", "punct", "root")


def model_of(
    templates: ArcTemplates, guideline: str, seed: int = 0, labels: RelationTemplates | None = None
) -> TreeModel:
    rng = np.random.default_rng(seed)
    features = ArcFeatures(templates, 256)
    of_arcs = ArcLabels(labels, NAMES, rng.normal(size=(16, 4)).astype(np.float32)) if labels else None
    return TreeModel(features, rng.normal(size=features.size).astype(np.float32), of_arcs, guideline=guideline)


GUIDE = model_of(PLAIN, "ud", 1, RelationTemplates(("h.upos[0] m.last[0]",)))
MODEL = replace(model_of(PLAIN.with_guide("ud"), "sud", 2, RELATIONS), guide=GUIDE)


def ud_of(given: Sentence) -> Any:
    return given.heads[guide_layer("ud")]


def with_heads(given: Sentence, **layers: Any) -> Sentence:
    return replace(given, heads={name.replace("_", ":"): layer for name, layer in layers.items()})


# The tree that guides


def test_the_guide_parses_sentences_without_a_tree() -> None:
    sentences = [with_heads(each) for each in treebank(6)]
    parsed = [each.heads["ud"] for each in TreePredictor(GUIDE).parse(sentences)]
    assert [ud_of(each) for each in guided(sentences, GUIDE)] == parsed


def test_a_given_tree_replaces_the_guides_and_a_partial_one_is_completed() -> None:
    whole = tuple((Arc(head, "strange"),) for head in (2, 0, 2))
    crossing = tuple((Arc(head, None),) for head in (3, 4, 0, 3))
    part = (None, (Arc(0, None),), None)
    sentences = [
        with_heads(sentence("NVN", [2, 0, 2]), ud=whole),
        with_heads(sentence("NNNN", [2, 0, 2, 2]), ud=tuple((Arc(a[0].head, "x"),) for a in crossing)),
        with_heads(sentence("NVN", [2, 0, 2]), ud=part),
        with_heads(sentence("NVN", [2, 0, 2]), ud=part, guide_ud=whole),
    ]
    found = list(map(ud_of, guided(sentences, GUIDE)))
    assert found[0] == found[3] == whole
    assert [a[0].head for a in found[1]] == [3, 4, 0, 3]
    assert found[2][1][0].head == 0
    assert all(arcs is not None for arcs in found[2])


def test_the_answer_does_not_guide() -> None:
    one = sentence("NVN", [2, 0, 2])
    other = replace(one, heads={"sud": tuple((Arc(head, "det"),) for head in (0, 1, 2))})
    assert ud_of(guided([one], GUIDE)[0]) == ud_of(guided([other], GUIDE)[0])


def test_the_guide_tree_changes_the_parse_and_is_not_kept() -> None:
    trees = naive_trees.trees(4, True, True)
    sentences = [
        with_heads(sentence("NVNP", [2, 0, 2, 2]), ud=tuple((Arc(head, "det"),) for head in heads)) for heads in trees
    ]
    parsed = list(TreePredictor(MODEL).parse(sentences))
    assert len({each.heads["sud"] for each in parsed}) > 1
    assert {tuple(each.heads) for each in parsed} == {("ud", "sud")}
    again = list(TreePredictor(MODEL).complete(sentences))
    assert again == parsed


def test_a_guide_has_a_guide() -> None:
    third = replace(model_of(PLAIN.with_guide("sud"), "third", 3), guide=MODEL)
    (own,) = TreePredictor(third).parse([sentence("NVNP", [2, 0, 2, 2])])
    assert set(own.heads) == {"head", "third"}


def test_without_a_guide_there_must_be_a_tree() -> None:
    alone = replace(MODEL, guide=None)
    with pytest.raises(CorpusError, match="found no tree that guides, expected a head layer 'guide:ud'"):
        list(TreePredictor(alone).parse(treebank(1)))
    sentences = guided(treebank(5), GUIDE)
    own = [each.heads["sud"] for each in TreePredictor(alone).parse(sentences)]
    assert own == [each.heads["sud"] for each in TreePredictor(MODEL).parse(treebank(5))]


# Scores


def test_features_of_paths_distinguish_guides_by_their_arcs_alone() -> None:
    """Of the same words with two guides, an arc has another score exactly if its path, or a relation, is another."""
    templates = ArcTemplates(PLAIN.texts, "ud")
    model = model_of(templates, "sud")
    one, other = (
        with_heads(sentence("NVNN", [2, 0, 2, 2]), guide_ud=tuple((Arc(head, None),) for head in heads))
        for heads in ((2, 0, 2, 2), (2, 0, 2, 3))
    )
    batches = [model.parameters.batch(encode_arcs([each], templates), 0, 1) for each in (one, other)]
    scores = [model.scoring.scores(each).reshape(5, 5) for each in batches]
    paths = [each.paths.reshape(5, 5) for each in batches]
    np.testing.assert_array_equal((scores[0] != scores[1])[:, 1:], (paths[0] != paths[1])[:, 1:])
    assert (paths[0] != paths[1]).sum() > 4


@pytest.mark.parametrize("seed", range(3))
def test_the_best_trees_are_those_of_all(seed: int) -> None:
    model = replace(MODEL, weights=np.random.default_rng(seed).normal(size=MODEL.parameters.size).astype(np.float32))
    sentences = guided([sentence("NVNP", [2, 0, 2, 2]), sentence("V", [0]), sentence("DNV", [2, 3, 0])], GUIDE)
    encoded = model.encode(sentences)
    batch = model.parameters.batch(encoded, 0, len(encoded))
    scores = model.scoring.scores(batch)
    for s, (heads, totals) in enumerate(model.k_best(encoded, 4)):
        n = len(sentences[s]) + 1
        table = scores[batch.cells[s] : batch.cells[s + 1]].reshape(n, n)
        every = naive_trees.tree_scores(table.tolist(), True, True)
        np.testing.assert_allclose(totals, sorted(every.values(), reverse=True)[:4])
        np.testing.assert_allclose(totals, [every[tuple(own)] for own in heads.tolist()])
        own = np.concatenate([h[:1].reshape(-1) for h, _ in model.k_best(encoded, 1)])
        assert model.tree_scores(encoded, own)[s] == pytest.approx(totals[0])
    assert model.tree_scores(encoded, np.full(8, -1, np.int32)).tolist() == [-np.inf] * 3


# On disk


def test_a_guide_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    save_model(replace(MODEL, guide=replace(GUIDE, guideline="other")), tmp_path / "other.model")
    save_model(replace(MODEL, guide=replace(GUIDE, weights=GUIDE.weights[:-8])), tmp_path / "short.model")
    for name in ("other.model", "short.model"):
        with pytest.raises(ModelFileError, match="parts do not fit"):
            load_model(tmp_path / name)
    save_model(MODEL, tmp_path / "p.model")
    description = {**describe_model(tmp_path / "p.model"), "guided_by": 3}
    del description["guide"]
    rewrite(tmp_path / "number.model", description, {"weights": MODEL.weights})
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(tmp_path / "number.model")
