"""From answers to a new model, with a training that is quick."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_tasks import say

from tagweave.annotate import retraining
from tagweave.annotate.intake import put_uncertain
from tagweave.annotate.retraining import Retraining, accuracy, correct, minutes, retrain
from tagweave.annotate.rules import Rule, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import Status, label
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.models import storage
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.models.versions import is_correction
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.plan import Plan

CTB = load(str(sample.path("ctb.txt")), unnamed="ctb")
RAW = CTB.with_sentences(Sentence(each.forms, location=each.location) for each in CTB.sentences[100:110])
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
def evidence(models: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> list[Corpus]:
    """What was learned from; the better model comes of it, quickly."""
    seen: list[Corpus] = []

    def learn(_plan: Plan, corpus: Corpus, path: Path) -> None:
        seen.append(corpus)
        shutil.copy(models[1], path)

    monkeypatch.setattr(retraining, "learn", learn)
    return seen


@pytest.fixture
def again(tmp_path: Path) -> Retraining:
    return Retraining(f"sqlite:///{tmp_path}/answers.db", "first", "ctb", Plan(), str(tmp_path / "out"), every=2)


def answer(store: Store, annotator: int) -> None:
    say(store, annotator, label("NN"))


def test_a_model_of_the_answers_ranks_the_tasks(
    store: Store, again: Retraining, evidence: list[Corpus], tmp_path: Path, models: tuple[str, str]
) -> None:
    """It is in the store with its accuracy and the minutes it took; what it doubts elsewhere is asked, too."""
    raw, dev = tmp_path / "raw.seg", tmp_path / "dev.conllu"
    raw.write_text("\n".join(" ".join(each.forms) for each in CTB.sentences[110:120]) + "\n", encoding="utf-8")
    gold = CTB.with_sentences(CTB.sentences[100:])
    save(gold, str(dev), "conllu")
    before, settled = {each.id: each.task for each in store.tasks(Status.OPEN)}, store.tasks(Status.AGREED)
    model = retrain(store, replace(again, dev=str(dev), corpus=str(raw), share=0.5))
    assert model is not None and model == store.models()[-1]
    assert (model.version, model.path, model.judgement) == (2, str(tmp_path / "out" / "first-1.model"), 1)
    assert [one for each in evidence[0] for one in each.layers["ctb"] if one] == [("NN",)]
    tagger = ChainPredictor(load_model(models[1]))
    tagged = tagger.tag(Sentence(each.forms) for each in gold)
    layers = zip((each.layers["ctb"] for each in gold), (each.layers["ctb"] for each in tagged), strict=True)
    right = [one == other for pair in layers for one, other in zip(*pair, strict=True)]
    assert accuracy(load_model(models[0]), str(dev), "ctb") < model.accuracy == pytest.approx(sum(right) / len(right))
    assert model.minutes == pytest.approx(minutes(store)) == pytest.approx(store.progress(1).seconds / 60)
    after = {each.id: each.task for each in store.tasks(Status.OPEN)}
    assert len(after) == len(before) + round(0.5 * sum(len(each) for each in CTB.sentences[110:120]))
    assert {task.model for task in after.values()} == {2}
    assert any(before[number].uncertainty != after[number].uncertainty for number in before)
    for task in after.values():
        best = tagger.probabilities([task.sentence])[0][task.start].max()
        assert task.candidates[0].probability == pytest.approx(best, abs=1e-4)
    assert store.tasks(Status.AGREED) == settled


def test_nothing_agreed_is_nothing_to_train_on(store: Store, again: Retraining, evidence: list[Corpus]) -> None:
    assert retrain(store, replace(again, guideline="pd")) is None
    assert len(store.models()) == 1 and evidence == []


@pytest.mark.parametrize(("where", "step"), [(retraining, "accuracy"), (retraining, "rank"), (Store, "measured")])
def test_a_process_that_is_killed_after_training_is_finished_by_the_next(
    store: Store, again: Retraining, evidence: list[Corpus], where: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is trained twice, and until the tasks are ranked the next one is due."""
    answer(store, 1)
    with monkeypatch.context() as patch:
        patch.setattr(where, step, lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            retrain(store, again)
    assert again.is_due(store, 0)
    model = retrain(store, again)
    assert model is not None and (len(evidence), len(store.models())) == (1, 2)
    assert {each.task.model for each in store.tasks(Status.OPEN)} == {model.version}
    assert not again.is_due(store, 0)


def corrected(store: Store, person: int, again: Retraining) -> str:
    """Answer something that the newest model does not say, and correct it; return the name of its file."""
    lease = store.claim(person)
    assert lease is not None
    names = [one.label for one in lease.task.candidates]
    store.answer(person, lease.task_id, label("PN" if names[0] != "PN" else "NN"))
    correct(store, again)
    return Path(store.models()[-1].path).name


def test_between_trainings_answers_correct_the_model_and_rank_the_tasks(
    store: Store, again: Retraining, evidence: list[Corpus], models: tuple[str, str]
) -> None:
    """A correction is a version that nobody measures; its file replaces the one before, and a training removes it."""
    out = Path(again.folder)
    out.mkdir()
    before = {each.id: each.task for each in store.tasks(Status.OPEN)}
    assert corrected(store, 1, again) == "first-0.1.model"
    model = store.models()[1]
    assert (model.judgement, model.accuracy) == (2, None) and again.is_due(store, 0)
    tagger = ChainPredictor(load_model(model.path))
    after = {each.id: each.task for each in store.tasks(Status.OPEN)}
    assert {task.model for task in after.values()} == {model.version} and after.keys() < before.keys()
    for task in after.values():
        best = tagger.probabilities([task.sentence])[0][task.start].max()
        assert task.candidates[0].probability == pytest.approx(best, abs=1e-4)
    assert any(before[number].candidates != task.candidates for number, task in after.items())
    for known in store.outcomes("ctb"):
        [tagged] = tagger.tag([known.task.sentence])
        assert known.outcome is not None and tagged.layers["ctb"][known.task.start] == (known.outcome.label,)
    assert correct(store, again) is None and not again.is_new(store, 0)
    assert corrected(store, 1, again) == "first-0.2.model"
    assert [path.name for path in out.glob("*.model")] == ["first-0.2.model"]
    assert retrain(store, again) == store.models()[-1] and len(evidence) == 1
    assert [path.name for path in out.glob("*.model")] == ["first-3.model"]
    assert [is_correction(each.path) for each in store.models()] == [False, True, True, False]
    assert corrected(store, 1, again) == "first-3.1.model" and not again.is_due(store, 0)


@pytest.mark.parametrize(
    ("where", "step"), [(retraining.intake, "version_of"), (retraining, "rank"), (Store, "measured")]
)
def test_a_process_that_is_killed_while_it_corrects_is_followed_by_one_that_does(
    store: Store, again: Retraining, where: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(again.folder).mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(where, step, lambda *_, **__: sys.exit("killed"))
        with pytest.raises(SystemExit):
            corrected(store, 1, again)
    assert again.is_new(store, 0)
    model = correct(store, again)
    assert model is not None and (Path(model.path).name, len(store.models())) == ("first-0.1.model", 2)
    assert {each.task.model for each in store.tasks(Status.OPEN)} == {model.version}
    assert not again.is_new(store, 0) and correct(store, again) is None


def test_without_its_file_a_model_waits_for_the_next_training(store: Store, again: Retraining) -> None:
    store.add_model("gone/first-7.model", 0, 0)
    assert correct(store, again) is None and len(store.models()) == 2


def test_a_model_on_the_hub_is_corrected(
    store: Store, again: Retraining, models: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "model_file", lambda path: models[0] if path == "hf:ada/first" else path)
    store.add_model("hf:ada/first", 0, 0)
    Path(again.folder).mkdir()
    assert corrected(store, 1, again) == "first-0.1.model"
