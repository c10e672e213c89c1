"""A student of teachers: `tw.distill`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import PlanError
from tagweave.front.model import Model
from tagweave.learning.run import Silence

WORDS = ["Ann", "Bell", "Oslo", "Rome", "sang", "saw", "in", "of", "the", "."]
LABELS = {"Ann": "B-PER", "Bell": "B-PER", "Oslo": "B-LOC", "Rome": "B-LOC"}
QUICK: dict[str, Any] = {"iterations": 8, "callback": Silence()}


def silent(_: str) -> None: ...


def bare(count: int, seed: int) -> Corpus:
    random = np.random.default_rng(seed)
    forms = [tuple(random.choice(WORDS, int(random.integers(1, 8))).tolist()) for _ in range(count)]
    return Corpus(tuple(Sentence(each) for each in forms), "tag")


def labelled(corpus: Corpus, wrong: float = 0.0, seed: int = 0) -> Corpus:
    """Names are spans, the second of two names goes on with the first; some labels are others by chance."""
    random = np.random.default_rng(seed)

    def step(sentence: Sentence) -> Sentence:
        layer: list[tuple[str, ...]] = []
        for at, form in enumerate(sentence.forms):
            label = LABELS.get(form, "O")
            if at and label != "O" and layer[-1][0][1:] == label[1:]:
                label = f"I{label[1:]}"
            layer.append(("O",) if random.random() < wrong else (label,))
        return sentence.with_layer("tag", layer)

    return corpus.map(step)


def characters(count: int, seed: int) -> Corpus:
    """Words of two characters, of which the first is upper case."""
    random = np.random.default_rng(seed)
    words = [[w.upper() + w for w in random.choice(list("abcdef"), 4)] for _ in range(count)]
    return Corpus(tuple(Sentence(tuple(each), {"tag": (("N",),) * len(each)}) for each in words), "tag")


@pytest.fixture(scope="module")
def teacher() -> Model:
    return tw.train(labelled(bare(40, 0), wrong=0.1), task="spans", **QUICK)


def weights(model: Model) -> Any:
    return model.chain.weights


def test_a_text_with_all_labels_teaches_what_its_labels_do(teacher: Model) -> None:
    known = labelled(bare(30, 1))
    student = tw.distill(teacher, known, seed=3, tell=silent, **QUICK)
    assert np.array_equal(weights(student), weights(tw.train(known, task="spans", seed=3, **QUICK)))


@pytest.mark.parametrize("task", ["spans", "tag", "segment"])
def test_a_student_of_much_text_agrees_with_its_teacher(task: str, teacher: Model) -> None:
    make: Callable[[int, int], Corpus] = characters if task == "segment" else bare
    first = make(20, 0) if task == "segment" else labelled(bare(40, 0), wrong=0.1)
    model = teacher if task == "spans" else tw.train(first, task=task, **QUICK)
    text, other = make(600, 1), make(100, 2)
    if task == "segment":
        text = Corpus(tuple(Sentence(tuple("".join(each.forms))) for each in text), "segmentation", "character")
    student = tw.distill(model, text, tell=silent, **QUICK)
    assert (student.chain.task, student.chain.coding) == (model.chain.task, model.chain.coding)
    assert student.under().guideline == model.under().guideline
    if task == "segment":
        lines = ["".join(each.forms) for each in other]
        assert [student.cut(each) for each in lines] == [model.cut(each) for each in lines]
        return
    ours, theirs = (each.under().probabilities(other.sentences) for each in (student, model))
    difference = np.abs(np.concatenate(ours) - np.concatenate(theirs))
    assert difference.mean() < 0.02
    assert (np.concatenate(ours).argmax(1) == np.concatenate(theirs).argmax(1)).mean() > 0.99


def test_teachers_are_averaged_and_gold_is_added(teacher: Model) -> None:
    one, two = (tw.train(labelled(bare(40, 0), 0.4, seed), task="tag", **QUICK) for seed in (1, 2))
    text, gold = bare(200, 5), labelled(bare(10, 6))
    student = tw.distill([one, two], text, gold, tell=silent, **QUICK)
    mean = [sum(pair) / 2 for pair in zip(*(m.under().probabilities(text.sentences) for m in (one, two)), strict=True)]
    own = student.under().probabilities(text.sentences)
    assert one.under().labels == two.under().labels == student.under().labels
    close, far = (
        np.abs(np.concatenate(own) - np.concatenate(each)).mean()
        for each in (mean, one.under().probabilities(text.sentences))
    )
    assert close < 0.5 * far
    assert [each.size for each in student.plan.target] == [10, 200]


def test_templates_are_those_of_the_teacher_without_what_it_looks_up(tmp_path: Any) -> None:
    (tmp_path / "bits").write_text("00\tAnn\t4\n01\tOslo\t4\n", "utf-8")
    texts = ["form[0]", "cluster[0]"]
    model = tw.train(labelled(bare(20, 0)), task="spans", templates=texts, clusters=str(tmp_path / "bits"), **QUICK)
    student = tw.distill(model, bare(20, 1), tell=silent, **QUICK)
    assert student.plan.templates == ("form[0]",)
    assert not student.plan.clusters


def test_teachers_that_do_not_fit_are_refused(teacher: Model) -> None:
    tags = tw.train(labelled(bare(5, 0)), task="tag", **QUICK)
    with pytest.raises(PlanError, match=r"found a model of tag .*, expected spans BIOES"):
        tw.distill([teacher, tags], bare(2, 0))
    with pytest.raises(PlanError, match="segtag"):
        tw.distill(tw.train(characters(5, 0), task="segtag", **QUICK), bare(2, 0))
    with pytest.raises(PlanError, match="no teacher"):
        tw.distill([], bare(2, 0))
