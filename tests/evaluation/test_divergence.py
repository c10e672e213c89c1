"""How the tags of two guidelines meet: counted, and expected by a model, against plain enumeration."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation import divergence_counts as module
from tagweave.evaluation.divergence import Divergence
from tagweave.evaluation.divergence_counts import counted, expected, same_sentences
from tagweave.labels.mapping import TagMapping
from tagweave.models.chain import ChainModel
from tagweave.training.cascades.coupled import Coupling, prepare_coupled
from tagweave.training.fit.recipe import Recipe

TAGS = st.sampled_from([None, ("A",), ("B",), ("C",), ("A", "B"), ("!A",)])
PARTNERS = st.sampled_from([None, ("x",), ("y",), ("x", "y")])
WORDS = st.lists(st.tuples(st.sampled_from("pqr"), TAGS, PARTNERS), max_size=6)


def corpora(sentences: list[list[tuple[str, Any, Any]]]) -> tuple[Corpus, Corpus]:
    """The same words twice, each time under one guideline."""
    first, second = (
        Corpus(
            tuple(
                Sentence(tuple(w[0] for w in words), {name: tuple(w[side] for w in words)}, location=Location(name, n))
                for n, words in enumerate(sentences, 1)
            ),
            name,
            path=name,
        )
        for side, name in enumerate(("one", "two"), 1)
    )
    return first, second


def table(divergence: Divergence) -> dict[tuple[str, str], float]:
    return {
        (tag, partner): float(divergence.counts[i, j])
        for i, tag in enumerate(divergence.tags)
        for j, partner in enumerate(divergence.partners)
        if divergence.counts[i, j]
    }


# Counted


@settings(max_examples=50)
@given(st.lists(WORDS, max_size=4))
def test_pairs_are_counted_where_both_sides_have_one_tag(sentences: list[list[tuple[str, Any, Any]]]) -> None:
    words = [word for words in sentences for word in words]
    naive = Counter((a[0], b[0]) for _, a, b in words if a and b and len(a) == len(b) == 1 and not a[0].startswith("!"))
    first, second = corpora(sentences)
    if not naive:
        with pytest.raises(CorpusError, match="one: found no token with labels of one and two, expected corpora"):
            counted(first, second)
        return
    found = counted(first, second)
    assert table(found) == naive
    assert found.total + found.left_out == len(words)
    assert (found.first, found.second, found.expected) == ("one", "two", False)
    for tag in found.tags:
        partners = found.partners_of(tag)
        total = sum(count for (a, _), count in naive.items() if a == tag)
        assert [p.count for p in partners] == sorted((c for (a, _), c in naive.items() if a == tag), reverse=True)
        assert all(p.share == pytest.approx(naive[tag, p.partner] / total) for p in partners)
        assert [p.usual for p in partners] == [True, *[False] * (len(partners) - 1)]
        bits = -sum(p.share * math.log2(p.share) for p in partners)
        assert found.entropies[found.tags.index(tag)] == pytest.approx(bits)
    turned = found.swapped()
    assert table(turned) == {(b, a): count for (a, b), count in naive.items()}
    assert table(turned.swapped()) == table(found)
    assert found.predictable == pytest.approx(
        sum(max(c for (a, _), c in naive.items() if a == tag) for tag in found.tags) / found.total
    )


def line(text: str) -> list[tuple[str, Any, Any]]:
    """`word/TAG/partner`; `?` is unknown."""
    rows = (token.split("/") for token in text.split())
    return [(word, *(None if tag == "?" else (tag,) for tag in tags)) for word, *tags in rows]


def test_every_pair_has_words_in_context() -> None:
    found = counted(*corpora([line("a/N/n run/N/vn b/V/v"), line("run/N/vn c/N/n"), line("run/V/v")]))
    (pair,) = found.unexpected()
    assert (pair.tag, pair.partner, pair.count, pair.share) == ("N", "vn", 2, 0.5)
    (context,) = pair.examples
    assert (str(context), context.source) == ("a [run] b", "one:1")
    assert found.swapped().partners_of("vn")[0].examples == (context,)


def test_words_that_speak_for_a_pair_come_first() -> None:
    """`plan` is always N/vn; `run` is so as often, but has other pairs too; `once` is so once."""
    rows = ["plan/N/vn plan/N/vn run/N/vn run/N/vn once/N/vn", "run/V/v run/V/v run/V/v x/N/n y/N/n z/N/n"]
    pair, _ = counted(*corpora([line(row) for row in rows])).partners_of("N")
    assert [context.word for context in pair.examples] == ["plan", "once", "run"]
    (pair,) = counted(*corpora([line(" ".join(f"w{i}/N/n w{i}/N/n" for i in range(20)))])).partners_of("N")
    assert [context.word for context in pair.examples] == ["w0", "w1", "w10", "w11", "w12"]
    assert {context.position for context in pair.examples} == {1, 3, 21, 23, 25}


def test_tags_that_diverge_most_come_first() -> None:
    rows = ["a/A/x a/A/y", *["b/B/x b/B/x b/B/x b/B/y"] * 3, "c/C/z c/C/z c/C/z c/C/z", "d/D/z"]
    found = counted(*corpora([line(row) for row in rows]))
    assert found.diverging() == ("B", "A", "C", "D")
    assert [(p.tag, p.partner) for p in found.unexpected()] == [("B", "y"), ("A", "y")]
    np.testing.assert_array_equal(found.entropies[2:], [0, 0])


def test_other_words_or_two_corpora_of_one_guideline() -> None:
    first, second = corpora([line("a/A/x b/A/x")])
    other = corpora([line("a/A/x c/A/x")])[1]
    assert same_sentences(first, second)
    assert not same_sentences(first, other)
    assert not same_sentences(first, second.with_sentences(()))
    with pytest.raises(CorpusError, match="two:1: found 'c' from character 2"):
        counted(first, other)
    with pytest.raises(CorpusError, match="found the guideline 'one' in one as well, expected another one"):
        counted(first, first)
    with pytest.raises(CorpusError, match="one: found a corpus of characters, expected words with tags"):
        counted(replace(first, unit="character"), second)


# Expected by a model

PAIRS = (("N", "n"), ("N", "vn"), ("V", "v"), ("V", "vn"), ("D", "d"))
SOME = st.lists(st.none() | st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True), min_size=1, max_size=3)


def model(seed: int) -> ChainModel:
    train = [
        Corpus((Sentence(tuple("abc"), {"ctb": (("N",), ("V",), ("D",))}),), "ctb"),
        Corpus((Sentence(tuple("abca"), {"pd": (("n",), ("v",), ("d",), ("vn",))}),), "pd"),
    ]
    mapping = TagMapping("ctb", "pd", dict.fromkeys(PAIRS, 1))
    untrained = prepare_coupled(train, Recipe(precision="float64"), Coupling((mapping,))).model
    return replace(untrained, weights=np.random.default_rng(seed).normal(size=untrained.parameters.size))


def side(chain: ChainModel, name: str, sentences: list[list[list[int] | None]]) -> Corpus:
    names = chain.space.view(name).names
    rows = []
    for picks in sentences:
        layer: Layer = tuple(p and tuple(dict.fromkeys(names[i % len(names)] for i in p)) for p in picks)
        rows.append(Sentence(tuple("abc")[: len(picks)], {name: layer}))
    return Corpus(tuple(rows), name, path=name)


def naive_expectations(chain: ChainModel, corpus: Corpus) -> Counter[tuple[str, str]]:
    """The sum over known tokens of the posterior of every pair, by enumeration."""
    space, found = chain.space, Counter[tuple[str, str]]()
    pairs = [tuple(view.names[view.projection[y]] for view in space.sides) for y in range(len(space))]
    at_side = ("ctb", "pd").index(corpus.guideline)
    for sentence in corpus:
        layer, encoded = sentence.layers[corpus.guideline], chain.encoder.encode([sentence])
        weights = {
            labels: math.exp(chain.sequence_scores(encoded, np.array(labels, np.int32))[0])
            for labels in product(range(len(space)), repeat=len(sentence))
            if all(c is None or pairs[y][at_side] in c for c, y in zip(layer, labels, strict=True))
        }
        total = math.fsum(weights.values())
        for labels, weight in weights.items():
            for candidates, y in zip(layer, labels, strict=True):
                if candidates is not None:
                    found[pairs[y]] += weight / total
    return found


@settings(max_examples=25)
@given(st.lists(SOME, min_size=1, max_size=3), st.lists(SOME, min_size=1, max_size=3), st.integers(0, 30))
def test_expected_counts_are_sums_of_posteriors(one: list[Any], other: list[Any], seed: int) -> None:
    chain = model(seed)
    first, second = side(chain, "ctb", one), side(chain, "pd", other)
    naive = naive_expectations(chain, first) + naive_expectations(chain, second)
    if not naive:
        with pytest.raises(CorpusError, match="found no token with labels of ctb and pd"):
            expected(chain, first, second)
        return
    found = expected(chain, first, second)
    assert found.expected
    assert table(found).keys() <= set(PAIRS)
    for pair, count in naive.items():
        assert table(found)[pair] == pytest.approx(count)
    unknown = sum(position is None for picks in (*one, *other) for position in picks)
    assert found.left_out == unknown
    assert found.total == pytest.approx(sum(map(len, (*one, *other))) - unknown)
    assert all(p.examples for p in found.unexpected() if p.share > 0.99)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_threads_and_the_order_of_the_corpora_do_not_show(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    chain = model(2)
    first, second = side(chain, "ctb", [[[0], [1]], [[2]], [[1], None]]), side(chain, "pd", [[[3], [0], [1]], [[3]]])
    whole = table(expected(chain, first, second))
    monkeypatch.setattr(module, "_BLOCK", 1)
    assert table(expected(chain, first, second, threads)) == pytest.approx(whole)
    assert table(expected(chain, second, first).swapped()) == pytest.approx(whole)


def test_examples_come_from_both_corpora_where_the_pair_is_most_probable() -> None:
    chain = model(1)
    first, second = side(chain, "ctb", [[[2]]]), side(chain, "pd", [[[3], [0]]])
    found = expected(chain, first, second)
    words = {context.word for p in found.partners_of("D") for context in p.examples}
    assert words == {"b"}  # of the corpus of pd: `d`, which has one partner
    assert {context.word for pair in found.examples.values() for context in pair} == {"a", "b"}


def test_guidelines_and_labels_that_the_model_does_not_know() -> None:
    chain = model(1)
    first = side(chain, "ctb", [[[0]]])
    with pytest.raises(KeyError, match="no guideline 'ud'"):
        expected(chain, first, replace(first, guideline="ud"))
    strange = Corpus((Sentence(("a",), {"pd": (("zz",),)}, location=Location("file", 7)),), "pd")
    with pytest.raises(CorpusError, match="file:7: found label 'zz'"):
        expected(chain, first, strange)
