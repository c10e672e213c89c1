"""Links and bold text among words, in all formats of pages, as spans of unknown type."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagweave as tw
from tagweave.corpus.spans import spans_of
from tagweave.harvest.options import HarvestError
from tagweave.harvest.phrases import outermost

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
