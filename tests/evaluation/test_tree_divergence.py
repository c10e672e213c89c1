"""How trees of two guidelines meet: counted by hand, against plain enumeration, in tables and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.divergence import Divergence, TreeDivergence, counted_trees, head_positions
from tagweave.evaluation.divergence_page import page, summary, tables
from tagweave.evaluation.tables import tables_as_text
from tagweave.features import arc_templates

Rows = Sequence[tuple[str, Any]]


def corpus(name: str, *sentences: tuple[str, Rows | str]) -> Corpus:
    """Words, and `head:relation` of each; `?` for an unknown arc, `_` for an unknown head or relation, `|` between."""

    def arcs(text: str) -> tuple[Arc, ...] | None:
        if text == "?":
            return None
        pairs = (each.split(":") for each in text.split("|"))
        return tuple(Arc(None if head == "_" else int(head), None if rel == "_" else rel) for head, rel in pairs)

    found = []
    for number, (words, rows) in enumerate(sentences, 1):
        layer = tuple(arcs(text) for text in str(rows).split())
        found.append(Sentence(tuple(words.split()), heads={name: layer}, location=Location(f"{name}.conllu", number)))
    return Corpus(tuple(found), name, path=f"{name}.conllu")


UD = ("we sit in boats .", "2:nsubj 0:root 4:case 2:obl 2:punct")
SUD = ("we sit in boats .", "2:subj 0:root 2:udep 3:comp 2:punct")


def counts(found: Divergence) -> dict[tuple[str, str], int]:
    return {
        (tag, partner): int(found.counts[i, j])
        for i, tag in enumerate(found.tags)
        for j, partner in enumerate(found.partners)
        if found.counts[i, j]
    }


def test_function_words_that_become_heads() -> None:
    found = counted_trees(corpus("ud", UD), corpus("sud", SUD))
    there, back = found.heads
    for divergence, pairs in (
        (found.relations, "nsubj/subj root/root case/udep obl/comp punct/punct"),
        (there, "nsubj/same root/same case/reversed obl/grandparent punct/same"),
        (back, "subj/same root/same udep/grandparent comp/reversed punct/same"),
    ):
        assert counts(divergence) == {tuple(pair.split("/")): 1 for pair in pairs.split()}
    assert (found.same_heads.right, found.same_heads.total) == (3, 5)
    assert (found.same_arcs.right, found.same_arcs.total) == (2, 5)
    (context,) = there.examples["case", "reversed"]
    assert str(context) == "we sit [in] boats . (ud → boats, sud → sit)"
    assert context.source == "ud.conllu:1"
    assert str(there.examples["root", "same"][0]).endswith("(ud → root, sud → root)")


def naive_place(head: int, word: int, tree: Sequence[int]) -> str:
    """By the family of a word, going up from both ends."""
    up = [word, *naive_trees.ancestors(tree, word)]
    down = [head, *naive_trees.ancestors(tree, head)] if head else [0]
    meet = next(node for node in up if node in down)
    way = up.index(meet), down.index(meet)
    names = {(1, 0): "same", (0, 1): "reversed", (2, 0): "grandparent", (0, 2): "grandchild", (1, 1): "sibling"}
    names |= {(2, 1): "uncle", (1, 2): "nephew"}
    if way in names:
        return names[way]
    return "ancestor" if way[1] == 0 else "descendant" if way[0] == 0 else "other"


@settings(max_examples=100)
@given(st.integers(1, 5).flatmap(lambda n: st.tuples(*[st.sampled_from(naive_trees.trees(n, False, False))] * 2)))
def test_where_a_head_is_in_another_tree(trees: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    heads, tree = trees
    assert head_positions(heads, tree) == [naive_place(head, m, tree) for m, head in enumerate(heads, 1)]


def test_places_in_a_chain() -> None:
    """Every word but the first depends on the one before."""
    tree = [0, 1, 2, 3, 4]
    assert head_positions([5, 5, 5, 5, -1], tree) == ["descendant", "descendant", "grandchild", "reversed", ""]
    assert head_positions([0, 0, 0, 0, 1], tree) == ["same", "grandparent", "ancestor", "ancestor", "ancestor"]


def within(arcs: str, n: int) -> str:
    """With heads of a sentence of n words."""
    return "|".join(dict.fromkeys(f"{min(int(a[0]), n)}{a[1:]}" if a[0].isdigit() else a for a in arcs.split("|")))


ARC = st.sampled_from(["?", "_:a", "1:_", "0:a", "1:a", "2:b", "3:c", "0:a|1:b", "3:_|_:b"])


@settings(max_examples=60)
@given(st.lists(st.lists(st.tuples(ARC, ARC), min_size=1, max_size=4), min_size=1, max_size=3))
def test_whatever_is_known_of_the_arcs(sentences: list[list[tuple[str, str]]]) -> None:
    def side(which: int) -> list[tuple[str, str]]:
        return [
            (" ".join("abcd"[: len(rows)]), " ".join(within(row[which], len(rows)) for row in rows))
            for rows in sentences
        ]

    def one(text: str) -> tuple[str, str]:
        head, relation = text.split(":") if "|" not in text and text != "?" else ("_", "_")
        return head, relation

    first, second = corpus("x", *side(0)), corpus("y", *side(1))
    arcs = [
        (one(a), one(b))
        for (_, left), (_, right) in zip(side(0), side(1), strict=True)
        for a, b in zip(left.split(), right.split(), strict=True)
    ]
    heads = [(a, b) for (a, _), (b, _) in arcs if "_" not in (a, b)]
    if not heads:
        with pytest.raises(CorpusError, match="no token with one head of x and one of y"):
            counted_trees(first, second)
        return
    found = counted_trees(first, second)
    assert counts(found.relations) == Counter((a, b) for (_, a), (_, b) in arcs if "_" not in (a, b))
    assert (found.same_heads.right, found.same_heads.total) == (sum(a == b for a, b in heads), len(heads))
    whole = [(a, b) for a, b in arcs if "_" not in (*a, *b)]
    assert (found.same_arcs.right, found.same_arcs.total) == (sum(a == b for a, b in whole), len(whole))
    for divergence in found.directions():
        assert divergence.total + divergence.left_out == len(arcs)
    for divergence in found.heads:
        assert sum(c for (_, place), c in counts(divergence).items() if place == "same") == found.same_heads.right
        assert divergence.total <= len(heads)


def test_sentences_of_other_tokens_are_left_out() -> None:
    first = corpus("ud", ("a b", "0:r 1:x"), ("only here", "0:r 1:x"), ("a b", "2:x 0:r"))
    second = corpus("sud", ("du a", "0:r 1:x"), ("a b", "0:r 1:y"), ("a b", "2:z 0:r"), ("a b", "2:z 0:r"))
    found = counted_trees(first, second)
    assert (found.sentences, found.left_out) == (2, (1, 2))
    assert counts(found.relations) == {("r", "r"): 2, ("x", "y"): 1, ("x", "z"): 1}  # repeated ones in their order
    assert found.headlines()[0] == ("Sentences of ud and sud with the same tokens: 2; left out: 1 of ud, 2 of sud.")
    assert counted_trees(first, replace(first, guideline="sud").map(renamed)).left_out == (0, 0)


def renamed(sentence: Sentence) -> Sentence:
    return replace(sentence, heads={"sud": sentence.heads["ud"]})


def test_what_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = corpus("ud", UD), corpus("sud", SUD)
    with pytest.raises(CorpusError, match=r"ud.conllu: found the guideline 'ud' in ud.conllu as well"):
        counted_trees(first, first)
    bare = second.map(lambda sentence: replace(sentence, heads={}))
    with pytest.raises(CorpusError, match=r"sud.conllu: found no heads, expected a head layer"):
        counted_trees(first, bare)
    with pytest.raises(CorpusError, match=r"sud.conllu: found no token with one head of ud and one of sud"):
        counted_trees(first, corpus("sud", ("other words", "0:r 1:x")))
    monkeypatch.setattr(arc_templates, "LONGEST", 4)
    with pytest.raises(CorpusError, match=r"ud.conllu:1: found 5 tokens"):
        counted_trees(first, second)


def test_heads_that_go_round_in_a_circle_tell_nothing_of_places() -> None:
    found = counted_trees(corpus("a", ("x y z", "2:r 1:r 0:r")), corpus("b", ("x y z", "3:r 3:r 0:r")))
    assert counts(found.heads[0]) == {("r", "same"): 1, ("r", "sibling"): 2}
    assert counts(found.heads[1]) == {("r", "same"): 1}
    assert found.heads[1].left_out == 2


def test_trees_without_relations() -> None:
    found = counted_trees(corpus("a", ("x y", "0:_ 1:_")), corpus("b", ("x y", "2:q 0:q")))
    assert counts(found.relations) == {}
    assert counts(found.heads[0]) == {("_", "grandparent"): 1, ("_", "reversed"): 1}
    assert found.headlines()[1] == "The same head: 0.0 % of 2 tokens. The same head and relation: - of 0 tokens."
    assert "expected" not in rendered(found)


# Tables and the page


def rendered(found: TreeDivergence) -> str:
    return tables_as_text(lambda console: [console.print(item) for item in tables(found)], 140)


def test_tables_have_relations_and_heads_from_both_sides() -> None:
    found = counted_trees(
        corpus("ud", UD, UD, ("boats sit", "2:nsubj 0:root")),
        corpus("sud", SUD, SUD, ("boats sit", "0:root 1:comp")),
    )
    text = rendered(found)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[:6] == summary(found)
    assert lines[2] == "From ud to sud: 83.3 % of the tokens have their relation's usual partner."
    assert "reversed 33.3" in text
    assert "[sit] (ud → root, sud → boats)" in text


def test_what_stands_in_a_treebank_is_text() -> None:
    nasty = "<b>&amp;"
    found = counted_trees(corpus("a", (f"{nasty} x", f"2:{nasty} 0:r")), corpus("b", (f"{nasty} x", f"0:{nasty} 1:r")))
    assert nasty not in page(found)
    assert "&lt;b&gt;&amp;amp;" in page(found)
