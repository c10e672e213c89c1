"""Functions and commands make the same models and harvests of the same corpora and options, by every method."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.cli.train import SETTINGS
from tagweave.corpus import sample
from tagweave.training.methods import METHODS

CASES: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
    "single": ((), {"incomplete": "posterior"}),
    "coupled": (("pd=pd.txt",), {"narrow": 0.05, "views": "joint", "mapping": ["automatic"], "average_seeds": 1}),
    "stacked": (("pd=pd.txt",), {"guide": "joined", "rounds": 2}),
    "merged": (("pd=pd.txt",), {"sample": [10, "all"], "weights": [2, 1], "average_seeds": 2}),
    "subword": (("pd=pd.txt",), {"task": "segtag", "folds": 2}),
    "transform": (("pd=pd.txt",), {"task": "segment"}),
    "auto": (("pd=pd.txt",), {}),
    "iterate": (("pd=pd.txt",), {"rounds": 1, "predict_self": [0.2], "dev": "ctb=dev.txt"}),
    "sources": ((), {"source_columns": "tag", "source_folds": 2, "rounds": 1}),
    "pipeline": (("pd=pd.txt",), {"task": "segtag"}),
    "single parser": ((), {"task": "parse", "drop_columns": 0.0}),
    "stacked parser": (("two=two.conllu",), {"task": "parse"}),
}


NORMS = {
    "single": 11.3773543,
    "coupled": 42.4317118,
    "stacked": 14.7763731,
    "merged": 17.2117096,
    "subword": 7.5343748,
    "transform": 14.8764782,
    "auto": 30.6363070,
    "iterate": 15.4080598,
    "sources": 9.6775927,
    "pipeline": 30.6363070,
    "single parser": 3.4118142,
    "stacked parser": 5.4373265,
}
"""Of the weights, as they were before code was moved about. `python -m benchmarks.digests` holds them bit by bit."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("both")
    ctb, pd = (sample.path(f"{name}.txt").read_text("utf-8").splitlines() for name in ("ctb", "pd"))
    for name, lines in (("ctb.txt", ctb[:12]), ("dev.txt", ctb[12:18]), ("pd.txt", pd[:12])):
        (found / name).write_text("\n".join(lines) + "\n", "utf-8")
    for name, step in (("one.conllu", 1), ("two.conllu", -1)):
        (found / name).write_text("\n".join(tree(line, step) for line in ctb[:8]) + "\n", "utf-8")
    return found


def tree(line: str, step: int) -> str:
    """Words, each of which has its neighbour on one side as its head."""
    tokens, rows = [token.rpartition("_") for token in line.split()], []
    for at, (form, _, tag) in enumerate(tokens, 1):
        head = (at + step) % (len(tokens) + 1)
        rows.append(f"{at}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n")
    return "".join(rows)


def test_every_method_is_here() -> None:
    of_their_own = {"overlap", "update"}  # test_overlap, test_train
    assert {name.split()[0] for name in CASES} | of_their_own == set(METHODS)


@pytest.mark.parametrize(("case", "of"), list(zip(CASES, cycle(("files", "corpora")), strict=False)))
def test_the_same_weights(case: str, of: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    sources, settings = CASES[case]
    target = "one=one.conllu" if case.endswith("parser") else "ctb=ctb.txt"
    settings = {**settings, "method": case.split(maxsplit=1)[0], "iterations": 1}
    words = ["train", target, *(word for source in sources for word in ("--source", source))]
    words += [word for name, value in settings.items() for word in option(name, value)]
    told = CliRunner().invoke(application(["train"]), [*words, "-o", str(tmp_path / "m")])
    assert told.exit_code == 0, told.output
    by_command = tw.load_model(tmp_path / "m")
    assert np.linalg.norm(by_command.trained.weights.astype(float)) == pytest.approx(NORMS[case], rel=1e-3)
    if of == "files":
        in_python = tw.train(target, list(sources), **settings)
        assert in_python.plan == by_command.plan
    else:
        in_python = tw.train(tw.load(target), [tw.load(each) for each in sources], **in_memory(settings))
    assert np.array_equal(in_python.trained.weights, by_command.trained.weights)


def in_memory(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: tw.load(value) if name == "dev" else value for name, value in settings.items()}


def option(name: str, value: Any) -> list[str]:
    """The words of an option of the command line."""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return ["--set", f"{name}={text}"] if name in SETTINGS else [f"--{name.replace('_', '-')}", text]


# Harvests

LINES = ["他昨天在图书馆看书。", "好。", "我们 明天开会。", "图书馆明天开会", "研究生命"]
LEXICONS = [["图书馆\tNN", "开会\tNN|VV", "书馆", "书"], ["图书馆", "开会\tVV", "研究生", "生命"]]
PAGE = "# 安裝\n\n我們在[北京](x)住，也在**圖書館** 看書。沒有標記。\n"

FOUND: list[dict[str, Any]] = [
    {},
    {"agree": "any"},
    {"agree": "any", "matching": "forward", "minimum": 1},
    {"agree": "any", "phrases": 3, "every": True},
    {"like": "field.raw"},
    {"agree": "any", "sample": 2, "seed": 3},
]
MARKED: list[dict[str, Any]] = [
    {},
    {"free_pairs": True, "every": True},
    {"simplified": True, "like": "field.raw"},
    {"sample": 1, "seed": 5},
]


@pytest.fixture
def _texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"text.raw": LINES, "field.raw": ["图书馆开门了"], "page.md": PAGE.split("\n")}
    for name, lines in {**texts, "a.txt": LEXICONS[0], "b.txt": LEXICONS[1]}.items():
        Path(name).write_text("\n".join(lines) + "\n", "utf-8")


def by_command(source: str, *words: str, **options: Any) -> bytes:
    for name, value in options.items():
        words += (f"--{'all' if name == 'every' else name.replace('_', '-')}", *([] if value is True else [str(value)]))
    told = CliRunner().invoke(application(["harvest"]), ["harvest", source, *words, "-o", "by-command.kytea"])
    assert told.exit_code == 0, told.output
    return Path("by-command.kytea").read_bytes()


def agree(corpus: tw.Corpus, written: bytes) -> bool:
    """Whether a corpus is written as these bytes, and is what is read from them."""
    tw.save(corpus, "by-corpus.kytea")
    read = tw.load("ctb=by-command.kytea")
    return (
        [(s.forms, known(s)) for s in corpus] == [(s.forms, known(s)) for s in read]
        and bool(written)
        and Path("by-corpus.kytea").read_bytes() == written
    )


def known(sentence: tw.Sentence) -> dict[str, object]:
    return {name: layer for name, layer in sentence.layers.items() if any(layer)}


@pytest.mark.usefixtures("_texts")
@pytest.mark.parametrize("options", FOUND)
def test_words_of_lexicons(options: dict[str, Any]) -> None:
    written = by_command("lexicon", "text.raw", "--lexicon", "a.txt", "--lexicon", "b.txt", **options)
    assert agree(tw.harvest_lexicon(LINES, *LEXICONS, guideline="ctb", **options), written)
    counts = tw.harvest_lexicon_files("text.raw", ["a.txt", "b.txt"], "by-files.kytea", **options)
    assert Path("by-files.kytea").read_bytes() == written
    assert counts.sentences == len(LINES) and counts.written == written.count(b"\n") <= counts.kept


@pytest.mark.usefixtures("_texts")
@pytest.mark.parametrize("options", MARKED)
def test_markup(options: dict[str, Any]) -> None:
    written = by_command("markup", "page.md", **options)
    assert agree(tw.harvest_markup("page.md", guideline="ctb", **options), written)
    counts = tw.harvest_markup_files(["page.md"], "by-files.kytea", **options)
    assert Path("by-files.kytea").read_bytes() == written
    assert counts.pages == 1 and counts.written == written.count(b"\n") <= counts.sentences


@pytest.mark.usefixtures("_texts")
@pytest.mark.parametrize("options", [{}, {"classes": 3, "minimum_count": 2}])
def test_clusters(options: dict[str, Any]) -> None:
    lines = ["the dog sleeps and the cat eats", "a cat sleeps", "a dog eats and the dog sleeps"]
    Path("words.seg").write_text("\n".join(lines) + "\n", "utf-8")
    written = by_command("clusters", "words.seg", **options).decode()
    made = tw.harvest_clusters_files("words.seg", "by-files.paths", **options)
    assert tw.harvest_clusters(lines, **options) == made
    assert Path("by-files.paths").read_text("utf-8") == written and written.count("\n") == len(made)
