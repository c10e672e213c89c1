"""Words first, then tags: a segmenter and a tagger of its words as one model, and when it is trained."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.annotate.selection import Occurrences, word_uncertainties
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.front.description import describe_model, model_lines
from tagweave.labels.coding import CODINGS, whole_word, whole_words
from tagweave.learning.run import Run, Schedule, Silence
from tagweave.models.cascades import PieceEncoder, words_first
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.training.cascades.coupled import Coupling, fit_coupled
from tagweave.training.cascades.guided import fit_stages
from tagweave.training.fit.chain_problem import dev_score
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.retraining import again

WORDS = {"ab": "N", "a": "V", "abc": "N", "cd": "V", "d": "P", "bcd": "N"}
RUN = Run(Schedule(iterations=4))


def text(size: int, seed: int = 0, guideline: str = "g", unit: int = 1) -> Corpus:
    """Sentences of words; with `unit` 2, another guideline, whose words are pairs of these."""
    draw, sentences = random.Random(seed), []
    for number in range(size):
        forms = draw.choices(list(WORDS), k=draw.randint(2, 4) * unit)
        joined = ["".join(forms[at : at + unit]) for at in range(0, len(forms), unit)]
        tags = tuple((WORDS[form] if unit == 1 else str(len(form) % 3),) for form in joined)
        sentences.append(Sentence(tuple(joined), {guideline: tags}, location=Location("f", number)))
    return Corpus(tuple(sentences), guideline, path=guideline)


TRAIN, DEV = text(60), text(20, 1)
OTHER = text(60, 2, "h", 2)


def recipe(task: str) -> Recipe:
    return Recipe(Task(task))


SEGMENTER = fit([TRAIN], recipe("segment"), run=RUN).model
TAGGERS = {
    "plain": fit([TRAIN], recipe("tag"), run=RUN).model,
    "guided": fit_stages([TRAIN], [OTHER], recipe("tag"), run=RUN).model,
    "coupled": fit_coupled([TRAIN, OTHER], recipe("tag"), Coupling(), run=RUN).model,
}


def characters(corpus: Corpus) -> list[Sentence]:
    return [Sentence(tuple("".join(each.forms)), location=each.location) for each in corpus]


@pytest.mark.parametrize("kind", TAGGERS)
def test_a_pipeline_is_a_segmenter_and_then_a_tagger(kind: str, tmp_path: Path) -> None:
    save_model(words_first(SEGMENTER, TAGGERS[kind]), tmp_path / "m")
    model: Any = load_model(tmp_path / "m")
    assert (model.task, model.coding) == ("segtag", "BMES")
    segmenter, tagger, both = map(ChainPredictor, (SEGMENTER, TAGGERS[kind], model))
    words = [segmenter.words(each) for each in segmenter.tag(characters(DEV))]
    expected = [(each.forms, each.layers["g"]) for each in tagger.tag([Sentence(each.forms) for each in words])]
    assert [(each.forms, each.layers["g"]) for each in map(both.words, both.tag(characters(DEV)))] == expected
    score = dev_score(model, Task("segtag").prepare(DEV))(model.weights)
    assert score > 0.8
    right = sum(
        len(placed(own.forms, own.layers["g"]) & placed(*found)) for own, found in zip(DEV, expected, strict=True)
    )
    assert score == pytest.approx(2 * right / (sum(map(len, DEV)) + sum(len(forms) for forms, _ in expected)))


def test_its_segmenter_tells_how_sure_words_are() -> None:
    one, both = ChainPredictor(SEGMENTER), ChainPredictor(words_first(SEGMENTER, TAGGERS["plain"]))
    words = [both.words(each) for each in both.tag(characters(DEV))]
    assert both.word_probabilities(characters(DEV), words) == one.word_probabilities(characters(DEV), words)
    given = Task("segtag").prepare(DEV)
    known = both.word_probabilities(given.sentences, list(DEV), "g")
    assert all(number == pytest.approx(1, abs=1e-4) for row in known for number in row)
    found = Occurrences(*np.array([[0, 1, 2], [0, 0, 1], [2, 2, 3], [0, 0, 0]]))
    ours, other = (word_uncertainties(each.model, characters(DEV), found) for each in (both, one))
    assert np.array_equal(ours, other)


@pytest.mark.parametrize("coding", CODINGS)
def test_any_coding(coding: str, tmp_path: Path) -> None:
    segmenter = fit([TRAIN], Recipe(Task("segment", coding)), run=RUN).model
    save_model(words_first(segmenter, TAGGERS["plain"]), tmp_path / "m")
    model: Any = load_model(tmp_path / "m")
    assert dev_score(model, Task("segtag", coding).prepare(DEV))(model.weights) > 0.8
    given = Task("segtag", coding).prepare(DEV)
    assert ChainPredictor(model).complete(given).sentences[0].forms == DEV.sentences[0].forms


def test_retraining_leaves_the_method_open(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a/V ab/N\n", encoding="utf-8")
    model: Any = tw.train(TRAIN, task="segtag", method="pipeline", iterations=1, callback=Silence())
    plan = again(model.about, "g", [f"g={path}"], lambda line: None)
    assert plan.method is None and plan.task == "segtag" and len(plan.target) == 2


def placed(forms: Any, tags: Any) -> set[tuple[int, int, Any]]:
    ends = [0, *np.cumsum([len(form) for form in forms]).tolist()]
    return {(*span, tag) for span, tag in zip(pairwise(ends), tags, strict=True)}


def labelled(string: str) -> Corpus:
    """A sentence of characters from `a:B-*|S-* b c:E-N`."""
    pairs = [each.partition(":") for each in string.split()]
    layer = tuple(tuple(labels.split("|")) if labels else None for _, _, labels in pairs)
    sentence = Sentence(tuple(form for form, _, _ in pairs), {"g": layer}, location=Location("x", 3))
    return Corpus((sentence,), "g", "character")


@pytest.mark.parametrize("kind", TAGGERS)
@pytest.mark.parametrize(
    ("known", "words", "tags"),
    [
        ("a:S-* b:B-* c:E-* d", ["a", "bc", "d"], [None, None, None]),
        ("a:S-P b:B-V c:M-V d:E-V", ["a", "bcd"], ["P", "V"]),
        ("a:B-N|S-N b c:S-V|E-V d:S-*", None, []),
        ("a:B-*|B-V b:E-* c:S-P|S-V d", ["ab", "c", "d"], [None, None, None]),
    ],
)
def test_evidence_stays(kind: str, known: str, words: list[str] | None, tags: list[str | None]) -> None:
    predictor = ChainPredictor(words_first(SEGMENTER, TAGGERS[kind]))
    [done] = predictor.complete(labelled(known))
    found = predictor.words(done)
    if words is not None:
        assert list(found.forms) == words
    for tag, candidates in zip(tags, found.layers["g"], strict=False):
        assert tag is None or candidates == (tag,)
    tables = predictor.probabilities(list(labelled(known)), "g")
    assert all(table.sum(axis=1) == pytest.approx(1, abs=1e-4) for table in tables)


def test_annotation_of_another_guideline_is_refused() -> None:
    predictor = ChainPredictor(words_first(SEGMENTER, TAGGERS["coupled"]))
    sentence = Sentence(("a", "b"), {"h": (("B-1",), ("E-1",))}, location=Location("x", 7))
    with pytest.raises(CorpusError, match=r"x:7: found annotation of h, expected of g, whose segmenter cuts the text"):
        predictor.complete(Corpus((sentence,), "h", "character"))


def test_a_segmenter_of_another_guideline_is_refused(tmp_path: Path) -> None:
    save_model(words_first(fit([OTHER], recipe("segment"), run=RUN).model, TAGGERS["plain"]), tmp_path / "m")
    with pytest.raises(tw.TagweaveError, match="whose parts do not fit"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("coding", CODINGS)
def test_labels_of_whole_words(coding: str) -> None:
    word = Task("segtag", coding).prepare(Corpus((Sentence(("x",), {"g": (("N",),)}),), "g")).sentences[0]
    assert word.layers["g"] == ((whole_word("N", coding),),)
    inside = "-N" if coding == "boundary" else "M-N"
    soft = Soft((inside, whole_word("N", coding)), (0.25, 0.75))
    assert whole_words((inside, whole_word("N", coding)), coding) == (whole_word("N", coding),)
    assert whole_words(soft, coding) == Soft((whole_word("N", coding),), (0.75,))
    assert whole_words(None, coding) is None and whole_words((inside,), coding) == ()


# Which method is trained


def trained(target: Any = TRAIN, sources: Any = (), **options: Any) -> Any:
    return tw.train(target, sources, task="segtag", callback=Silence(), **{"iterations": 3, **options})


def test_methods_race_for_words_with_tags() -> None:
    model = trained(dev=DEV)
    assert set(model.about["race"]) == {"single", "pipeline"}
    assert model.plan.method in model.about["race"]


def test_one_model_of_two() -> None:
    model = trained(dev=DEV, method="pipeline")
    assert isinstance(model.chain.encoder, PieceEncoder) and model.chain.encoder.segmenter is not None
    assert model.about["dev_score"] == dev_score(model.chain, Task("segtag").prepare(DEV))(model.chain.weights)
    assert model.about["plan"]["method"] == "pipeline"
    again = trained(dev=DEV, method="pipeline")
    assert np.array_equal(model.chain.weights, again.chain.weights)


def test_both_steps_learn_from_another_guideline(tmp_path: Path) -> None:
    model = trained(text(12), [OTHER], dev=DEV, method="pipeline")
    (segmenter,) = model.chain.encoder.taggers
    assert segmenter.space.guidelines[:2] == model.chain.space.guidelines[:2] == ("g", "h")
    model.save(tmp_path / "model")
    lines = [line.strip() for line in model_lines(describe_model(str(tmp_path / "model")))]
    for task, step in model.about["steps"].items():
        told = f"method {step['method']}, {step['iterations']} iterations, dev score {step['dev_score']:.4f}"
        assert f"step {task}: {told}" in lines and step["method"] in ("single", "stacked", "coupled")


def test_no_coupled_model_of_tagged_letters_races() -> None:
    model = trained(dev=DEV, sources=[OTHER])
    assert set(model.about["race"]) == {"single", "stacked", "pipeline"}


@pytest.mark.parametrize(
    "options",
    [
        {"templates": ["form[0]"]},
        {"target": text(20)},
        {"sample": [30]},
    ],
)
def test_one_model_where_more_is_asked_for(options: dict[str, Any]) -> None:
    model = trained(**options)
    assert model.plan.method == "single" and "race" not in model.about


def test_partly_known_words_need_one_model(tmp_path: Path) -> None:
    path = tmp_path / "g.kytea"
    path.write_text("a-b/N|a/V|c d|d/P\n" * 60, encoding="utf-8")
    assert trained(tw.load(str(path))).plan.method == "single"


@pytest.mark.parametrize(
    ("task", "options", "problem"),
    [
        ("tag", {}, "found the task tag with the method pipeline, expected segtag"),
        ("segtag", {"templates": ["form[0]"]}, "found templates with the method pipeline"),
    ],
)
def test_what_a_pipeline_cannot_do_is_told(task: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        tw.train(TRAIN, task=task, method="pipeline", callback=Silence(), **options)
