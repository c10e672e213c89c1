"""Labels that may be wrong: planted mistakes come first, what is open is not judged, and files hold what was found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.corpus.candidates import Soft
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Arc
from tagweave.display.markup import distinct
from tagweave.errors import CorpusError, PlanError
from tagweave.front.check import Checked
from tagweave.training.cascades.label_errors import Part, Suspect, _rank

TAGS = {"the": "D", "a": "D", "cat": "N", "dog": "N", "sees": "V", "likes": "V", "old": "J", "small": "J"}
NAMES = {"Ida": "PER", "Jan": "PER", "Graz": "LOC", "Oslo": "LOC"}


def texts() -> list[list[str]]:
    draw = random.Random(1).choice
    nouns, verbs, adjectives = ("cat", "dog"), ("sees", "likes"), ("old", "small")
    return [["the", draw(adjectives), draw(nouns), draw(verbs), "a", draw(nouns)] for _ in range(40)]


def tagged(change: Callable[[int, list[Any]], None]) -> tw.Corpus:
    rows = []
    for number, forms in enumerate(texts()):
        labels: list[Any] = [TAGS[form] for form in forms]
        change(number, labels)
        rows.append((forms, labels))
    return tw.Corpus(rows)


def named(change: Callable[[int, list[Any]], None]) -> tw.Corpus:
    draw, rows = random.Random(2).choice, []
    for number in range(60):
        person, place = draw(("Ida", "Jan")), draw(("Graz", "Oslo"))
        forms = [person, "Morgar", "left", "for", place, "."]
        labels: list[Any] = ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
        change(number, labels)
        rows.append((forms, labels))
    return tw.Corpus(rows)


def put(number: int, at: int, label: Any) -> Callable[[int, list[Any]], None]:
    def change(own: int, labels: list[Any]) -> None:
        if own == number:
            labels[at] = label

    return change


def checked(corpus: tw.Corpus, **options: Any) -> Checked:
    return tw.check(corpus, folds=2, **{"rounds": 1, "tell": lambda line: None, **options})


def test_a_wrong_tag_comes_first_with_its_rival_and_its_sentence() -> None:
    found = checked(tagged(put(7, 2, "V")))
    first = found.suspects(1)[0]
    assert (first.sentence, first.start, first.stop) == (7, 2, 3)
    assert (first.given[0].label, first.rival.label) == ("V", "N")
    assert first.rival_probability > 0.5 > first.given_probability
    assert found.found.tokens[7].argmax() == 2
    row, forms = found.rows(1)[0], texts()[7]
    assert row["sentence"] == " ".join((*forms[:2], f"[{forms[2]}]", *forms[3:]))
    assert len(found.suspects(999)) == 40 * 6


def test_what_is_open_is_not_judged_and_sets_stay_sets() -> None:
    def change(number: int, labels: list[Any]) -> None:
        if number < 20:
            labels[3] = None
        if number == 30:
            labels[5] = ("V", "J")
        if number == 31:
            labels[5] = ("N", "V")
        if number == 32:
            labels[5] = Soft(("N", "V"), (0.9, 0.1))

    found = checked(tagged(change), rounds=2)
    every = {(each.sentence, each.start): each for each in found.suspects(999)}
    assert len(every) == 40 * 6 - 20
    assert not any((number, 3) in every for number in range(20))
    assert found.suspects(1)[0] == every[30, 5]
    assert (every[30, 5].given[0].label, every[30, 5].rival.label) == ("J|V", "N")
    assert every[31, 5].given_probability > 0.9


def test_spans_are_judged_as_wholes_and_missing_ones_are_found() -> None:
    def change(number: int, labels: list[Any]) -> None:
        if number == 5:
            labels[:2] = "B-LOC", "I-LOC"
        if number == 9:
            labels[4] = "O"
        if number == 12:
            labels[1] = "O"

    found = checked(named(change))
    assert found.task == "spans"
    first = {each.sentence: each for each in found.suspects(3)}
    assert {number: (each.start, each.stop) for number, each in first.items()} == {5: (0, 2), 9: (4, 5), 12: (0, 2)}
    assert (first[5].given, first[5].rival) == (((0, 2, "LOC"),), (0, 2, "PER"))
    assert (first[9].given, first[9].rival) == (((4, 5, "O"),), (4, 5, "LOC"))
    assert (first[12].given, first[12].rival) == (((0, 1, "PER"),), (0, 2, "PER"))
    assert first[9].given_probability + first[9].rival_probability == pytest.approx(1, abs=0.1)


def test_words_are_judged_as_wholes() -> None:
    words = [["北京", "大学", "在", "北京"], ["他", "在", "大学"], ["他", "看", "北京"]] * 12
    words[4] = ["他", "在", "大", "学"]
    corpus = tw.Corpus([(each, ["X"] * len(each)) for each in words])
    found = checked(corpus, task="segment")
    first = found.suspects(1)[0]
    assert (first.sentence, first.start, first.stop, first.rival) == (4, 2, 4, (2, 4, ""))
    assert first.given == ((2, 3, ""), (3, 4, ""))
    trust = found.believed()[4].confidence or ()
    assert len(trust) == 4
    assert max(trust[2:]) < 0.5 < min(trust[:2])


def test_heads_and_relations_are_judged() -> None:
    relations, sentences = ("det", "amod", "nsubj", "root", "det", "obj"), []
    for number, forms in enumerate(texts()):
        arcs = [*zip((3, 3, 4, 0, 6, 4), relations, strict=True)]
        if number == 3:
            arcs[1] = (4, "amod")
        if number == 8:
            arcs[5] = (4, "nsubj")
        heads: list[Any] = [None if number == 5 and at < 2 else (Arc(*arc),) for at, arc in enumerate(arcs)]
        tags = {"upos": tuple((TAGS[form],) for form in forms)}
        sentences.append(tw.Sentence(tuple(forms), tags, heads={"head": tuple(heads)}))
    found = checked(tw.Corpus(sentences), task="parse")
    first = {each.sentence: each for each in found.suspects(2)}
    assert {number: each.start for number, each in first.items()} == {3: 1, 8: 5}
    assert (first[3].given, first[3].rival) == (((3, 4, "amod"),), (2, 3, "amod"))
    assert (first[8].given, first[8].rival) == (((3, 4, "nsubj"),), (3, 4, "obj"))
    assert len(found.suspects(999)) == 40 * 6 - 2
    assert found.rows(1)[0]["sentence"].count("[") == 1


def test_too_few_sentences_and_wrong_options_are_told() -> None:
    with pytest.raises(CorpusError, match="found 3 sentences with annotation, expected at least 4"):
        tw.check(tagged(put(0, 0, "D")).with_sentences(tagged(put(0, 0, "D"))[:3]), folds=2)
    with pytest.raises(PlanError, match="rounds=0"):
        tw.check(tagged(put(0, 0, "D")), rounds=0)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("check") / "names.conll"
    tw.save(named(put(9, 4, "O")), path)
    return path


@pytest.fixture(scope="module")
def spans() -> Checked:
    return checked(named(put(9, 4, "O")))


def test_the_command_writes_a_table(file: Path) -> None:
    result = CliRunner().invoke(application(["check"]), ["check", str(file), "--folds", "2", "--rounds", "1"])
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert lines[0][:2] == ["suspicion", "line"]
    assert load(str(file))[9].location.line == int(lines[1][1])
    assert lines[1][2:6] == ["5", "5", "O", f"{load(str(file))[9].forms[4]}/LOC"]
    assert "a suspicion of 0.1 or more" in result.stderr


def test_files_hold_the_suspects(spans: Checked, tmp_path: Path) -> None:
    for form in ("html", "label-studio", "doccano", "columns"):
        spans.write(tmp_path / form, form, 1)
    place = named(put(9, 4, "O"))[9].forms[4]
    page = (tmp_path / "html").read_text("utf-8")
    assert f"{place}/LOC" in page and 'name="viewport"' in page and "color-scheme: light dark" in page
    (task,) = json.loads((tmp_path / "label-studio").read_text("utf-8"))
    by_version = {each["model_version"]: each["result"] for each in task["predictions"]}
    assert [each["value"]["labels"] for each in by_version["given"]] == [["PER"]]
    assert [each["value"]["text"] for each in by_version["rival"]] == [place]
    (line,) = (json.loads(each) for each in (tmp_path / "doccano").read_text("utf-8").splitlines())
    assert [label for _, _, label in line["label"]] == ["PER", "LOC"]
    (asked,) = load(str(tmp_path / "columns"), "columns")
    assert set(asked.layers["tag"][4] or ()) == {"O", "B-LOC"}
    with pytest.raises(PlanError, match="output_format=csv"):
        spans.write(tmp_path / "csv", "csv")


def test_equal_suspicions_are_told_apart() -> None:
    """A second number ranks them, and as many digits are shown as neighbours need."""
    doubts = [(0.99601, 0.2), (0.99602, 0.1), (0.9961, 0.3), (0.5, 0.5)]
    part = Part(0, 1, "A")
    suspects = [Suspect(doubt, 0, at, at + 1, (part,), part, 0.1, rival) for at, (doubt, rival) in enumerate(doubts)]
    ranked = sorted(suspects, key=_rank)
    assert [suspect.start for suspect in ranked] == [2, 0, 1, 3]
    assert distinct([0.9961, 0.99602, 0.99601, 0.5, 1.0]) == [".9961", ".9960", ".9960", ".50", "1.00"]


def test_a_corpus_to_train_from_believes_suspects_less(spans: Checked, tmp_path: Path) -> None:
    spans.write_believed(tmp_path / "believed.conll")
    read = load(str(tmp_path / "believed.conll"))
    trust = read[9].confidence or ()
    assert trust[4] == pytest.approx(1 - spans.found.tokens[9][4], abs=1e-5) == min(trust) < 0.5
    assert [each.layers["tag"] for each in read] == [each.layers["tag"] for each in spans.corpus]
    with pytest.raises(PlanError, match=r"believed.txt for `believed`, expected .conll"):
        spans.write_believed(tmp_path / "believed.txt")


def test_a_notebook_shows_the_first(spans: Checked) -> None:
    shown = spans._repr_html_()
    assert shown.count("<tr>") == 1 + len(spans.suspects())
    assert "<bdi>" in shown


def test_spans_alone_are_judged_by_models_that_expect_the_share_of_complete_sentences() -> None:
    def without_outside(first: int) -> tw.Corpus:
        def change(number: int, labels: list[Any]) -> None:
            if number >= first:
                labels[:] = [None if label == "O" else label for label in labels]

        return named(change)

    told: list[str] = []
    found = checked(without_outside(30), task="spans", tell=told.append)
    assert told == ["models expect 50.0 % of tokens in spans, as in the 30 complete sentences with an O"]
    assert not found.suspects()
    with pytest.raises(CorpusError, match="no token beside them that is known to be outside spans"):
        checked(without_outside(0), task="spans")
