"""Feature templates of taggers, and the named ones: the defaults for any language, and the templates of papers.

A template is text: terms separated by blanks, each a column and an offset: `form[-1] form[0]` is the bigram of the word
and the one before it; `form[0]==form[1]` is whether a token is repeated. Columns are derived from the form of a token
(`features.columns`), are columns of the corpus (`user:NAME`), or come from a file: clusters of words or of their
vectors, lexicons, gazetteers (`features.lookups`). A list column (`inner`, `repeat`) gives one feature per entry.

Templates that are shifts of one another share their features: `form[-1]`, `form[0]`, `form[1]` are one *family*, a gram
whose weights are adjacent for the three tokens that see it. Templates over nothing but the form of the token itself are
evaluated once per word form, not once per token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import TagweaveError
from tagweave.features.columns import CLUSTER_COLUMNS, LIST_COLUMNS, SCALAR_COLUMNS
from tagweave.features.lookups import GAZETTEER_COLUMNS, LEXICON_COLUMNS

FARTHEST = 32
"""The largest offset. Every sentence has anchors that far beyond its ends."""
MOST_TEMPLATES, MOST_TERMS = 1000, 32
"""The most templates of a model, and the most terms of a template."""
WIDEST = 15
"""The most tokens that see a gram: the most that its code can represent (`kernels.hashing`)."""
OFFSET = r"\[(?P<offset>[+-]?\d{1,9})\]"
"""The syntax of an offset."""
_PLACE = r"(?P<column>[a-z_0-9]+|user:[^\[\]=\s]+)" + OFFSET
_TERM = re.compile(_PLACE + r"(==(?P=column)\[(?P<other>[+-]?\d{1,9})\])?")


class TemplateError(TagweaveError):
    """An invalid template."""


@dataclass(frozen=True, order=True)
class Term:
    """One column at one offset; with `reach`, whether it equals the same column `reach` tokens further on."""

    column: str
    offset: int
    reach: int = 0

    @property
    def depends_on_form_only(self) -> bool:
        """Return whether the value is a function of the token's own form."""
        of_form = any(self.column in columns for columns in (SCALAR_COLUMNS, LIST_COLUMNS, CLUSTER_COLUMNS))
        return self.offset == self.reach == 0 and of_form and self.column != "final"

    def __str__(self) -> str:
        place = f"{self.column}[{self.offset}]"
        return place + (f"=={self.column}[{self.offset + self.reach}]" if self.reach else "")


@dataclass(frozen=True)
class Template:
    """Terms whose values together form one feature."""

    terms: tuple[Term, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read `column[offset] column[offset] ...`, or `column[a]==column[b]` for a term."""
        terms = []
        for place in text.split():
            match = _TERM.fullmatch(place)
            if not match:
                raise TemplateError(
                    f"found {place!r} in template {text!r}, expected COLUMN[OFFSET] or COLUMN[OFFSET]==COLUMN[OFFSET]"
                )
            offset, other = (near(match[name] or match["offset"], text) for name in ("offset", "other"))
            terms.append(Term(match["column"], offset, other - offset))
        template = cls(tuple(terms))
        template._check(text)
        return template

    def _check(self, text: str) -> None:
        if not self.terms:
            raise TemplateError("an empty template, expected COLUMN[OFFSET] ...")
        check_terms(text)
        columns = {*SCALAR_COLUMNS, *LIST_COLUMNS, *LEXICON_COLUMNS, *GAZETTEER_COLUMNS}
        for term in self.terms:
            if not term.column.startswith("user:") and term.column not in columns | CLUSTER_COLUMNS.keys():
                shown = ", ".join(sorted({*columns, "cluster", "cluster_N"}))
                raise TemplateError(f"unknown column {term.column!r} in {text!r}, expected {shown}")
        lists = [term for term in self.terms if term.column in LIST_COLUMNS]
        if len(lists) > 1 or (lists and not self.inside_word):
            raise TemplateError(f"{text!r}: a list column stands at offset 0, with no other list, within one word")

    @property
    def inside_word(self) -> bool:
        """Return whether the features depend on the word form alone."""
        return all(term.depends_on_form_only for term in self.terms)

    @property
    def shift(self) -> int:
        """Return the offset of the first term: the anchor of the gram."""
        return min(term.offset for term in self.terms)

    @property
    def shape(self) -> tuple[Term, ...]:
        """Return the terms relative to the anchor; equal for templates that are shifts of one another."""
        return tuple(Term(term.column, term.offset - self.shift, term.reach) for term in self.terms)

    def __str__(self) -> str:
        return " ".join(str(term) for term in self.terms)


@dataclass(frozen=True)
class Family:
    """Templates that are shifts of one another over a gapless range of offsets."""

    terms: tuple[Term, ...]  # relative to the anchor of the gram
    low: int  # smallest offset of the anchor from the token that sees the gram
    high: int  # largest

    @property
    def window(self) -> int:
        return self.high - self.low + 1

    @property
    def looks_at_one_form(self) -> bool:
        """Return whether its grams depend on the form at their anchor alone."""
        return all(term.depends_on_form_only for term in self.terms)

    @property
    def seed(self) -> int:
        """Return the hash seed, a function of terms and `low`: whatever the order of templates, distinct per family."""
        return seed_of(f"{self.terms}{self.low}")


@dataclass(frozen=True)
class Reach:
    """Families, and how far their grams reach."""

    families: tuple[Family, ...]
    lead: int  # how many anchors a sentence has before its first token
    trail: int  # after its last
    low: NDArray[np.int64]  # [K], the smallest offset of an anchor from a token that sees it
    high: NDArray[np.int64]  # [K], the largest

    @classmethod
    def of(cls, families: Sequence[Family]) -> Reach:
        low = np.array([family.low for family in families], np.int64)
        high = np.array([family.high for family in families], np.int64)
        return cls(tuple(families), max(0, *map(int, -low), 0), max(0, *map(int, high), 0), low, high)


def near(offset: str, text: str) -> int:
    """Return an offset in a template as a number."""
    number = int(offset)
    if abs(number) > FARTHEST:
        raise TemplateError(f"found the offset {offset} in {text[:80]!r}, expected one from -{FARTHEST} to {FARTHEST}")
    return number


def check_terms(text: str) -> None:
    """Raise unless a template has at most `MOST_TERMS` terms."""
    if (count := len(text.split())) > MOST_TERMS:
        raise TemplateError(f"found {count:,} terms in {text[:80]!r}, expected {MOST_TERMS} at most")


def check_count(texts: tuple[str, ...]) -> None:
    """Raise unless there are at most `MOST_TEMPLATES`."""
    if len(texts) > MOST_TEMPLATES:
        raise TemplateError(f"found {len(texts):,} templates, expected {MOST_TEMPLATES:,} at most")


def seed_of(text: str) -> int:
    """Return a 64-bit number that is a function of the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Templates:
    """The templates of a model."""

    texts: tuple[str, ...]  # the templates as written

    @cached_property
    def parsed(self) -> tuple[Template, ...]:
        check_count(self.texts)
        return tuple(dict.fromkeys(Template.parse(text) for text in self.texts))

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Return the families of all templates that look beyond the word form."""
        shifts: dict[tuple[Term, ...], list[int]] = {}
        for template in self.parsed:
            if not template.inside_word or self._has_shifts(template):
                shifts.setdefault(template.shape, []).append(template.shift)
        return tuple(
            Family(shape, run[0], run[-1]) for shape, offsets in shifts.items() for run in _runs(sorted(offsets))
        )

    @cached_property
    def inside(self) -> tuple[Template, ...]:
        return tuple(template for template in self.parsed if template.inside_word and not self._has_shifts(template))

    def _has_shifts(self, template: Template) -> bool:
        return not self._beside.isdisjoint({(template.shape, -1), (template.shape, 1)})

    @cached_property
    def _beside(self) -> frozenset[tuple[tuple[Term, ...], int]]:
        return frozenset((template.shape, template.shift) for template in self.parsed)

    @cached_property
    def of_forms(self) -> bool:
        """Return whether all templates look at nothing but forms of words, and clusters of these."""
        return not (self.user_columns or self.lexicon_columns or self.gazetteer_columns)

    @cached_property
    def _columns(self) -> frozenset[str]:
        return frozenset(term.column for template in self.parsed for term in template.terms)

    @cached_property
    def user_columns(self) -> tuple[str, ...]:
        return tuple(sorted(name.removeprefix("user:") for name in self._columns if name.startswith("user:")))

    @cached_property
    def lexicon_columns(self) -> tuple[str, ...]:
        return tuple(name for name in LEXICON_COLUMNS if name in self._columns)

    @cached_property
    def gazetteer_columns(self) -> tuple[str, ...]:
        return tuple(name for name in GAZETTEER_COLUMNS if name in self._columns)

    @cached_property
    def cluster_columns(self) -> tuple[str, ...]:
        return tuple(name for name in CLUSTER_COLUMNS if name in self._columns)

    def check_lookups(self, lexicon: bool, gazetteer: bool, clusters: bool) -> None:
        """Raise unless a lexicon, a gazetteer and clusters are each given exactly if templates look at them."""
        words = "a lexicon with words of two characters or more"
        over_words = f"it, over {', '.join(LEXICON_COLUMNS)}"
        over_phrases = f"it, over {', '.join(GAZETTEER_COLUMNS)}: the preset gazetteer has them"
        over_clusters = "them, over cluster or cluster_N: the preset clusters has them"
        for columns, is_given, needed, what_was_given, what in (
            (self.lexicon_columns, lexicon, words, "a lexicon", over_words),
            (self.gazetteer_columns, gazetteer, "a gazetteer", "a gazetteer", over_phrases),
            (self.cluster_columns, clusters, "clusters", "word clusters", over_clusters),
        ):
            if columns and not is_given:
                raise TemplateError(f"found templates over {', '.join(columns)}, expected {needed} for them")
            if is_given and not columns:
                raise TemplateError(f"found {what_was_given}, expected templates that look at {what}")


def _runs(offsets: list[int]) -> list[list[int]]:
    """Rising offsets, split at gaps and where too many tokens would see a gram."""
    runs = [[offsets[0]]]
    for offset in offsets[1:]:
        if offset == runs[-1][-1] + 1 and len(runs[-1]) < WIDEST:
            runs[-1].append(offset)
        else:
            runs.append([offset])
    return runs


def _grams(column: str, *shapes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(" ".join(f"{column}[{offset}]" for offset in shape) for shape in shapes)


def _repeats(column: str) -> tuple[str, ...]:
    """Templates for whether a character equals the next one or the one after that (liu-2014, Table 2)."""
    pairs = ((-2, -1), (-1, 0), (0, 1), (-2, 0), (-1, 1))
    return tuple(f"{column}[{one}]=={column}[{other}]" for one, other in pairs)


_UNIGRAMS = tuple((offset,) for offset in range(-2, 3))
_BIGRAMS = tuple((offset, offset + 1) for offset in range(-2, 2))
_SKIPS = tuple((offset, offset + 2) for offset in range(-2, 1))

_AFFIXES = tuple(f"{kind}_{n}[0]" for n in range(1, 5) for kind in ("prefix", "suffix"))

# What a word of unknown form shares with known ones. On development data of seven small corpora unknown words gained
# 0.25 points over `words` without these; marks replaced by unknown ones of their category kept 83% of their tags
# instead of 74%.
_TYPES = ("script[0] length[0]", "category[0]")

PRESETS: dict[str, Templates] = {
    # The defaults, chosen on development data of eleven corpora of four languages. With few
    # known words, the spelling of a word says more than its neighbours: bigrams of forms, and forms two words away,
    # lost accuracy up to 10,000 tokens and gained nothing at 25,000. `first` and `last` duplicate the shortest prefix
    # and suffix, whose weights thus move twice as fast.
    "words": Templates(
        (
            *_grams("normal", (-1,), (0,), (1,)),
            *("form[0]", "first[0]", "last[0]", *_AFFIXES),
            *("length[0]", "length[0] first[0]", "length[0] last[0]"),
            *("script[0]", *_TYPES, "shape[0]", "shape[-1] shape[0]"),
        )
    ),
    "spans": Templates(
        (
            *_grams("normal", (-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1)),
            *("form[0]", "first[0]", "last[0]", *_AFFIXES),
            *("length[0]", "length[0] first[0]", "length[0] last[0]"),
            *_grams("script", (0,)),
            *_grams("shape", (-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1), (-1, 0, 1)),
            *(f"{kind}_{n}[{at}]" for kind in ("prefix", "suffix") for n in (2, 3, 4) for at in (-1, 1)),
        )
    ),
    "characters": Templates(
        (
            *_grams("folded", *_UNIGRAMS, *_BIGRAMS, *_SKIPS),
            *_grams("script", (-1,), (0,), (1,), (-1, 0), (0, 1)),
            *_repeats("folded"),
        )
    ),
    # li-2015, Table 1, 02 to 15 (01 is the transition)
    "li-2015": Templates(
        (
            *_grams("form", (0,), (-1,), (1,)),
            "form[0] last[-1]",
            "form[0] first[1]",
            "first[0]",
            "last[0]",
            "inner[0]",
            "first[0] inner[0]",
            "last[0] inner[0]",
            "single[0] last[-1] first[1]",
            "repeat[0]",
            *(f"prefix_{n}[0]" for n in range(1, 5)),
            *(f"suffix_{n}[0]" for n in range(1, 5)),
        )
    ),
    # tsuboi-2008, section 5.2
    "tsuboi-2008": Templates(
        (
            "lower[0]",
            "starts_digit[0]",
            "starts_upper[0]",
            "starts_upper[0] has_period[0]",
            "all_upper[0]",
            "all_lower[0]",
            "has_punctuation[0]",
            "has_hyphen[0]",
            *(f"suffix_{n}[0]" for n in range(1, 4)),
            "final[0]",
        )
    ),
    # liu-2014, Table 2, with full-width and half-width forms taken as one character
    "liu-2014": Templates(
        (*_grams("folded", *_UNIGRAMS, *_BIGRAMS, *_SKIPS), *_grams("type", (0,), (0, 1), (1, 2)), *_repeats("folded"))
    ),
    # jiang-2015, Table 1
    "jiang-2015": Templates(
        (
            *_grams("form", *_UNIGRAMS, *_BIGRAMS, (-1, 1)),
            "punctuation[0]",
            " ".join(f"date_class[{offset}]" for offset in range(-2, 3)),
        )
    ),
    # sun-wan-2012, section 4.2
    "sun-wan-2012": Templates(_grams("form", *_UNIGRAMS, *_BIGRAMS)),
    # sun-wan-2012, section 4.4, the features of sub-word text, in a window of 1
    "sun-wan-2012-subword": Templates(
        (
            *_grams("form", (-1,), (0,), (1,), (-1, 0), (0, 1), (-1, 1)),
            *(f"prefix_{n}[0]" for n in range(1, 4)),
            *(f"suffix_{n}[0]" for n in range(1, 4)),
        )
    ),
}
"""The presets; those of papers have the papers' short names."""
USUAL = {"tag": "words", "spans": "spans", "segment": "characters", "segtag": "characters"}
"""The preset of each task."""

# liu-2014, 5.1.3, and the same for both neighbours: 0.7 points of F better on ZX dev
_WORDS_OF_LEXICON = tuple(text for column in LEXICON_COLUMNS for text in _grams(column, (-1,), (0,), (1,)))
for _name in ("characters", "liu-2014"):
    PRESETS[f"{_name}-lexicon"] = Templates((*PRESETS[_name].texts, *_WORDS_OF_LEXICON))

PRESETS["types"] = Templates(_TYPES)
# beside other templates of words; prefixes gain more on 1,000 sentences, and lose on large corpora
PRESETS["clusters"] = Templates(_grams("cluster", (-1,), (0,), (1,)))
# beside `spans` with word vectors, which are features of a word itself alone; F on dev with GloVe: CrossNER politics
# 65.8, science 58.7, AI 49.9, WNUT-17 38.4, CoNLL-2003 93.7; with clusters 66.0, 59.3, 50.2, 39.6, 93.9
PRESETS["vector-clusters"] = Templates(
    (*_grams("cluster_10", (-1,), (1,)), *_grams("cluster_8", (-2,), (2,), (-1, 0), (0, 1)))
)
PRESETS["gazetteer"] = Templates(
    tuple(text for column in GAZETTEER_COLUMNS for text in _grams(column, (-1,), (0,), (1,)))
)
