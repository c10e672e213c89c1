"""The key that shows why a model proposes what it does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import entering, press, signed_in

import tagweave as tw
from reproductions.screenshots.served import CHROMIUM
from tagweave.annotate.intake import put_spans, put_uncertain
from tagweave.annotate.rules import Settings
from tagweave.annotate.store import Store
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.learning.run import Silence
from tagweave.models import storage

QUICK: dict[str, Any] = {"iterations": 3, "average_seeds": 1, "callback": Silence()}
FORMS = ("<b>", "saw", "Rome")
LAYERS = {
    "tags": {"t": (("NN",), ("VV",), ("NN",))},
    "entities": {"t": (("B-PER",), ("O",), ("B-LOC",))},
    "layers": {"PER": (("B-PER",), ("I-PER",), ("O",)), "LOC": (("O",), ("B-LOC",), ("I-LOC",))},
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model of tags, one of spans and one of layers of spans, from files."""
    folder, models = tmp_path_factory.mktemp("models"), {}
    for name, layers in LAYERS.items():
        outside = dict.fromkeys(layers, (("O",), ("O",)))
        sentences = (Sentence(FORMS, layers), Sentence(("it", "rains"), outside)) * 4
        tw.train(Corpus(sentences, next(iter(layers))), **QUICK).save(folder / name)
        models[name] = tw.load_model(folder / name)
    return models


def asked(folder: Path, model: Any) -> Store:
    """A store with the tasks of one sentence."""
    store = Store.open(f"sqlite:///{folder / 'answers.db'}", Settings(window=1, gold_share=0))
    text = Corpus((Sentence(FORMS, location=Location("raw.txt", 1)),))
    put_uncertain(store, text, model.under(), 1.0, store.add_model(model.name, 0, 0.0))
    return store


@pytest.mark.parametrize(("name", "titles"), [("tags", 1), ("entities", 2), ("layers", 2)])
def test_what_the_model_says_is_explained(models: dict[str, Any], tmp_path: Path, name: str, titles: int) -> None:
    store = asked(tmp_path, models[name])
    browser = signed_in(store, "ada")
    number = browser.task()
    page = browser.fill("/task", task=number, steps="mark 0 1 PER", why=1)
    assert len(re.findall(r"<p><strong>.*?</strong></p><table>", page)) == titles
    assert "The reasons are below." in page and "<b>:" not in page
    if name != "tags":
        assert 'value="mark 0 1 PER"' in page, "the draft stays"
        page = browser.fill("/task", task=number, steps="", why=1, first=2, last=2)
        assert re.findall(r"<strong>(.*?): LOC", page) == ["saw Rome" if name == "layers" else "Rome"]
        assert "Not taken: found a token beyond" in browser.fill("/task", 409, task=number, steps="", why=1, first=3)
    assert "this task is not yours" in browser.fill("/task", 409, task=number + 9, why=1)
    assert [*store.judgements()] == []
    store.close()


def test_without_a_model_the_key_says_so(models: dict[str, Any], tmp_path: Path) -> None:
    gone = tmp_path / "gone.model"
    models["entities"].save(gone)
    store = asked(tmp_path, tw.load_model(gone))
    gone.unlink()
    put_spans(store, Corpus((Sentence(("a",), location=Location("other.txt", 1)),), "ner"))
    browser = signed_in(store, "ada")
    for has_key in (True, False):  # another task was chosen by no model
        assert ('name="why"' in browser.look("/task")) == has_key
        page = browser.fill("/task", task=browser.task(), steps="", why=1)
        assert "No model is at hand that chose this task." in page
        browser.fill("/task", task=browser.task(), steps="", answer="can't tell")
    store.close()


def test_a_model_on_the_hub_is_explained(
    models: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = models["tags"].name
    monkeypatch.setattr(storage, "model_file", lambda path: local if path == "hf:ada/tags" else path)
    store = asked(tmp_path, tw.load_model("hf:ada/tags"))
    browser = signed_in(store, "ada")
    assert "The reasons are below." in browser.fill("/task", task=browser.task(), steps="", why=1)
    store.close()


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_key(browser: Any, models: dict[str, Any], tmp_path: Path) -> None:
    """It explains the span of the current row, and its step is none that is undone."""
    store = asked(tmp_path, models["layers"])
    with entering(browser, store) as enter:
        page = enter("ada")
        press(page, "j", "a")
        current = page.locator(".row.current b").inner_text()
        press(page, "w")
        assert page.locator("section strong").count() >= 1
        assert current in page.locator("section").inner_text()
        assert page.locator(".words .marked").count() == 1
    store.close()
