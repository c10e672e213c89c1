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
    """Words of two characters."""
    random = np.random.default_rng(seed)
    words = [random.choice(["天地", "人間", "山水", "火花", "木星"], 4).tolist() for _ in range(count)]
    return Corpus(tuple(Sentence(tuple(each), {"tag": (("N",),) * len(each)}) for each in words), "tag")


def named(corpus: Corpus, guideline: str) -> Corpus:
    renamed = corpus.map(lambda each: each.renamed({corpus.guideline: guideline}))
    return renamed if guideline == corpus.guideline else Corpus(renamed.sentences, guideline)


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
    text, other = make(300, 1), make(50, 2)
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
    text, gold = bare(100, 5), labelled(bare(10, 6))
    student = tw.distill([one, two], text, gold, tell=silent, **QUICK)
    mean = [sum(pair) / 2 for pair in zip(*(m.under().probabilities(text.sentences) for m in (one, two)), strict=True)]
    own = student.under().probabilities(text.sentences)
    assert one.under().labels == two.under().labels == student.under().labels
    close, far = (
        np.abs(np.concatenate(own) - np.concatenate(each)).mean()
        for each in (mean, one.under().probabilities(text.sentences))
    )
    assert close < 0.5 * far
    assert [each.size for each in student.plan.target] == [10, 100]


def test_templates_are_those_of_the_teacher_without_what_it_looks_up(tmp_path: Any) -> None:
    (tmp_path / "bits").write_text("00\tAnn\t4\n01\tOslo\t4\n", "utf-8")
    texts = ["form[0]", "cluster[0]"]
    model = tw.train(labelled(bare(20, 0)), task="spans", templates=texts, clusters=str(tmp_path / "bits"), **QUICK)
    student = tw.distill(model, bare(20, 1), tell=silent, **QUICK)
    assert student.plan.templates == ("form[0]",)
    assert not student.plan.clusters


def test_corpora_of_any_name_are_of_the_guideline_of_the_teachers(teacher: Model) -> None:
    text, gold, dev = bare(30, 1), labelled(bare(10, 2)), labelled(bare(10, 3))
    expected = tw.distill(teacher, text, gold, dev, tell=silent, **QUICK)
    student = tw.distill(teacher, named(text, "a"), named(gold, "b"), named(dev, "c"), tell=silent, **QUICK)
    assert student.guidelines == teacher.guidelines
    assert np.array_equal(weights(student), weights(expected))
    known = named(labelled(bare(30, 1)), "a")
    assert np.array_equal(weights(tw.distill(teacher, known, tell=silent, **QUICK)), weights(tw.train(known, **QUICK)))


def test_labels_of_a_corpus_are_put_aside(teacher: Model) -> None:
    text = bare(30, 1)
    labels = Corpus(tuple(each.with_layer("tag", [("B-X",)] * len(each)) for each in text), "tag")
    student = tw.distill(teacher, labels, retag=True, tell=silent, **QUICK)
    assert np.array_equal(weights(student), weights(tw.distill(teacher, text, tell=silent, **QUICK)))


def test_teachers_of_several_guidelines_speak_of_that_of_the_first(teacher: Model) -> None:
    def simple(corpus: Corpus) -> Corpus:
        return Corpus(
            tuple(Sentence(e.forms, {"case": tuple((f[0].upper(),) for f in e.forms)}) for e in corpus), "case"
        )

    target, source, text = labelled(bare(40, 0)), simple(bare(40, 1)), bare(30, 2)
    two = tw.train(source, target, task="tag", method="coupled", **QUICK)
    assert two.guidelines == ("case", "tag")
    student = tw.distill([tw.train(target, task="tag", **QUICK), two], text, tell=silent, **QUICK)
    assert {*student.labels} <= {*two.under(["tag"]).labels}
    other = tw.distill(two, labelled(text), tell=silent, **QUICK)  # labels of the second guideline are evidence
    assert other.guidelines == ("case",)


def test_labels_that_are_all_improbable_keep_the_best() -> None:
    many = Corpus(tuple(Sentence((f"w{at}",), {"tag": ((f"T{at // 2}",),)}) for at in range(400)), "tag")
    flat = tw.train(many, task="tag", templates=["form[0]"], iterations=1, callback=Silence())
    assert flat.under().probabilities([Sentence(("new",))])[0].max() < 0.01
    assert tw.distill(flat, Corpus((Sentence(("new",)),)), tell=silent, **QUICK).tag(["new"])


@pytest.mark.parametrize("coding", ["IOB1", "IOB2"])
def test_students_of_every_scheme_of_spans(coding: str) -> None:
    model = tw.train(labelled(bare(40, 0)), task="spans", coding=coding, **QUICK)
    student = tw.distill(model, bare(100, 1), tell=silent, **QUICK)
    other = bare(20, 2)
    assert [student.tag(each) for each in other] == [model.tag(each) for each in other]


def test_teachers_that_do_not_fit_are_refused(teacher: Model) -> None:
    tags = tw.train(labelled(bare(5, 0)), task="tag", **QUICK)
    with pytest.raises(PlanError, match=r"found a model of tag .*, expected spans BIOES"):
        tw.distill([teacher, tags], bare(2, 0))
    with pytest.raises(PlanError, match="segtag"):
        tw.distill(tw.train(characters(5, 0), task="segtag", **QUICK), bare(2, 0))
    other = tw.train(Corpus((Sentence(("Ann",), {"tag": (("B-NAME",),)}),) * 3, "tag"), task="spans", **QUICK)
    with pytest.raises(PlanError, match="found none of the labels of"):
        tw.distill([teacher, other], bare(2, 0))
    with pytest.raises(PlanError, match="no teacher"):
        tw.distill([], bare(2, 0))


def test_what_the_teachers_determine_is_no_option(teacher: Model) -> None:
    for name, value in {"task": "tag", "method": "single", "pooling": "last", "weights": "observed"}.items():
        with pytest.raises(TypeError, match=f"no option '{name}'"):
            tw.distill(teacher, bare(2, 0), tell=silent, **{name: value})
