"""Parsers as a system of annotation adaptation: scores by brute force, evidence kept, what the models are good for."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive_trees
from tagweave.conversion import convert_trees, review_trees
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates, guide_layer
from tagweave.learning.run import Run, Schedule
from tagweave.models.storage import load_model, save_model
from tagweave.models.tree import TreePredictor, guided
from tagweave.training.cascades.guided import fit_guided, merged
from tagweave.training.cascades.system import FitStep, Parallel
from tagweave.training.cascades.transform import fit_iterated, fit_transformed
from tagweave.training.cascades.tree_system import Tree, TreeSystem
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.fit.tree_problem import usual_templates
from treebank import treebank

STEP = FitStep(1, 1, "test", last=True)
LEARNERS = ("adagrad", "perceptron")
TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "m.form[0]", "h.form[0]"))
SHORT = Schedule(iterations=3)


def system_of(learner: str = "adagrad", **more: Any) -> TreeSystem:
    recipe = Recipe(Task("parse"), TEMPLATES, learner, {"seed": 0}, bits=10)
    return TreeSystem(recipe, Run(more.pop("schedule", SHORT), **more))


# Guideline B is a function of A: a determiner is the head of its noun, not its modifier.


def flipped(heads: list[int], tags: list[str]) -> list[int]:
    """The tree of A, with every determiner as the head of its noun."""
    found = list(heads)
    for at, tag in enumerate(tags):
        if tag == "D":
            noun = heads[at] - 1
            found[at], found[noun] = heads[noun], at + 1
    return found


def arcs(heads: list[int], tags: list[str], prefix: str) -> tuple[Any, ...]:
    return tuple((Arc(head, prefix + tag),) for head, tag in zip(heads, tags, strict=True))


def pair(given: Sentence) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The trees of a sentence of the toy treebank under A and under B."""
    tags = [each[0] for each in given.layers["upos"] if each]
    heads = [each[0].head or 0 for each in given.heads["head"] if each]
    return arcs(heads, tags, "a-"), arcs(flipped(heads, tags), tags, "b-")


def corpora(count: int, seed: int) -> tuple[Corpus, Corpus]:
    """The same sentences under A and under B."""
    sentences = treebank(count, seed)
    each = [[replace(s, heads={name: pair(s)[at]}) for s in sentences] for at, name in enumerate("AB")]
    return Corpus(tuple(each[0]), "A", path="a"), Corpus(tuple(each[1]), "B", path="b")


def trees_of(corpus: Corpus) -> list[Tree]:
    return [tuple(arc[0] for arc in s.heads[corpus.guideline] if arc) for s in corpus]


def uas(found: list[Tree], gold: Corpus) -> float:
    pairs = [
        (a.head, b.head)
        for one, other in zip(found, trees_of(gold), strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    return float(np.mean([a == b for a, b in pairs]))


# Scores, by brute force


@cache
def transfer_of(learner: str) -> tuple[TreeSystem, Fitted, Parallel[Tree]]:
    """A transfer model from A to B, and text of B with trees of A; some are ambiguous, some unknown."""
    system = system_of(learner)
    source, target = corpora(6, 3)
    text = Parallel(target, trees_of(source))
    fitted = system.train_transfer([text], None, STEP)
    short = [s for s in zip(*corpora(30, 4), strict=True) if 1 < len(s[0]) <= 4]
    partial = [replace(b, heads={"B": (None, *b.heads["B"][1:])}) for _, b in short[:3]]
    own = Corpus((*partial, *(b for _, b in short[3:6])), "B")
    return system, fitted, Parallel(own, trees_of(Corpus(tuple(a for a, _ in short[:6]), "A")))


def all_scores(fitted: Fitted, sentence: Sentence, guide: Tree) -> dict[tuple[int, ...], float]:
    model = fitted.model
    shown = replace(sentence, heads={guide_layer("other"): tuple((arc,) for arc in guide)})
    batch = model.parameters.batch(model.encode([shown]), 0, 1)
    n = len(sentence) + 1
    table = model.scoring.scores(batch).reshape(n, n)
    return naive_trees.tree_scores(table.tolist(), True, model.single_root)


def total(scores: list[float], learner: str) -> float:
    return max(scores, default=-np.inf) if learner == "perceptron" else float(np.logaddexp.reduce(scores))


def heads_of(tree: Tree) -> tuple[int, ...]:
    return tuple(arc.head or 0 for arc in tree)


@pytest.mark.parametrize("learner", LEARNERS)
def test_candidates_are_the_best_of_all_trees(learner: str) -> None:
    system, fitted, text = transfer_of(learner)
    for sentence, guide, found in zip(text.corpus, text.guides, system.candidates(fitted, text, 4), strict=True):
        every = all_scores(fitted, sentence, guide)
        best = sorted(every.values(), reverse=True)[:4]
        np.testing.assert_allclose(found.scores, np.array(best) - total([*every.values()], learner), atol=1e-4)
        np.testing.assert_allclose([every[heads_of(tree)] for tree in found.annotations], best, atol=1e-4)
        assert len({heads_of(tree) for tree in found.annotations}) == len(best)
    first = [each.annotations[0] for each in system.candidates(fitted, text, 1)]
    assert first == system.transform(fitted, text)
    assert all(arc.relation and arc.relation.startswith("b-") for tree in first for arc in tree)


@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_are_those_of_the_evidence(learner: str) -> None:
    system, fitted, text = transfer_of(learner)
    chain: list[Tree] = [tuple(Arc(m, "x") for m in range(len(s))) for s in text.corpus]
    guides = [
        [guide, other, guide][: 1 + i % 3] for i, (guide, other) in enumerate(zip(text.guides, chain, strict=True))
    ]
    found = system.scores(fitted, text.corpus, guides)
    assert [len(each) for each in found] == [1 + i % 3 for i in range(len(guides))]
    for sentence, own, scores in zip(text.corpus, guides, found, strict=True):
        layer = sentence.heads["B"]
        for guide, score in zip(own, scores, strict=True):
            every = all_scores(fitted, sentence, guide)
            allowed = [
                value
                for heads, value in every.items()
                if all(each is None or head == each[0].head for head, each in zip(heads, layer, strict=True))
            ]
            np.testing.assert_allclose(score, total(allowed, learner) - total([*every.values()], learner), atol=1e-4)
            assert score <= 1e-5


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_no_tree_agrees_with_has_no_score(learner: str) -> None:
    system, fitted, _ = transfer_of(learner)
    sentence = Sentence(("x",) * 4, {"upos": (("N",),) * 4}, heads={"B": tuple((Arc(h, None),) for h in (0, 0, 1, 1))})
    guide = tuple(Arc(h, None) for h in (0, 1, 2, 3))
    assert system.scores(fitted, Corpus((sentence,), "B"), [[guide]])[0].tolist() == [-np.inf]
    crossing = replace(sentence, heads={"B": tuple((Arc(h, None),) for h in (3, 4, 0, 3))})
    (score,) = system.scores(fitted, Corpus((crossing,), "B"), [[guide]])
    assert np.isfinite(score).all()  # lifted, as in training


# The own annotation


def test_given_trees_are_kept_and_gaps_are_filled() -> None:
    system = system_of()
    source, _ = corpora(10, 1)
    model = system.train([source], None, STEP)
    assert system.own_annotations(model, source) == trees_of(source)
    gaps = source.map(lambda s: replace(s, heads={"A": (None, *s.heads["A"][1:])}))
    for tree, own in zip(system.own_annotations(model, gaps), trees_of(source), strict=True):
        assert tree[1:] == own[1:]
        assert tree[0].head is not None


def test_what_is_unknown_stays_unknown() -> None:
    system, (source, _) = system_of(), corpora(3, 1)
    gaps = source.map(lambda s: replace(s, heads={"A": (None, *s.heads["A"][1:]), "B": s.heads["A"]}))
    trees: list[Tree] = [tuple(Arc(m, "new") for m in range(len(s))) for s in source]
    found = system.annotated(gaps, trees, "B")
    assert found.guideline == "B"
    for before, after, tree in zip(gaps, found, trees, strict=True):
        assert after.heads == {"B": (None, *((arc,) for arc in tree[1:]))}
        assert after.layers == before.layers
    bare = Corpus((Sentence(("x",), {"upos": (("N",),)}),), "A")
    assert system.annotated(bare, [(Arc(0, None),)], "B")[0].heads == {"B": (None,)}


def test_shared_templates_look_at_what_all_have() -> None:
    with pytest.raises(ValueError, match="found a recipe without templates"):
        TreeSystem(Recipe(Task("parse")))
    one = [s.with_column("feats", ["A=b"] * len(s)) for s in treebank(3)]
    other = [s.with_column("feats", ["_"] * len(s)) for s in treebank(3)]
    assert "user:feats" in usual_templates(one + other).columns
    assert "user:feats" not in usual_templates(one, other).columns


# Whole cascades


def test_an_interrupt_is_passed_on_before_the_last_step(tmp_path: Path) -> None:
    class Stop:
        def iteration(self, iteration: Any, limit: int) -> None:
            raise KeyboardInterrupt

    told: list[str] = []
    system = system_of(callback=Stop(), tell=told.append)
    (_, target), (source, _) = corpora(8, 1), corpora(12, 2)
    with pytest.raises(KeyboardInterrupt):
        fit_transformed(system, [target], [source])
    assert told[1:] == ["12 sentences with evidence, 54 tokens (54 with evidence)"]
    assert system.train([source, source], None, STEP).outcome.interrupted


# What it is good for: words tell of attachment by having been seen alone, in a large treebank of A


WORDS = [f"w{i}" for i in range(40)]
FREE = ArcTemplates(("h.form[0] m.form[0]", "m.form[0]", "h.form[0]", "h.upos[0] m.upos[0]"))


def attached(count: int, seed: int) -> tuple[Corpus, Corpus]:
    """`N V N X`: X depends on the noun before it or on the verb, as its word says. Under B, where X depends on a noun,
    the noun depends on X."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(count):
        words = [rng.choice(WORDS) for _ in range(4)]
        of_noun = int(words[3][1:]) % 2 == 0
        a = [2, 0, 2, 3 if of_noun else 2]
        b = [2, 0, 4, 2] if of_noun else a
        tags = ["N", "V", "N", "X"]
        layers = {"upos": tuple((tag,) for tag in tags)}
        sentences.append(Sentence(tuple(words), layers, heads={"A": arcs(a, tags, "a-"), "B": arcs(b, tags, "b-")}))
    first, second = (tuple(replace(s, heads={name: s.heads[name]}) for s in sentences) for name in "AB")
    return Corpus(first, "A"), Corpus(second, "B")


@pytest.mark.slow
def test_adaptation_beats_the_target_alone() -> None:
    """Models 1, 2 and 3 against a model of the target corpus, and of both corpora as if they had one guideline."""
    source, (_, target), (_, test) = attached(600, 1)[0], attached(25, 2), attached(100, 3)
    dev = attached(30, 4)[1]
    recipe, schedule = Recipe(Task("parse"), FREE, settings={"seed": 0}, bits=12), Schedule(iterations=8)
    system = TreeSystem(recipe, Run(schedule))

    def score(fitted: Fitted) -> float:
        return uas(system.annotate(fitted, test), test)

    alone = score(fit([target], recipe, dev, Run(schedule)))
    both = score(fit(merged([target], [source]), recipe, dev, Run(schedule)))
    guide = fit([source], recipe, None, Run(schedule)).model
    first = fit_guided([target], guide, recipe, dev, Run(schedule))
    second = fit_transformed(system, [target], [source], dev)
    third = fit_iterated(system, [target], [source], dev, rounds=1).model
    for adapted in (first, second, third):
        assert score(adapted) > max(alone, both) + 0.04
        assert score(adapted) > 0.95
    assert first.model.guide is guide
    assert second.model.guide is None


def test_gold_trees_of_the_guideline_are_not_looked_at_in_training() -> None:
    (source, target), guide_text = attached(20, 2), attached(50, 1)[0]
    recipe = Recipe(Task("parse"), FREE, bits=10)
    guide = fit([guide_text], recipe, None, Run(SHORT)).model
    gold = target.with_sentences(replace(b, heads={**b.heads, **a.heads}) for a, b in zip(source, target, strict=True))
    one, two = (fit_guided([each], guide, recipe, each, Run(SHORT)) for each in (target, gold))
    np.testing.assert_array_equal(one.model.weights, two.model.weights)
    shown = target.with_sentences(
        replace(b, heads={**b.heads, guide_layer("A"): a.heads["A"]}) for a, b in zip(source, target, strict=True)
    )
    three = fit_guided([shown], guide, recipe, None, Run(SHORT))
    assert (three.model.weights != one.model.weights).any()
    with pytest.raises(CorpusError, match="a target corpus of the guideline 'A'"):
        fit_guided([source], guide, recipe)


# Conversion


@cache
def converter() -> Any:
    """A model of B that is guided by A, trained on trees of both."""
    (source, target), guide_text = attached(60, 2), attached(60, 1)[0]
    recipe = Recipe(Task("parse"), FREE, bits=12)
    guide = fit([guide_text], recipe, None, Run(SHORT)).model
    shown = target.with_sentences(
        replace(b, heads={**b.heads, guide_layer("A"): a.heads["A"]}) for a, b in zip(source, target, strict=True)
    )
    return fit_guided([shown], guide, recipe, None, Run(Schedule(iterations=8))).model


def test_a_treebank_is_converted() -> None:
    source, target = attached(50, 9)
    found = convert_trees(converter(), source)
    assert found.guideline == "B"
    assert uas(trees_of(found), target) > 0.97
    assert [s.heads["A"] for s in found] == [s.heads["A"] for s in source]
    assert all(set(s.heads) == {"A", "B"} for s in found)


def test_confidence_is_the_probability_of_the_head() -> None:
    model, source = converter(), attached(12, 9)[0]
    partial = source.with_sentences(
        replace(s, heads={**s.heads, "B": (None, (Arc(0, None),), None, None)}) if i % 2 else s
        for i, s in enumerate(source)
    )
    found = convert_trees(model, partial)
    shown = guided(partial.sentences, model.guide)
    for sentence, out in zip(shown, found, strict=True):
        encoded = model.encode([sentence], "B")
        batch = model.parameters.batch(encoded, 0, 1)
        table = model.scoring.scores(batch).reshape(5, 5)
        every = naive_trees.tree_scores(table.tolist(), True, model.single_root)
        if "B" in sentence.heads:
            every = {heads: value for heads, value in every.items() if heads[1] == 0}
        marginals = naive_trees.marginals(every, 4)
        expected = [marginals[arc[0].head or 0][m] for m, arc in enumerate(out.heads["B"], 1) if arc]
        np.testing.assert_allclose(out.confidence or (), expected, atol=1e-5)


def test_what_is_given_is_sure_and_not_for_review() -> None:
    model, source = converter(), attached(8, 9)[0]
    crossing = source.with_sentences(
        replace(s, heads={**s.heads, "B": tuple((Arc(h, "odd"),) for h in (3, 4, 0, 3))}) for s in source
    )
    found = convert_trees(model, crossing)
    assert all(s.confidence == (1.0,) * 4 for s in found)
    assert review_trees(model, crossing, found, 5) == []
    assert convert_trees(model, source.with_sentences([])).sentences == ()


def test_the_least_sure_tokens_are_reviewed() -> None:
    model, source = converter(), attached(12, 9)[0]
    found = convert_trees(model, source)
    doubtful = review_trees(model, source, found, 6)
    every = sorted(c for s in found for c in s.confidence or ())
    assert [each.probability for each in doubtful] == every[:6]
    for each in doubtful:
        at = each.context.position - 1
        (number,) = [i for i, s in enumerate(source) if s.forms[at] == each.context.word][:1] or [0]
        head, _, relation = each.chosen.partition(":")
        assert relation.startswith("b-")
        assert each.given is not None
        assert each.given[0].partition(":")[2].startswith("a-")
        assert head not in [name for name, _ in each.alternatives]
        assert each.probability + sum(p for _, p in each.alternatives) <= 1 + 1e-5
        assert [p for _, p in each.alternatives] == sorted((p for _, p in each.alternatives), reverse=True)
        assert number < len(source)


def test_a_guided_parser_converts_from_its_file(tmp_path: Path) -> None:
    save_model(converter(), tmp_path / "g.model")
    source = attached(6, 9)[0]
    assert convert_trees(load_model(tmp_path / "g.model"), source) == convert_trees(converter(), source)
    assert [*TreePredictor(load_model(tmp_path / "g.model")).parse(source)] == [
        *TreePredictor(converter()).parse(source)
    ]


# Relabelled text


def test_relabelled_heads_have_the_probabilities_of_the_transfer_model() -> None:
    system, fitted, text = transfer_of("adagrad")
    found = system.relabelled(fitted, text, "B")
    for sentence, given, guide, best in zip(
        found, text.corpus, text.guides, system.transform(fitted, text), strict=True
    ):
        layer = sentence.heads["B"]
        if not all(given.heads["B"]):
            assert layer == (None, *((arc,) for arc in best[1:]))
            continue
        scores = all_scores(fitted, given, guide)
        log_z = total([*scores.values()], "adagrad")
        for m, (candidates, arc) in enumerate(zip(layer, best, strict=True)):
            assert candidates is not None
            assert candidates[0] == arc
            assert all(each.relation is None for each in candidates[1:])
            numbers = {each.head: p for each, p in candidates.numbered()} if isinstance(candidates, Soft) else {}
            for head in {tree[m] for tree in scores} if numbers else ():
                expected = sum(np.exp(score - log_z) for tree, score in scores.items() if tree[m] == head)
                assert numbers.get(head, 0) == pytest.approx(expected, abs=2e-3)
    assert any(isinstance(each, Soft) for s in found for each in s.heads["B"])


def test_a_perceptron_relabels_with_its_best_trees() -> None:
    system, fitted, text = transfer_of("perceptron")
    best = system.transform(fitted, text)
    assert system.relabelled(fitted, text, "B") == system.annotated(text.corpus, best, "B")
