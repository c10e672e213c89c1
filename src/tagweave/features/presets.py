"""Named feature templates: the defaults, for any language, and those of the papers."""

from __future__ import annotations

from tagweave.features.gazetteer import GAZETTEER_COLUMNS
from tagweave.features.lexicon import LEXICON_COLUMNS
from tagweave.features.templates import Templates


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
    # The defaults, chosen on development data of eleven corpora of four languages (docs/results/defaults.md). With few
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
        (
            *_grams("folded", *_UNIGRAMS, *_BIGRAMS, *_SKIPS),
            *_grams("type", (0,), (0, 1), (1, 2)),
            *_repeats("folded"),
        )
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
# (docs/results/word-clusters.md)
PRESETS["clusters"] = Templates(_grams("cluster", (-1,), (0,), (1,)))
PRESETS["gazetteer"] = Templates(
    tuple(text for column in GAZETTEER_COLUMNS for text in _grams(column, (-1,), (0,), (1,)))
)
