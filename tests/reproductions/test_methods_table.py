"""The table of all methods: what is run, what is measured, and the page that is written of it."""

from __future__ import annotations

import json

import pytest

from reproductions.methods import cell as of_cell
from reproductions.methods import study
from reproductions.methods.cell import Files, _plan, _timed, _train
from reproductions.methods.label import told
from reproductions.methods.page import CHOICE, counts
from reproductions.methods.study import METHODS, corpora, main
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model
from tagweave.training.methods import METHODS as ALL


def corpus(*texts: str) -> Corpus:
    """Words and tags from `form/TAG form/TAG`."""
    pairs = [[word.split("/") for word in text.split()] for text in texts]
    return Corpus(
        tuple(Sentence(tuple(f for f, _ in words), {"ctb": tuple((t,) for _, t in words)}) for words in pairs), "ctb"
    )


GOLD = ("他/PN 看/VV 图书馆/NN", "好/VA", "我们/PN 走/VV")
RIGHT = ["1/PN 1/VV 3/NN", "1/VA", "2/PN 1/VV"]
UNTAGGED_RIGHT = ["1/PN 1/NN 3/NN", "1/VV", "2/PN 1/VV"]
CUT = ["1/PN 1/VV 2/NN 1/NN", "1/VA", "1/PN 1/PN 1/VV"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Files:
    """The sample corpus in parts."""
    return corpora(True, None, tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="module")
def gold_files(tmp_path_factory) -> Files:
    """Three sentences as every part."""
    path = tmp_path_factory.mktemp("gold") / "gold.txt"
    path.write_text("".join(f"{text}\n" for text in GOLD).replace("/", "_"), encoding="utf-8")
    return Files("three sentences", path, path, path, path)


def result(output: list[str]) -> dict:
    """What a cell gives."""
    costs = {"seconds": 120.0, "processor": 60.0, "megabytes": 200.4, "megabytes of tagging": 1100.0}
    sizes = {"size": 3 * 2**20, "weights": 1_230_000, "characters": 1000, "times": [0.5, 0.25, 0.4]}
    return {**costs, **sizes, "dev": output, "test": output}


# which methods


def test_every_method_has_a_row():
    named = {fields["method"] for fields in METHODS.values()}
    left_out = {"auto", "coupled", "sources"}  # others by a race; the page says why; many annotators have another study
    assert named | left_out == set(ALL)


def test_all_but_plain_models_are_given_the_source(files):
    for fields in METHODS.values():
        plan = _plan(fields, files, 2)
        assert [each.argument for each in plan.sources] == [f"pd={files.source}"] * (fields["method"] != "single")
        assert [each.argument for each in plan.target] == [f"ctb={files.train}"]
        assert (plan.iterations, plan.threads, plan.task) == (2, 1, "segtag")


# scores


def test_a_wrong_boundary_counts_for_both():
    words, tagged = counts(corpus(*GOLD), CUT)
    assert words.tolist() == tagged.tolist() == [[2, 3, 4], [1, 1, 1], [1, 2, 3]]


# the summary and the page


def test_the_command_writes_scores_and_costs_of_every_method(gold_files, tmp_path, monkeypatch):
    found = {"ordinary": CUT, "guided": RIGHT, "merged": UNTAGGED_RIGHT}
    monkeypatch.setattr(study, "corpora", lambda quick, size, folder: gold_files)
    failed = {"failed": "out of memory"}
    monkeypatch.setattr(of_cell.Cell, "run", lambda cell: result(found[cell.name]) if cell.name in found else failed)
    only = [word for name in (*found, "iterate") for word in ("--only", name)]
    main(["--quick", *only, "--cache", str(tmp_path / "cache"), "--out", str(tmp_path)])
    numbers = json.loads((tmp_path / "data" / "methods.json").read_text(encoding="utf-8"))
    assert numbers["best"] == "guided"
    assert numbers["methods"].keys() == {*found, "iterate"}
    assert numbers["methods"]["guided"]["scores"][CHOICE] == 100
    assert numbers["methods"]["merged"]["scores"]["test, words"] == 100
    assert numbers["methods"]["merged"]["scores"][CHOICE] == pytest.approx(100 * 4 / 6)
    text = (tmp_path / "methods.md").read_text(encoding="utf-8")
    assert "python -m reproductions methods --quick --only ordinary" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    by_name = {row[0]: row for row in rows if row[0] in METHODS and len(row) == 8}
    assert by_name["guided"][2:] == ["100.00"] * 4 + ["best", "-"]
    assert by_name["merged"][1] == "`--method merged`"
    assert by_name["merged"][6] == "-33.33"
    assert by_name["iterate"][2:] == ["-"] * 6
    costs = {row[0]: row for row in rows if row[0] in METHODS and len(row) == 7}
    assert costs["merged"][1:] == ["1.0", "4,000", "1.2", "3.0", "200", "1,100"]  # the fastest of three runs
    assert "iterate" not in costs


# the real thing


def test_labels_are_those_of_the_tagger(files, tmp_path):
    model = tmp_path / "model"
    _timed(_train(_plan({"method": "single"}, files, 2), model))
    found = told(str(model), str(files.dev), str(files.test))
    tagger = ChainPredictor(load_model(model))
    texts = ["".join(word.split("_")[0] for word in line.split()) for line in files.test.read_text().splitlines()]
    assert found["characters"] == sum(map(len, texts))
    for text, line in zip(texts, found["test"], strict=True):
        words = tagger.words(next(tagger.tag([Sentence(tuple(text))])))
        tags = [tag for (tag,) in words.layers["ctb"]]
        assert line == " ".join(f"{len(form)}/{tag}" for form, tag in zip(words.forms, tags, strict=True))
