"""Warnings before a training: none for ordinary corpora; tests/cli/test_beginner.py has those that are deserved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from loaded_sources import loaded_file
from tagweave.corpus.formats import conllu
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.training.corpora import loaded
from tagweave.training.guidelines import development_data, training_data
from tagweave.training.inspection import inspection
from tagweave.training.plan import Source


@pytest.mark.parametrize(
    ("task", "train", "dev"),
    [
        ("spans", "en/crossner/ai/train.txt", "en/crossner/ai/dev.txt"),
        ("tag", "en/crossner/science/train.txt", "en/crossner/science/test.txt"),
        ("tag", "en/wsj/dev.txt", "en/wsj/test.txt"),
        ("tag", "ja/gsd-suw/dev.conllu#xpos", "ja/gsd-suw/test.conllu#xpos"),
        ("segment", "zh/zx/dev.txt", "zh/zx/train.txt"),
        ("parse", "fr/gsd-sud/test.conllu", "fr/gsd-sud/dev.conllu"),
    ],
)
def test_ordinary_corpora_of_any_size_give_no_warning(real_corpora: Path, task: str, train: str, dev: str) -> None:
    own, other = (loaded_file(str(real_corpora / each), task) for each in (train, dev))
    data, method = training_data([own], [], None)
    assert [*inspection(data, development_data(data, method, other, own), task)] == []


def test_warnings_reach_python_beside_a_callback() -> None:
    marked = tw.Corpus([(["Ann", "left"], ["b:per", "o"])] * 3)
    with pytest.warns(UserWarning, match="not written so: b:per"):
        tw.train(marked, iterations=1, callback=lambda iteration: None)
    [french] = conllu.read(["1-2\tdu\t" + "\t".join("_" * 8), "1\tde" + "\t_" * 8, "2\tle" + "\t_" * 8])
    with pytest.warns(UserWarning, match=r"1 multiword tokens, such as 'du' \(de le\), are one word each"):
        tw.train(tw.Corpus([french]), task="segment", iterations=1, callback=lambda iteration: None)


def test_the_digest_of_a_corpus_in_memory_is_of_all_its_annotation() -> None:
    sentence = Sentence(("Ann", "left"), {"tag": (("B-PER",), None)})
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"rejected": {"tag": (Span(0, 2, "ORG"),)}},
        {"covered": ("PER",)},
        {"confidence": (0.5, 1.0)},
        {"columns": {"lemma": ("Ann", "leave")}},
        {"layers": {"tag": (("B-PER",), ("O",))}},
    )
    corpora = [tw.Corpus([replace(sentence, **change)]) for change in changes]
    digests = {loaded(Source(), corpus, "spans").sha256 for corpus in corpora}
    assert len(digests) == len(changes)
