"""Markdown, HTML and MediaWiki: the blocks of a page with their spans; odd pages give blocks or a clear error."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.errors import CorpusError
from tagweave.harvest.markup import Markup, blocks
from tagweave.harvest.page import DEEPEST, html_events, markdown_events, mediawiki_events, unclosed

READERS = {"markdown": markdown_events, "html": html_events, "mediawiki": mediawiki_events}


def shown(events):
    """The blocks, spans in brackets."""
    lines = []
    for text, spans in blocks(events):
        marks = sorted([(stop, 0, "]") for _, stop in spans] + [(start, 1, "[") for start, _ in spans], reverse=True)
        for place, _, mark in marks:
            text = text[:place] + mark + text[place:]  # noqa: PLW2901
        lines.append(text)
    return lines


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("看[指南](a.md)和**例子**、*术语*。", ["看[指南]和[例子]、[术语]。"]),
        ("用 `组件` 和 `<b>`。", ["用[组件]和<[b]>。"]),
        ("## 安装 Vue {#install}\n\n正文", ["[安装Vue]", "正文"]),
        ("### 稳定版本 {/*stable-releases*/}", ["[稳定版本]"]),
        ("标题\n====\n", ["[标题]"]),
        ("第一行\n第二行\\\n第三行", ["第一行第二行第三行"]),
        ("- 一\n- 二\n  - 三\n\n> 四", ["一", "二", "三", "四"]),
        ("---\ntitle: 题\n---\n正文", ["正文"]),
        ("```js\n// 代码\n```\n\n    代码\n\n正文", ["正文"]),
        ("| 甲 | 乙 |\n| --- | --- |\n| **丙** | 丁 |\n\n正文", ["正文"]),
        ("::: tip 注意\n正文\n:::\n", ["正文"]),
        ("<Note>\n\n正文\n\n</Note>", ["正文"]),
        ("<Note>\n正文\n</Note>", ["正文"]),
        ("<script>\n脚本\n</script>\n\n正文<br>二<!-- 注 -->", ["正文二"]),
        ("![图片](a.png)看图", ["看图"]),
        ("[![图](a.png)](b)看", ["看"]),
        ("**粗[链接](a)体**", ["[粗[链接]体]"]),
        ("<https://例子.cn> 网址", ["[https://例子.cn]网址"]),
        ("**没有完", ["**没有完"]),
        ("&lt;标签&gt; \\*星", ["<标签>*星"]),
    ],
)
def test_markdown(page, expected):
    assert shown(markdown_events(page)) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>看<a href='a'>指南</a>和<b>例子</b>、<em>术语</em>。</p>", ["看[指南]和[例子]、[术语]。"]),
        ("<h1>标题</h1>正文<p>二</p>三", ["[标题]", "正文", "二", "三"]),
        ("<div>一<br>二<ul><li>三<li>四</ul></div>", ["一", "二", "三", "四"]),
        ("<title>题</title><script>var 甲;</script><style>乙{}</style><p>正<!-- 注 -->文</p>", ["正文"]),
        ("<p>一<script>甲</script>二<sup>[1]</sup>三</p>", ["一二三"]),
        ("<table><tr><td>甲</td></tr></table>后<pre>乙</pre>", ["后"]),
        ("<b>一<i>二</i>三</b>", ["[一[二]三]"]),
        ("<b>一<p>二</p></b>三", ["[一]", "二", "三"]),
        ("<p>没有<b>完", ["没有[完]"]),
        ("&lt;b&gt;&#20013;&nbsp;文", ["<b>中文"]),
        ("<a name='x'></a>正文", ["正文"]),
        ("<?xml version='1.0' encoding='gbk'?><p>中文</p>", ["中文"]),
        ("<meta charset=gbk><p>中文</p>", ["中文"]),
    ],
)
def test_html(page, expected):
    assert shown(html_events(page)) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("看[[指南]]和[[甲|例子]]、'''粗体'''、''斜体''。", ["看[指南]和[例子]、[粗体]、[斜体]。"]),
        ("见[http://a.cn 网站]和[http://b.cn]及 http://c.cn 。", ["见[网站]和及。"]),
        ("== 历史 ==\n正文\n第二段", ["[历史]", "正文", "第二段"]),
        ("* 一\n* [[二]]\n# 三\n: 四", ["一", "[二]", "三", "四"]),
        ("{{模板|'''甲'''}}正文{{{参数|乙}}}<!-- 注 -->", ["正文"]),
        ("{| class='a'\n| 甲 || 乙\n|}\n正文", ["正文"]),
        ("正文<ref>来源</ref>二<ref name='a'/>", ["正文二"]),
        ("[[File:a.jpg|thumb|说明]][[分类:甲]][[Category:乙]][[en:C]]正文", ["正文"]),
        ("[[:分类:甲]]", ["[分类:甲]"]),
        ("[[北京#历史|首都]]在[[北京#历史]]", ["[首都]在[北京]"]),
        ("#REDIRECT [[甲]]", []),
        ("#重定向 [[甲]]", []),
        ("-{zh-hans:计算机;zh-hant:電腦}-和-{A|zh-cn:软件;zh-tw:軟體}--{乾}--{T|题}-", ["计算机和软件乾"]),
        ("一<br />二&nbsp;&#20013;&#xD800;", ["一", "二中"]),
        ("<nowiki>'''甲'''</nowiki><math>x</math>正文__NOTOC__", ["正文"]),
        ("'''''甲'''乙''", ["[[甲]乙]"]),
        ("[[没有完 '''粗", ["[[没有完'''粗"]),
    ],
)
def test_mediawiki(page, expected):
    assert shown(mediawiki_events(page)) == expected


TOKENS = {
    "markdown": "[ ] ( ) * ** _ ` ``` > - < <a <b> ![ | |-| # {# } {/* */} ::: --- \\ & &#xd800; \n \n\n 中 文 a [a]:",
    "html": "<b> </b> <p> </p> <table> <td> <a=' ' > <!-- --> <script> </script> <svg> <pre> <li> & &#xd800; < </ 中 a",
    "mediawiki": "[[ ]] {{ }} {{{ }}} {| |} | '' ''' <b> </b> <ref> </ref> <br/> <a <!-- --> [http://a ] \n = == : *"
    " &#xd800; &#9999999999; -{ }- #REDIRECT 中 文 a <nowiki>",
}


@pytest.mark.parametrize("name", READERS)
@given(st.data())
def test_no_page_is_too_odd(name, data):
    tokens = st.sampled_from([*TOKENS[name].split(" "), " ", "\n"])
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    page = "".join(data.draw(st.lists(st.one_of(tokens, texts), max_size=40)))
    for block in blocks(READERS[name](page)):
        assert block.text
        for start, stop in block.spans:
            assert 0 <= start < stop <= len(block.text)


@given(st.text("中文ab一二三，、（）", max_size=40))
def test_text_without_markup_comes_out_as_it_is(text):
    for read in READERS.values():
        assert [tuple(block) for block in blocks(read(text))] == ([(text, ())] if text else [])


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("page", ["", "\n", " \n\t", "<!-- 注 -->", "<!--", "\ufeff"])
def test_empty_pages(name, page):
    assert "注" not in "".join(shown(READERS[name](page)))


REPEATED = {
    "markdown": ["[", "![[", "**a", "> ", "<a ", "{/*", "[a](", "    ", "a\n", "中"],
    "html": ["<div>", "<b>", "<!--", "<a ", "<p><b>", "<table><td>", "&", "<script>", "中"],
    "mediawiki": [
        "[http://a ",
        "{|\n",
        "<a ",
        *["[[", "{{a|", "<ref>", "'''''a", "<b>''[[", "<!--", "[[a|{{b|", "<p>", "中"],
    ],
}


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        pytest.param(name, piece, marks=() if at < 3 else pytest.mark.slow)
        for name in REPEATED
        for at, piece in enumerate(REPEATED[name])
    ],
)
def test_repeated_markup_takes_seconds_at_most(name, piece):
    start = time.process_time()
    try:
        list(blocks(READERS[name](piece * 10_000)))
    except CorpusError as error:
        assert "nested" in str(error)
    assert time.process_time() - start < 3


def test_attributes_of_one_element_take_no_longer_than_those_of_many():
    """libxml2 goes through those that are there for each new one of a tree."""

    def seconds(per_element, elements):
        tag = "<b " + " ".join(f'a{number}="x"' for number in range(per_element)) + ">"
        start = time.process_time()
        assert shown(html_events(tag * elements + "中"))
        return time.process_time() - start

    assert seconds(40_000, 1) < 5 * seconds(200, 200)


def test_marks_in_one_another_take_no_longer_than_one():
    def seconds(marks):
        start = time.process_time()
        events = [*[Markup.OPEN] * marks, "。" * 200_000, "中", "。" * 200_000, *[Markup.CLOSE] * marks]
        ((_, spans),) = blocks(events)
        assert spans == ((200_000, 200_001),)
        return time.process_time() - start

    assert seconds(250) < 5 * seconds(1)


def test_markup_nested_too_deeply_is_an_error_that_says_so():
    with pytest.raises(CorpusError, match="elements nested more than 256 deep"):
        html_events("<div>" * 300)
    with pytest.raises(CorpusError, match="20,000 brackets and tags unclosed or nested too deeply"):
        mediawiki_events("[[a|" * 20_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]] {{b|[[c]]}}\n{|\n|d\n|} <!-- e --> <ref name='f'>g</ref> <br> <ref name='h'/> [http://i j]", 0),
        ("{{a|b|}} {{{c}}} [0] a]", 0),
        ("[[a {{b", 2),
        ("]] }} </b> -->", 0),
        ("[[ {{ ]]", 1),
        ("<b> <B></b>", 1),
        ("<p> <p> a", 2),
        ("<li> <br> <meta> <link> a", 0),
        ("{{" * (DEEPEST + 3) + "}}" * (DEEPEST + 3), 3),
    ],
)
def test_unclosed_brackets_and_tags(text, expected):
    assert unclosed(text) == expected
