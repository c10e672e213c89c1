"""The studies: those of the bundled sample from training to page, and the arithmetic of comparisons."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from reproductions.__main__ import MODULES, main, study
from reproductions.jiang_2015 import in_sentences
from reproductions.lab import corpora
from reproductions.lab.comparison import Finding, Measured, compare, counts_of, judged, unknown_counts, verdict
from reproductions.lab.page import write_page
from reproductions.tsuboi_2008 import Domain
from tagweave.annotate.selection import occurrences
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Schedule

OF_SAMPLE = (
    "incomplete-tagging",
    "liu-2014-raw-text",
    "sun-wan-2012-stacking",
    "tsuboi-2008-chinese",
    "li-2015-narrowing",
)


@pytest.mark.slow
@pytest.mark.parametrize("page", OF_SAMPLE)
def test_a_study_of_the_sample(page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [page, "--quick", "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    main(words)
    path = tmp_path / "out" / f"{page}.md"
    assert capsys.readouterr().out == f"{path}\n"
    text, results = path.read_text("utf-8"), sorted((tmp_path / "cache").iterdir())
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= 2 and results
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    assert "nan" not in text and f"    python -m reproductions {page}\n" in text
    path.write_text(f"{text}\n## Discussion\n\nBy hand.\n", "utf-8")
    main(words)
    assert path.read_text("utf-8") == f"{text}\n## Discussion\n\nBy hand.\n"
    assert sorted((tmp_path / "cache").iterdir()) == results, "nothing is trained twice"


def test_every_study_has_its_name_and_a_wrong_one_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert [study(page).page for page in MODULES] == list(MODULES)
    for words, told in ([], "expected the name of a PAGE"), (["li-2016"], "invalid choice: 'li-2016'"):
        with pytest.raises(SystemExit):
            main(words)
        assert told in capsys.readouterr().err


def test_corpora_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAGWEAVE_CORPORA", "/nowhere")
    with pytest.raises(SystemExit, match="no corpora in /nowhere"):
        corpora.read_parts("zh/zx", "ctb")


def test_a_page_keeps_its_discussion(tmp_path: Path) -> None:
    page = write_page(tmp_path, "a", {"number": 1}, ["# A", "one"])
    page.write_text(page.read_text("utf-8") + "\n## Discussion\n\nBecause.\n", "utf-8")
    assert write_page(tmp_path, "a", {}, ["# A", "two"]).read_text("utf-8") == "# A\ntwo\n\n## Discussion\n\nBecause.\n"


def test_scores_and_differences() -> None:
    first = Measured(np.array([[[3, 4], [1, 4]], [[4, 4], [2, 4]]]))
    second = Measured(np.array([[[1, 4], [1, 4]], [[2, 4], [2, 4]]]))
    assert first.to_json() == {"values": [50.0, 75.0], "mean": 62.5}
    words = Measured(np.array([[[1, 2, 4]]])).to_json()
    assert (words["precision"], words["recall"], words["mean"]) == pytest.approx((25, 50, 100 / 3))
    test = compare(first, second, trials=50)
    assert test["difference"] == pytest.approx(25.0) and len(test["p"]) == 2
    finding = Finding("first is better", "a", "b", 1, 2.5)
    (told,) = judged([finding, finding._replace(second="c")], {"a": {"test": first}, "b": {"test": second}}, 50)
    assert (told["paper"], told["difference"], told["p_all"]) == (2.5, test["difference"], test["p_all"])


@pytest.mark.parametrize(
    ("sign", "difference", "p", "here"),
    [
        (1, 0.5, 0.01, "yes"),
        (1, 0.5, 0.2, "the same sign, not significant"),
        (1, -0.5, 0.2, "no, no significant difference"),
        (-1, 0.5, 0.01, "no, the reverse"),
        (0, 0.5, 0.2, "yes"),
        (0, 0.5, 0.01, "no"),
    ],
)
def test_verdicts(sign: int, difference: float, p: float, here: str) -> None:
    assert verdict(sign, difference, p) == here


def of_words(*lines: str) -> Corpus:
    return Corpus(tuple(Sentence(tuple(line.split())) for line in lines), "words", "word")


def test_counts_of_words() -> None:
    gold, answer = of_words("ab c", "d ef"), of_words("ab c", "d e f")
    assert counts_of(gold, answer) == [[2, 2, 2], [1, 2, 3]]
    assert unknown_counts(gold, answer, frozenset({"c", "d"})) == [[1, 1], [0, 1]]


def test_an_annotator_marks_the_words_that_are_words() -> None:
    corpus = of_words("天地 人 天地", "天 地人")
    domain = Domain(corpus, corpus, corpus, corpus, ["天地", "地人"], Schedule(1))
    asked = occurrences(domain.raw, domain.words)
    answers = domain.answers(asked)
    spans = list(zip(asked.start.tolist(), asked.stop.tolist(), answers.tolist(), strict=True))
    assert sorted(spans) == [(0, 2, True), (1, 3, False), (3, 5, True), (5, 7, False), (6, 8, True)]
    first, second = domain.marked(asked.only(answers))
    assert first.layers["segmentation"] == (("B",), ("E",), ("S",), ("B",), ("E",))
    assert second.layers["segmentation"] == (("S",), ("B",), ("E",))


def test_paragraphs_are_cut_after_full_stops() -> None:
    assert [each.forms for each in in_sentences(of_words("a 。 b c 。", "d"))] == [
        ("a", "。"),
        ("b", "c", "。"),
        ("d",),
    ]
