"""`tagweave annotate serve`: what it puts in, where it listens, and how it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from serving import serving

from tagweave.annotate.reliability import PosteriorRule
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose, Rule, Settings, Status

Run = Any


def test_what_the_model_doubts_is_asked(tmp_path: Path, corpora: Path, tagger: Path) -> None:
    url = f"sqlite:///{tmp_path}/answers.db"
    options = ("--store", url, "--model", tagger, "--corpus", corpora / "dev.seg", "--share", "0.1")
    trained = ("--train", corpora / "train.txt", "--models", tmp_path / "models")
    with serving(*options, *trained) as (_, address, said):
        assert address.startswith("http://127.0.0.1:")
        with urlopen(address) as answer:  # noqa: S310
            assert "<h1>Sign in</h1>" in answer.read().decode()
    store = Store.open(url)
    assert said == [f"{len(store.tasks(Status.OPEN)):,} new tasks from 20 sentences\n"]
    assert [each.path for each in store.models()] == [str(tagger)]
    store.close()


def test_words_are_shown_in_a_concordance(tmp_path: Path, corpora: Path, segmenter: Path) -> None:
    raw, words = tmp_path / "dev.raw", tmp_path / "words.txt"
    raw.write_bytes((corpora / "dev.raw").read_bytes())
    text = raw.read_text("utf-8")
    words.write_text(f"{text[:2]}\nnowhere\n", "utf-8")
    options = ("--store", f"sqlite:///{tmp_path}/answers.db", "--model", segmenter, "--corpus", raw)
    with serving(*options, "--words", words) as (_, address, said):
        assert said == ["1 of 2 words occur in 20 lines\n"]
        with urlopen(f"{address}concordance") as answer:  # noqa: S310
            assert "<h1>Sign in</h1>" in answer.read().decode()
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


def test_a_segmenter_needs_words(run: Run, tmp_path: Path, corpora: Path, segmenter: Path) -> None:
    options = ("--store", f"sqlite:///{tmp_path}/a.db", "--model", segmenter)
    told = run("annotate", "serve", *options, "--corpus", corpora / "dev.raw", code=2)
    assert "found a model that segments, expected --words LIST" in told.stderr


def test_the_numbers_of_double_annotation(
    run: Run, tmp_path: Path, corpora: Path, tagger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--store", f"sqlite:///{tmp_path}/a.db", "--model", tagger, "--corpus", corpora / "dev.seg")
    found: list[Settings] = []
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda store, *_: found.append(store.settings))
    run("annotate", "serve", *options)
    run("annotate", "serve", *options, "--annotators", "3,0,2", "--planted", "0.5")
    assert found == [Settings(), Settings(Rule(3, 0, 2), gold_share=0.5)]
    for wrong in ("2", "2,2,x", "2,2,3,4", "2,2,2", "0,4,3", "-1,2,3"):
        assert "found" in run("annotate", "serve", *options, "--annotators", wrong, code=2).stderr


def test_posteriors_decide_if_asked_to(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options, found = ("--store", f"sqlite:///{tmp_path}/a.db"), []
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda store, *_: found.append(store.settings.posterior))
    for words in (("--aggregate",), ("--rule", "dawid-skene", "--sure", "0.9", "--most", "4"), ("--rule", "li-2015")):
        run("annotate", "serve", *options, *words)
    assert found == [PosteriorRule(), PosteriorRule(0.9, 4), None]
    for wrong, told in (
        (("--sure", "0.9"), "found --sure, expected --aggregate with it"),
        (("--rule", "mace"), "unknown --rule 'mace', expected li-2015 or dawid-skene"),
        (("--rule", "li-2015", "--aggregate"), "found --aggregate with --rule li-2015"),
        (("--aggregate", "--sure", "0.4"), "expected a probability above 0.5"),
    ):
        assert told in run("annotate", "serve", *options, *wrong, code=2).stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--public-url", "example.org"), "found --public-url example.org, expected https:// and a host"),
        (("--public-url", "https://example.org/path"), "found --public-url https://example.org/path, expected"),
        (("--proxy", "*"), "found --proxy *, expected an address or a network, as 10.0.0.0/8"),
        (("--host", "0.0.0.0"), "found --host 0.0.0.0, which no link can lead to, expected --public-url"),  # noqa: S104
    ],
)
def test_addresses_that_cannot_be(run: Run, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    fixed = ("--store", f"sqlite:///{tmp_path}/a.db", "--model", "none", "--corpus", "none")
    assert told in run("annotate", "serve", *fixed, *options, code=2).stderr


def test_a_training_phase_needs_simulated_tasks(
    run: Run, tmp_path: Path, corpora: Path, tagger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    options = ("--store", url, "--model", tagger, "--corpus", corpora / "dev.seg", "--admit", "0.9")
    monkeypatch.setattr("tagweave.annotate.serving.run", lambda *_: None)
    run(
        "annotate", "import", corpora / "dev.txt", "--store", url, "--model", tagger, "--as", "training", "--number", 49
    )
    told = run("annotate", "serve", *options, code=2)
    assert "found --admit and 49 simulated tasks in the store, expected 50 or more" in told.stderr
    run("annotate", "import", corpora / "dev.txt", "--store", url, "--as", "training", "--number", 10)
    run("annotate", "serve", *options)


def test_words_that_do_not_occur(run: Run, tmp_path: Path, corpora: Path, segmenter: Path) -> None:
    raw, words = tmp_path / "dev.raw", tmp_path / "words.txt"
    raw.write_bytes((corpora / "dev.raw").read_bytes())
    words.write_text("nowhere\n", "utf-8")
    options = ("--store", f"sqlite:///{tmp_path}/a.db", "--model", segmenter, "--corpus", raw)
    told = run("annotate", "serve", *options, "--words", words, code=2)
    assert "found none of 1 words" in told.stderr
