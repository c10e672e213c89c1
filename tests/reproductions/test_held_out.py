"""The held-out sentences: found on their pages again, or missing; the shipped table holds to its guideline."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from reproductions.liu_2014.held_out import TABLE, digest, entries, held_out, texts
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

PAGE = """# 安装

我们可以在[图书馆](library.md) 看书，也可以在**北京** 开会。使用 `ref` 吗？

- 她昨天开会。
"""
FIRST = "我们 可以 在 图书馆 看书 ， 也 可以 在 北京 开会 。"
SECOND = "使用 ref 吗 ？"
THIRD = "她 昨天 开会 。"


def row(page: str, words: str) -> str:
    parts = words.split()
    return f"{page}\t{digest(''.join(parts))}\t{' '.join(str(len(word)) for word in parts)}\n"


def written(folder: Path, *rows: str) -> Path:
    """A table of the rows, beside the folder of two pages of the same text."""
    for name in ("a/page.md", "b/page.md"):
        (folder / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "pages" / name).write_text(PAGE, encoding="utf-8")
    table = folder / "table.tsv"
    table.write_text("".join(rows), encoding="utf-8")
    return table


def words_of(corpus: Corpus) -> list[str]:
    return [" ".join(sentence.forms) for sentence in corpus]


# Reading


def test_sentences_come_in_the_order_of_the_table(tmp_path: Path) -> None:
    table = written(
        tmp_path, "# a comment\n", row("a/page.md", THIRD), row("a/page.md", FIRST), "\n", row("b/page.md", SECOND)
    )
    corpus = held_out(tmp_path / "pages", table)
    assert words_of(corpus) == [THIRD, FIRST, SECOND]
    assert [Path(sentence.location.path).parts[-2:] for sentence in corpus] == [("a", "page.md")] * 2 + [
        ("b", "page.md")
    ]


def test_a_page_that_changed(tmp_path: Path) -> None:
    table = written(tmp_path, row("a/page.md", FIRST), row("b/page.md", "她 明天 开会 。"))
    with pytest.raises(CorpusError, match=f"no sentence with the digest {digest('她明天开会。')}") as error:
        held_out(tmp_path / "pages", table)
    assert error.value.path == str(tmp_path / "pages" / "b/page.md")


# The table that is shipped


def test_the_table_has_150_sentences() -> None:
    table = list(entries())
    assert len(table) == len({entry.digest for entry in table}) == 150
    assert Counter(entry.page.split("/")[0] for entry in table) == {"react-docs": 75, "vue-docs": 75}
    assert len({entry.page for entry in table}) == 150
    assert all(12 <= sum(entry.lengths) <= 80 for entry in table)


def test_the_table_has_no_text() -> None:
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or line.isascii()


def examples() -> list[tuple[str, ...]]:
    """The words, and the words beside each other, that the guideline gives as examples."""
    comments = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    found = re.findall(r"[\u4e00-\u9fff]+(?:\|[\u4e00-\u9fff]+)*", "\n".join(comments))
    return [tuple(example.split("|")) for example in found if len(example) > 1]


def runs(sentence: Sentence, length: int) -> list[tuple[str, ...]]:
    return [sentence.forms[at : at + length] for at in range(len(sentence) - length + 1)]


@pytest.fixture(scope="module")
def corpus(real_corpora: Path) -> Corpus:
    return held_out(real_corpora / "zh" / "markdown")


def test_all_sentences_are_found(corpus: Corpus) -> None:
    assert len(corpus) == len(texts(corpus)) == 150
    assert corpus.tokens() == sum(len(entry.lengths) for entry in entries())
    assert [digest("".join(sentence.forms)) for sentence in corpus] == [entry.digest for entry in entries()]


def test_the_guideline_is_true_of_the_data(corpus: Corpus) -> None:
    there = {run for sentence in corpus for length in range(1, 4) for run in runs(sentence, length)}
    assert len(examples()) > 80
    assert [example for example in examples() if example not in there] == []
