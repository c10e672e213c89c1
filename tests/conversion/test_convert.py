"""Conversion between guidelines: what is given constrains, what comes out is the best that is left."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave import conversion as module
from tagweave.conversion import convert, review, sources
from tagweave.corpus import sample
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.labels.mapping import TagMapping, count_pairs
from tagweave.learning.run import Run, Schedule
from tagweave.models.cascades import GuidedEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.coupled import Coupling, fit_coupled, prepare_coupled
from tagweave.training.fit.fit import fit, prepare
from tagweave.training.fit.problem import fit_problem
from tagweave.training.fit.recipe import Recipe

EXACT = Recipe(precision="float64")
PAIRS = (("N", "n"), ("N", "vn"), ("V", "v"), ("V", "vn"), ("D", "d"))
MAPPING = TagMapping("ctb", "pd", dict.fromkeys(PAIRS, 1))
FORMS = ("a", "B", "Aa")


def corpus(guideline: str, *texts: str, **more: Any) -> Corpus:
    """Sentences `form/tag`: `?` is unknown, `N|V` a choice."""
    sentences = []
    for number, text in enumerate(texts, 1):
        pairs = [token.rsplit("/", 1) for token in text.split()]
        layer: Layer = tuple(None if tag == "?" else tuple(tag.split("|")) for _, tag in pairs)
        sentences.append(
            Sentence(tuple(form for form, _ in pairs), {guideline: layer}, location=Location("file", number))
        )
    return Corpus(tuple(sentences), guideline, path="file", **more)


TRAIN = (corpus("ctb", "a/N B/V Aa/D", "B/N a/V"), corpus("pd", "a/n B/vn Aa/d", "Aa/v a/vn"))


def random_model(seed: int) -> ChainModel:
    """A model of the bundles above, with weights of chance."""
    model = prepare_coupled(TRAIN, EXACT, Coupling((MAPPING,))).model
    return replace(model, weights=np.random.default_rng(seed).normal(size=model.parameters.size))


def weights_of(model: ChainModel, sentence: Sentence) -> dict[tuple[tuple[str, str], ...], float]:
    """The log weight of every sequence of bundles that the layers of a sentence allow."""
    space, found = model.space, {}
    bundles = [tuple(view.names[view.projection[y]] for view in space.sides) for y in range(len(space))]
    encoded = model.encoder.encode([sentence])
    for labels in product(range(len(space)), repeat=len(sentence)):
        tags = tuple(bundles[y] for y in labels)
        sides = zip(("ctb", "pd"), zip(*tags, strict=True), strict=True)
        if all(fits(sentence.layers.get(name), side) for name, side in sides):
            found[tags] = model.sequence_scores(encoded, np.array(labels, np.int32))[0]
    return found


def fits(layer: Layer | None, tags: tuple[str, ...]) -> bool:
    return layer is None or all(c is None or tag in c for c, tag in zip(layer, tags, strict=True))


SOME = st.lists(st.none() | st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True), min_size=3, max_size=3)


def layer_of(picks: list[list[int] | None], names: tuple[str, ...]) -> Layer:
    return tuple(pick and tuple(dict.fromkeys(names[i % len(names)] for i in pick)) for pick in picks)


# A model of bundles


@settings(max_examples=40)
@given(SOME, st.integers(0, 30), st.sampled_from([("ctb", "pd"), ("pd", "ctb")]))
def test_what_is_given_constrains_and_confidence_is_the_marginal(
    picks: list[list[int] | None], seed: int, sides: tuple[str, str]
) -> None:
    given_side, to = sides
    model = random_model(seed)
    layer = layer_of(picks, model.space.view(given_side).names)
    sentence = Sentence(FORMS, {given_side: layer})
    converted = convert(model, Corpus((sentence,), given_side, path="file"), to)
    assert (converted.guideline, converted.path) == (to, "file")
    (done,) = converted
    assert done.layers[given_side] == layer
    weights = weights_of(model, sentence)
    side = ("ctb", "pd").index(to)
    best = max(weights, key=lambda tags: weights[tags])
    assert done.layers[to] == tuple((tags[side],) for tags in best)
    total = math.fsum(map(math.exp, weights.values()))
    for at, (confidence, (tag,)) in enumerate(zip(done.confidence or (), done.layers[to], strict=True)):
        mass = math.fsum(math.exp(weight) for tags, weight in weights.items() if tags[at][side] == tag)
        assert confidence == pytest.approx(mass / total)


@settings(max_examples=25)
@given(SOME, SOME, st.integers(0, 30))
def test_what_the_target_already_says_stays(
    first: list[list[int] | None], second: list[list[int] | None], seed: int
) -> None:
    model = random_model(seed)
    layers = {name: layer_of(p, model.space.view(name).names) for name, p in (("ctb", first), ("pd", second))}
    sentence = Sentence(FORMS, layers, location=Location("file", 9))
    weights = weights_of(model, sentence)
    if not weights:
        with pytest.raises(CorpusError, match="file:9: found l"):
            convert(model, Corpus((sentence,), "pd"), "ctb")
        return
    (done,) = convert(model, Corpus((sentence,), "pd"), "ctb")
    assert fits(layers["ctb"], tuple(c[0] for c in done.layers["ctb"] if c))
    for given_tags, confidence in zip(layers["ctb"], done.confidence or (), strict=True):
        if given_tags is not None and len(given_tags) == 1:
            assert confidence == pytest.approx(1)
    assert max(done.confidence or ()) <= 1


@settings(max_examples=20)
@given(SOME, st.integers(0, 30), st.integers(1, 5))
def test_the_best_conversions(picks: list[list[int] | None], seed: int, k: int) -> None:
    model = random_model(seed)
    sentence = Sentence(FORMS, {"pd": layer_of(picks, model.space.view("pd").names)})
    found = ChainPredictor(model, guideline="ctb").k_best(sentence, k, "ctb")
    weights = weights_of(model, sentence)
    total = math.fsum(map(math.exp, weights.values()))
    for each in found:
        own = [w for tags, w in weights.items() if tuple(a for a, _ in tags) == each.labels]
        assert each.probability == pytest.approx(math.fsum(map(math.exp, own)) / total)
    assert len(found) == min(k, len({tuple(a for a, _ in tags) for tags in weights}))
    if all(c is not None and len(c) == 1 for c in sentence.layers["pd"]):  # each tag sequence is one label sequence
        (done,) = convert(model, Corpus((sentence,), "pd"), "ctb")
        assert found[0].labels == tuple(c[0] for c in done.layers["ctb"] if c)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_and_threads_do_not_show(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    model, source = random_model(3), corpus("pd", "a/n B/vn", "Aa/?", "B/d a/v|vn Aa/vn", "a/vn")
    whole = convert(model, source, "ctb")
    monkeypatch.setattr(module, "_BLOCK", 2)
    again = convert(model, source, "ctb", threads)
    assert [s.layers for s in again] == [s.layers for s in whole]
    np.testing.assert_allclose(
        [c for s in again for c in s.confidence or ()], [c for s in whole for c in s.confidence or ()]
    )


def test_empty_sentences_and_empty_corpora() -> None:
    model = random_model(0)
    assert convert(model, Corpus((), "pd"), "ctb") == Corpus((), "ctb")
    (done,) = convert(model, Corpus((Sentence((), {"pd": ()}),), "pd"), "ctb")
    assert (done.layers["ctb"], done.confidence) == ((), ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a/n B/zz", r"file:2: found label 'zz' is not one of the 4 of pd: d n v vn, expected labels of the model"),
        (
            "a/n B/v",
            r"file:2: found layers that exclude one another at token 2, 'B' \(ctb D, pd v\), expected a label that all",
        ),
    ],
)
def test_labels_that_are_unknown_or_contradict_the_bundles(text: str, found: str) -> None:
    source = corpus("pd", "a/n", text)
    second = source[1].with_layer("ctb", (None, ("D",)))
    with pytest.raises(CorpusError, match=found):
        convert(random_model(0), source.with_sentences([source[0], second]), "ctb")


def test_a_guideline_that_the_model_does_not_have() -> None:
    with pytest.raises(KeyError, match="no guideline 'ud' in this label space, only ctb, pd, ctb&pd"):
        convert(random_model(0), corpus("pd", "a/n"), "ud")


def test_labels_that_were_not_looked_for_are_open() -> None:
    """In a corpus in which only v was looked for, O may be any other tag: here every one but v."""
    pairs = {("N", "n"): 1, ("V", "v"): 1, ("N", "O"): 1, ("V", "O"): 1}
    train = corpus("ctb", "a/N a/V"), corpus("pd", "a/n a/v a/O")
    model = prepare_coupled(train, EXACT, Coupling((TagMapping("ctb", "pd", pairs),))).model
    model = replace(model, weights=np.random.default_rng(1).normal(size=model.parameters.size))
    plain, covered = corpus("pd", "a/O a/v"), corpus("pd", "a/O a/v", covered=("v",))
    before, after = convert(model, plain, "ctb"), convert(model, covered, "ctb")
    assert after.covered is None
    assert before[0].confidence != after[0].confidence
    assert after[0].layers["ctb"][1] == ("V",)


# Models of one guideline


def test_a_model_of_one_guideline_does_not_see_the_other() -> None:
    model = prepare([TRAIN[0]], EXACT).model
    model = replace(model, weights=np.random.default_rng(1).normal(size=model.parameters.size))
    source = corpus("pd", "a/n B/vn", "B/strange a/?")
    bare = source.map(lambda sentence: replace(sentence, layers={}))
    (one, two), (three, four) = convert(model, source, "ctb"), convert(model, bare, "ctb")
    assert (one.layers["ctb"], one.confidence) == (three.layers["ctb"], three.confidence)
    assert (two.layers["ctb"], two.confidence) == (four.layers["ctb"], four.confidence)
    assert two.layers["pd"] == source[1].layers["pd"]


def test_a_guide_sees_the_layer_that_is_given() -> None:
    """The features are the guide's tags alone, so the conversion follows the layer tag by tag."""
    guide = fit([corpus("pd", "a/n B/v", "B/v a/n")], EXACT, run=Run(Schedule(3))).model
    texts = ("a/N B/V", "B/V a/N", "a/N a/N")
    encoder = GuidedEncoder(TemplateEncoder(Templates(("user:guide:pd[0]",))), guide)
    model = fit_with(encoder, corpus("ctb", *texts))
    source = corpus("pd", "a/v B/n", "a/n B/v")
    assert sources(model, "ctb") == ("pd",)
    crossed, straight = convert(model, source, "ctb")
    assert crossed.layers["ctb"] == (("V",), ("N",))
    assert straight.layers["ctb"] == (("N",), ("V",))


def fit_with(encoder: Any, target: Corpus) -> ChainModel:
    recipe = replace(EXACT, transitions=False, edges=False)
    return fit_problem(prepare([target], recipe, encoder=encoder), recipe, run=Run(Schedule(20))).model


def test_the_guidelines_that_help() -> None:
    model = random_model(0)
    assert sources(model, "ctb") == ("pd",)
    assert sources(model, "pd") == ("ctb",)
    assert sources(prepare([TRAIN[0]], EXACT).model, "ctb") == ()


# What a person should look at


def test_the_least_sure_tokens_come_first() -> None:
    model = random_model(5)
    source = corpus("pd", "a/n B/vn Aa/vn", "Aa/? a/vn B/d", "B/vn")
    converted = convert(model, source, "ctb")
    found = review(model, source, converted, 3)
    every = sorted((c, s, t) for s, each in enumerate(converted) for t, c in enumerate(each.confidence or ()))
    assert [item.probability for item in found] == [c for c, _, _ in every[:3]]
    for item, (_, s, t) in zip(found, every, strict=False):
        assert (item.context.word, item.context.position) == (source[s].forms[t], t + 1)
        assert item.context.location == Location("file", s + 1)
        assert item.given == source[s].layers["pd"][t]
        assert (item.chosen,) == converted[s].layers["ctb"][t]
        rest = [probability for _, probability in item.alternatives]
        assert rest == sorted(rest, reverse=True)
        assert item.chosen not in dict(item.alternatives)
        assert item.probability + sum(rest) == pytest.approx(1)


def test_alternatives_are_those_that_the_given_tag_leaves() -> None:
    model, source = random_model(5), corpus("pd", "a/vn B/d Aa/?")
    found = {item.context.word: item for item in review(model, source, convert(model, source, "ctb"), 9)}
    assert {found["a"].chosen, *dict(found["a"].alternatives)} == {"N", "V"}
    assert (found["B"].chosen, found["B"].alternatives) == ("D", ())
    assert {found["Aa"].chosen, *dict(found["Aa"].alternatives)} == {"D", "N", "V"}


def test_tokens_that_the_corpus_settles_are_not_reviewed() -> None:
    model, source = random_model(5), corpus("pd", "a/vn B/vn Aa/vn c/vn")
    settled = source.map(lambda s: s.with_layer("ctb", (("N",), None, ("N", "V"), ("!D",))))
    found = review(model, settled, convert(model, settled, "ctb"), 9)
    assert {item.context.word for item in found} == {"B", "Aa", "c"}


def test_equally_sure_tokens_come_in_the_order_of_the_corpus() -> None:
    model = random_model(5)
    model = replace(model, weights=np.zeros_like(model.weights))
    source = corpus("pd", "B/vn a/vn", "Aa/vn")
    found = review(model, source, convert(model, source, "ctb"), 3)
    assert [item.context.word for item in found] == ["B", "a", "Aa"]
    assert review(model, source, convert(model, source, "ctb"), 0) == []


# Corpora with both annotations


def test_the_pd_tags_help_to_find_the_ctb_tags() -> None:
    """On sentences with both annotations, against a model that ignores the given side (li-2015, table 5)."""
    both = load(f"ctb={sample.path('both.tsv')}#ctb")
    train = load(f"ctb={sample.path('ctb.txt')}"), load(f"pd={sample.path('pd.txt')}")
    mapping = count_pairs("ctb", "pd", both)
    coupled, baseline = accuracies(train, mapping, both)
    assert coupled > baseline + 0.02
    assert coupled > 0.85


def accuracies(train: tuple[Corpus, Corpus], mapping: TagMapping, both: Corpus) -> list[float]:
    """How well the target's tags are found from the source's, by a coupled model and by one of the target alone."""
    target, source = train
    coupled = fit_coupled(train, Recipe(), Coupling((mapping,)), run=Run(Schedule(4))).model
    baseline = fit([target], Recipe(), run=Run(Schedule(4))).model
    given_side = only(both, source.guideline, 0, len(both))
    return [accuracy(both, convert(model, given_side, target.guideline)) for model in (coupled, baseline)]


def only(corpus: Corpus, guideline: str, start: int, stop: int) -> Corpus:
    """A part of the sentences with one layer and no column."""
    sentences = (
        replace(sentence, layers={guideline: sentence.layers[guideline]}, columns={})
        for sentence in corpus.sentences[start:stop]
    )
    return replace(corpus, sentences=tuple(sentences), guideline=guideline)


def accuracy(gold: Corpus, system: Corpus) -> float:
    layers = ((a.layers[gold.guideline], b.layers[gold.guideline]) for a, b in zip(gold, system, strict=True))
    pairs = [pair for one, other in layers for pair in zip(one, other, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


_ROWS = [("ab", "NN"), ("cb", "VV"), ("ab", "VV"), ("d", "NN")]
SOFT_TRAIN = Corpus(tuple(Sentence((form, "d"), {"g": ((tag,), ("NN",))}) for form, tag in _ROWS), "g")


def test_soft_labels_are_marginals_with_the_best_in_front() -> None:
    model = fit([SOFT_TRAIN], Recipe()).model
    text = Corpus((Sentence(("ab", "d")), Sentence(("x",))), "h")
    soft, hard = convert(model, text, "g", soft=True), convert(model, text, "g")
    tables = ChainPredictor(model).probabilities(text.sentences)
    for sentence, plain, table in zip(soft, hard, tables, strict=True):
        assert sentence.confidence is None
        for candidates, best, row in zip(sentence.layers["g"], plain.layers["g"], table, strict=True):
            assert isinstance(candidates, Soft) and best is not None and candidates[0] == best[0]
            own = dict(zip(candidates, candidates.numbers, strict=True))
            np.testing.assert_allclose([own.get(name, 0) for name in model.space.names], row, atol=6e-5)


@pytest.mark.parametrize("learner", ["adagrad", "lbfgs"])
def test_a_model_learns_the_probabilities_that_it_is_given(learner: str) -> None:
    soft = Corpus(tuple(Sentence(("w",), {"g": (Soft(("A", "B"), (0.8, 0.2)),)}) for _ in range(20)), "g")
    settings = {"c2": 1e-6} if learner == "lbfgs" else {}
    model = fit([soft], Recipe(learner=learner, settings=settings, precision="float64")).model
    (table,) = ChainPredictor(model).probabilities([Sentence(("w",))])
    assert table[0, model.space.names.index("A")] == pytest.approx(0.8, abs=0.03)
    alike = fit([soft], Recipe(learner=learner, settings=settings, precision="float64", soft_labels="likelihood")).model
    (collapsed,) = ChainPredictor(alike).probabilities([Sentence(("w",))])
    assert collapsed[0, 0] > 0.9
