"""The benchmark of parsing: its files, what it measures of both programs, and the tables that it writes."""

from __future__ import annotations

import random
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parsing_length_measure import of_length
from benchmarks.parsing_measure import model_path, scores, tagweave, udpipe
from benchmarks.treebanks import BLANK, DEV, TEST, TRAIN, copy
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
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
