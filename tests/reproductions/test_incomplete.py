"""The experiment on incomplete annotation: what it takes away, caches and counts, and the pages it writes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.incomplete import study
from reproductions.incomplete.cells import Cell, Data
from reproductions.incomplete.scores import (
    ambiguous_scores,
    choice_precision,
    kinds_of_words,
    right_words,
    tagging_scores,
)
from reproductions.incomplete.settings import (
    DISCARD,
    MARGINAL,
    POINTWISE,
    SEGMENTATION,
    TAGGING,
    WARM,
    know_beginnings,
    leave_candidates,
)
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.words import segmentations
from tagweave.training.task import Task


def tagged(*sentences: str) -> Corpus:
    """A corpus from `form_TAG form_TAG`."""
    pairs = [[word.split("_") for word in sentence.split()] for sentence in sentences]
    return Corpus(
        tuple(Sentence(tuple(f for f, _ in words), {"tag": tuple((t,) for _, t in words)}) for words in pairs)
    )


@pytest.fixture(scope="module")
def samples() -> dict[str, Data]:
    """The sample of each task."""
    return {name: study.read_data(name, None, quick=True) for name in ("tagging", "segmentation")}


# what is taken away


@pytest.mark.parametrize(
    ("name", "task", "setting"),
    [("tagging", "tag", each) for each in TAGGING] + [("segmentation", "segment", each) for each in SEGMENTATION],
    ids=lambda each: getattr(each, "name", each),
)
def test_the_gold_label_is_never_lost(name, task, setting, samples):
    train, task = samples[name].train, Task(task)
    damaged = task.prepare(setting.step(train, 1))
    for sentence, gold in zip(damaged, task.prepare(train), strict=True):
        assert sentence.forms == gold.forms
        for left, label in zip(sentence.layers[train.guideline], gold.layers[train.guideline], strict=True):
            assert left is None or set(label) <= set(left)


def test_beginnings_beside_labels_leave_nothing_open(samples):
    """Whether each word begins is known, so the chain settles every label: the text of that setting rests on this."""
    train = samples["segmentation"].train
    damaged = know_beginnings(others_known=True)(train, 0)
    assert any(len(label or "") == 2 for sentence in damaged for label in sentence.layers[damaged.guideline])
    for found, gold in zip(segmentations(damaged, damaged.guideline, "character"), train, strict=True):
        assert found.forms == gold.forms
        assert found.certain is None or all(found.certain)


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
def test_apa_equals_plain_counting(sentences):
    gold = tagged(*[" ".join(f"{form}_X" for form, _ in words) for words in sentences])
    system = tagged(*[" ".join(f"{form}_{tag}" for form, tag in words) for words in sentences])
    words = frozenset(form for words in sentences for form, _ in words if form != "c") or frozenset("c")
    counts, metric = right_words(gold, system, words)
    tags = [[tag for each in sentences for form, tag in each if form == word] for word in words]
    shares = [of_word.count("X") / len(of_word) for of_word in tags]
    assert float(metric(counts.sum(axis=0))) == pytest.approx(sum(shares) / len(shares))


# the command


def test_the_command_writes_every_score_and_trains_once(tmp_path, monkeypatch):
    settings = tuple(
        replace(setting, methods=(MARGINAL, POINTWISE, DISCARD, WARM)) for setting in (TAGGING[1], TAGGING[4])
    )
    monkeypatch.setitem(study.SETTINGS, "tagging", settings)
    words = ["tagging", "--quick", "--seeds", "2", "--cache", str(tmp_path / "cache"), "--out", str(tmp_path)]
    study.main(words)
    text = (tmp_path / "incomplete-tagging.md").read_text(encoding="utf-8")
    summary = json.loads((tmp_path / "data" / "incomplete-tagging.json").read_text(encoding="utf-8"))
    assert "tagging --quick --seeds 2" in text and "`first` " in text
    assert [(each["name"], len(each["choices"])) for each in summary["settings"]] == [("30", 0), ("candidates-half", 2)]
    for setting in summary["settings"]:
        for method in setting["methods"]:
            for measure in method["measures"].values():
                mean = f"{measure['mean']:.2f}"
                assert (f"**{mean}**" if measure["tested"] else f"| {mean} (") in text
                assert measure["mean"] == pytest.approx(np.mean(measure["values"]))
                assert all(f"{test['p_all']:.4f}" in text for test in measure["against"].values())
    monkeypatch.setattr(Cell, "run", lambda *_: pytest.fail("ran again"))
    study.main(words)
    assert (tmp_path / "incomplete-tagging.md").read_text(encoding="utf-8") == text
