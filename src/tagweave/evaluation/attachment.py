"""Attachment scores of parses: UAS, LAS, whole trees, and the same by relation and by the tags of an arc's ends.

A gold position with several candidates is right if the system has one of them; an unknown one is not scored. A system
that gives a token no head, or several, is wrong there. LAS is over tokens of which the gold standard knows head and
relation. Punctuation counts, unless it is asked to be left out (then tokens all of whose characters are punctuation in
Unicode, as the CoNLL-X evaluation has it).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.errors import CorpusError
from tagweave.encoding.arcs import only_head
from tagweave.evaluation.alignment import check_tokens
from tagweave.evaluation.score import Counts, Share, number, share_of_counts
from tagweave.evaluation.significance import randomisation_test
from tagweave.kernels.projective import is_projective

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import ArcCandidates, Sentence

_TAGS = ("xpos", "upos")


@dataclass(frozen=True, slots=True)
class Attachment:
    """How well a system parses.

    Attributes:
        heads: tokens with the right head (UAS).
        arcs: tokens with the right head and relation (LAS).
        trees: sentences all of whose scored tokens have the right head.
        unscored: tokens whose gold head is unknown.
        relations: per gold relation, its tokens with the right head.
        tags: per pair `modifier < head` of gold tags, its tokens with the right head.
        counts: int64[S, 2], right and scored tokens of each sentence.
    """

    heads: Share
    arcs: Share
    trees: Share
    unscored: int
    relations: dict[str, Share]
    tags: dict[str, Share]
    counts: Counts = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Everything but the counts per sentence, as a plain dict."""
        return {
            "uas": self.heads.to_json(),
            "las": self.arcs.to_json(),
            "exact": self.trees.to_json(),
            "unscored": self.unscored,
            "relations": {name: share.to_json() for name, share in self.relations.items()},
            "tags": {name: share.to_json() for name, share in self.tags.items()},
        }


@dataclass(frozen=True, slots=True)
class ParseReport:
    """The scores of systems by name, and for all but the first p of a randomisation test of UAS against the first.

    Attributes:
        sentences: how many there are.
        crossing: how many of them have gold arcs that cross, which no projective tree has.
        systems: the scores.
        p: of the tests.
    """

    sentences: int
    crossing: int
    systems: dict[str, Attachment]
    p: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The report as a plain dict."""
        scores = {name: scores.to_json() for name, scores in self.systems.items()}
        counts = {"sentences": self.sentences, "crossing": self.crossing}
        return {**counts, "systems": scores, "randomisation_p": self.p}

    def render(self, console: Console | None = None, rows: int = 15) -> None:
        """Print a table of all systems, and per system its `rows` most frequent relations; ratios are in percent."""
        from rich.console import Console as StandardConsole
        from rich.table import Table

        console = console or StandardConsole()
        table = Table("", *self.systems)
        for name, part in (("UAS", "heads"), ("LAS", "arcs"), ("whole trees", "trees")):
            table.add_row(name, *(_percent(getattr(scores, part)) for scores in self.systems.values()))
        if self.p:
            table.add_row("p", *("" if name not in self.p else f"{self.p[name]:.4f}" for name in self.systems))
        console.print(table)
        if self.crossing:
            console.print(f"gold trees whose arcs cross: {self.crossing:,} of {self.sentences:,}")
        for name, scores in self.systems.items():
            own = Table("relation", "tokens", "UAS", title=f"relations of {name}")
            for relation, share in sorted(scores.relations.items(), key=lambda item: -item[1].total)[:rows]:
                own.add_row(relation, f"{share.total:,}", _percent(share))
            console.print(own)


def evaluate_parses(gold: Corpus, systems: Mapping[str, Corpus], punctuation: bool = True) -> ParseReport:
    """Compare the head layers of systems with that of a gold standard.

    Args:
        gold: the gold standard, whose guideline is a head layer.
        systems: the outputs by name, likewise; the first is the one that the others are compared against.
        punctuation: whether punctuation is scored.

    Raises:
        CorpusError: other tokens, another number of sentences, or no such head layer.
        ValueError: no system.
    """
    if not systems:
        raise ValueError("found no system, expected at least one")
    scores = {name: attachment(gold, system, punctuation) for name, system in systems.items()}
    (_, first), *others = scores.items()
    p = {name: randomisation_test(first.counts, each.counts, share_of_counts) for name, each in others}
    return ParseReport(len(gold), _crossing(gold), scores, p)


def _crossing(gold: Corpus) -> int:
    layers = (sentence.heads.get(gold.guideline, ()) for sentence in gold)
    heads = (np.array([only_head(candidates) for candidates in layer], np.int32) for layer in layers)
    return sum(not is_projective(each) for each in heads)


def attachment(gold: Corpus, system: Corpus, punctuation: bool = True) -> Attachment:
    """The scores of one system. Raises as `evaluate_parses`."""
    check_tokens(gold.sentences, system.sentences, gold.path, system.path)
    for corpus in (gold, system):
        if not any(corpus.guideline in sentence.heads for sentence in corpus):
            raise CorpusError("no heads", f"a head layer {corpus.guideline!r}", corpus.path)
    tally = _Tally()
    for one, other in zip(gold, system, strict=True):
        unknown = (None,) * len(one)
        tally.add(one, one.heads.get(gold.guideline, unknown), other.heads.get(system.guideline, unknown), punctuation)
    return tally.result()


class _Tally:
    """Adds up the scores of sentences."""

    def __init__(self) -> None:
        self.arcs, self.with_relation, self.unscored = 0, 0, 0
        self.relations: Counter[tuple[str, bool]] = Counter()
        self.tags: Counter[tuple[str, bool]] = Counter()
        self.counts: list[tuple[int, int]] = []

    def add(
        self,
        sentence: Sentence,
        gold: tuple[ArcCandidates, ...],
        system: tuple[ArcCandidates, ...],
        punctuation: bool,
    ) -> None:
        right, scored = 0, 0
        tags = next((_names(sentence, name) for name in _TAGS if name in sentence.layers), None)
        for at, (form, wanted, found) in enumerate(zip(sentence.forms, gold, system, strict=True)):
            if not punctuation and is_punctuation(form):
                continue
            if wanted is None or any(arc.head is None for arc in wanted):
                self.unscored += 1
                continue
            head = found[0].head if found is not None and len(found) == 1 else None
            has_head = any(arc.head == head for arc in wanted)
            scored, right = scored + 1, right + has_head
            if all(arc.relation is not None for arc in wanted):
                self.with_relation += 1
                self.arcs += found is not None and len(found) == 1 and found[0] in wanted
            if len(wanted) == 1:
                self.relations[wanted[0].relation or "_", has_head] += 1
                if tags is not None:
                    self.tags[f"{tags[at + 1]} < {tags[wanted[0].head or 0]}", has_head] += 1
        self.counts.append((right, scored))

    def result(self) -> Attachment:
        counts = np.array(self.counts, np.int64).reshape(-1, 2)
        right, scored = counts.sum(axis=0).tolist()
        whole = counts[counts[:, 1] > 0]
        return Attachment(
            Share(right, scored),
            Share(self.arcs, self.with_relation),
            Share(int((whole[:, 0] == whole[:, 1]).sum()), len(whole)),
            self.unscored,
            _shares(self.relations),
            _shares(self.tags),
            counts,
        )


def is_punctuation(form: str) -> bool:
    """Whether all characters of a form are punctuation."""
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def _names(sentence: Sentence, layer: str) -> list[str]:
    """The tags of the root and of all tokens, `_` where there is not one."""
    return ["ROOT", *(each[0] if each and len(each) == 1 else "_" for each in sentence.layers[layer])]


def _shares(counts: Counter[tuple[str, bool]]) -> dict[str, Share]:
    names = sorted({name for name, _ in counts})
    return {name: Share(counts[name, True], counts[name, True] + counts[name, False]) for name in names}


def _percent(share: Share) -> str:
    value = number(share.value)
    return "-" if value is None else f"{100 * value:.2f}"
