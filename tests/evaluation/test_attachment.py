"""Attachment scores: what is right and what is scored, by hand, and by the definition of CoNLL 2018 over CoNLL-U.

Definition (Zeman et al. 2018, section 5): the characters of the text without blanks are numbered; a word has those of
its token. A right arc is a pair of aligned words with aligned heads, or both without a head; for LAS with the same
relation up to the colon. Precision is over the words of the system, recall over those of the gold standard.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from io import StringIO
from itertools import combinations, product
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import read
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.attachment import Relations, attachment, is_punctuation
from tagweave.evaluation.report import evaluate
from treebank import sentence, treebank, with_evidence


def corpus(*sentences: Sentence) -> Corpus:
    return Corpus(tuple(sentences), "head")


GOLD = sentence("DNVP", [2, 3, 0, 3])


def test_heads_relations_and_whole_trees() -> None:
    other = with_evidence(GOLD, (Arc(2, "det"),), (Arc(4, "obj"),), (Arc(0, "strange"),), (Arc(3, "punct"),))
    scores = attachment(corpus(GOLD, GOLD), corpus(other, GOLD))
    assert (scores.heads.right, scores.heads.gold, scores.heads.system) == (7, 8, 8)
    assert (scores.arcs.right, scores.arcs.gold) == (6, 8)
    assert (scores.trees.right, scores.trees.total) == (1, 2)
    assert scores.head_counts.tolist() == [[3, 4, 4], [4, 4, 4]]
    assert scores.relations["obj"].to_json() == {"value": 0.5, "right": 1, "total": 2}
    assert (scores.tags["N < V"].right, scores.tags["V < ROOT"].total) == (1, 2)


def test_a_head_of_several_candidate_tags_counts_as_none() -> None:
    gold = Sentence(GOLD.forms, {"upos": (("D",), ("N", "V"), ("V",), ("P",))}, heads=GOLD.heads)
    assert set(attachment(corpus(gold), corpus(GOLD)).tags) == {"D < _", "_ < V", "V < ROOT", "P < V"}


def test_punctuation_can_be_left_out() -> None:
    wrong = with_evidence(GOLD, *GOLD.heads["head"][:3], (Arc(1, "punct"),))
    assert attachment(corpus(GOLD), corpus(wrong)).heads.f == 0.75
    without = attachment(corpus(GOLD), corpus(wrong), punctuation=False)
    assert (without.heads.right, without.heads.gold, without.heads.system, without.trees.value) == (3, 3, 3, 1.0)


@pytest.mark.parametrize(("form", "expected"), [("。", True), ("...", True), ("a.", False), ("$", False), ("", False)])
def test_what_punctuation_is(form: str, expected: bool) -> None:
    assert is_punctuation(form) is expected


def test_gold_that_is_not_full() -> None:
    gold = with_evidence(GOLD, None, (Arc(3, "obj"), Arc(1, "det")), (Arc(0, None),), (Arc(None, "punct"),))
    right = attachment(corpus(gold), corpus(with_evidence(GOLD, None, (Arc(1, "det"),), (Arc(0, "x"),), None)))
    assert (right.heads.right, right.heads.gold, right.unscored) == (2, 2, 2)
    assert (right.arcs.right, right.arcs.gold) == (1, 1)  # the relation of the root is unknown
    mixed = attachment(corpus(gold), corpus(with_evidence(GOLD, None, (Arc(1, "obj"),), (Arc(0, "x"),), None)))
    assert (mixed.heads.right, mixed.arcs.right) == (2, 0)  # a head of one candidate, a relation of the other


@pytest.mark.parametrize(("relations", "right"), [("universal", 3), ("full", 2)])
def test_subtypes_count_only_where_they_are_asked_for(relations: Relations, right: int) -> None:
    gold = with_evidence(GOLD, (Arc(2, "det"),), (Arc(3, "nsubj:pass"),), (Arc(0, "root"),), (Arc(3, "punct"),))
    other = with_evidence(GOLD, (Arc(2, "det"),), (Arc(3, "nsubj"),), (Arc(0, "root"),), (Arc(3, "p"),))
    scores = attachment(corpus(gold), corpus(other), relations=relations)
    assert scores.arcs.right == right
    assert set(scores.relations) == {"det", "root", "punct", "nsubj" if relations == "universal" else "nsubj:pass"}


def test_nothing_to_score_is_undefined() -> None:
    unknown = with_evidence(GOLD, None, None, None, None)
    scores = attachment(corpus(unknown), corpus(GOLD))
    assert math.isnan(scores.heads.f)
    assert scores.to_json()["uas"]["value"] is None
    assert scores.trees.total == 0


def test_other_tokens_and_missing_layers() -> None:
    with pytest.raises(CorpusError, match="expected"):
        attachment(corpus(GOLD), corpus(sentence("DNV", [2, 3, 0])))
    with pytest.raises(CorpusError, match="found no heads"):
        attachment(corpus(GOLD), corpus(Sentence(GOLD.forms)))


def test_systems_are_compared() -> None:
    gold = treebank(30)
    broken = [
        with_evidence(each, *(tuple(Arc(1 if m > 1 else 2, "x") for _ in "x") for m in range(1, len(each) + 1)))
        for each in gold
    ]
    report = evaluate(corpus(*gold), {"good": corpus(*gold), "bad": corpus(*broken)})
    assert report.to_json()["systems"]["good"]["uas"]["value"] == 1
    assert [(each.second, each.metric) for each in report.comparisons] == [("bad", "UAS"), ("bad", "LAS")]
    assert all(max(each.randomisation, each.wilcoxon) < 0.01 for each in report.comparisons)
    assert set(report.to_json()["systems"]["bad"]) >= {"uas", "las", "exact", "relations", "tags"}
    stream = StringIO()
    report.render(Console(file=stream, width=100))
    assert "UAS" in stream.getvalue()
    assert "100.00" in stream.getvalue()


@pytest.mark.parametrize(
    ("heads", "crosses"),
    [([2, 3, 0, 3], False), ([3, 4, 0, 3], True), ([3, 4, None, None], True), ([3, None, 0, 3], False)],
)
def test_gold_trees_whose_arcs_cross_are_counted(heads: list[int | None], crosses: bool) -> None:
    gold = with_evidence(GOLD, *(None if head is None else (Arc(head, "x"),) for head in heads))
    assert attachment(corpus(gold, GOLD), corpus(GOLD, GOLD)).to_json()["crossing"] == crosses


RELATIONS = ("nsubj", "nsubj:pass", "obj", "acl", "acl:relcl")
TEXTS = ("a", "ab", "Ab", "b", "abab", "ba")


class Word(NamedTuple):
    form: str
    characters: frozenset[int]
    is_of_multiword: bool
    head: int
    relation: str


def rows(rng: random.Random, text: str) -> list[str]:
    """A sentence over a text as lines of CoNLL-U: tokens of one to three letters, one in three of several words."""
    tokens: list[tuple[str, list[str]]] = []
    while text:
        size = rng.randint(1, 3)
        surface, text = text[:size], text[size:]
        words = [rng.choice(TEXTS) for _ in range(rng.randint(2, 3))] if rng.random() < 0.35 else [surface]
        tokens.append((surface, words))
    total = sum(len(words) for _, words in tokens)
    lines, number = [], 0
    for surface, words in tokens:
        if len(words) > 1:
            lines.append("\t".join([f"{number + 1}-{number + len(words)}", surface, *"________"]))
        for word in words:
            number += 1
            head = rng.choice([other for other in range(total + 1) if other != number])
            form = " ".join(word) if rng.random() < 0.1 else word  # a blank inside a word is no text
            lines.append("\t".join([str(number), form, *"____", str(head), rng.choice(RELATIONS), "_", "_"]))
            if rng.random() < 0.2:
                lines.append("\t".join([f"{number}.1", "gone", *"________"]))
    return [*lines, ""]


def words_of(lines: list[str]) -> list[Word]:
    found, at, end, covered = [], 0, 0, (0, range(0))
    for line in lines:
        number, form, *_, head, relation, _, _ = line.split("\t") if line else ["."] * 10
        letters = form.replace(" ", "")
        if "." in number:
            continue
        if "-" in number:
            covered, end = (int(number.split("-")[1]), range(end, end + len(letters))), end + len(letters)
            continue
        at += 1
        inside = at <= covered[0]
        own = covered[1] if inside else range(end, end + len(letters))
        end = max(end, own.stop)
        found.append(Word(form, frozenset(own), inside, int(head), relation))
    return found


def alignments(gold: list[Word], system: list[Word]) -> Iterator[dict[int, int]]:
    """All that the definition leaves: a longest common subsequence need not be the only one."""
    left = {word.characters for word in (*gold, *system) if word.is_of_multiword}
    found = {g: s for g, one in enumerate(gold) for s, other in enumerate(system) if one.characters == other.characters}
    choices = []
    while left:
        letters = left.pop()
        while overlapping := {each for each in left if each & letters}:
            letters, left = letters.union(*overlapping), left - overlapping
        ours, theirs = ([at for at, word in enumerate(words) if word.characters <= letters] for words in (gold, system))
        found = {g: s for g, s in found.items() if g not in ours}
        choices.append(common([(g, gold[g].form.lower()) for g in ours], [(s, system[s].form.lower()) for s in theirs]))
    for chosen in product(*choices):
        yield {**found, **{g: s for links in chosen for g, s in links.items()}}


def common(ours: list[tuple[int, str]], theirs: list[tuple[int, str]]) -> list[dict[int, int]]:
    """The longest common subsequences, all of them."""
    for size in range(min(len(ours), len(theirs)), 0, -1):
        found = [
            {g: s for (g, _), (s, _) in zip(one, other, strict=True)}
            for one in combinations(ours, size)
            for other in combinations(theirs, size)
            if [form for _, form in one] == [form for _, form in other]
        ]
        if found:
            return found
    return [{}]


def expected(gold: list[Word], system: list[Word], full: bool) -> Iterator[tuple[int, int]]:
    """Right heads and right arcs, for every alignment."""
    for links in alignments(gold, system):
        heads = {g + 1: s + 1 for g, s in links.items()} | {0: 0}
        right = [(gold[g], system[s]) for g, s in links.items() if heads.get(gold[g].head) == system[s].head]
        names = [[each.relation if full else each.relation.split(":")[0] for each in pair] for pair in right]
        yield len(right), sum(one == other for one, other in names)


def of_rows(lines: list[str]) -> Corpus:
    return Corpus(tuple(read(lines)), "head")


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 100_000), st.booleans(), st.booleans())
def test_scores_are_those_of_the_definition(seed: int, full: bool, same_words: bool) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choice("abAB") for _ in range(rng.randint(1, 9)))
    gold, system = rows(rng, text), rows(rng, text)
    if same_words:
        swap = random.Random(seed + 1)
        system = [
            "\t".join([*each[:7], swap.choice(RELATIONS), *each[8:]]) if len(each) == 10 and each[0].isdigit() else line
            for line in gold
            for each in [line.split("\t")]
        ]
    ours, theirs = words_of(gold), words_of(system)
    scores = attachment(of_rows(gold), of_rows(system), relations="full" if full else "universal")
    assert (scores.heads.right, scores.arcs.right) in expected(ours, theirs, full)
    for each in (scores.heads, scores.arcs):
        assert (each.gold, each.system) == (len(ours), len(theirs))


def table(*rows: str) -> list[str]:
    """Lines of CoNLL-U from number, form, head and relation."""
    return [*("\t".join([*row.split()[:2], *"____", *row.split()[2:], "_", "_"]) for row in rows), ""]


def test_a_multiword_token_that_the_system_did_not_split() -> None:
    gold = table("1-2 du _ _", "1 de 3 case", "2 le 3 det", "3 port 0 root", "3.1 gone _ _")
    system = table("1 du 2 case", "2 port 0 root")
    scores = attachment(of_rows(gold), of_rows(system))
    assert (scores.heads.right, scores.heads.gold, scores.heads.system) == (1, 3, 2)
    assert scores.arcs.f == pytest.approx(2 * 1 / 5)


def test_the_same_words_need_not_be_the_same_text() -> None:
    words = ("1 de 2 case", "2 le 0 root")
    assert attachment(of_rows(table("1-2 du _ _", *words)), of_rows(table(*words))).heads.f == 1.0
