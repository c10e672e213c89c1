"""The benchmark of parsing: its files, what it measures of both programs, and the tables that it writes."""

from __future__ import annotations

import random
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parsing import model_path, of_length, scores, tagweave, udpipe
from benchmarks.treebanks import BLANK, DEV, TEST, TRAIN, copy
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from treebank import conllu, treebank

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .*:DeprecationWarning")  # of SWIG, in UDPipe

SIZES = {TRAIN: 60, DEV: 20, TEST: 30}


@pytest.mark.slow
def test_both_programs_learn_and_tell_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    for seed, (name, size) in enumerate(SIZES.items()):
        (tmp_path / name).write_text(conllu(treebank(size, seed)), encoding="utf-8")
    copy(tmp_path, folder, None)
    gold, blank = load(f"{folder / TEST}#head"), load(str(folder / BLANK))
    assert [(s.forms, s.layers) for s in blank] == [(s.forms, s.layers) for s in gold]
    assert all(arcs is None for s in blank for layer in s.heads.values() for arcs in layer)
    assert scores(folder, gold.sentences) == {"uas": 1, "las": 1}
    of_tagweave, of_udpipe = tagweave(folder, "adagrad", 3), udpipe(folder, 8)
    assert of_tagweave.keys() == of_udpipe.keys()
    for program, found in (("adagrad", of_tagweave), ("udpipe", of_udpipe)):
        assert 0.8 < found["las"] <= found["uas"] <= 1, program
        assert min(found.values()) > 0
        assert found["model_megabytes"] == pytest.approx(model_path(folder, program).stat().st_size / 1e6)


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
