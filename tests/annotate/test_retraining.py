"""From answers to a new model, with a command that is quick."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from made_tasks import say

from tagweave.annotate import retraining
from tagweave.annotate.intake import put_uncertain
from tagweave.annotate.retraining import Plan, accuracy, minutes, retrain
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose, Rule, Settings, Status, label
from tagweave.corpus import sample
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe

CTB = load(str(sample.path("ctb.txt")), unnamed="ctb")
RAW = CTB.with_sentences(Sentence(each.forms, location=each.location) for each in CTB.sentences[100:110])
COPY = "import shutil, sys; shutil.copy(*sys.argv[2:])"
ALONE = Settings(Rule(1, 0, 1))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A first model and a better one."""
    folder = tmp_path_factory.mktemp("models")
    for name, size, iterations in (("first", 20, 1), ("second", 100, 3)):
        corpus = CTB.with_sentences(CTB.sentences[:size])
        save_model(fit([corpus], Recipe(), run=Run(Schedule(iterations))).model, folder / name)
    return str(folder / "first"), str(folder / "second")


@pytest.fixture
def store(tmp_path: Path, models: tuple[str, str]) -> Store:
    """Ten questions, one answered."""
    store = Store.open(f"sqlite:///{tmp_path}/answers.db", ALONE, seed=1)
    put_uncertain(store, RAW, ChainPredictor(load_model(models[0])), 0.1, store.add_model(models[0], 0, 0))
    answer(store, store.add_annotator("a").id)
    return store


@pytest.fixture
def plan(tmp_path: Path, models: tuple[str, str]) -> Plan:
    command = (sys.executable, "-c", COPY, "{annotated}", models[1], "{model}")
    return Plan(f"sqlite:///{tmp_path}/answers.db", "ctb", command, str(tmp_path / "out"), every=2)


def answer(store: Store, annotator: int) -> None:
    say(store, annotator, label("NN"))


def test_a_model_is_trained_on_what_is_agreed_and_entered(store: Store, plan: Plan) -> None:
    model = retrain(store, plan)
    assert (model.version, model.judgement, model.accuracy) == (2, 1, None)
    assert Path(model.path).parent == Path(plan.folder)
    assert store.models()[-1] == model
    corpus = load(str(Path(plan.folder) / "model-1.conllu"))
    assert [c for each in corpus for c in each.layers["ctb"] if c] == [("NN",)]


def test_tasks_are_ranked_by_the_new_model(store: Store, plan: Plan, models: tuple[str, str]) -> None:
    before = {each.id: each.task for each in store.tasks(Status.OPEN)}
    settled = store.tasks(Status.AGREED)
    retrain(store, plan)
    after = {each.id: each.task for each in store.tasks(Status.OPEN)}
    assert after.keys() == before.keys()
    assert {task.model for task in after.values()} == {2}
    assert any(before[number].uncertainty != after[number].uncertainty for number in after)
    tagger = ChainPredictor(load_model(models[1]))
    for task in after.values():
        best = tagger.probabilities([task.sentence])[0][task.start].max()
        assert task.candidates[0].probability == pytest.approx(best, abs=1e-4)
    assert store.tasks(Status.AGREED) == settled


def test_what_the_new_model_doubts_is_asked_too(store: Store, plan: Plan, tmp_path: Path) -> None:
    raw = tmp_path / "raw.seg"
    raw.write_text("\n".join(" ".join(each.forms) for each in CTB.sentences[110:120]) + "\n", encoding="utf-8")
    before = store.counts()[Purpose.REAL, Status.OPEN]
    retrain(store, replace(plan, corpus=str(raw), share=0.5))
    tokens = sum(len(each) for each in CTB.sentences[110:120])
    assert store.counts()[Purpose.REAL, Status.OPEN] == before + round(0.5 * tokens)


def test_accuracy_and_minutes_go_with_the_model(
    store: Store, plan: Plan, tmp_path: Path, models: tuple[str, str]
) -> None:
    dev = tmp_path / "dev.conllu"
    gold = CTB.with_sentences(CTB.sentences[100:])
    save(gold, str(dev), "conllu")
    model = retrain(store, replace(plan, dev=str(dev)))
    assert model is not None and model.accuracy is not None
    tagged = ChainPredictor(load_model(models[1])).tag(Sentence(each.forms) for each in gold)
    layers = zip((each.layers["ctb"] for each in gold), (each.layers["ctb"] for each in tagged), strict=True)
    right = [one == other for pair in layers for one, other in zip(*pair, strict=True)]
    assert model.accuracy == pytest.approx(sum(right) / len(right))
    assert accuracy(load_model(models[0]), str(dev), "ctb") < model.accuracy
    assert model.minutes == pytest.approx(minutes(store))
    assert minutes(store) == pytest.approx(store.progress(1).seconds / 60)


def test_nothing_agreed_is_nothing_to_train_on(store: Store, plan: Plan) -> None:
    assert retrain(store, replace(plan, guideline="pd")) is None
    assert len(store.models()) == 1


def test_a_command_that_writes_something_else_is_not_entered(store: Store, plan: Plan) -> None:
    words = (sys.executable, "-c", "import sys; open(sys.argv[2], 'w').write('no model')", "{annotated}", "{model}")
    with pytest.raises(ModelFileError):
        retrain(store, replace(plan, command=words))
    assert len(store.models()) == 1
    assert retrain(store, plan) is not None  # and does not stand in the way


def test_a_model_in_its_file_is_entered_and_not_trained_again(
    store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "add_model", lambda *_: sys.exit("killed"))
    with pytest.raises(SystemExit):
        retrain(store, plan)
    monkeypatch.undo()
    monkeypatch.setattr(retraining, "run", lambda *_: pytest.fail("trained again"))
    assert retrain(store, plan) is not None
