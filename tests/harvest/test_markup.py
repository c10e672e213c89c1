"""Natural annotation: blocks with spans become sentences with boundaries of words, or with spans of words."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagweave as tw
from tagweave.corpus.formats import kytea
from tagweave.corpus.spans import spans_of
from tagweave.harvest.markup import Markup, MarkupHarvest, Passage, blocks, boundaries, sentences
from tagweave.harvest.options import HarvestError
from tagweave.harvest.phrases import outermost

OPEN, CLOSE, END = Markup.OPEN, Markup.CLOSE, Markup.END


def written(found):
    stream = io.StringIO()
    kytea.write(found, stream)
    return stream.getvalue().splitlines()


def harvested(*found, **options):
    return written(MarkupHarvest(**options).of(found))


# Blocks


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (["他在", OPEN, "北京", CLOSE, "住"], [Passage("他在北京住", ((2, 4),))]),
        (["一", END, END, " \n", END, "二"], [Passage("一"), Passage("二")]),
        ([OPEN, "一", OPEN, "二", CLOSE, CLOSE], [Passage("一二", ((0, 2), (1, 2)))]),
        ([OPEN, OPEN, "一二", CLOSE, CLOSE], [Passage("一二", ((0, 2),))]),
        ([OPEN, "一", END, "二", CLOSE, "三"], [Passage("一"), Passage("二三")]),
        ([CLOSE, "一", OPEN], [Passage("一")]),
        ([OPEN, "", CLOSE, "一", OPEN, " ", CLOSE], [Passage("一")]),
        (["看", OPEN, "《红楼梦》", CLOSE], [Passage("看《红楼梦》", ((2, 5),))]),
        ([OPEN, "。！", CLOSE], [Passage("。！")]),
    ],
)
def test_events_become_blocks(events, expected):
    assert list(blocks(events)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 使用 Vue 组件 ", "使用Vue组件"),
        ("two\n  words", "two words"),
        ("two\nwords", "two words"),
        ("一行\n二行", "一行二行"),
        ("a \u200b b\u00a0c", "a b c"),
        ("第 1 章", "第1章"),
        ("end . Next", "end.Next"),
        ("零\u200b宽\ufeff、\ud800半\x00个", "零宽、半个"),
    ],
)
def test_blanks_are_typography_beside_chinese_and_separate_other_words(text, expected):
    (block,) = blocks([text])
    assert block.text == expected


def test_spans_stay_on_their_text_where_blanks_go():
    (block,) = blocks(["请 用 ", OPEN, " React 组件 ", CLOSE, " 和  ", OPEN, "two  words", CLOSE, " 吧"])
    assert [block.text[start:stop] for start, stop in block.spans] == ["React组件", "two words"]


pieces = st.lists(st.one_of(st.text("一二三a1 。\n", max_size=4), st.sampled_from(list(Markup))), max_size=30)


@given(pieces)
def test_blocks_keep_all_but_blanks_and_spans_lie_inside(events):
    found = list(blocks(events))
    text = "".join(event for event in events if isinstance(event, str))
    assert "".join(block.text for block in found).replace(" ", "") == "".join(text.split())
    for block in found:
        assert block.text and block.text == block.text.strip()
        assert list(block.spans) == sorted(set(block.spans))
        for start, stop in block.spans:
            assert 0 <= start < stop <= len(block.text)
            assert block.text[start].isalnum() and block.text[stop - 1].isalnum()


# Sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一。二！三", ["一。", "二！", "三"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("真的？！（是。）好……了", ["真的？！", "（是。）", "好……", "了"]),
        ("3.14、版本2.0", ["3.14、版本2.0"]),
        ("。", ["。"]),
    ],
)
def test_sentences_end_after_their_marks_and_closing_quotes(text, expected):
    assert [sentence.text for sentence in sentences(Passage(text))] == expected


@given(st.text("一二。！”a", min_size=1, max_size=20), st.data())
def test_sentences_are_the_block_and_keep_the_spans_that_one_of_them_holds(text, data):
    bounds = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda span: span[0] < span[1])
    spans = tuple(sorted(data.draw(st.sets(bounds, max_size=6))))
    found, expected, begin = list(sentences(Passage(text, spans))), [], 0
    assert "".join(sentence.text for sentence in found) == text
    for sentence in found:
        end = begin + len(sentence.text)
        expected.append(tuple((a - begin, b - begin) for a, b in spans if begin <= a and b <= end))
        begin = end
    assert [sentence.spans for sentence in found] == expected


# Boundaries


@given(st.text("一二三a1。", min_size=1, max_size=12), st.data())
def test_boundaries_against_a_plain_reading_of_the_rules(text, data):
    bounds = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda span: span[0] < span[1])
    spans = tuple(sorted(data.draw(st.sets(bounds, max_size=4))))
    known = boundaries(Passage(text, spans))
    assert len(known) == len(text) - 1
    for place, mark in enumerate(known):
        begins = any(a == place + 1 and text[a] in "一二三" for a, _ in spans)
        ends = any(b == place + 1 and text[place] in "一二三" for _, b in spans)
        joined = (place, place + 2) in spans and set(text[place : place + 2]) <= set("一二三")
        assert mark == {(True, False): "|", (False, True): "-"}.get((begins or ends, joined), " ")


# Harvest


def test_sentences_of_characters_with_partial_evidence():
    (sentence,) = MarkupHarvest().of([Passage("主要是旅游和", ((3, 5),))], "page.md")
    assert sentence.forms == tuple("主要是旅游和")
    layer = [None if c is None else set(c) for c in sentence.layers["segmentation"]]
    assert layer == [{"B", "S"}, None, {"E", "S"}, {"B"}, {"E"}, {"S"}]
    assert sentence.location.path == "page.md"


def test_sentences_without_evidence_are_left_out_unless_all_are_wanted():
    found = Passage("好。在北京住。", ((3, 5),)), Passage("用Vue吧", ((1, 4),))
    assert harvested(*found) == ["在|北-京|住 。"]
    assert harvested(*found, everything=True) == ["好 。", "在|北-京|住 。", "用 V-u-e 吧"]


def test_each_text_comes_once_and_the_first_with_evidence_counts():
    plain, marked, other = Passage("在北京住"), Passage("在北京住", ((1, 3),)), Passage("在北京住", ((0, 1),))
    assert harvested(plain, marked, other, marked) == ["在|北-京|住"]


def test_a_blank_between_words_is_a_boundary_and_no_character():
    assert harvested(Passage("在VS Code里写代码", ((8, 9), (10, 12)))) == ["在 V-S|C-o-d-e|里|写|代-码"]
    assert harvested(Passage("用VS Code", ((1, 8),)), everything=True) == ["用 V-S|C-o-d-e"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("在Vue3里", "在|V-u-e 3|里"),
        ("在１９98年里", "在|１-９-9-8 年|里"),
        ("在a1里", "在|a 1|里"),
        ("在Ａbé里", "在|Ａ-b-é|里"),
        ("在カタ里", "在|カ タ|里"),
    ],
)
def test_runs_of_letters_and_of_digits_are_not_segmented(text, expected):
    assert harvested(Passage(text, ((0, 1), (len(text) - 1, len(text))))) == [expected]


def test_counts():
    harvest = MarkupHarvest()
    found = [
        Passage("在北京住。他是好人。", ((1, 3), (6, 7), (7, 9))),
        Passage("用Vue", ((1, 4),)),
        Passage("在北京住。", ((1, 3),)),
    ]
    assert len(list(harvest.of(found))) == 2
    assert (harvest.sentences, harvest.spans, harvest.spans_of_two, harvest.determined) == (2, 3, 2, 7)


PAGES = {
    "markdown": "# New York\n\nSee [New York City](a) and *not* **John Smith**, [in**ner**](b) **inter**national. Hi"
    "\n\n`x`",
    "html": "<h1>New York</h1><p>See <a>New York City</a> and <i>not</i> <b>John\nSmith</b>, <a>in<b>ner</b></a>"
    " <strong>inter</strong>national. Hi</p><code>x</code>",
    "mediawiki": "== New York ==\nSee [[a|New York City]] and ''not'' '''John Smith''', [[b|in'''ner''']]"
    " <b>inter</b>national. Hi\n<code>x</code>",
}


def marked(sentence: tw.Sentence) -> list[str]:
    groups = spans_of(sentence.layers["tag"])
    assert all(span.label is None for (span,) in groups)
    return [" ".join(sentence.forms[start:stop]) for ((start, stop, _),) in groups]


@pytest.mark.parametrize("format", PAGES)
def test_links_and_bold_text_are_spans(format: str, tmp_path: Path) -> None:  # noqa: A002
    page = tmp_path / "page"
    page.write_text(PAGES[format])
    [sentence] = tw.harvest_markup(page, format=format, words=True)
    assert " ".join(sentence.forms) == "See New York City and not John Smith , inner international ."
    assert marked(sentence) == ["New York City", "John Smith", "inner"]
    every = tw.harvest_markup(page, format=format, words=True, every=True, guideline="g")
    assert [" ".join(each.forms) for each in every][::2] == ["New York", "Hi"]
    assert (every.unit, every.guideline) == ("word", "g")


def test_a_file_is_what_the_corpus_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[A b](x) c. [A b](x) c. And **d**!")
    counts = tw.harvest_markup_files(page, tmp_path / "o.col", words=True)
    assert counts == (1, 2, 2, 0, 3, 2)
    assert (tmp_path / "o.col").read_text() == "A\tB-*\nb\tI-*\nc\t_\n.\t_\n\nAnd\t_\nd\tB-*\n!\t_\n\n"


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)).map(lambda pair: (pair[0], sum(pair))), max_size=7))
def test_outermost_spans(spans: list[tuple[int, int]]) -> None:
    outer = [a for a in set(spans) if not any(b != a and b[0] <= a[0] and a[1] <= b[1] for b in spans)]
    crossed = [a for a in outer for b in outer if a != b and a[0] < b[1] and b[0] < a[1]]
    assert outermost(spans) == sorted(set(outer) - set(crossed))


@pytest.mark.parametrize("options", [{"free_pairs": True}, {"like": "x"}])
def test_options_of_characters_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(HarvestError, match="with `words`, expected it without"):
        tw.harvest_markup("page.md", words=True, **options)
