"""The presets against the tables of their papers, and the defaults against their description, written out by hand.

What a feature is called does not matter, only which tokens share it: two lists of features are the same if their
features occur at the same tokens, equally often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

import naive
from pairing import form_features, token_features
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS

Words = Sequence[str]


def at(words: Words, i: int) -> str:
    """The word at i; a mark of its own for every distance outside the sentence."""
    return f"<{i}" if i < 0 else f">{i - len(words)}" if i >= len(words) else words[i]


def edge(words: Words, i: int, character: int) -> str:
    """A character of a word, or the mark of the place outside the sentence."""
    return words[i][character] if 0 <= i < len(words) else at(words, i)


def words(words: Words, i: int) -> list[tuple[object, ...]]:
    """The default for words, docs/features.md."""
    w = words[i]
    size = min(len(w), 10)
    found: list[tuple[object, ...]] = [("form", w), ("first", w[0]), ("last", w[-1]), ("length", size)]
    found += [("length and first", size, w[0]), ("length and last", size, w[-1])]
    found += [(f"normal {k}", _of(words, i + k, "normal")) for k in (-1, 0, 1)]
    found += [(kind, w[a:b]) for n in range(1, 5) if len(w) >= n for kind, a, b in _affixes(w, n)]
    script = naive.column("script", w)
    found += [("shape", naive.shape(w)), ("script", *script), ("script and length", *script, size)]
    found.append(("category", naive.category(w)))
    return [*found, ("shapes", _of(words, i - 1, "shape"), naive.shape(w))]


def _of(tokens: Words, i: int, column: str) -> str:
    return naive.column(column, tokens[i])[0] if 0 <= i < len(tokens) else at(tokens, i)


def characters(characters: Words, i: int) -> list[tuple[object, ...]]:
    """The default for characters, docs/features.md."""
    scripts = [_of(characters, s, "script") for s in range(i - 1, i + 2)]
    found: list[tuple[object, ...]] = [each for each in liu_2014(characters, i) if each[0] not in ("T", "TT")]
    found += [("script", k, script) for k, script in enumerate(scripts)]
    return found + [("scripts", k, *scripts[k : k + 2]) for k in (0, 1)]


def li_2015(words: Words, i: int) -> list[tuple[object, ...]]:
    """Table 1, 02 to 15; the characters of 09 to 11 are those between the first and the last."""
    w = words[i]
    before, after = edge(words, i - 1, -1), edge(words, i + 1, 0)
    found: list[tuple[object, ...]] = [("02", w), ("03", at(words, i - 1)), ("04", at(words, i + 1))]
    found += [("05", w, before), ("06", w, after), ("07", w[0]), ("08", w[-1])]
    for c in w[1:-1]:
        found += [("09", c), ("10", w[0], c), ("11", w[-1], c)]
    if len(w) == 1:
        found.append(("12", w, before, after))
    found += [("13", w[k]) for k in range(len(w) - 1) if w[k] == w[k + 1]]
    for k in range(1, min(4, len(w)) + 1):
        found += [("14", k, w[:k]), ("15", k, w[-k:])]
    return found


def tsuboi_2008(words: Words, i: int) -> list[tuple[object, ...]]:
    """Section 5.2."""
    w = words[i]
    marks = [c for c in w if c in naive.SCRIPTS["punctuation"]]
    whether = {
        "a digit first": w[0].isdigit(),
        "a capital first": w[0].isupper(),
        "a capital first and a period": w[0].isupper() and "." in w,
        "all capitals": all(c.isupper() for c in w),
        "no capitals": all(c.islower() for c in w),
        "punctuation": bool(marks),
        "a hyphen": "-" in w,
    }
    found: list[tuple[object, ...]] = [("spelling", w.lower()), ("last word", words[-1])]
    found += [(name,) for name, holds in whether.items() if holds]
    return found + [("suffix", k, w[-k:]) for k in (1, 2, 3) if len(w) >= k]


def liu_2014(characters: Words, i: int) -> list[tuple[object, ...]]:
    """Table 2, full-width and half-width forms being one character."""
    characters = [naive.folded(character) for character in characters]

    def kind(s: int) -> str:
        if not 0 <= s < len(characters):
            return at(characters, s)
        names = [name for name in ("digit", "punctuation", "letter") if characters[s] in naive.SCRIPTS[name]]
        return names[0] if names else "other"

    found: list[tuple[object, ...]] = [("C", s - i, at(characters, s)) for s in range(i - 2, i + 3)]
    found += [("CC", s - i, at(characters, s), at(characters, s + 1)) for s in range(i - 2, i + 2)]
    found += [("C-C", s - i, at(characters, s), at(characters, s + 2)) for s in range(i - 2, i + 1)]
    found += [("T", kind(i))]
    found += [("TT", s - i, kind(s), kind(s + 1)) for s in (i, i + 1)]
    found += [("same", s - i, at(characters, s) == at(characters, s + 1)) for s in range(i - 2, i + 1)]
    return found + [("same2", s - i, at(characters, s) == at(characters, s + 2)) for s in (i - 2, i - 1)]


def jiang_2015(characters: Words, i: int) -> list[tuple[object, ...]]:
    """Table 1, and section 3.1 for Pu and T."""

    def kind(s: int) -> str:
        if not 0 <= s < len(characters):
            return at(characters, s)
        c = characters[s]
        return (
            "2"
            if c in "年月日"
            else "1"
            if c in naive.SCRIPTS["digit"]
            else "3"
            if c.isascii() and c.isalpha()
            else "4"
        )

    c = [at(characters, s) for s in range(i - 2, i + 3)]
    found: list[tuple[object, ...]] = [("n", k, value) for k, value in enumerate(c)]
    found += [("nn", k, c[k], c[k + 1]) for k in range(4)]
    found += [("C-1C1", c[1], c[3]), ("T", *(kind(s) for s in range(i - 2, i + 3)))]
    return found + [("Pu",)] * (characters[i] in naive.SCRIPTS["punctuation"])


def sun_wan_2012(characters: Words, i: int) -> list[tuple[object, ...]]:
    """Section 4.2."""
    c = [at(characters, s) for s in range(i - 2, i + 3)]
    return [("n", k, value) for k, value in enumerate(c)] + [("nn", k, c[k], c[k + 1]) for k in range(4)]


def sun_wan_2012_subword(pieces: Words, i: int) -> list[tuple[object, ...]]:
    """Section 4.4, C and the word formation features."""
    c, own = [at(pieces, s) for s in range(i - 1, i + 2)], pieces[i]
    found: list[tuple[object, ...]] = [("C", k, value) for k, value in enumerate(c)]
    found += [("CC", k, c[k], c[k + 1]) for k in range(2)] + [("C-1C1", c[0], c[2])]
    return found + [(kind, own[a:b]) for n in range(1, 4) if len(own) >= n for kind, a, b in _affixes(own, n)]


def _affixes(form: str, n: int) -> list[tuple[str, int, int]]:
    return [(f"prefix {n}", 0, n), (f"suffix {n}", len(form) - n, len(form))]


TABLES: dict[str, Callable[[Words, int], list[tuple[object, ...]]]] = {
    "words": words,
    "characters": characters,
    "li-2015": li_2015,
    "tsuboi-2008": tsuboi_2008,
    "liu-2014": liu_2014,
    "jiang-2015": jiang_2015,
    "sun-wan-2012": sun_wan_2012,
    "sun-wan-2012-subword": sun_wan_2012_subword,
}

WORDS = [
    "中国年 一 中年 a 中国中国 。 一一 月中国国年",
    "月 中国年 。",
    "A.b Ab x-1 2x the THE ! ,-",
    "",
    "一",
    "THE the . A.b",
]
CHARACTERS = ["中中国1１", "9年1月中国国国。", "ab,c年!あ", "", "中", "ア中中ｱ中ab9ＺZ", "中中国1１。"]


def corpus(preset: str) -> list[list[str]]:
    if preset in ("characters", "liu-2014", "jiang-2015", "sun-wan-2012"):
        return [list(text) for text in CHARACTERS]
    return [text.split() for text in WORDS]


def signatures(tokens: list[list[object]]) -> Counter[tuple[tuple[int, int], ...]]:
    """How often each pattern of occurrence (token, times) is that of a feature."""
    places: dict[object, Counter[int]] = {}
    for number, features in enumerate(tokens):
        for feature in features:
            places.setdefault(feature, Counter())[number] += 1
    return Counter(tuple(sorted(counts.items())) for counts in places.values())


@pytest.mark.parametrize("preset", sorted(TABLES))
def test_presets_have_the_features_of_their_tables(preset: str) -> None:
    sentences = corpus(preset)
    encoder = TemplateEncoder(PRESETS[preset])
    encoded = encoder.encode([Sentence(tuple(words)) for words in sentences])
    ours: list[list[object]] = []
    for s, words in enumerate(sentences):
        for i in range(len(words)):
            found: list[object] = [f for _, f in token_features(encoder, encoded, s, i) if f.number >= 0]
            ours.append([*found, *form_features(encoded, s, i)])
    papers: list[list[object]] = [list(TABLES[preset](words, i)) for words in sentences for i in range(len(words))]
    assert list(map(len, ours)) == list(map(len, papers))
    assert signatures(ours) == signatures(papers)


def test_the_number_of_templates_is_that_of_the_tables() -> None:
    assert {name: len(preset.parsed) for name, preset in PRESETS.items()} == {
        "words": 22,
        "spans": 42,
        "characters": 22,
        "characters-lexicon": 31,
        "li-2015": 20,  # 14 rows, of which prefix and suffix count four times
        "tsuboi-2008": 12,
        "liu-2014": 20,
        "jiang-2015": 12,
        "sun-wan-2012": 9,
        "sun-wan-2012-subword": 12,
        "gazetteer": 6,
        "clusters": 3,
        "vector-clusters": 6,
        "types": 2,
        "liu-2014-lexicon": 29,  # three more for each of three characters: 5.1.3
    }
