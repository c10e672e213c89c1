"""Attachment scores of parses: UAS, LAS and whole trees, also by relation and by the tags of head and modifier.

LAS follows Universal Dependencies (Zeman et al. 2018), which compares relations without their subtypes (`acl` of
`acl:relcl`); they can also be compared in full. Scores are F over the aligned words of gold standard and system
(`aligned_words`); if both have the same words, that is the share of right words.

A gold position with several candidates is right if the system has one of them; an unknown one is not scored. A system
that gives a word no head, or several, is wrong there. LAS is over words whose gold head and relation are known.
Punctuation counts, but can be left out: words that consist of Unicode punctuation, as in the CoNLL-X evaluation.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tagweave.corpus.sentence import Arc
from tagweave.errors import CorpusError
from tagweave.evaluation.alignment import aligned_words, check_surfaces
from tagweave.evaluation.score import Counts, Measure, Result, Score, Share, f_of_counts, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import ArcCandidates, Sentence

Relations = Literal["universal", "full"]
"""Whether relations are compared without their subtypes, or in full."""

_TAGS = ("xpos", "upos")


@dataclass(frozen=True, slots=True)
class Attachment(Result):
    """How well a system parses."""

    heads: Score  # words with the right head (UAS)
    arcs: Score  # words with the right head and relation (LAS)
    trees: Share  # sentences whose scored words all have the right head
    unscored: int  # words whose gold head is unknown
    crossing: int  # sentences whose gold arcs cross, so that no projective tree has them
    relations: dict[str, Share]  # for each gold relation, its words with the right head
    tags: dict[str, Share]  # for each pair `modifier < head` of gold tags, its words with the right head
    # head_counts, arc_counts: int64[S, 3], right, gold and system words of each sentence
    head_counts: Counts = field(repr=False, compare=False)
    arc_counts: Counts = field(repr=False, compare=False)

    json_names: ClassVar = {"heads": "uas", "arcs": "las", "trees": "exact"}

    def measures(self) -> dict[str, Measure]:
        return {"UAS": Measure(self.head_counts, f_of_counts), "LAS": Measure(self.arc_counts, f_of_counts)}

    def to_json(self) -> dict[str, Any]:
        scores = {
            name: {"value": plain(score.f), "right": score.right, "total": score.gold, "system": score.system}
            for name, score in (("uas", self.heads), ("las", self.arcs))
        }
        return Result.to_json(self) | scores


def attachment(
    gold: Corpus, system: Corpus, punctuation: bool = True, relations: Relations = "universal"
) -> Attachment:
    """Score a system's head layer against a gold standard; their guidelines name the layers.

    Args:
        gold: the gold standard.
        system: the output for the same sentences, whose words may differ.
        punctuation: whether punctuation is scored.
        relations: how relations are compared.
    """
    check_surfaces(gold, system)
    for corpus in (gold, system):
        if not any(corpus.guideline in sentence.heads for sentence in corpus):
            raise CorpusError("no heads", f"a head layer {corpus.guideline!r}", corpus.path)
    tally = _Tally(punctuation, relations == "full")
    for one, other in zip(gold, system, strict=True):
        tally.add(one, arcs_of(one, gold.guideline), other, arcs_of(other, system.guideline))
    heads, arcs = (np.array(rows, np.int64).reshape(-1, 3) for rows in (tally.heads, tally.arcs))
    scored_heads = heads[heads[:, 1] > 0]
    return Attachment(
        Score(*heads.sum(axis=0).tolist()),
        Score(*arcs.sum(axis=0).tolist()),
        Share(int((scored_heads[:, 0] == scored_heads[:, 1]).sum()), len(scored_heads)),
        tally.unscored,
        _crossing(gold),
        _shares(tally.relations),
        _shares(tally.tags),
        heads,
        arcs,
    )


def arcs_of(sentence: Sentence, layer: str) -> Sequence[ArcCandidates]:
    """Return a head layer; a sentence without it is unknown at every position."""
    return sentence.heads.get(layer, (None,) * len(sentence))


def _crossing(gold: Corpus) -> int:
    from tagweave.evidence.trees import only_head  # loads Numba, as the next import does
    from tagweave.kernels.projective import is_projective

    layers = (arcs_of(sentence, gold.guideline) for sentence in gold)
    heads = (np.array([only_head(candidates) for candidates in layer], np.int32) for layer in layers)
    return sum(not is_projective(tree) for tree in heads)


class _Tally:
    """Counts right, gold and system words of sentences, and right and wrong heads by relation and tags."""

    def __init__(self, punctuation: bool, in_full: bool) -> None:
        self.punctuation, self.in_full, self.unscored = punctuation, in_full, 0
        self.relations: Counter[tuple[str, bool]] = Counter()
        self.tags: Counter[tuple[str, bool]] = Counter()
        self.heads: list[list[int]] = []
        self.arcs: list[list[int]] = []

    def add(
        self, gold: Sentence, wanted: Sequence[ArcCandidates], system: Sentence, answered: Sequence[ArcCandidates]
    ) -> None:
        links = aligned_words(gold, system)
        system_arcs = arcs_in_gold_numbers(answered, links)
        heads, arcs = [0, 0, 0], [0, 0, 0]
        tags = next((_tags_with_root(gold, name) for name in _TAGS if name in gold.layers), None)
        for at, candidates in enumerate(wanted):
            if not self._is_scored(gold.forms[at]):
                continue
            if candidates is None or any(arc.head is None for arc in candidates):
                self.unscored += 1
                continue
            has_head = any(arc.head == system_arcs[at].head for arc in candidates)
            _count(heads, has_head, links[at])
            if all(arc.relation is not None for arc in candidates):
                _count(arcs, any(self._same(arc, system_arcs[at]) for arc in candidates), links[at])
            if len(candidates) == 1:
                (arc,) = candidates
                self.relations["_" if arc.relation is None else self._compared(arc.relation), has_head] += 1
                if tags is not None:
                    self.tags[f"{tags[at + 1]} < {tags[arc.head or 0]}", has_head] += 1
        unaligned = set(range(len(system))).difference(links)
        beside = sum(self._is_scored(system.forms[at]) for at in unaligned)
        self.heads.append([*heads[:2], heads[2] + beside if heads[1] else 0])
        self.arcs.append([*arcs[:2], arcs[2] + beside if arcs[1] else 0])

    def _is_scored(self, form: str) -> bool:
        return self.punctuation or not is_punctuation(form)

    def _compared(self, relation: str) -> str:
        return relation if self.in_full else universal(relation)

    def _same(self, one: Arc, other: Arc) -> bool:
        if one.relation is None or other.relation is None:
            return False
        return one.head == other.head and self._compared(one.relation) == self._compared(other.relation)


def universal(relation: str) -> str:
    """Return a relation without its subtype."""
    return relation.partition(":")[0]


def _count(row: list[int], is_right: bool, link: int | None) -> None:
    row[0] += is_right
    row[1] += 1
    row[2] += link is not None


def arcs_in_gold_numbers(answered: Sequence[ArcCandidates], links: Sequence[int | None]) -> list[Arc]:
    """Return for every gold word the arc of its counterpart, with heads numbered as in the gold standard.

    The head is `None` if the word or its head has no counterpart, or the counterpart does not have exactly one arc.
    """
    arcs = [arcs[0] if arcs is not None and len(arcs) == 1 else Arc(None, None) for arcs in answered]
    if links == list(range(len(arcs))):
        return arcs
    numbers: dict[int | None, int] = {link + 1: at for at, link in enumerate(links, 1) if link is not None}
    numbers[0] = 0
    of_gold_words = (Arc(None, None) if link is None else arcs[link] for link in links)
    return [Arc(numbers.get(arc.head), arc.relation) for arc in of_gold_words]


def is_punctuation(form: str) -> bool:
    """Return whether all characters of a form are punctuation."""
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def _tags_with_root(sentence: Sentence, layer: str) -> list[str]:
    """Return the tags of the root and of all tokens, `_` for a token without exactly one tag."""
    return ["ROOT", *(tags[0] if tags and len(tags) == 1 else "_" for tags in sentence.layers[layer])]


def _shares(counts: Counter[tuple[str, bool]]) -> dict[str, Share]:
    names = sorted({name for name, _ in counts})
    return {name: Share(counts[name, True], counts[name, True] + counts[name, False]) for name in names}
