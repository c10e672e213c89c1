"""Attachment scores against those of CoNLL 2018, worked out from their definition, over texts in CoNLL-U.

Definition (Zeman et al. 2018, section 5): the characters of the text without blanks are numbered; a word has those of
its token. A right arc is a pair of aligned words with aligned heads, or both without a head; for LAS with the same
relation up to the colon. Precision is over the words of the system, recall over those of the gold standard.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import read
from tagweave.evaluation.attachment import attachment

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


def corpus(lines: list[str]) -> Corpus:
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
    scores = attachment(corpus(gold), corpus(system), relations="full" if full else "universal")
    assert (scores.heads.right, scores.arcs.right) in expected(ours, theirs, full)
    for each in (scores.heads, scores.arcs):
        assert (each.gold, each.system) == (len(ours), len(theirs))


def table(*rows: str) -> list[str]:
    """Lines of CoNLL-U from number, form, head and relation."""
    return [*("\t".join([*row.split()[:2], *"____", *row.split()[2:], "_", "_"]) for row in rows), ""]


def test_a_multiword_token_that_the_system_did_not_split() -> None:
    gold = table("1-2 du _ _", "1 de 3 case", "2 le 3 det", "3 port 0 root", "3.1 gone _ _")
    system = table("1 du 2 case", "2 port 0 root")
    scores = attachment(corpus(gold), corpus(system))
    assert (scores.heads.right, scores.heads.gold, scores.heads.system) == (1, 3, 2)
    assert scores.arcs.f == pytest.approx(2 * 1 / 5)


def test_the_same_words_need_not_be_the_same_text() -> None:
    words = ("1 de 2 case", "2 le 0 root")
    assert attachment(corpus(table("1-2 du _ _", *words)), corpus(table(*words))).heads.f == 1.0
