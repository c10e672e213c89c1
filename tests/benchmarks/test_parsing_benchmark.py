"""The benchmark of parsing: its files, what it measures of both programs, and the tables that it writes."""

from __future__ import annotations

import random
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import parsing_measure, treebanks
from benchmarks.parsing import COLUMNS, LENGTH_COLUMNS, length_table, page, table
from benchmarks.parsing_length_measure import of_length, parsing, training
from benchmarks.parsing_measure import model_path, scores, seconds, tagweave, udpipe
from benchmarks.treebanks import BLANK, DEV, TEST, TRAIN, copy, first
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.models.storage import load_model
from treebank import conllu, treebank

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .*:DeprecationWarning")  # of SWIG, in UDPipe

SIZES = {TRAIN: 60, DEV: 20, TEST: 30}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("treebank")
    for seed, (name, size) in enumerate(SIZES.items()):
        (folder / name).write_text(conllu(treebank(size, seed)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.mktemp("copies")
    copy(source, own, None)
    return own


@pytest.fixture(scope="module")
def of_tagweave(folder: Path) -> dict[str, Any]:
    return tagweave(folder, "adagrad", 3)


@pytest.fixture(scope="module")
def of_udpipe(folder: Path) -> dict[str, Any]:
    return udpipe(folder, 8)


def test_what_is_parsed_has_all_but_the_trees(folder: Path) -> None:
    gold, blank = load(f"{folder / TEST}#head"), load(str(folder / BLANK))
    assert len(blank) == SIZES[TEST]
    for one, two in zip(gold, blank, strict=True):
        assert one.forms == two.forms
        assert one.layers == two.layers
        assert all(arcs is not None for arcs in one.heads["head"])
        assert all(arcs is None for layer in two.heads.values() for arcs in layer)


@pytest.mark.parametrize("count", [0, 1, 6, 8])
def test_the_first_sentences_of_a_file(count: int, tmp_path: Path) -> None:
    sentences = treebank(6, 3)
    (tmp_path / TRAIN).write_text("\n\n" + conllu(sentences).rstrip("\n"), encoding="utf-8")
    assert first(tmp_path / TRAIN, count) == conllu(sentences[:count])
    assert first(tmp_path / TRAIN, None) == conllu(sentences)


def test_both_programs_learn_and_tell_the_same(
    of_tagweave: dict[str, Any], of_udpipe: dict[str, Any], folder: Path
) -> None:
    assert of_tagweave.keys() == of_udpipe.keys()
    for program, found in (("adagrad", of_tagweave), ("udpipe", of_udpipe)):
        assert 0.8 < found["las"] <= found["uas"] <= 1, program
        assert min(found.values()) > 0
        assert found["model_megabytes"] == pytest.approx(model_path(folder, program).stat().st_size / 1e6)


def test_scores_of_the_gold_trees_and_of_others(folder: Path) -> None:
    gold = load(f"{folder / TEST}#head").sentences
    assert scores(folder, gold) == {"uas": 1, "las": 1}
    shuffled = [s.heads["head"][::-1] for s in gold]
    wrong = [Sentence(s.forms, s.layers, heads={"head": h}) for s, h in zip(gold, shuffled, strict=True)]
    assert scores(folder, wrong)["uas"] < 0.8


def test_seconds_are_the_median_without_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    lasts = iter([50.0, 1.0, 9.0, 2.0])
    now = [0.0]

    def run() -> None:
        now[0] += next(lasts)

    monkeypatch.setattr(parsing_measure.time, "process_time", lambda: now[0])
    assert seconds(run, 3) == 2
    assert now[0] == 62


@given(st.integers(1, 12), st.integers(0, 60), st.integers(0, 5))
def test_sentences_of_a_length_are_the_running_words(length: int, tokens: int, seed: int) -> None:
    sentences = treebank(4, seed)
    rng = random.Random(seed)
    sentences = [s.with_column("feats", [rng.choice("ab") for _ in s.forms]) for s in sentences]
    sentences[0] = sentences[0].with_column("lemma", sentences[0].forms)
    found = of_length([Sentence(()), *sentences], length, tokens)
    assert [len(each) for each in found] == [length] * (tokens // length)

    def running(of: list[Sentence]) -> list[tuple[Any, ...]]:
        rows = (zip(s.forms, s.layers["upos"], s.columns["feats"], strict=True) for s in of)
        return list(chain.from_iterable(rows))

    assert running(found) == list(islice(cycle(running(sentences)), length * len(found)))
    assert all(each.columns.keys() == {"feats"} and not each.heads for each in found)


@pytest.mark.usefixtures("of_tagweave")
def test_measurements_of_a_length(folder: Path) -> None:
    model = load_model(model_path(folder, "adagrad"))
    sentences = of_length(load(str(folder / BLANK)).sentences, 30, 90)
    found = {**parsing(model, sentences), **training(model, sentences)}
    assert set(found) == {
        "parsing",
        "best_tree",
        "parsing_megabytes",
        "training",
        "inside_outside",
        "training_megabytes",
    }
    assert min(found.values()) > 0
    assert found["best_tree"] < found["parsing"]
    assert found["inside_outside"] < found["training"]
    assert found["parsing_megabytes"] <= found["training_megabytes"]


def row(passes: int, uas: float, train: float) -> dict[str, Any]:
    return {
        "passes": passes,
        "uas": uas,
        "las": uas - 0.035,
        "train": train,
        "tokens_per_second": 12_345.6,
        "peak_megabytes": 400.4,
        "model_megabytes": 55.55,
    }


def length_row(length: int) -> dict[str, Any]:
    keys = ["parsing", "best_tree", "training", "inside_outside"]
    times = {key: (number + 1) * length / 1e4 for number, key in enumerate(keys)}
    return {"length": length, "sentences": 200, **times, "parsing_megabytes": 250.2, "training_megabytes": 380.1}


def test_the_tables() -> None:
    lines = table({"adagrad": row(6, 0.8195, 29), "udpipe": row(4, 0.75, 461.23)})
    assert {line.count("|") for line in lines} == {len(COLUMNS) + 2}
    assert lines[2] == "| tagweave, AdaGrad (default) | 6 | 81.95 | 78.45 | 29.0 | 12,346 | 400 | 55.5 |"
    assert lines[3].startswith("| UDPipe 1, parser | 4 | 75.00 | 71.50 | 461.2 |")
    lines = length_table([length_row(10), length_row(150)])
    assert {line.count("|") for line in lines} == {len(LENGTH_COLUMNS) + 2}
    assert lines[2] == "| 10 | 5.0 | 0.5 | 10.0 | 15.0 | 1.5 | 20.0 | 250 | 380 |"
    assert lines[3] == "| 150 | 75.0 | 0.5 | 150 | 225 | 1.5 | 300 | 250 | 380 |"


def test_the_page_has_every_treebank_and_says_what_was_measured() -> None:
    rows = {"adagrad": row(6, 0.8, 30)}
    found = {"corpora": dict.fromkeys(treebanks.CORPORA, rows), "lengths": [length_row(10)]}
    text = "\n".join(page(found, None))
    assert all(f"## {title}" in text for title in treebanks.CORPORA.values())
    assert "2,000 tokens" in text
    assert "whole treebanks" in text
    assert "the first 1,200 sentences" in "\n".join(page(found, 1200))
