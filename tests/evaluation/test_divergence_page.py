"""The divergence of two guidelines as a page and as tables: complete, escaped, and with nothing to fetch or to run."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Location, Sentence
from tagweave.evaluation.divergence import Divergence, page, summary, tables
from tagweave.evaluation.divergence_counts import counted
from tagweave.evaluation.tables import tables_as_text

VOID = ("meta",)


class Reader(HTMLParser):
    """Reads a page: its elements, which must close in order, their attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def names(self) -> set[str]:
        return {name for name, _ in self.elements}


def of_sample() -> Divergence:
    both = sample.path("both.tsv")
    return counted(load(f"{both}#ctb"), load(f"{both}#pd"))


def of_rows(rows: list[tuple[str, str, str]], names: tuple[str, str] = ("one", "two"), path: str = "f") -> Divergence:
    """A sentence of word, tag, tag."""
    forms, one, other = zip(*rows, strict=True)
    place = Location(path, 1)
    sides = zip(names, (one, other), strict=True)
    first, second = (
        Corpus((Sentence(forms, {name: tuple((tag,) for tag in tags)}, location=place),), name) for name, tags in sides
    )
    return counted(first, second)


def rendered(divergence: Divergence) -> str:
    return tables_as_text(lambda console: [console.print(item) for item in tables(divergence)], 120)


# The page


def test_the_page_is_whole_and_fetches_nothing() -> None:
    text = page(of_sample())
    reader = Reader(text)
    assert reader.open == []
    assert text.startswith("<!DOCTYPE html>\n") and text.endswith("</html>\n")
    assert reader.names().isdisjoint({"script", "link", "img", "iframe", "object", "form", "a", "base"})
    attributes = {name for _, attrs in reader.elements for name in attrs}
    assert attributes <= {"lang", "charset", "name", "content", "class", "scope", "style", "title", "open"}
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style and "http" not in text
    assert "color-scheme: light dark" in style
    assert ("meta", {"charset": "utf-8"}) in reader.elements


def test_the_page_has_both_directions_the_pairs_and_their_words() -> None:
    text, found = page(of_sample()), of_sample()
    assert "<b>NN</b> n 89.3 %, vn 4.7 %, s 3.3 %, f 2.0 %" in text
    assert "<mark>比赛</mark> 改 在 下午 进行 …" in text
    assert text.count("<details") == len(found.tags) + len(found.partners)


NASTY = ["<script>alert(1)</script>", "a&b", '"quoted"', "</td>", "'", "<!--", "&lt;", "]]>", "\u202e"]


@given(st.lists(st.tuples(*[st.sampled_from(NASTY)] * 3), min_size=1, max_size=6), st.sampled_from(NASTY))
def test_what_stands_in_a_corpus_is_text(rows: list[tuple[str, str, str]], name: str) -> None:
    reader = Reader(page(of_rows(rows, ("one", name), name)))
    assert reader.open == []
    assert "script" not in reader.names()
    shown = "".join(reader.text)
    for row in rows:
        assert all(part in shown for part in row)
    assert name in shown


def test_rare_partners_are_left_out_and_the_usual_one_never() -> None:
    text = page(of_rows([*[("w", "A", "x")] * 299, ("w", "A", "y"), *[("v", "A", "z")] * 4]))
    assert "<b>A</b> x 98.4 %, z 1.3 %" in text
    assert "y 0.3 %" not in text


# The tables


def test_the_tables_say_what_was_compared() -> None:
    text = rendered(of_sample())
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "Tokens with tags of ctb and pd: 694, counted."
    assert lines[1] == "From ctb to pd: 94.7 % of the tokens have their tag's usual partner."
    assert "│ NN  │    150 │ 0.68 │ n 89.3  vn 4.7  s 3.3  f 2.0         │" in text
    assert "pd to ctb: other partners than the most frequent one" in lines
    assert "[比赛]" in text


def test_tokens_that_tell_nothing_are_mentioned() -> None:
    first = Corpus((Sentence(("a", "b"), {"one": (("A",), None)}),), "one")
    second = Corpus((Sentence(("a", "b"), {"two": (("x",), ("y",))}),), "two")
    assert summary(counted(first, second))[0] == "Tokens with tags of one and two: 1, counted; left out: 1."


def test_the_most_frequent_unexpected_pairs() -> None:
    found = of_sample()
    (*_, shown, _, _) = tables(found, 3)
    counts = [pair.count for pair in found.unexpected()]
    assert counts == sorted(counts, reverse=True)
    assert shown.row_count == 3
