"""Rejected spans in training: what they add to the loss, who refuses them, and what a contradiction is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.corpus.spans import ANY, Span
from tagweave.errors import CorpusError
from tagweave.evidence.layers import rejected_spans
from tagweave.labels.mapping import bundle
from tagweave.labels.space import LabelSpace
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.ranking import probable_spans
from tagweave.streams.labelling import WordLabelling
from tagweave.training.cascades.guided import merged
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import Problem, fit_problem
from tagweave.training.fit.recipe import LEARNERS, Recipe
from tagweave.training.fit.task import Task

MISTAKE_DRIVEN = [name for name, learner in LEARNERS.items() if learner.mistake_driven]
KNOWN = Sentence(
    ("Anna", "Bell", "saw", "Graz"), {"tag": (("B-PER",), ("I-PER",), ("O",), ("B-LOC",))}, location=Location("f", 1)
)
OPEN = Sentence(("Graz", "saw", "Anna", "Bell"), {"tag": (None,) * 4}, location=Location("f", 6))


def corpus(*rejected: Span, layer: tuple[Candidates, ...] = (None,) * 4) -> Corpus:
    return Corpus((KNOWN, OPEN.with_layer("tag", layer).rejecting("tag", rejected)))


def problem(*rejected: Span, coding: str = "BIOES", precision: str = "float64", threads: int = 1) -> Problem:
    recipe = Recipe(Task("spans", coding), precision=precision, threads=threads)
    return prepare([corpus(*rejected)], recipe)


@pytest.mark.parametrize("coding", ["BIOES", "IOB2"])
@pytest.mark.parametrize("span", [(0, 1, "LOC"), (2, 4, "PER"), (0, 4, "LOC"), (3, 4, "PER")])
def test_the_loss_is_that_of_the_span_not_being_there(coding: str, span: tuple[int, int, str]) -> None:
    plain, rejecting = problem(coding=coding), problem(Span(*span), coding=coding)
    weights = np.random.default_rng(0).normal(0, 0.3, plain.objective.size)
    more = rejecting.objective.loss_and_gradient(weights)[0] - plain.objective.loss_and_gradient(weights)[0]
    model = replace(rejecting.model, weights=weights)
    gamma, pairs = model.pair_marginals(rejecting.objective.encoded, 1)
    found = {tuple(each)[:3]: each.probability for each in probable_spans(gamma, pairs, model.space.names, 1e-12)}
    assert more == pytest.approx(-np.log1p(-found[span]), rel=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_gradient_is_that_of_the_loss(threads: int) -> None:
    spans = Span(0, 1, "LOC"), Span(2, 4, "PER"), Span(2, 3, ANY), Span(1, 3, "PER")
    objective = problem(*spans, threads=threads).objective
    weights, direction = np.random.default_rng(1).normal(size=(2, objective.size))
    loss, gradient = objective.loss_and_gradient(weights)
    above, below = (objective.loss_and_gradient(weights + by * direction)[0] for by in (1e-6, -1e-6))
    assert gradient @ direction == pytest.approx((above - below) / 2e-6, rel=1e-6)
    in_batch = np.zeros(objective.size)
    assert objective.add_batch(weights, 0, 2, in_batch) == pytest.approx(loss)
    np.testing.assert_allclose(in_batch, gradient, atol=1e-12)
    rough = problem(*spans, precision="float32", threads=threads).objective
    np.testing.assert_allclose(rough.loss_and_gradient(weights.astype(np.float32))[1], gradient, atol=2e-5)


def test_a_span_that_is_certainly_there_in_the_eyes_of_the_model_still_has_a_gradient() -> None:
    objective = problem(Span(2, 4, "PER"), precision="float32").objective
    loss, gradient = objective.loss_and_gradient(np.zeros(objective.size, np.float32))
    for _ in range(200):  # uphill, until the model believes it beyond doubt
        loss, gradient = objective.loss_and_gradient(gradient * 50)
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


def test_what_is_unknown_adds_nothing_and_order_does_not_matter() -> None:
    rejecting = corpus(Span(2, 4, "PER"), Span(0, 1, "LOC"))
    recipe = Recipe(Task("spans"), precision="float64")
    objective = prepare([rejecting], recipe).objective
    weights = np.random.default_rng(2).normal(size=objective.size)
    unknown = OPEN.with_layer("tag", (None,) * 4)
    mixed = rejecting.with_sentences((unknown, rejecting[1], unknown, rejecting[0]))
    other = prepare([mixed], recipe).objective
    assert (len(other), len(prepare([corpus()], recipe).objective)) == (2, 1)
    turned = other.shuffled(np.array([1, 0])).loss_and_gradient(weights)[0]
    assert turned == pytest.approx(other.loss_and_gradient(weights)[0], rel=1e-12)


def test_a_layer_under_another_name_keeps_its_rejected_spans(tmp_path: Path) -> None:
    rejecting = corpus(Span(2, 4, "PER"))
    (_, other) = merged([replace(corpus(), guideline="ner")], [rejecting])
    assert other[1].rejected == {"ner": (Span(2, 4, "PER"),)}
    save(rejecting, str(tmp_path / "a.conll"))
    assert load(f"ner={tmp_path / 'a.conll'}")[1].rejected == other[1].rejected
    assert not rejecting[1].with_layers_of(["ner"]).rejected


def test_encoded_sentences_keep_their_rejected_spans() -> None:
    encoded = problem(Span(2, 4, "PER"), Span(0, 1, "LOC"), Span(1, 3, "PER")).objective.encoded
    assert encoded.evidence.rejected[:, 0].tolist() == [1, 1, 1]
    turned = encoded.take(np.array([1, 0, 1]))
    assert turned.evidence.rejected[:, 0].tolist() == [0, 0, 0, 2, 2, 2]
    np.testing.assert_array_equal(turned.evidence.rejected_in(2, 3)[:, 1:], encoded.evidence.rejected[:, 1:])


def test_rejected_spans_are_learnt_and_never_completed() -> None:
    rejecting = corpus(Span(0, 1, "LOC"), Span(2, 4, "PER"))
    recipe = Recipe(Task("spans"))
    learnt = fit_problem(prepare([rejecting], recipe), recipe, run=Run(Schedule(iterations=20)))
    taught = fit_problem(prepare([corpus()], recipe), recipe, run=Run(Schedule(iterations=20)))
    spans = (Span(0, 1, "LOC"), Span(2, 4, "PER"))
    assert {each for (each,) in ChainPredictor(taught.model).complete(corpus())[1].spans("tag")} & {*spans}
    assert not {each for (each,) in ChainPredictor(learnt.model).complete(corpus())[1].spans("tag")} & {*spans}
    completed = ChainPredictor(taught.model).complete(rejecting)
    assert not {each for (each,) in completed[1].spans("tag")} & {*spans}
    assert completed[0].layers == KNOWN.layers
    (found,) = ChainPredictor(taught.model).spans([rejecting[1]], 0.01, "tag")
    assert not {each[:3] for each in found} & {*spans}


def test_files_are_completed_without_their_rejected_spans(tmp_path: Path) -> None:
    recipe, rejecting = Recipe(Task("spans")), corpus(Span(0, 1, "LOC"), Span(2, 4, "PER"))
    taught = fit_problem(prepare([corpus()], recipe), recipe, run=Run(Schedule(iterations=20)))
    given, out = str(tmp_path / "given.conllu"), str(tmp_path / "out.conllu")
    save(rejecting, given)
    WordLabelling(ChainPredictor(taught.model), given).write(out)
    again = load(f"tag={out}")
    assert again[1].rejected == rejecting[1].rejected
    assert not {each for (each,) in again[1].spans("tag")} & {*rejecting[1].rejected["tag"]}
    with pytest.raises(CorpusError, match=r"given\.conllu:9: found rejected spans"):
        WordLabelling(ChainPredictor(taught.model), given).write(str(tmp_path / "out.txt"), "tagged")


TEXT = """\
# rejected = tag 1-2 PER
Anna\tB-PER
Bell\tI-PER
saw\t_

# rejected = tag {}
Graz\tB-LOC
is\tO
"""


@pytest.mark.parametrize("coding", ["BIOES", "IOB2"])
def test_a_contradiction_is_told_with_file_and_line(tmp_path: Path, coding: str) -> None:
    file = tmp_path / "a.conll"
    file.write_text(TEXT.format("1-1 PER"), encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.conll:2: found .* what is rejected: 1-2 PER"):
        prepare([load(str(file))], Recipe(Task("spans", coding)))
    file.write_text(TEXT.format("1-1 LOC").replace("1-2 PER", "1-1 PER"), encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.conll:7: found .* what is rejected: 1-1 LOC"):
        prepare([load(str(file))], Recipe(Task("spans", coding)))
    file.write_text(TEXT.format("1-2 LOC").replace("1-2 PER", "1-2 DATE"), encoding="utf-8")
    assert len(prepare([load(str(file))], Recipe(Task("spans", coding))).objective) == 2


@pytest.mark.parametrize("learner", MISTAKE_DRIVEN)
def test_mistake_driven_learners_refuse_them(learner: str) -> None:
    with pytest.raises(CorpusError, match=f"f:6: found rejected spans for the learner {learner}"):
        prepare([corpus(Span(0, 1, "LOC"))], Recipe(Task("spans"), learner=learner))


@pytest.mark.parametrize("task", [Task("tag"), Task("segtag"), Task("spans", "IOB1")])
def test_labels_that_do_not_tell_where_spans_begin_refuse_them(task: Task) -> None:
    with pytest.raises(CorpusError, match="f:6: found rejected spans for the task"):
        prepare([corpus(Span(0, 1, "LOC"))], Recipe(task))


def test_probabilities_and_labels_of_several_guidelines_refuse_them() -> None:
    soft = corpus(Span(0, 1, "LOC"), layer=(Soft(("B-LOC", "O"), (0.5, 0.5)), None, None, None))
    with pytest.raises(CorpusError, match="f:6: found probabilities of labels and rejected spans"):
        prepare([soft], Recipe(Task("spans")))
    with pytest.raises(CorpusError, match="f:6: found rejected spans for a model of several guidelines"):
        rejected_spans(corpus(Span(0, 1, "LOC")).sentences, bundle([("tag", ("O",)), ("other", ("O",))]))
    none = OPEN.rejecting("tag", ()), replace(OPEN, rejected={"tag": (), "pos": (Span(0, 1, "X"),)})
    assert not len(rejected_spans(none, bundle([("tag", ("O",)), ("other", ("O",))])))
    assert not len(rejected_spans(corpus(Span(0, 1, "DATE")).sentences, LabelSpace.plain("tag", ("O", "S-LOC"))))
