"""Text that TRAIN annotates in full is not taken from a source that annotates it in part."""

from __future__ import annotations

import numpy as np
from model_files import write

from tagweave.models.storage import load_model

BLANK = "\t_" * 6


def test_words_found_in_the_training_text_itself_are_left_out(run, tmp_path):
    write(tmp_path / "train.seg", ["ab c", "c ab", "a b c"])
    write(tmp_path / "found.kytea", ["a-b c", "a b|c b", "c|a-b"])
    write(tmp_path / "new.kytea", ["a b|c b"])
    common = ("train", "--task", "segment", f"g={tmp_path / 'train.seg'}", "--iterations", 2)
    told = run(*common, "--source", f"g={tmp_path / 'found.kytea'}", "-o", tmp_path / "m").stderr
    assert f"{tmp_path / 'found.kytea'}: 2 sentences left out: TRAIN has the same text with all its labels" in told
    told = run(*common, "--source", f"g={tmp_path / 'new.kytea'}", "-o", tmp_path / "n").stderr
    assert "left out" not in told
    assert np.array_equal(load_model(tmp_path / "m").weights, load_model(tmp_path / "n").weights)


def test_another_guideline_and_whole_sentences_stay(run, tmp_path):
    write(tmp_path / "train.txt", ["ab/N c/V"])
    write(tmp_path / "other.txt", ["ab/N c/V"])
    write(tmp_path / "part.conllu", [f"1\tab\t_\tN{BLANK}", f"2\tc\t_\t_{BLANK}", ""])
    for source, count in (("g=other.txt", 0), ("g=part.conllu#upos", 1), ("h=part.conllu#upos", 0)):
        name, _, file = source.partition("=")
        arguments = (f"g={tmp_path / 'train.txt'}", "--source", f"{name}={tmp_path / file}", "--iterations", 1)
        told = run("train", *arguments, "-o", tmp_path / "m").stderr
        assert told.count("1 sentences left out") == count
