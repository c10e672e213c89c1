"""Feature templates of a parser: of arcs, of pairs of siblings, and of relations; and the columns they look at.

A template is text: terms separated by blanks, each `SIDE.COLUMN[OFFSET]`. `h.xpos[0] m.xpos[-1]`, for example, is the
tag of the head with the tag of the token before the modifier. Sides of arcs are h, m, b for a token between them
(`b.xpos[0]`: a feature for each distinct tag), and s for the nearest modifier of the head between them
(`h.xpos[0] s.xpos[0] m.xpos[0]`; McDonald and Pereira 2006). Every feature is joined to the direction of the arc, and
again to direction and binned distance, with a sibling the distance of the siblings. Columns come from forms
(`features.columns`), clusters of words (`features.lookups`), layers of the sentence (`upos`, `xpos`), columns of the
corpus (`user:NAME`), and the relations of a guide tree (`guide:NAME`).

Relations, chosen once the tree is known, see more sides: p and n, the modifiers before and after m on the same side of
h; l and r, the first modifier left of m and the last one right of it; g, the head of h. The term d is the distance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.features.columns import CLUSTER_COLUMNS, SCALAR_COLUMNS
from tagweave.features.templates import OFFSET, TemplateError, check_count, check_terms, near, seed_of

_TERM = re.compile(r"(?P<side>[a-z])\.(?P<column>[^\[\]\s]+)" + OFFSET)
SIDES = "hmbs"

ArcTerm = tuple[str, int]
"""A column and an offset from the token of its side."""
_RELATIONS = ("m", "h", "hm")
GUIDE = "guide:"
RELATION_SIDES = "hmpnlrg"
DISTANCE = "d"
_USER = "user:"
_BLANK = "_"  # an unknown value of a column, as in CoNLL-U
_KEPT = "upos"
_KEEP_SHARE = 1 / 3  # of copies: UAS with UPOS alone gained 0.4 to 4.6 points, that of words alone lost 0.9 to 1.5
LONGEST = 1000
"""Tokens. Trees take time cubic in the length, charts quadratic memory. On one thread, a sentence of 1,000 tokens takes
0.5 seconds to parse and 3 in a training epoch, with 60 MB; one of 2,000 takes 3 and 33, with 160 MB. Longer text is
hardly one sentence."""


@dataclass(frozen=True)
class ArcTemplate:
    """The terms of each side, in the order of `SIDES`."""

    text: str
    sides: tuple[tuple[ArcTerm, ...], ...]

    @classmethod
    def parse(cls, text: str) -> ArcTemplate:
        terms = parse_terms(text, SIDES)
        if "h" not in terms and "m" not in terms:
            raise TemplateError(f"found the template {text!r}, expected a term of the head or of the modifier")
        if "s" in terms and ("m" not in terms or "b" in terms):
            expected = "a term of the modifier, and none of a token between, beside that of a sibling"
            raise TemplateError(f"found the template {text!r}, expected {expected}")
        return cls(text, tuple(tuple(terms.get(side, ())) for side in SIDES))

    @property
    def is_between(self) -> bool:
        return bool(self.sides[2])

    @property
    def is_of_siblings(self) -> bool:
        return bool(self.sides[3])


_NOTHING = ArcTemplate("", ((), (), (), ()))


def guide_layer(guideline: str) -> str:
    """Return the head layer of guide trees: not the guideline's own, whose gold trees training must not see."""
    return f"{GUIDE}{guideline}"


def parse_terms(text: str, sides: str) -> dict[str, list[ArcTerm]]:
    """Return the terms of every side in a template, in the order in which the sides first occur."""
    check_terms(text)
    terms: dict[str, list[ArcTerm]] = {}
    for term in text.split():
        match = _TERM.fullmatch(term)
        if not match or match["side"] not in sides:
            expected = f"SIDE.COLUMN[OFFSET] with a side of {', '.join(sides)}"
            raise TemplateError(f"found {term!r} in template {text!r}, expected {expected}")
        terms.setdefault(match["side"], []).append((match["column"], near(match["offset"], text)))
    return terms


@dataclass(frozen=True)
class ArcTemplates:
    """The templates of a parser, as written."""

    texts: tuple[str, ...]  # the templates
    # if not empty, the guideline of a guide tree of the sentence, in the head layer `guide_layer(guide)`. The path
    # from modifier to head in that tree is a feature, alone and joined to every template except those with tokens
    # between (jiang-2015, 4.1)
    guide: str = ""

    def with_guide(self, guideline: str) -> ArcTemplates:
        """These templates, joined to the path in a guide tree of this guideline, plus templates of its relations."""
        relations = (" ".join(f"{side}.{guide_layer(guideline)}[0]" for side in sides) for sides in _RELATIONS)
        return ArcTemplates((*self.texts, *relations), guideline)

    @cached_property
    def parsed(self) -> tuple[ArcTemplate, ...]:
        check_count(self.texts)
        return tuple(dict.fromkeys(ArcTemplate.parse(text) for text in self.texts))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({column for t in self.parsed for side in t.sides for column, _ in side}))

    @cached_property
    def _groups(self) -> tuple[list[ArcTemplate], list[ArcTemplate], list[ArcTemplate], list[ArcTemplate]]:
        """Templates of arcs: of both sides, of the head alone, of the modifier alone, and with tokens between."""
        of_arcs = [t for t in self.parsed if not t.is_of_siblings]
        between = [t for t in of_arcs if t.is_between]
        plain = [t for t in of_arcs if not t.is_between]
        both = [t for t in plain if t.sides[0] and t.sides[1]]
        heads, modifiers = ([t for t in plain if not t.sides[1 - i]] for i in range(2))
        return both, heads, modifiers, between

    @cached_property
    def _siblings(self) -> tuple[list[ArcTemplate], list[ArcTemplate]]:
        """Templates of pairs of siblings, with their head and without."""
        siblings = [t for t in self.parsed if t.is_of_siblings]
        return [t for t in siblings if t.sides[0]], [t for t in siblings if not t.sides[0]]

    @property
    def has_siblings(self) -> bool:
        return any(self._siblings)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64[5]: how many are over both sides, head, modifier, tokens between, and joined to a guide's path."""
        sizes = [len(group) for group in self._groups]
        return np.array([*sizes, sum(sizes[:3]) + 1 if self.guide else 0], np.int64)

    @cached_property
    def sibling_sizes(self) -> NDArray[np.int64]:
        """Return int64[2]: the number of templates of pairs of siblings with their head, and without."""
        return np.array([len(group) for group in self._siblings], np.int64)

    @property
    def first_of_siblings(self) -> int:
        """Return the first code of a position that is of pairs of siblings."""
        of_head, alone = self.sibling_sizes.tolist()
        first: int = len(self.codes[1]) - 3 * of_head - 2 * alone
        return first

    @cached_property
    def codes(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Terms int64[R, J, 2] and seeds uint64[R] of the codes of a position, as in `kernels.arcs`."""
        both, heads, modifiers, between = self._groups
        of_head, alone = self._siblings
        joined = [*both, *heads, *modifiers, _NOTHING] if self.guide else both
        sides = [(t, side) for side in (0, 1) for t in joined] + [(t, 0) for t in heads]
        sides += [(t, 1) for t in modifiers] + [(t, side) for side in (0, 2, 1) for t in between]
        sides += [(t, 0) for t in of_head] + [(t, side) for side in (3, 1) for t in (*of_head, *alone)]
        seeds = np.array([seed_of(f"{SIDES[side]} of {t.text}") for t, side in sides], np.uint64)
        return _term_table([t.sides[side] for t, side in sides], self.columns), seeds


def _term_table(rows: Sequence[Sequence[ArcTerm]], columns: Sequence[str]) -> NDArray[np.int64]:
    """Return int64[R, J, 2]: the number of the column and the offset of every term; -1 after the last."""
    table = np.full((len(rows), max([1, *map(len, rows)]), 2), -1, np.int64)
    for r, terms in enumerate(rows):
        for j, (column, offset) in enumerate(terms):
            table[r, j] = columns.index(column), offset
    return table


def is_form_column(column: str) -> bool:
    """Return whether a column is derived from the form of a token, perhaps by its cluster."""
    return (column in SCALAR_COLUMNS and column != "final") or column in CLUSTER_COLUMNS


_JIANG = (
    "h.W h.P|h.W|h.P|m.W m.P|m.W|m.P|"
    "h.W h.P m.W m.P|h.W m.W m.P|h.P m.W m.P|h.W h.P m.W|h.W h.P m.P|h.W m.W|h.W m.P|h.P m.W|h.P m.P|"
    "h.P h.P+1 m.P-1 m.P|h.P-1 h.P m.P-1 m.P|h.P h.P+1 m.P m.P+1|h.P-1 h.P m.P m.P+1|"
    "h.P-1 h.P m.P-1|h.P-1 h.P m.P+1|h.P h.P+1 m.P-1|h.P h.P+1 m.P+1|"
    "h.P-1 m.P-1 m.P|h.P-1 m.P m.P+1|h.P+1 m.P-1 m.P|h.P+1 m.P m.P+1|"
    "h.P m.P-1 m.P|h.P m.P m.P+1|h.P-1 h.P m.P|h.P h.P+1 m.P"
)
_BETWEEN = "h.P b.P m.P"
_AFFIXES = "h.L h.P|m.L m.P|h.L h.P m.P|h.P m.L m.P|h.L m.L|h.L h.P m.L m.P"
_COARSE = "h.C m.C|h.W m.C|h.C m.W|h.C h.P m.C|h.C m.C m.P|h.C b.C m.C|h.C h.C+1 m.C-1 m.C|h.C-1 h.C m.C m.C+1"

_SIBLINGS = "h.P s.P m.P|s.P m.P|s.W m.P|s.P m.W|s.W m.W"
_COARSE_SIBLINGS = "h.C s.C m.C"
_CLUSTERS = "h.K m.K|h.P m.B|h.B m.P"
_FEATS = "h.F h.P|m.F m.P|h.F h.P m.P|h.P m.F m.P|h.F m.F|h.F h.P m.F m.P|h.W m.F|h.F m.W"


def arc_preset(
    tag: str, coarse: str | None = None, feats: bool = False, siblings: bool = True, clusters: bool = False
) -> ArcTemplates:
    """Return the templates of jiang-2015, Table 2, over forms and the layer `tag`, and some more.

    These are the tags between (McDonald et al. 2005), the last character of a form, and pairs of siblings (McDonald and
    Pereira 2006), for projective trees; and if they exist, the layer `coarse`, the column `feats` and clusters of words
    (Koo et al. 2008).
    """
    of_siblings = (siblings, _SIBLINGS), (siblings and coarse, _COARSE_SIBLINGS)
    optional = (coarse, _COARSE), (feats, _FEATS), *of_siblings, (clusters, _CLUSTERS)
    parts = [_JIANG, _BETWEEN, _AFFIXES, *(texts for is_there, texts in optional if is_there)]
    names = {"W": "form", "P": tag, "L": "last", "C": coarse, "F": "user:feats", "B": "cluster_6", "K": "cluster_10"}

    def written(term: str) -> str:
        side, _, short = term.partition(".")
        return f"{side}.{names[short[0]]}[{int(short[1:] or 0)}]"

    return ArcTemplates(tuple(" ".join(map(written, text.split())) for text in "|".join(parts).split("|")))


@dataclass(frozen=True)
class RelationTemplates:
    """The templates of relations, as written."""

    texts: tuple[str, ...]

    @cached_property
    def parsed(self) -> tuple[tuple[str, dict[str, list[ArcTerm]]], ...]:
        """Return the text and the terms of each side of every template, in order, without repeats."""
        check_count(self.texts)
        parsed = []
        for text in dict.fromkeys(self.texts):
            terms = parse_terms(" ".join(term for term in text.split() if term != DISTANCE), RELATION_SIDES)
            if not terms:
                raise TemplateError(f"found the template {text!r}, expected a term, as m.form[0]")
            parsed.append((text, terms))
        return tuple(parsed)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        terms = (term for _, sides in self.parsed for side_terms in sides.values() for term in side_terms)
        return tuple(sorted({column for column, _ in terms}))

    @cached_property
    def codes(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Terms int64[R, J, 2] and seeds uint64[R], a row for every side of every template."""
        rows = [(text, side, terms) for text, sides in self.parsed for side, terms in sides.items()]
        table = _term_table([terms for _, _, terms in rows], self.columns)
        return table, np.array([seed_of(f"{side} of {text}") for text, side, _ in rows], np.uint64)

    @cached_property
    def grams(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """int64[F + 1], first code of every template; int64[R], sides (`RELATION_SIDES`); bool[F], with distance."""
        ptr = np.concatenate([[0], np.cumsum([len(sides) for _, sides in self.parsed])]).astype(np.int64)
        sides = np.array(
            [RELATION_SIDES.index(side) for _, terms_of_sides in self.parsed for side in terms_of_sides], np.int64
        )
        return ptr, sides, np.array([DISTANCE in text.split() for text, _ in self.parsed], bool)


_CONTEXT = (
    "h.P m.P d|m.P d|"
    "h.P m.P p.P|h.P m.P n.P|h.P m.P p.P n.P|"
    "h.P m.P l.P|h.P m.P r.P|m.P l.P r.P|h.P m.P l.W|h.P m.P r.W|h.P m.P g.P|h.W l.W|h.W r.W"
)


def relation_preset(arcs: ArcTemplates, tag: str) -> RelationTemplates:
    """Return the templates of arcs except those over tokens between, plus templates of the tree around the arc.

    The siblings and modifiers of a modifier distinguish most relations: with them 95.8% of the relations of gold arcs
    of zh/udc are right, instead of 92.4% (test).
    """
    names = {"P": tag, "W": "form"}
    around = [
        " ".join(term if term == DISTANCE else f"{term[:2]}{names[term[2:]]}[0]" for term in text.split())
        for text in _CONTEXT.split("|")
    ]
    return RelationTemplates((*(t.text for t in arcs.parsed if not (t.is_between or t.is_of_siblings)), *around))


def given_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of templates that come neither from forms nor from a guide tree."""
    return tuple(name for name in columns if not is_form_column(name) and not name.startswith(GUIDE))


def check_clusters(columns: Iterable[str], has_clusters: bool) -> None:
    """Raise unless there are clusters of words exactly if templates look at them."""
    of_clusters = [column for column in columns if column in CLUSTER_COLUMNS]
    if of_clusters and not has_clusters:
        raise TemplateError(f"found templates over {', '.join(of_clusters)}, expected clusters for them")
    if has_clusters and not of_clusters:
        raise TemplateError("found word clusters, expected templates that look at them, as m.cluster_6[0]")


def with_columns(sentence: Sentence, names: Sequence[str]) -> Sentence:
    """Return the sentence with all of these columns; those that it lacks have unknown values."""
    return without_columns(sentence, [name for name in names if _column(sentence, name) is None])


def without_columns(sentence: Sentence, names: Iterable[str]) -> Sentence:
    """Return the sentence with all values of these columns unknown."""
    layers, columns = dict(sentence.layers), dict(sentence.columns)
    for name in names:
        if name.startswith(_USER):
            columns[name.removeprefix(_USER)] = (_BLANK,) * len(sentence)
        else:
            layers[name] = (None,) * len(sentence)
    return replace(sentence, layers=layers, columns=columns)


def lacking(sentences: Sequence[Sentence], names: Sequence[str]) -> list[str]:
    """Return the columns without a known value in any sentence, by their names in the corpus."""
    return [
        name.removeprefix(_USER)
        for name in names
        if not any(value not in (None, _BLANK) for s in sentences for value in _column(s, name) or ())
    ]


def with_copies(sentences: Sequence[Sentence], names: Sequence[str], share: float) -> list[Sentence]:
    """Append copies of a random share of the sentences with these columns unknown.

    A parser trained on both does not depend on the columns alone. A third of the copies keep UPOS, as in text labelled
    by another tagger. When sentences lost their columns instead of being copied, or lost each column separately, UAS
    with all columns was 0.3 to 0.8 lower (share 0.2; dev of four treebanks), and UAS of words alone rose less.
    """
    if not names:
        return list(sentences)
    draw, finer = Random(0), [name for name in names if name != _KEPT]
    copies = []
    for sentence in sentences:
        if draw.random() < share:
            copies.append(without_columns(sentence, finer if finer and draw.random() < _KEEP_SHARE else names))
    return [*sentences, *copies]


def _column(sentence: Sentence, name: str) -> Sequence[object] | None:
    if name.startswith(_USER):
        return sentence.columns.get(name.removeprefix(_USER))
    return sentence.layers.get(name)


def check_lengths(sentences: Iterable[Sentence]) -> None:
    """Raise unless all sentences have at most `LONGEST` tokens."""
    for sentence in sentences:
        if len(sentence) > LONGEST:
            expected = f"at most {LONGEST:,} in a sentence that is parsed"
            raise CorpusError(f"{len(sentence):,} tokens", expected, *sentence.location)


def of_fit_length(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences with at most `LONGEST` tokens."""
    return [sentence for sentence in sentences if len(sentence) <= LONGEST]
