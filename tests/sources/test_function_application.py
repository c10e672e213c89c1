"""Functions applied to a corpus: once for equal sentences, in other processes, and from what was kept."""

from __future__ import annotations

import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.sources.functions.function import FunctionError

ONE = Sentence(("Ann", "ran"), {"tag": (("B-PER",), ("O",))}, {"pos": ("NNP", "VBD"), "tag": ("B-PER", "O")})
TWO = Sentence(("Bob",), {"tag": (("B-PER",),)}, {"pos": ("NNP",), "tag": ("B-PER",)})
CORPUS = Corpus((ONE, TWO, ONE))

MODULE = """
import tagweave as tw
from pathlib import Path

@tw.labelling_function
def proper(sentence):
    with (Path(__file__).parent / "calls.txt").open("a") as file:
        file.write(sentence.forms[0] + "\\n")
    return [(at, at + 1, "PER") for at, pos in enumerate(sentence.columns["pos"]) if pos == "NNP"]
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MODULE, "utf-8")
    return path


def _calls(module) -> list[str]:
    path = module.parent / "calls.txt"
    return path.read_text("utf-8").split() if path.exists() else []


def _function(module):
    from tagweave.front.functions import functions_in

    return functions_in(str(module))[0]


def test_each_function_is_a_layer_and_equal_sentences_are_asked_for_once(module):
    labelled = tw.apply_functions(CORPUS, _function(module))
    assert [each.layers["proper"] for each in labelled] == [(("B-PER",), None), (("B-PER",),), (("B-PER",), None)]
    assert [each.layers["tag"] for each in labelled] == [each.layers["tag"] for each in CORPUS]
    assert _calls(module) == ["Ann", "Bob"]


def test_functions_see_columns_but_no_labels():
    seen = []
    tw.apply_functions(CORPUS, tw.labelling_function(name="seen")(seen.append))
    assert all(not each.layers and {*each.columns} == {"pos"} for each in seen)


def test_what_was_kept_is_found_until_function_or_sentence_change(module, tmp_path):
    cache = tmp_path / "cache"
    first = tw.apply_functions(CORPUS, _function(module), cache=cache)
    assert tw.apply_functions(CORPUS, _function(module), cache=cache).sentences == first.sentences
    assert _calls(module) == ["Ann", "Bob"]
    changed = TWO.with_column("pos", ("NN",))
    again = tw.apply_functions(CORPUS.with_sentences([ONE, changed]), _function(module), cache=cache)
    assert again[1].layers["proper"] == (None,)
    assert _calls(module) == ["Ann", "Bob", "Bob"]
    module.write_text(MODULE + "\n", "utf-8")
    tw.apply_functions(CORPUS, _function(module), cache=cache)
    assert len(_calls(module)) == 5


def test_what_was_kept_may_be_damaged(module, tmp_path):
    first = tw.apply_functions(CORPUS, _function(module), cache=tmp_path / "cache")
    (file,) = (tmp_path / "cache").iterdir()
    file.write_text(file.read_text("utf-8").splitlines()[0] + '\n{"x": 1}\n["half', "utf-8")
    assert tw.apply_functions(CORPUS, _function(module), cache=tmp_path / "cache").sentences == first.sentences
    assert _calls(module) == ["Ann", "Bob", "Bob"]


def test_other_processes_say_the_same(module):
    here = tw.apply_functions(CORPUS, _function(module))
    heard = []
    there = tw.apply_functions(
        CORPUS, _function(module), cluster="local", workers=1, progress=lambda *numbers: heard.append(numbers)
    )
    assert there.sentences == here.sentences
    assert heard == [(1, 1)]


@pytest.mark.parametrize("name", ["pos", "tag", "form", "a b", ""])
def test_names_that_are_in_use_or_impossible(name):
    with pytest.raises(FunctionError, match="found the function name"):
        tw.apply_functions(CORPUS, tw.labelling_function(name=name)(lambda s: None) if name else _unnamed())


def _unnamed():
    from tagweave.sources.functions.python_function import PythonFunction

    return PythonFunction(lambda s: None, "")


def test_scores_by_gold():
    def two(sentence):
        return [(0, 1, "PER"), (1, 2, "LOC")] if len(sentence) > 1 else []

    labelled = tw.apply_functions(CORPUS, two)
    found = tw.compare_sources(labelled, ["two"], "tag")["sources"]["two"]
    assert (found["accuracy"], found["precision"], found["recall"]) == (0.5, 0.5, pytest.approx(2 / 3))
    assert found["coverage"] == 4
    with pytest.raises(CorpusError, match="found no label in the layers three"):
        tw.compare_sources(labelled, ["three"])


def test_scores_of_tags_are_those_of_tokens():
    gold = Sentence(("a", "b"), {"tag": (("X",), ("Y",)), "f": (("X",), None)})
    found = tw.compare_sources(Corpus((gold,)), ["f"], "tag")["sources"]["f"]
    assert (found["accuracy"], found["precision"], found["recall"]) == (1.0, 1.0, 0.5)
