"""The folders of shards, and the models, that text at scale is measured with."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.treebanks import without_trees

ITERATIONS = 5
"""Iterations of training: enough for models of the usual size."""


def model_of(task: str, folder: Path) -> Path:
    """A segmenter of People's Daily, a tagger of Zhuxian, or a parser of UD English EWT."""
    path = folder / f"{task}.model"
    if not path.exists():
        corpora = {"segment": "zh/pd199801/train.txt", "tag": "zh/zx/train.txt", "parse": "en/ewt/train.conllu"}
        train = str(corpora_folder() / corpora[task])
        tw.train(train, task=task, iterations=ITERATIONS, callback=None, threads=2).save(path)
    return path


def write_shards(task: str, folder: Path, megabytes: float, shards: int) -> list[Path]:
    """About so many megabytes of text for a task, in as many files: its units again and again, in random order."""
    units, suffix = _units(task), ".conllu" if task == "parse" else ".txt"
    order, folder = random.Random(0), folder / f"{task}-{megabytes:g}-{shards}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:04}{suffix}" for number in range(shards)]
    for path in paths:
        if not path.exists():
            path.write_text("".join(_drawn(units, order, megabytes * 1e6 / shards)), encoding="utf-8")
    return paths


def _drawn(units: list[str], order: random.Random, size: float) -> Iterator[str]:
    written = 0
    while written < size:
        unit = order.choice(units)
        written += len(unit.encode())
        yield unit


def _units(task: str) -> list[str]:
    """Lines of raw text or of words, or sentences without trees."""
    if task == "parse":
        text = (corpora_folder() / "en/ewt/train.conllu").read_text(encoding="utf-8")
        return [f"{block}\n\n" for block in without_trees(text).split("\n\n") if block.strip()]
    folder, between = ("zh/pd199801", "") if task == "segment" else ("zh/zx", " ")
    return [between.join(sentence.forms) + "\n" for sentence in tw.load(str(corpora_folder() / folder / "train.txt"))]


def same(paths: list[Path], whole: Path) -> bool:
    """Whether files one after the other are a whole file, to the last byte."""
    return b"".join(path.read_bytes() for path in paths) == whole.read_bytes()
