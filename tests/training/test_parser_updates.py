"""Parsers that go on learning: from new trees, from parts of trees, with new relations, without the trees of before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates, with_columns
from tagweave.learning.run import Run, Silence
from tagweave.models.occurrences import of_bytes
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.cascades.tree_system import count_open, with_believed_heads
from tagweave.training.cascades.update import updated
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.fit.tree_problem import prepare
from treebank import sentence, treebank, with_evidence

TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "m.form[0]", "h.upos[0] s.upos[0] m.upos[0]"))
RECIPE = Recipe(Task("parse"), TEMPLATES, bits=10)


def corpus(sentences: list[Sentence]) -> Corpus:
    return Corpus(tuple(sentences), "head")


def first_parser(count: int = 40) -> TreeModel:
    return fit([corpus(treebank(count))], RECIPE).finished_model()


def renamed(given: Sentence, old: str, new: str) -> Sentence:
    """Return the sentence with another name of a relation."""
    layer = [(Arc(arc.head, new if arc.relation == old else arc.relation),) for (arc,) in given.heads["head"]]
    return with_evidence(given, *layer)


def relations(model: TreeModel, tags: str, heads: list[int]) -> list[str | None]:
    (parsed,) = TreePredictor(model).parse([sentence(tags, heads)])
    return [candidates[0].relation for candidates in parsed.heads["head"]]


def test_occurrences_are_those_of_known_arcs() -> None:
    trees = treebank(9)
    trees[3] = with_evidence(trees[3], *(c if at else None for at, c in enumerate(trees[3].heads["head"])))
    problem = prepare([corpus(trees)], replace(RECIPE, templates=ArcTemplates(("h.upos[0] m.upos[0]",))))
    expected: dict[tuple[str, str, bool], int] = {}
    for tree in trees:
        tags = ["ROOT", *(tag for (tag,) in tree.layers["upos"])]
        for m, candidates in enumerate(tree.heads["head"], 1):
            if candidates:
                key = tags[candidates[0].head], tags[m], m < candidates[0].head
                expected[key] = expected.get(key, 0) + 1
    counts = of_bytes(problem.model.occurrences)
    assert sorted(counts[counts > 0].tolist()) == sorted(expected.values())


def test_the_weights_and_relations_of_before_begin() -> None:
    model = first_parser()
    problem = prepare([corpus([renamed(tree, "det", "art") for tree in treebank(5, 1)])], RECIPE, model)
    assert np.array_equal(problem.model.weights, model.weights) and problem.model.labels is model.labels
    assert problem.before is not None and problem.before.occurrences.any()
    state = problem.trainer(RECIPE).start(problem.objective, problem.model.weights)
    plain = RECIPE.trainer().start(problem.objective, problem.model.weights)
    assert np.allclose(state.arrays["squares"] - plain.arrays["squares"], 0.1 * problem.before.occurrences, rtol=1e-3)
    assert np.array_equal(problem.before.merged(model.weights), model.weights)


def test_unknown_sentences_change_nothing() -> None:
    model, new = first_parser(), treebank(10, 1)
    unknown = [with_evidence(tree, *[None] * len(tree)) for tree in new]
    models = [updated(model, [corpus(trees)], RECIPE).model for trees in (new, [*new, *unknown])]
    assert np.array_equal(models[0].weights, models[1].weights)
    assert np.array_equal(models[0].labels.weights, models[1].labels.weights)
    with pytest.raises(CorpusError, match="no head that is known"):
        updated(model, [corpus(unknown)], RECIPE)


def test_trees_without_relations_leave_relations_as_they_are() -> None:
    model = first_parser()
    bare = [with_evidence(tree, *((Arc(c[0].head, None),) for c in tree.heads["head"])) for tree in treebank(10, 1)]
    assert updated(model, [corpus(bare)], RECIPE).model.labels is model.labels


def test_columns_that_new_trees_lack_are_told_and_unknown() -> None:
    model, told = first_parser(), list[str]()
    bare = corpus([replace(tree, layers={}) for tree in treebank(10, 1)])
    run = Run(tell=told.append)
    fitted = updated(model, [replace(bare, path="new.conllu")], RECIPE, corpus(treebank(5, 2)), run).model
    assert [line for line in told if "upos" in line] == [
        "warning: new.conllu: the trees have no upos, which the parser looks at"
    ]
    unknown = bare.map(lambda tree: with_columns(tree, ["upos"]))
    assert np.array_equal(fitted.weights, updated(model, [unknown], RECIPE, corpus(treebank(5, 2))).model.weights)
    told.clear()
    updated(model, [corpus(treebank(5, 1))], RECIPE, bare, run)
    assert sum("a corpus: the trees have no upos" in line for line in told) == 1


def test_beliefs_stand_where_heads_are_open() -> None:
    model = first_parser(5)
    tree = sentence("DNVDN.".replace(".", "P"), [2, 3, 0, 5, 3, 3])
    partly = with_evidence(tree, *(c if at == 1 else None for at, c in enumerate(tree.heads["head"])))
    unknown = with_evidence(tree, *[None] * 6)
    assert count_open(corpus([partly, unknown, tree])) == 5
    believed = with_believed_heads(model, corpus([partly, unknown, tree]))
    assert believed.sentences[1:] == (unknown, tree)
    layer = believed[0].heads["head"]
    assert layer[1] == (Arc(3, "obj"),)
    (table,) = TreePredictor(model).probabilities([partly], "head")
    for m, candidates in enumerate(layer, 1):
        assert candidates is not None
        if isinstance(candidates, Soft):
            named = {arc.head: number for arc, number in candidates.numbered()}
            assert sum(named.values()) == pytest.approx(1)
            assert named == pytest.approx({h: p for h, p in enumerate(table[:, m]) if p >= 0.001}, abs=1e-3)
    assert any(isinstance(candidates, Soft) for candidates in layer)
    sets = with_believed_heads(model, corpus([partly]), in_numbers=False)[0].heads["head"]
    assert not any(isinstance(candidates, Soft) for candidates in sets) and any(len(c or ()) > 1 for c in sets)


def test_new_relations_are_learned_and_the_others_kept() -> None:
    model = first_parser()
    assert relations(model, "DNVN", [2, 3, 0, 3]) == ["det", "obj", "root", "obj"]
    new = []  # only determiners are annotated, under another name
    for tree in treebank(40, 1):
        layer = renamed(tree, "det", "art").heads["head"]
        new.append(with_evidence(tree, *(c if c and c[0].relation == "art" else None for c in layer)))
    after = updated(model, [corpus(new)], RECIPE).finished_model()
    assert after.labels.names == ("art", "det", "obj", "punct", "root")
    assert relations(after, "DNVN", [2, 3, 0, 3]) == ["art", "obj", "root", "obj"]


def test_old_trees_are_parsed_as_well_as_before() -> None:
    """New text has other words and tags."""
    model, old = first_parser(), treebank(30, 2)

    def new_words(tree: Sentence) -> Sentence:
        tags = tuple((f"{tag}2",) for (tag,) in tree.layers["upos"])
        return replace(tree, forms=tuple(form * 2 for form in tree.forms), layers={"upos": tags})

    new = [new_words(tree) for tree in treebank(40, 1)]
    after = updated(model, [corpus(new)], RECIPE).finished_model()
    parsed = {name: list(TreePredictor(after).parse(trees)) for name, trees in (("old", old), ("new", new))}
    assert [s.heads for s in parsed["old"]] == [s.heads for s in old]
    assert [s.heads for s in parsed["new"]] == [s.heads for s in new]


def test_occurrences_add_up_and_are_stored(tmp_path: Path) -> None:
    trees = corpus(treebank(20))
    model = tw.train(trees, task="parse", iterations=2, callback=Silence())
    first = model.trained
    model.update(corpus(treebank(20, 1)), sources=trees, seed=3, callback=Silence())
    assert (model.trained.occurrences >= first.occurrences).all()
    assert model.trained.occurrences.max() > first.occurrences.max()
    model.save(tmp_path / "parser")
    loaded = tw.load_model(tmp_path / "parser")
    for old, new in ((model.trained, loaded.trained), (model.trained.labels, loaded.trained.labels)):
        assert np.array_equal(old.occurrences, new.occurrences) and new.occurrences.any()
    assert loaded.about["updates"][0]["sources"][0]["size"] == 20 and len(loaded.plan.target) == 2


def test_guided_parsers_go_on() -> None:
    other = Corpus(tuple(replace(tree, heads={"other": tree.heads["head"]}) for tree in treebank(20, 3)), "other")
    guide = fit([other], RECIPE).finished_model()
    model = fit_guided([corpus(treebank(20))], guide, RECIPE).finished_model()
    after = updated(model, [corpus(treebank(10, 1))], RECIPE, corpus(treebank(10, 2))).finished_model()
    assert after.guide is guide and not np.array_equal(after.weights, model.weights)
    assert [s.heads["head"] for s in TreePredictor(after).parse(treebank(5, 4))] == [
        s.heads["head"] for s in treebank(5, 4)
    ]


def test_mistake_driven_learners_and_free_trees_go_on() -> None:
    plain = ArcTemplates(TEMPLATES.texts[:2])
    partly = [with_evidence(t, None, *t.heads["head"][1:]) for t in treebank(10, 1)]
    for changed in ({"learner": "perceptron"}, {"projective": False, "templates": plain}):
        recipe = replace(RECIPE, **changed)
        model = fit([corpus(treebank(20))], recipe).finished_model()
        after = updated(model, [corpus(partly)], recipe).finished_model()
        assert [s.heads["head"] for s in TreePredictor(after).parse(partly)] == [
            s.heads["head"] for s in treebank(10, 1)
        ]
