"""`tagweave annotate serve`: what it puts in, where it listens, and how it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from model_files import corpora_of
from serving import serving

from reproductions.lab.simulated_annotators import Simulated, StoreDesk, even
from tagweave.annotate.page_request import WordList
from tagweave.annotate.rules import Rule, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Purpose, Status, label
from tagweave.corpus.load import load
from tagweave.models.storage import load_model

Run = Any


def test_words_are_shown_in_a_concordance(
    run: Run, tmp_path: Path, corpora: Path, segmenter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, words = tmp_path / "dev.raw", tmp_path / "words.txt"
    raw.write_bytes((corpora / "dev.raw").read_bytes())
    text = raw.read_text("utf-8")
    words.write_text(f"{text[:2]}\nnowhere\n", "utf-8")
    served: list[Any] = []
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda *arguments: served.append(arguments))
    options = ("--store", f"sqlite:///{tmp_path}/answers.db", "--model", segmenter, "--corpus", raw)
    told = run("annotate", "serve", *options, "--words", words).stderr
    assert "1 of 2 words occur in 20 lines\n" in told
    assert any(isinstance(each, WordList) and each.words == (text[:2],) for each in served[0])
    assert os.listdir(f"{raw}.kwic")  # noqa: PTH208


def test_without_a_model_what_was_imported_is_asked(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, served = f"sqlite:///{tmp_path}/answers.db", []
    (tmp_path / "some.col").write_text("a\tB-X\nb\t_\n\n", "utf-8")
    run("annotate", "import", f"ner={tmp_path / 'some.col'}", "--store", url, "--spans")
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda store, *_: served.append(store.counts()))
    run("annotate", "serve", "--store", url)
    assert served == [{(Purpose.REAL, Status.OPEN): 1}]
    for option in ("--corpus", "--model", "--words", "--train", "--dev"):
        told = run("annotate", "serve", "--store", url, option, "some.col", code=2)
        assert f"found {option}, expected --model and --corpus with it" in told.stderr


def test_the_rules_of_agreement(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Settings] = []
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda store, *_: found.append(store.settings))
    for words in ("", "--annotators 3,0,2 --planted 0.5"):
        run("annotate", "serve", "--store", f"sqlite:///{tmp_path}/a.db", *words.split())
    assert found == [Settings(), Settings(Rule(3, 0, 2), gold_share=0.5)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        *((f"--annotators {text}", "found ") for text in ("2", "2,2,x", "2,2,3,4", "2,2,2", "0,4,3", "-1,2,3")),
        ("--public-url example.org", "found --public-url example.org, expected https:// and a host"),
        ("--public-url https://example.org/path", "found --public-url https://example.org/path, expected"),
        ("--proxy *", "found --proxy *, expected an address or a network, as 10.0.0.0/8"),
        ("--host 0.0.0.0", "found --host 0.0.0.0, which no link can lead to, expected --public-url"),
        ("--model {m} --corpus {m}", "found a model that segments, expected --words LIST"),
        ("--model {m} --corpus {r} --words {w}", "found none of 1 words"),
    ],
)
def test_options_that_cannot_be(
    run: Run, tmp_path: Path, corpora: Path, segmenter: Path, options: str, told: str
) -> None:
    (tmp_path / "dev.raw").write_bytes((corpora / "dev.raw").read_bytes())
    (tmp_path / "words.txt").write_text("nowhere\n", "utf-8")
    words = options.format(m=segmenter, r=tmp_path / "dev.raw", w=tmp_path / "words.txt").split()
    shown = run("annotate", "serve", "--store", f"sqlite:///{tmp_path}/a.db", *words, code=2).stderr
    assert told in shown


def test_a_training_phase_needs_simulated_tasks(
    run: Run, tmp_path: Path, corpora: Path, tagger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    options = ("--store", url, "--model", tagger, "--corpus", corpora / "dev.seg", "--admit", "0.9")
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda *_: None)
    words = ("annotate", "import", corpora / "dev.txt", "--store", url, "--as", "training", "--number")
    run(*words, 49, "--model", tagger)
    told = run("annotate", "serve", *options, code=2)
    assert "found --admit and 49 simulated tasks in the store, expected 50 or more" in told.stderr
    run(*words, 10)
    run("annotate", "serve", *options)


@pytest.mark.timeout(600)  # a training at the lowest priority
def test_what_the_model_doubts_is_asked_and_a_model_is_trained_on_the_answers(
    tmp_path: Path, corpora: Path, tagger: Path
) -> None:
    url = f"sqlite:///{tmp_path}/answers.db"
    store = Store.open(url, seed=1)
    gold = [[c[0] for c in each.layers["tag"] if c] for each in load(str(corpora / "dev.txt"))]

    def right(task: AnnotationTask) -> Answer:
        return label(gold[task.sentence.location.line - 1][task.start])

    people = [store.add_annotator(name).id for name in "ab"]
    hired = [Simulated(StoreDesk(store, who), right, even(1.0), who) for who in people]
    options = ("--store", url, "--model", tagger, "--corpus", corpora / "dev.seg", "--share", "0.3", "--every", "6")
    options += ("--train", corpora / "train.txt", "--dev", corpora / "dev.txt", "--models", tmp_path / "models")
    with serving(*options) as (_, address, said):
        assert address.startswith("http://127.0.0.1:")
        with urlopen(address) as answer:  # noqa: S310
            assert "<h1>Sign in</h1>" in answer.read().decode()
        assert said == [f"{len(store.tasks(Status.OPEN)):,} new tasks from 20 sentences\n"]
        while sum(count for (_, status), count in store.counts().items() if status is not Status.OPEN) < 3:
            assert all(each.step() for each in hired)
        until(lambda: len(store.models()) == 2)
        first, second = store.models()
        until(lambda: {each.task.model for each in store.tasks(Status.OPEN)} == {second.version})
    assert first.path == str(tagger) and None not in (first.accuracy, second.accuracy) and second.minutes > 0
    about, before = load_model(second.path).about, load_model(tagger).about
    assert (about["recipe"], about["iterations"]) == (before["recipe"], before["iterations"])
    train, answers = corpora_of(about)
    assert (train["path"], answers["path"], answers["guideline"]) == ("train.txt", "", "ctb")
    assert 1 <= answers["size"] <= 3  # sentences with what was agreed on


def until(condition: Callable[[], object], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)
