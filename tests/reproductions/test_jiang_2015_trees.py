"""Trees in the reproduction of jiang-2015: as lines, scored, invented, in halves, adapted as the library does it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.jiang_2015 import invented, tree_lines
from reproductions.jiang_2015.adaptation import Adaptation, Way
from reproductions.jiang_2015.cells import Cells
from reproductions.jiang_2015.methods import BASELINE, MODEL_1, MODEL_2, PROBABILITIES, SOURCE, Method
from reproductions.jiang_2015.pair import Pair
from reproductions.jiang_2015.settings import PARTS
from reproductions.jiang_2015.trainings import Trainings
from reproductions.jiang_2015.treebanks import halves
from reproductions.jiang_2015.trees import Trees
from reproductions.lab.cache import Cache
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.evaluation.attachment import attachment
from tagweave.learning.run import Run
from tagweave.training.fit import fit
from tagweave.training.guided import fit_guided
from tagweave.training.problem import Fitted
from tagweave.training.transform import PredictSelf, fit_iterated, fit_transformed

RELATIONS = st.sampled_from([None, "det", "nmod:poss", "comp:obj@x", "0"])
TREES = st.lists(st.tuples(st.integers(0, 12), RELATIONS).map(lambda arc: Arc(*arc)), min_size=1, max_size=8).map(tuple)


def corpus_of(trees: list[tuple[Arc, ...]]) -> Corpus:
    sentences = (Sentence(("w",) * len(tree), heads={"a": tuple((arc,) for arc in tree)}) for tree in trees)
    return Corpus(tuple(sentences), "a")


# lines


@given(st.lists(TREES, max_size=4))
def test_lines_are_trees_without_text(trees: list[tuple[Arc, ...]]) -> None:
    found = tree_lines.of_trees(trees)
    assert tree_lines.trees(found) == trees
    assert tree_lines.of_corpus(corpus_of(trees)) == found
    assert not any("w" in line for line in found)
    again = tree_lines.with_trees(corpus_of(trees), found, "b")
    assert again.guideline == "b"
    assert [list(sentence.heads) for sentence in again] == [["b"]] * len(trees)
    assert tree_lines.of_corpus(again) == found


@given(st.lists(st.tuples(TREES, st.randoms(use_true_random=False)), min_size=1, max_size=4))
def test_scores_are_those_of_the_evaluation(drawn: list) -> None:  # type: ignore[type-arg]
    gold = corpus_of([tree for tree, _ in drawn])
    lines = tree_lines.of_trees(tuple(Arc(r.randint(0, 3), "det") for _ in tree) for tree, r in drawn)
    system = tree_lines.with_trees(gold, lines, "b")
    expected = attachment(gold, system)
    np.testing.assert_array_equal(tree_lines.counts(gold, lines), expected.head_counts[:, :2])
    arcs = sum(
        a == b for s, t in zip(gold, system, strict=True) for a, b in zip(s.heads["a"], t.heads["b"], strict=True)
    )
    assert tree_lines.counts(gold, lines, relations=True).sum(axis=0).tolist() == [arcs, gold.tokens()]


# corpora


def test_each_guideline_sees_its_own_half_of_the_trees() -> None:
    dev, test = invented.treebank(47), invented.treebank(9, 1)
    pair = halves("name", dev, test, 10, "adagrad", PARTS["parsing-french"](None)[0].draw(0).schedule)
    train = [sentence.forms for sentence in (*pair.source.train, *pair.target.train)]
    assert train == [sentence.forms for sentence in dev.first.sentences[:37]]
    assert abs(len(pair.source.train) - len(pair.target.train)) == 1
    assert [s.forms for s in pair.source.dev] == [s.forms for s in pair.target.dev]
    assert (len(pair.target.dev), pair.given["dev"]) == (10, pair.source.dev)
    assert (pair.target.test, pair.source.test, pair.given["test"]) == (test.second, test.first, test.first)
    for corpus in pair.source:
        assert all(list(sentence.heads) == ["content"] for sentence in corpus)
    assert all(list(sentence.heads) == ["function"] for sentence in pair.target.train)


# models: they are those of the library


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """One cache for all tests that only add to it."""
    return Cache(tmp_path_factory.mktemp("cells"))


def pair_of(name: str = "parsing-models-1") -> Pair:
    """The invented pair of a setting."""
    parts = ("parsing-models", "parsing-perceptron", "parsing-french")
    (setting,) = (each for part in parts for each in PARTS[part](None) if each.name == name)
    return setting.draw(0)


def structure(pair: Pair) -> Trees:
    found = pair.structure.of_seed(0)
    assert isinstance(found, Trees)
    return found


def adaptation(pair: Pair, cache: Cache) -> Adaptation:
    return Adaptation(pair, Trainings(pair.structure, Run(pair.schedule), 0, cache))


def on_test(fitted: Fitted, pair: Pair) -> list[str]:
    return structure(pair).found(fitted.model, pair.target.test)


@pytest.mark.parametrize("name", ["parsing-models-1", "parsing-perceptron", "parsing-french"])
def test_model_1_is_the_guided_parser(name: str, cache: Cache) -> None:
    pair = pair_of(name)
    recipe, schedule = structure(pair).recipe, pair.schedule
    source = fit([pair.source.train], recipe, pair.source.dev, Run(schedule))
    fitted = fit_guided([pair.target.train], source.model, recipe, pair.target.dev, Run(schedule))
    found = adaptation(pair, cache).guided
    assert found.found(pair.target.test) == on_test(fitted, pair)
    assert max(found.course()["history"]) == fitted.outcome.score


@pytest.mark.parametrize("method", PROBABILITIES, ids=lambda method: method.name)
def test_probabilities_are_those_of_the_library(method: Method, cache: Cache) -> None:
    pair = pair_of("parsing-models-0.25")
    system, target, source = structure(pair).system(Run(pair.schedule)), pair.target, pair.source
    fitted = fit_transformed(system, [target.train], [source.train], target.dev, [source.dev], method.round)
    found = Cells(cache)(pair, method, 0)
    assert found["test"] == on_test(fitted, pair)
    assert (found["round"], found["way back"], found["sentences"]) == (method.round, 0.0, len(source.train))
    assert max(found["history"]) == fitted.outcome.score


@pytest.mark.parametrize("name", ["parsing-models-0.25", "parsing-perceptron"])
@pytest.mark.parametrize("predict_self", [PredictSelf((0.6,)), PredictSelf(filter=True)])
def test_rounds_of_trees_are_those_of_the_library(name: str, predict_self: PredictSelf, cache: Cache) -> None:
    pair, rounds = pair_of(name), 1 if predict_self.filter else 2
    system, target, source = structure(pair).system(Run(pair.schedule)), pair.target, pair.source
    iterated = fit_iterated(system, [target.train], [source.train], target.dev, predict_self, rounds, [source.dev])
    found = adaptation(pair, cache)
    for each in iterated.rounds:
        training = found.transformed(Way(each.number, predict_self.choices[0], predict_self.filter))
        assert found.dev_score(training) == pytest.approx(each.score, abs=1e-12)


def test_cells_have_trees_without_text(cache: Cache) -> None:
    pair, cells = pair_of(), Cells(cache)
    for method in (BASELINE, SOURCE, MODEL_1, MODEL_2):
        found = cells(pair, method, 0)
        for part, gold in pair.gold.items():
            assert all(set(line) <= set("0123456789 ") for line in found[part])
            assert [len(line.split()) for line in found[part]] == [len(sentence) for sentence in gold]
        assert found["labels"] == 0
        assert len(found["history"]) == pair.schedule.iterations
    words = {form for sentence in pair.target.train for form in sentence.forms}
    for path in cache.folder.glob("*.json"):
        assert not any(f'"{word}' in path.read_text("utf-8") for word in words)


def test_gold_trees_are_not_looked_at(cache: Cache) -> None:
    pair = pair_of("parsing-french")
    text, own = pair.target.test, adaptation(pair, cache)
    flat = tree_lines.with_trees(text, [" ".join(["0"] * len(sentence)) for sentence in text], text.guideline)
    assert own.guided.found(flat) == own.guided.found(text)
    with_source = text.with_sentences(
        replace(a, heads={**a.heads, **b.heads}) for a, b in zip(text, pair.source.test, strict=True)
    )
    assert own.guided.found(with_source) == own.guided.found(text)
