"""The experiment on incomplete annotation: what it takes away, caches and counts, and the pages it writes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.incomplete import page as pages
from reproductions.incomplete import study
from reproductions.incomplete.cells import Cell, Data
from reproductions.incomplete.run import run
from reproductions.incomplete.scores import (
    Scored,
    ambiguous_scores,
    choice_precision,
    compare,
    kinds_of_words,
    right_words,
    tagging_scores,
)
from reproductions.incomplete.settings import (
    ARGMAX_OF_MARGINAL,
    DISCARD,
    FIRST_BY_NAME,
    MARGINAL,
    MARGINAL_BOUNDARIES,
    POINTWISE,
    SEGMENTATION,
    TAGGING,
    WARM,
    know_beginnings,
    leave_candidates,
    mark_words,
)
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.accuracy import average_precision_of_ambiguous_words
from tagweave.evaluation.score import share_of_counts
from tagweave.evaluation.words import segmentations
from tagweave.learning.run import Schedule
from tagweave.training.task import Task


def tagged(*sentences: str) -> Corpus:
    """A corpus from `form_TAG form_TAG`."""
    pairs = [[word.split("_") for word in sentence.split()] for sentence in sentences]
    return Corpus(
        tuple(Sentence(tuple(f for f, _ in words), {"tag": tuple((t,) for _, t in words)}) for words in pairs)
    )


@pytest.fixture(scope="module")
def tagging() -> Data:
    """The sample for tagging."""
    return study.read_data("tagging", None, quick=True)


@pytest.fixture(scope="module")
def segmenting() -> Data:
    """The sample for segmentation."""
    return study.read_data("segmentation", None, quick=True)


# what is taken away


@pytest.mark.parametrize("setting", TAGGING, ids=lambda setting: setting.name)
def test_tagging_never_loses_the_gold_label(setting, tagging):
    damaged = setting.step(tagging.train, 1)
    for sentence, gold in zip(damaged, tagging.train, strict=True):
        assert sentence.forms == gold.forms
        for left, label in zip(sentence.layers["tag"], gold.layers["tag"], strict=True):
            assert left is None or set(label) <= set(left)


@pytest.mark.parametrize("setting", SEGMENTATION, ids=lambda setting: setting.name)
def test_segmentation_never_loses_the_gold_label(setting, segmenting):
    guideline = segmenting.train.guideline
    task = Task("segment")
    damaged = task.prepare(setting.step(segmenting.train, 1))
    for sentence, gold in zip(damaged, task.prepare(segmenting.train), strict=True):
        assert sentence.forms == gold.forms
        for left, label in zip(sentence.layers[guideline], gold.layers[guideline], strict=True):
            assert left is None or set(label) <= set(left)


def test_leave_candidates_replaces_every_ambiguous_word():
    corpus = tagged("a_Z b_Y a_A", "a_A")
    damaged = leave_candidates(1.0)(corpus, 0)
    assert damaged[0].layers["tag"] == (("Z", "A"), ("Y",), ("Z", "A"))
    assert damaged[1].layers["tag"] == (("Z", "A"),)


def test_mark_words_writes_out_what_a_word_says_of_its_neighbours(monkeypatch):
    class Draw:
        def random(self, _size):
            return np.array([0.9, 0.1, 0.9, 0.1, 0.9])  # the second and the fourth word are marked

    monkeypatch.setattr(np.random, "default_rng", lambda _seed: Draw())
    corpus = Corpus((Sentence(("ab", "cde", "f", "gh", "ij")),), "seg")
    (sentence,) = mark_words(0.5)(corpus, 0)
    B, M, E, S = ("B",), ("M",), ("E",), ("S",)
    expected = (None, ("E", "S"), B, M, E, S, B, E, ("B", "S"), None)
    assert sentence.layers["seg"] == expected


def test_beginnings_beside_labels_leave_nothing_open(segmenting):
    """Whether each word begins is known, so the chain settles every label: the text of that setting rests on this."""
    damaged = know_beginnings(others_known=True)(segmenting.train, 0)
    assert any(len(label or "") == 2 for sentence in damaged for label in sentence.layers[damaged.guideline])
    for found, gold in zip(segmentations(damaged, damaged.guideline, "character"), segmenting.train, strict=True):
        assert found.forms == gold.forms
        assert found.certain is None or all(found.certain)


# cells


def test_a_cell_runs_once(tagging, tmp_path, monkeypatch):
    cell = Cell(tagging, TAGGING[1], MARGINAL, 0)
    first = cell.result(tmp_path)
    monkeypatch.setattr(Cell, "run", lambda *_: pytest.fail("ran again"))
    assert cell.result(tmp_path) == first
    assert first["left"] == 80
    assert first["iterations"] <= 4
    assert [len(tags.split()) for tags in first["test"]] == [len(sentence) for sentence in tagging.test]


def test_cells_that_differ_have_different_descriptions(tagging):
    setting = TAGGING[1]
    shorter = replace(tagging, train=tagging.train.with_sentences(tagging.train.sentences[:9]))
    cells = [
        Cell(tagging, setting, MARGINAL, 0),
        Cell(tagging, setting, MARGINAL, 1),
        Cell(tagging, setting, WARM, 0),
        Cell(tagging, setting, MARGINAL, 0, {"rate": 0.3}),
        Cell(tagging, TAGGING[2], MARGINAL, 0),
        Cell(shorter, setting, MARGINAL, 0),
        Cell(replace(tagging, schedule=Schedule(3, 2)), setting, MARGINAL, 0),
    ]
    assert len({json.dumps(cell.description()) for cell in cells}) == len(cells)


@pytest.mark.parametrize("method", [WARM, ARGMAX_OF_MARGINAL, FIRST_BY_NAME], ids=lambda method: method.name)
def test_every_kind_of_method_learns(method, tagging):
    setting = TAGGING[3] if method.by_name else TAGGING[1]
    result = Cell(tagging, setting, method, 0).run()
    assert result["dev"] > 0.4


@pytest.mark.parametrize("method", [MARGINAL, MARGINAL_BOUNDARIES], ids=lambda method: method.name)
def test_segmentation_gives_lengths_of_words(method, segmenting):
    result = Cell(segmenting, SEGMENTATION[1], method, 0).run()
    lengths = [sum(map(int, line.split())) for line in result["test"]]
    assert lengths == [sum(map(len, sentence.forms)) for sentence in segmenting.test]
    assert result["dev"] > 0.4


# scores


def test_scores_by_hand():
    gold = tagged("a_X b_Y a_Y", "a_X c_Y")
    scores = ambiguous_scores(gold, ["X Y X", "X X"], frozenset({"a", "c", "absent"}))
    assert scores["P"].value == pytest.approx(60)
    assert scores["APA"].value == pytest.approx((2 / 3 + 0) / 2 * 100)


def test_accuracy_by_kind_of_word():
    train = Corpus((Sentence(("a", "b", "a"), {"tag": (("X",), None, None)}),))
    kinds = kinds_of_words(train)
    assert dict(kinds) == {"labelled words": {"a"}, "unlabelled words": {"b"}}
    scores = tagging_scores(tagged("a_X b_Y a_Y", "a_X c_Y"), ["X Y X", "X X"], kinds)
    values = {name: score.value for name, score in scores.items()}
    assert values == pytest.approx({"P": 60, "labelled words": 200 / 3, "unlabelled words": 100, "new words": 0})


def test_how_often_a_choice_is_right():
    gold = tagged("a_Z b_B c_C a_A", "a_A d_D")
    damaged = leave_candidates(1.0)(gold, 0)
    found = choice_precision(damaged, gold)
    assert found == pytest.approx({"random": 50, "first": 100 / 3, "first, by name": 200 / 3, "frequent": 100 / 3})


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("XY")), min_size=1, max_size=4), min_size=1))
def test_apa_from_counts_is_apa(sentences):
    gold = tagged(*[" ".join(f"{form}_X" for form, _ in words) for words in sentences])
    system = tagged(*[" ".join(f"{form}_{tag}" for form, tag in words) for words in sentences])
    words = frozenset(form for words in sentences for form, _ in words if form != "c") or frozenset("c")
    counts, metric = right_words(gold, system, words)
    expected = average_precision_of_ambiguous_words(gold, system, words)
    assert 100 * float(metric(counts.sum(axis=0))) == pytest.approx(expected)


def scored(right: list[int]) -> Scored:
    counts = np.array([[value, 10] for value in right])
    return Scored(float(100 * counts[:, 0].sum() / counts[:, 1].sum()), counts, share_of_counts)


def test_many_sentences_tell_methods_apart():
    found = compare([scored([9] * 50)] * 2, [scored([8] * 50)] * 2, 500)
    assert found["difference"] == pytest.approx(10)
    assert max(*found["p"], found["p_all"]) < 0.01


# the command


@pytest.fixture(scope="module")
def written(tagging, tmp_path_factory):
    """A page of two settings, written twice, the second time over a discussion."""
    folder = tmp_path_factory.mktemp("results")
    settings = tuple(
        replace(setting, methods=(MARGINAL, POINTWISE, DISCARD, WARM)) for setting in (TAGGING[1], TAGGING[4])
    )
    found = run(tagging, settings, 2, folder / "cache")
    pages.write(found, folder, "page", "the command", trials=50)
    page = folder / "page.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n## Discussion\n\nBy hand.\n", encoding="utf-8")
    pages.write(found, folder, "page", "the command", trials=50)
    return folder


def test_every_score_of_the_json_is_on_the_page(written):
    text = (written / "page.md").read_text(encoding="utf-8")
    summary = json.loads((written / "data" / "page.json").read_text(encoding="utf-8"))
    assert [setting["name"] for setting in summary["settings"]] == ["30", "candidates-half"]
    for setting in summary["settings"]:
        for method in setting["methods"]:
            for measure in method["measures"].values():
                mean = f"{measure['mean']:.2f}"
                assert (f"**{mean}**" if measure["tested"] else f"| {mean} (") in text
                assert measure["mean"] == pytest.approx(np.mean(measure["values"]))
                assert all(f"{test['p_all']:.4f}" in text for test in measure["against"].values())
    assert set(summary["settings"][1]["methods"][0]["measures"]) == {"P", "APA"}
    assert [len(setting["choices"]) for setting in summary["settings"]] == [0, 2]
    assert "`first` " in text


def test_the_command(tmp_path, monkeypatch):
    settings = tuple(replace(setting, methods=(MARGINAL, POINTWISE)) for setting in SEGMENTATION[:2])
    monkeypatch.setitem(study.SETTINGS, "segmentation", settings)
    words = ["segmentation", "--quick", "--seeds", "1", "--cache", str(tmp_path / "cache"), "--out", str(tmp_path)]
    study.main(words)
    first = (tmp_path / "incomplete-segmentation.md").read_text(encoding="utf-8")
    assert "segmentation --quick --seeds 1" in first
    monkeypatch.setattr(Cell, "run", lambda *_: pytest.fail("ran again"))
    study.main(words)
    assert (tmp_path / "incomplete-segmentation.md").read_text(encoding="utf-8") == first
