"""Runs of raw text against a twin of regular expressions: one pattern for every place that a kind of run has."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from naive import folded
from tagweave.corpus.formats.kytea import segmentation_layer
from tagweave.harvest.runs import joined, segmentation

_L, _D = "[A-Za-zéд\u0301]", "[0-9]"
_APOSTROPHE, _HYPHEN, _POINT = "['’]", "[-‐]", "[./·∶]"
_PLACES = [
    re.compile(pattern.replace("L", _L).replace("D", _D))
    for pattern in (
        "(?<=L)(?=L)",
        f"(?<=L)(?={_APOSTROPHE}L)|(?<=L{_APOSTROPHE})(?=L)",
        f"(?<=L)(?={_HYPHEN}(?:L|D))|(?<=L{_HYPHEN})(?=L|D)",
        "(?<=D)(?=D)",
        f"(?<=D)(?={_POINT}D)|(?<=D{_POINT})(?=D)",
        "(?<=D)(?=[%‰])",
        "(?<=D)(?=,DDD(?!D))|(?<=D,)(?=DDD(?!D))",
        "(?<=D)(?=:DD(?!D))|(?<=D:)(?=DD(?!D))",
    )
]


def twin(text: str) -> list[bool]:
    """Words and numbers; full-width commas and colons stay what they are."""
    kept = "".join(c if c in "，：" else folded(c) for c in text)
    places = {found.start() for pattern in _PLACES for found in pattern.finditer(kept)}
    return [at in places for at in range(len(text))]


TEXTS = st.text(st.sampled_from("aBéд\u0301Ｚ19０.．/／·∶%％‰,，:：'’＇-－‐ \n\t中年。—～"), max_size=30)


@given(TEXTS)
@example("1,234,567.89%")
@example("１２，３４５：１２")
@example("'a-1-b'c-")
def test_words_and_numbers_are_those_of_the_twin(text: str) -> None:
    assert joined(text).tolist() == twin(text)


RUNS = """
Vue Ｖｕｅ naïve naı̈ve Москва don't rock’n’roll e-mail Ａ－３２０ 1998 １９９８ 3.14 ３．１４
1,234,567 12:30 2/3 ４０·５ 1∶2 99.9% ５％ http://a.cn
https://www.example.org/a_(b)/c?d=e&f=%20#g HTTP://A.CN/ ｈｔｔｐ：／／ａ．ｃｎ／ｂ
http：//a.cn/b ftp://user:pw@host:21/x;type=i www.example.org ｗｗｗ．ａ．ｃｎ
WWW.a.cn/~b a@b.cn first.last+tag@mail.example.org ａ．ｂ＠ｃ．ｃｎ
""".split()  # noqa: SIM905
ENDS = """
1998|年   MP|3   5|kg   1|-|2   ５|—|７|级   １|、|２   １９７４|，|６５０   1|,|23   1|,|2345
１|：|２３|日   3|:|1   1|.   .|5   A|/|B   50%|%   '|a|'| |-|b   http://a.cn|。
http://a.cn|.   (|http://a.cn|)   http://a.cn|，|http://b.cn   http://a.cn/|中|文
http://a.cn| |b   http|:|/|/   C|:|/|/|x   a|@|b   @|b|.|cn   a@b.cn|.
awww|.|b   中|文|字   ｱ|ｲ|ﾞ|ﾞ
"""


def whole(text: str) -> list[str]:
    """The text cut at every place that is open."""
    inside = joined(text).tolist()
    starts = [at for at in range(len(text)) if not inside[at]]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("见", "。"), ("（", "）"), ("看", "，再说"), (" ", "\n"), ("\n", " ")]
)
def test_runs_are_found_wherever_they_stand(run: str, before: str, after: str) -> None:
    assert whole(before + run + after) == [*before, run, *after]


@pytest.mark.parametrize("pieces", re.split(r"\n|   ", ENDS.strip()))
def test_where_runs_end(pieces: str) -> None:
    assert whole(pieces.replace("|", "")) == pieces.split("|")


@given(TEXTS, st.sampled_from(["http://a.b/c", "x.y@z.cn", "www.a.cn"]), TEXTS)
def test_addresses_stay_whole_in_any_company(before: str, address: str, after: str) -> None:
    text = f"{before} {address} {after}"
    inside = joined(text)
    start = len(before) + 1
    assert inside[start + 1 : start + len(address)].all()
    assert inside.tolist()[:start] == twin(before + " ")
    assert not inside[start] and not inside[start + len(address)]


@given(st.lists(TEXTS.map(lambda text: text.replace("\n", "")), max_size=5))
def test_lines_know_nothing_of_each_other(lines: list[str]) -> None:
    together = joined("".join(line + "\n" for line in lines))
    apart = [joined(line + "\n") for line in lines]
    assert together.tolist() == [each for line in apart for each in line.tolist()]


def test_no_run_crosses_a_blank_or_begins_at_the_beginning() -> None:
    text = "a b\tc\u3000d\n1 2 www.\u3000a.b x@ y.z"
    assert not joined(text)[
        [at for at, c in enumerate(text) if c in " \t\u3000\n" or text[at - 1] in " \t\u3000\n"]
    ].any()
    assert not joined("a").any() and joined("").shape == (0,)


def test_long_lines_take_linear_time() -> None:
    for text in ("a" * 10**6 + "@", "a." * 10**5 + "@", "//" * 10**5, "www." * 10**5, "http://." * 10**4 + " @"):
        assert len(joined(text)) == len(text)


def test_surrogates_and_points_at_hand() -> None:
    text = "ab\ud800c12"
    points = np.array([ord(c) for c in text], np.uint32)
    assert joined(text).tolist() == joined(text, points).tolist() == [False, True, False, False, False, True]


def test_sentences_of_characters() -> None:
    assert segmentation(()) == ()
    assert segmentation(tuple("看Vue3")) == segmentation_layer([" ", "-", "-", " "])
    assert segmentation(tuple("看Vue")) == (("B", "S"), ("B", "M"), ("M",), ("E",))
