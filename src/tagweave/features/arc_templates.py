"""Templates of features of arcs, over the head, the modifier and the tokens between them, and of pairs of siblings.

A template is text: terms separated by blanks, each `SIDE.COLUMN[OFFSET]`. `h.xpos[0] m.xpos[-1]`, for example, is the
tag of the head with that of the token before the modifier. The sides are h, m, b for a token between the two
(`b.xpos[0]`: a feature for each distinct tag between them), and s for the nearest modifier of the head between the two
(`h.xpos[0] s.xpos[0] m.xpos[0]`; McDonald and Pereira 2006). Every feature is joined to the direction of the arc, and
once more to direction and binned distance, with a sibling that of the two siblings. Columns are those of forms
(`tagweave.features.columns`), layers of the sentence (`upos`, `xpos`), `user:NAME` for a column of the corpus, and
`guide:NAME` for the relations of a guide tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tagweave.features.columns import SCALAR_COLUMNS
from tagweave.features.templates import OFFSET, TemplateError, check_count, check_terms, near, seed_of

_TERM = re.compile(r"(?P<side>[a-z])\.(?P<column>[^\[\]\s]+)" + OFFSET)
SIDES = "hmbs"

ArcTerm = tuple[str, int]
"""A column and an offset from the token of its side."""


@dataclass(frozen=True)
class ArcTemplate:
    """The terms of each side, in the order of `SIDES`."""

    text: str
    sides: tuple[tuple[ArcTerm, ...], ...]

    @classmethod
    def parse(cls, text: str) -> ArcTemplate:
        """Read `SIDE.COLUMN[OFFSET] ...`.

        Raises:
            TemplateError: a malformed term; neither the head nor the modifier in the template; a sibling without the
                modifier, or with a token between.
        """
        terms = parse_terms(text, SIDES)
        if "h" not in terms and "m" not in terms:
            raise TemplateError(f"found the template {text!r}, expected a term of the head or of the modifier")
        if "s" in terms and ("m" not in terms or "b" in terms):
            expected = "a term of the modifier, and none of a token between, beside that of a sibling"
            raise TemplateError(f"found the template {text!r}, expected {expected}")
        return cls(text, tuple(tuple(terms.get(side, ())) for side in SIDES))

    @property
    def is_between(self) -> bool:
        """Whether it looks at tokens between head and modifier."""
        return bool(self.sides[2])

    @property
    def is_of_siblings(self) -> bool:
        """Whether it looks at the sibling of the modifier."""
        return bool(self.sides[3])


_RELATIONS = ("m", "h", "hm")
_NOTHING = ArcTemplate("", ((), (), (), ()))
GUIDE = "guide:"


def guide_layer(guideline: str) -> str:
    """The head layer of guide trees: not the guideline's own, which may hold gold trees that training must not see."""
    return f"{GUIDE}{guideline}"


def parse_terms(text: str, sides: str) -> dict[str, list[ArcTerm]]:
    """The terms of every side in a template, in the order in which the sides first occur.

    Raises:
        TemplateError: a malformed term, an unknown side, too many terms, or too large an offset.
    """
    check_terms(text)
    terms: dict[str, list[ArcTerm]] = {}
    for part in text.split():
        match = _TERM.fullmatch(part)
        if not match or match["side"] not in sides:
            expected = f"SIDE.COLUMN[OFFSET] with a side of {', '.join(sides)}"
            raise TemplateError(f"found {part!r} in template {text!r}, expected {expected}")
        terms.setdefault(match["side"], []).append((match["column"], near(match["offset"], text)))
    return terms


@dataclass(frozen=True)
class ArcTemplates:
    """The templates of a parser, as written.

    Attributes:
        texts: the templates.
        guide: if not empty, the guideline of a guide tree of the sentence, in the head layer `guide_layer(guide)`. The
            path from modifier to head in that tree is a feature, alone and joined to every template except those with
            tokens between (jiang-2015, 4.1).
    """

    texts: tuple[str, ...]
    guide: str = ""

    def with_guide(self, guideline: str) -> ArcTemplates:
        """These templates, joined to the path in a guide tree of this guideline, plus templates of its relations."""
        relations = (" ".join(f"{side}.{guide_layer(guideline)}[0]" for side in sides) for sides in _RELATIONS)
        return ArcTemplates((*self.texts, *relations), guideline)

    @cached_property
    def parsed(self) -> tuple[ArcTemplate, ...]:
        """The templates, in order, without repeats.

        Raises:
            TemplateError: as `ArcTemplate.parse`; too many.
        """
        check_count(self.texts)
        return tuple(dict.fromkeys(ArcTemplate.parse(text) for text in self.texts))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns in the templates, sorted."""
        return tuple(sorted({column for t in self.parsed for side in t.sides for column, _ in side}))

    @cached_property
    def _groups(self) -> tuple[list[ArcTemplate], list[ArcTemplate], list[ArcTemplate], list[ArcTemplate]]:
        """Templates of arcs: of both sides, of the head alone, of the modifier alone, and with tokens between."""
        of_arcs = [t for t in self.parsed if not t.is_of_siblings]
        between = [t for t in of_arcs if t.is_between]
        others = [t for t in of_arcs if not t.is_between]
        both = [t for t in others if t.sides[0] and t.sides[1]]
        heads, modifiers = ([t for t in others if not t.sides[1 - i]] for i in range(2))
        return both, heads, modifiers, between

    @cached_property
    def _siblings(self) -> tuple[list[ArcTemplate], list[ArcTemplate]]:
        """Templates of pairs of siblings, with their head and without."""
        siblings = [t for t in self.parsed if t.is_of_siblings]
        return [t for t in siblings if t.sides[0]], [t for t in siblings if not t.sides[0]]

    @property
    def has_siblings(self) -> bool:
        """Whether pairs of siblings have scores."""
        return any(self._siblings)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64[5]: the number of templates over both sides, the head alone, the modifier alone, tokens between; and
        the number joined to the path of a guide."""
        sizes = [len(group) for group in self._groups]
        return np.array([*sizes, sum(sizes[:3]) + 1 if self.guide else 0], np.int64)

    @cached_property
    def sibling_sizes(self) -> NDArray[np.int64]:
        """int64[2]: the number of templates of pairs of siblings with their head, and without."""
        return np.array([len(group) for group in self._siblings], np.int64)

    @property
    def first_of_siblings(self) -> int:
        """The first code of a position that is of pairs of siblings."""
        of_head, alone = self.sibling_sizes.tolist()
        first: int = len(self.codes[1]) - 3 * of_head - 2 * alone
        return first

    @cached_property
    def codes(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Terms int64[R, J, 2] and seeds uint64[R] of the codes of a position, as in `kernels.arcs` and
        `kernels.sibling_features`."""
        both, heads, modifiers, between = self._groups
        of_head, alone = self._siblings
        joined = [*both, *heads, *modifiers, _NOTHING] if self.guide else both
        sides = [(t, side) for side in (0, 1) for t in joined] + [(t, 0) for t in heads]
        sides += [(t, 1) for t in modifiers] + [(t, side) for side in (0, 2, 1) for t in between]
        sides += [(t, 0) for t in of_head] + [(t, side) for side in (3, 1) for t in (*of_head, *alone)]
        longest = max((len(t.sides[side]) for t, side in sides), default=0)
        terms = np.full((len(sides), max(1, longest), 2), -1, np.int64)
        for r, (template, side) in enumerate(sides):
            for j, (column, offset) in enumerate(template.sides[side]):
                terms[r, j] = self.columns.index(column), offset
        seeds = np.array([seed_of(f"{SIDES[side]} of {t.text}") for t, side in sides], np.uint64)
        return terms, seeds


def is_form_column(column: str) -> bool:
    """Whether a column is derived from the form of a token."""
    return column in SCALAR_COLUMNS and column != "final"


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
_FEATS = "h.F h.P|m.F m.P|h.F h.P m.P|h.P m.F m.P|h.F m.F|h.F h.P m.F m.P|h.W m.F|h.F m.W"


def arc_preset(tag: str, coarse: str | None = None, feats: bool = False, siblings: bool = True) -> ArcTemplates:
    """jiang-2015, Table 2, over forms and the layer `tag`, plus the tags between (McDonald et al. 2005), the last
    character of a form, and pairs of siblings (McDonald and Pereira 2006).

    Args:
        tag: the layer of tags.
        coarse: a layer of coarser tags.
        feats: whether there is a column `feats`.
        siblings: whether trees are projective, so that pairs of siblings may have scores.
    """
    optional = (coarse, _COARSE), (feats, _FEATS), (siblings, _SIBLINGS), (siblings and coarse, _COARSE_SIBLINGS)
    parts = [_JIANG, _BETWEEN, _AFFIXES, *(part for is_there, part in optional if is_there)]
    names = {"W": "form", "P": tag, "L": "last", "C": coarse, "F": "user:feats"}

    def written(term: str) -> str:
        side, _, short = term.partition(".")
        return f"{side}.{names[short[0]]}[{int(short[1:] or 0)}]"

    return ArcTemplates(tuple(" ".join(map(written, text.split())) for text in "|".join(parts).split("|")))
