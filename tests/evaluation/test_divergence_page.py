"""The divergence of two guidelines as tables, in a terminal and escaped in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Location, Sentence
from tagweave.evaluation.divergence import Divergence, summary, tables
from tagweave.evaluation.divergence_counts import counted
from tagweave.evaluation.tables import tables_as_text

VOID = ("br",)


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


NASTY = ["<script>alert(1)</script>", "a&b", '"quoted"', "</td>", "'", "<!--", "&lt;", "]]>", "\u202e"]


@given(st.lists(st.tuples(*[st.sampled_from(NASTY)] * 3), min_size=1, max_size=6), st.sampled_from(NASTY))
def test_what_stands_in_a_corpus_is_text(rows: list[tuple[str, str, str]], name: str) -> None:
    reader = Reader(of_rows(rows, ("one", name), name)._repr_html_())
    assert reader.open == []
    assert "script" not in reader.names()
    shown = "".join(reader.text)
    for row in rows:
        assert all(tag in shown for tag in row[1:])
    assert name in shown


def test_rare_partners_are_left_out_and_the_usual_one_never() -> None:
    text = rendered(of_rows([*[("w", "A", "x")] * 299, ("w", "A", "y"), *[("v", "A", "z")] * 4]))
    assert "x 98.4  z 1.3" in text
    assert "y 0.3" not in text


# The tables


def test_the_tables_say_what_was_compared() -> None:
    text = rendered(of_sample())
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "Tokens with tags of ctb and pd: 694, counted."
    assert lines[1] == "From ctb to pd: 94.7 % of the tokens have their tag's usual partner."
    assert "│ NN  │    150 │ 0.68 │ n 89.3  vn 4.7  s 3.3  f 2.0         │" in text
    assert "pd to ctb: other partners than the most frequent one" in lines
    assert "[比赛]" in text
    assert "<td>NN</td><td>150</td><td>0.68</td><td>n 89.3  vn 4.7  s 3.3  f 2.0</td>" in of_sample()._repr_html_()


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
