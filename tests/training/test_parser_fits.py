"""Fits of parsers: what they learn from full, partial and other evidence, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates, RelationTemplates, without_columns
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.learning.run import Run, Schedule
from tagweave.models.tree import TreePredictor
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.fit.tree_problem import crossing, fit_labels, projectivised, usual_templates
from treebank import sentence, treebank, with_evidence

TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "h.upos[0] m.upos[0] m.upos[1]", "m.upos[0]", "h.upos[0]"))
RELATIONS = RelationTemplates(("h.upos[0] m.upos[0]", "m.form[0]"))
RECIPE = Recipe(Task("parse"), TEMPLATES, bits=10)
SHORT = Schedule(iterations=5)


def corpus(sentences: list[Sentence], **options: Any) -> Corpus:
    return Corpus(tuple(sentences), "head", **options)


def scores(fitted: Any, gold: list[Sentence]) -> tuple[float, float]:
    """UAS and LAS."""
    pairs = [
        (one, other)
        for given, out in zip(gold, TreePredictor(fitted.model).parse(gold), strict=True)
        for one, other in zip(given.heads["head"], out.heads["head"], strict=True)
    ]
    heads = np.mean([one[0].head == other[0].head for one, other in pairs])
    return float(heads), float(np.mean([one == other for one, other in pairs]))


def halved(given: Sentence) -> Sentence:
    """With the head of every second token, and no relation of the others."""
    return with_evidence(given, *(c if at % 2 else None for at, c in enumerate(given.heads["head"])))


def widened(given: Sentence) -> Sentence:
    """With a second, wrong candidate for every token."""
    own = given.heads["head"]
    return with_evidence(
        given,
        *(
            (*c, Arc(1 if m > 1 else 2, c[0].relation)) if c[0].head != (m == 1) + 1 else c
            for m, c in enumerate(own, 1)
        ),
    )


@pytest.mark.parametrize("learner", ["adagrad", "perceptron"])
@pytest.mark.parametrize("change", [None, halved, widened])
def test_a_treebank_is_learnt(learner: str, change: Any) -> None:
    given = treebank(80) if change is None else [change(each) for each in treebank(80) if len(each) > 2]
    fitted = fit([corpus(given)], replace(RECIPE, learner=learner), run=Run(SHORT))
    heads, arcs = scores(fitted, treebank(30, seed=5))
    assert heads > 0.95
    assert arcs > 0.95
    assert [note.partition(":")[0] for note in fitted.notes] == ([] if change is None else ["heads"])


def test_notes_tell_how_many_heads_are_known() -> None:
    given = [sentence("DNV", [2, 3, 0])] * 4
    partial = with_evidence(given[0], None, (Arc(1, None), Arc(3, None)), (Arc(0, None),))
    fitted = fit([corpus([*given, partial])], RECIPE, run=Run(SHORT))
    assert fitted.notes == ("heads: 13 of 15 known, 1 with several candidates",)
    sure = replace(partial, confidence=(1.0, 1.0, 0.25))
    assert "1 heads with a confidence below 1" in fit([corpus([sure])], RECIPE, run=Run(SHORT)).notes[1]


def test_what_is_not_believed_is_unknown() -> None:
    given = treebank(20)
    unknown = [with_evidence(each, None, *each.heads["head"][1:]) for each in given]
    disbelieved = [replace(each, confidence=(0.0, *(1.0,) * (len(each) - 1))) for each in given]
    one, two = (fit([corpus(each)], RECIPE, run=Run(SHORT)).model for each in (unknown, disbelieved))
    np.testing.assert_array_equal(one.weights, two.weights)
    assert one.labels is not None
    assert two.labels is not None
    np.testing.assert_array_equal(one.labels.weights, two.labels.weights)


def test_belief_weighs_wrong_trees_against_right_ones() -> None:
    """Two sentences of three are wrong: believed, they win; uncertain, the right one does."""
    right, wrong = sentence("DNV", [2, 3, 0]), sentence("DNV", [3, 3, 0])
    uncertain = replace(wrong, confidence=(0.2,) * 3)
    assert scores(fit([corpus([right, wrong, wrong])], RECIPE, run=Run(SHORT)), [right])[0] < 1
    assert scores(fit([corpus([right, uncertain, uncertain])], RECIPE, run=Run(SHORT)), [right])[0] == 1


def test_development_data_choose_the_iteration() -> None:
    dev = treebank(10, seed=7)
    fitted = fit([corpus(treebank(40))], RECIPE, corpus(dev), Run(Schedule(iterations=4)))
    best = max(iteration.score or 0 for iteration in fitted.outcome.history)
    assert fitted.outcome.score == best == pytest.approx(scores(fitted, dev)[0])
    assert fitted.model.about["dev_score"] == best


def test_several_roots_are_learnt_where_there_are_any() -> None:
    several = [sentence("VV", [0, 0])] * 10
    fitted = fit([corpus([*several, *treebank(10)])], RECIPE, run=Run(SHORT))
    assert not fitted.model.single_root
    assert scores(fitted, several[:1])[0] == 1
    assert fit([corpus(treebank(10))], RECIPE, run=Run(SHORT)).model.single_root


def test_trees_that_cross_are_learnt_as_they_are_where_all_trees_are_possible() -> None:
    free = replace(RECIPE, projective=False)
    given = [sentence("NVDP", [3, 4, 0, 3])] * 10
    fitted = fit([corpus([*given, *treebank(10)])], free, run=Run(SHORT))
    assert not fitted.model.projective and len(fitted.notes) == 1
    assert scores(fitted, given[:1])[0] == 1
    lifted = fit([corpus([*given, *treebank(10)])], RECIPE, run=Run(SHORT))
    assert lifted.model.projective
    assert scores(lifted, given[:1])[0] < 1
    for each, note in ((fitted, "10 sentences with arcs that cross: learned as"), (lifted, "`non_projective` learns")):
        assert any(note in line for line in each.notes)


def test_evidence_that_only_trees_with_crossing_arcs_agree_with_is_of_use_to_them() -> None:
    crossing = sentence("NVDP", [3, 4, 0, 3])
    partial = with_evidence(crossing, *crossing.heads["head"][:2], None, (Arc(3, None), Arc(1, None)))
    circle = with_evidence(crossing, *(tuple(Arc(h, None) for h in heads) for heads in ((2, 3), (1, 3), (1, 2))), None)
    for projective, unused in ((True, 2), (False, 1)):
        recipe = replace(RECIPE, projective=projective)
        fitted = fit([corpus([*treebank(5), partial, circle])], recipe, run=Run(SHORT))
        assert any(note.startswith(f"{unused} sentences left out") for note in fitted.notes)


def test_what_there_is_no_parser_of() -> None:
    unknown = [with_evidence(each, *(None,) * len(each)) for each in treebank(3)]
    for corpora in ([], [corpus([])], [corpus(unknown)]):
        with pytest.raises(CorpusError, match="found no head that is known"):
            fit(corpora, RECIPE)
    with pytest.raises(CorpusError, match="development data with trees"):
        fit([corpus(treebank(3))], RECIPE, corpus(unknown))


def test_usual_templates_look_at_what_there_is() -> None:
    plain = treebank(2)
    assert set(usual_templates(plain).columns) == {"form", "last", "upos"}
    both = [each.with_layer("xpos", each.layers["upos"]) for each in plain]
    assert set(usual_templates(both).columns) == {"form", "last", "upos", "xpos"}
    assert "user:feats" not in usual_templates([each.with_column("feats", ["_"] * len(each)) for each in plain]).columns
    assert "user:feats" in usual_templates([each.with_column("feats", ["A=b"] * len(each)) for each in plain]).columns
    with pytest.raises(CorpusError, match="sentences without tags"):
        usual_templates([Sentence(("a",), {"upos": (None,)})])


def test_relations_need_heads_and_relations() -> None:
    bare = [with_evidence(sentence("NV", [2, 0]), (Arc(2, None),), (Arc(0, None),))]
    assert fit_labels(bare, "head", RELATIONS, np.array([2, 0], np.int32)) == (None, False)
    only = [with_evidence(sentence("NV", [2, 0]), (Arc(None, "obj"),), (Arc(None, "root"),))]
    assert fit_labels(only, "head", RELATIONS, np.array([-1, -1], np.int32)) == (None, False)
    labels, _ = fit_labels(only * 5, "head", RELATIONS, np.array([2, 0] * 5, np.int32))
    assert labels is not None
    assert labels.best(encode_arcs(only, TEMPLATES, more=RELATIONS.columns), np.array([2, 0], np.int32)).tolist() == [
        0,
        1,
    ]


def test_the_only_relation_there_is_needs_no_learning() -> None:
    given = [
        with_evidence(each, *(tuple(Arc(arc.head, "dep") for arc in c or ()) for c in each.heads["head"]))
        for each in treebank(20)
    ]
    assert scores(fit([corpus(given)], RECIPE, run=Run(SHORT)), given) == (1.0, 1.0)


def test_relations_that_evidence_never_tells_apart_are_not_chosen() -> None:
    either = with_evidence(sentence("NV", [2, 0]), *(tuple(Arc(h, r) for r in ("a", "b")) for h in (2, 0)))
    assert fit_labels([either], "head", RELATIONS, np.array([2, 0], np.int32)) == (None, False)


def test_copies_without_columns_teach_what_words_tell() -> None:
    given, dev = treebank(60), treebank(30, seed=5)
    ends = ("h.upos[0] m.upos[0]", "h.form[0] h.upos[0] m.form[0] m.upos[0]", "m.form[0] m.form[1] m.upos[0]")
    recipe = replace(RECIPE, bits=12, templates=ArcTemplates((*ends, "h.form[0] h.upos[0]", "m.form[0] m.upos[0]")))
    bare = [without_columns(each, ("upos",)) for each in dev]
    alone, beside = (fit([corpus(given)], replace(recipe, drop_columns=share), run=Run(SHORT)) for share in (0.0, 0.5))
    assert scores(alone, bare)[0] < 0.5
    assert min(scores(beside, bare)) > 0.9
    assert scores(beside, dev) == scores(alone, dev) == (1.0, 1.0)
    assert beside.notes == alone.notes


def test_belief_weighs_relations() -> None:
    right = sentence("NV", [2, 0])
    wrong = with_evidence(right, (Arc(2, "nsubj"),), (Arc(0, "root"),))
    uncertain = replace(wrong, confidence=(0.2, 1.0))
    for others, relation in ((wrong, "nsubj"), (uncertain, "obj")):
        model = fit([corpus([right, others, others])], RECIPE, run=Run(SHORT)).model
        [parsed] = TreePredictor(model).parse([right])
        assert [arcs[0].relation for arcs in parsed.heads["head"]] == [relation, "root"]


CROSSING = sentence("NNVN", [3, 4, 0, 3])


def test_a_crossing_arc_is_lifted() -> None:
    (out,), changed = projectivised([CROSSING], "head")
    assert changed == 1
    assert out.heads["head"][1] == (Arc(3, None),)
    assert [c for at, c in enumerate(out.heads["head"]) if at != 1] == [
        c for at, c in enumerate(CROSSING.heads["head"]) if at != 1
    ]


@given(st.sampled_from(naive_trees.trees(5, False, True)))
def test_every_tree_becomes_projective(heads: tuple[int, ...]) -> None:
    before = sentence("NNNNN", heads)
    (out,), changed = projectivised([before], "head")
    found = [candidates[0].head for candidates in out.heads["head"] if candidates is not None]
    assert naive_trees.is_projective(found)
    assert naive_trees.is_tree(found)
    assert changed == (not naive_trees.is_projective(heads))
    assert (out is before) == (changed == 0)


def test_what_is_not_one_head_stays() -> None:
    several = with_evidence(CROSSING, *CROSSING.heads["head"][:2], (Arc(0, "x"), Arc(4, "y")), None)
    unknown = with_evidence(CROSSING, *CROSSING.heads["head"][:1], None, (Arc(None, "root"),), None)
    assert projectivised([several, unknown], "head") == ([several, unknown], 0)
    assert projectivised([CROSSING], "other") == ([CROSSING], 0)


def test_circles_are_refused() -> None:
    with pytest.raises(CorpusError, match="round in a circle"):
        projectivised([sentence("NN", [2, 1])], "head")


def test_trees_that_cross_are_counted() -> None:
    several = with_evidence(CROSSING, *CROSSING.heads["head"][:2], (Arc(0, "x"), Arc(4, "y")), None)
    unknown = with_evidence(CROSSING, *CROSSING.heads["head"][:1], None, (Arc(None, "root"),), None)
    assert crossing([CROSSING, several, unknown, sentence("NV", [2, 0])], "head") == 2
    assert crossing([CROSSING], "other") == 0
    with pytest.raises(CorpusError, match="heads that go round in a circle"):
        crossing([sentence("NN", [2, 1])], "head")
