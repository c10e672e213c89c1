"""Labelling functions of each type: what they find, where they abstain, and what they refuse.

Functions applied to a corpus, here and in other processes.
"""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import tagweave as tw
from benchmarks.fuzz_bases import save_network
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.spans import FoundSpan, layer_of
from tagweave.errors import CorpusError
from tagweave.sources.answer_functions import AnswerFile
from tagweave.sources.builtin_functions import Expression, LexiconFunction, read_functions
from tagweave.sources.functions import FunctionError, PythonFunction, labelling_function, load_functions
from tagweave.sources.lac import LacModel
from tagweave.sources.model_functions import SpacyModel, TagweaveModel, TransformersModel

TEXT = Sentence(("Mr.", "Smith", "of", "New", "York"))
UNKNOWN, OUTSIDE = None, ("O",)


def _spans(**span: object) -> dict[str, object]:
    """A line about `TEXT` with one span, that of Smith if nothing else is said."""
    return {"text": " ".join(TEXT.forms), "spans": [{"start": 4, "end": 9, **span}]}


def _of(function, sentence: Sentence = TEXT) -> Layer:
    function.check([sentence])
    return function.layers([sentence])[0]


class TestLayer:
    def test_the_longest_of_overlapping_spans_counts(self):
        spans = [FoundSpan(0, 2, ("A",)), FoundSpan(1, 4, ("B",)), FoundSpan(1, 4, ("C",))]
        assert layer_of(spans, 5, outside=False) == (UNKNOWN, ("B-B",), ("I-B",), ("I-B",), UNKNOWN)

    @pytest.mark.parametrize("span", [FoundSpan(0, 3, ("A",)), FoundSpan(1, 1, ("A",)), FoundSpan(0, 1, ("A",), 0.0)])
    def test_what_is_no_span(self, span):
        with pytest.raises(CorpusError):
            layer_of([span], 2, outside=False)


class TestLexicon:
    @pytest.fixture
    def places(self, tmp_path: Path) -> str:
        (tmp_path / "places.txt").write_text("New York\nYork\nPER\tSmith\n", "utf-8")
        return str(tmp_path / "places.txt")

    def test_the_longest_phrase_with_its_type_or_the_label(self, places):
        assert _of(LexiconFunction("f", places, "LOC")) == (UNKNOWN, ("B-PER",), UNKNOWN, ("B-LOC",), ("I-LOC",))
        found = _of(LexiconFunction("f", places, "LOC", outside=True, stop=("Smith",)))
        assert found == (OUTSIDE, OUTSIDE, OUTSIDE, ("B-LOC",), ("I-LOC",))
        assert _of(LexiconFunction("f", places, "LOC", task="tags"))[3:] == (("LOC",), ("LOC",))

    def test_phrases_need_a_type(self, places):
        with pytest.raises(FunctionError, match="f: found phrases without a type"):
            _of(LexiconFunction("f", places))


class TestExpression:
    def test_a_match_of_whole_tokens_counts(self):
        assert _of(Expression("f", r"New \w+", "LOC"))[3:] == (("B-LOC",), ("I-LOC",))
        assert _of(Expression("f", r"ew \w+", "LOC")) == (UNKNOWN,) * 5

    def test_a_group_of_a_match_in_its_context(self):
        assert _of(Expression("f", r"Mr\. (\w+)", "PER", group=1)) == (UNKNOWN, ("B-PER",), *[UNKNOWN] * 3)
        assert _of(Expression("f", r"mr\. (?P<name>\w+)", "PER", group="name", ignore_case=True))[1] == ("B-PER",)

    def test_characters_have_no_blanks_between_them(self):
        assert _of(Expression("f", "bc", "X"), Sentence(tuple("abcd")))[1:3] == (("B-X",), ("I-X",))

    def test_what_is_refused(self):
        with pytest.raises(FunctionError, match=r"found the pattern '\('"):
            Expression("f", "(", "X")
        with pytest.raises(FunctionError, match="found no group 1"):
            Expression("f", "a", "X", group=1)


class TestAnswers:
    def _file(self, folder: Path, *lines: object) -> str:
        path = folder / "answers.jsonl"
        path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines), "utf-8")
        return str(path)

    def test_spans_by_offsets(self, tmp_path):
        spans = [{"start": 4, "end": 9, "label": "PER", "probability": 0.75}, {"start": 13, "end": 21, "label": "LOC"}]
        path = self._file(tmp_path, {"text": "Mr. Smith of New York", "spans": spans})
        found = _of(AnswerFile("f", path))
        assert found == (UNKNOWN, Soft(("B-PER", "O"), (0.75, 0.25)), UNKNOWN, ("B-LOC",), ("I-LOC",))
        assert _of(AnswerFile("f", path, outside=True))[0] == OUTSIDE
        assert AnswerFile("f", path).layers([Sentence(("Another",))]) == [(UNKNOWN,)]

    def test_labels_of_tokens(self, tmp_path):
        labels = [None, {"B-PER": 0.3, "O": 0.7}, "O", "B-LOC", "I-LOC"]
        path = self._file(tmp_path, {"tokens": TEXT.forms, "labels": labels})
        soft = Soft(("O", "B-PER"), (0.7, 0.3))
        assert _of(AnswerFile("f", path)) == (UNKNOWN, soft, UNKNOWN, ("B-LOC",), ("I-LOC",))
        assert _of(AnswerFile("f", path, outside=True))[2] == OUTSIDE
        numbers = {"tokens": TEXT.forms, "labels": ["O", "B-PER", "O", "O", "O"], "probabilities": [1, 0.9, 1, 1, 1]}
        assert _of(AnswerFile("f", self._file(tmp_path, numbers)))[1] == Soft(("B-PER", "O"), (0.9, 0.1))

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "found no JSON"),
            ([], "found \\[\\], expected an object"),
            ({"labels": []}, 'found no text, expected "text"'),
            ({"text": "Other", "spans": []}, "found the sentence 'Other', expected one of the text that is labelled"),
            ({"tokens": TEXT.forms, "labels": ["O"]}, "found 1 labels, expected a list of 5, one for each token"),
            (
                {"tokens": ["Mr.S", "mith", "of", "New", "York"], "labels": []},
                "found 'Mr.S' as token 1, expected 'Mr.'",
            ),
            (
                _spans(end=8, label="PER"),
                "found the span 4:8, 'Smit', expected whole tokens of 'Mr. Smith of New York'",
            ),
            (_spans(), "found no 'label', expected \"label\", a text"),
            (_spans(label="X"), "found the label 'X', expected one of PER, LOC"),
            (_spans(label="PER", probability=2), r"found the probability 2\.0, expected a number above 0"),
            ({"tokens": TEXT.forms, "labels": ["B-X"] * 5}, "found the label 'X', expected one of PER, LOC"),
            ({"tokens": TEXT.forms, "labels": ["O"] * 4 + [3]}, "found the label 3"),
        ],
    )
    def test_errors_name_the_line(self, tmp_path, line, message):
        path = self._file(tmp_path, "", line)
        with pytest.raises(CorpusError, match=rf"answers\.jsonl:2: {message}"):
            _of(AnswerFile("f", path, ("PER", "LOC")))


class TestPython:
    def test_spans_labels_and_nothing(self):
        assert _of(labelling_function(lambda s: [(1, 2, "PER")])) == (UNKNOWN, ("B-PER",), *[UNKNOWN] * 3)
        assert _of(labelling_function(lambda s: [(1, 2, "PER", 0.8)]))[1] == Soft(("B-PER", "O"), (0.8, 0.2))
        labels = ["O", None, {"A": 0.9, "B": 0.1}, "A", "A"]
        expected = (OUTSIDE, UNKNOWN, Soft(("A", "B"), (0.9, 0.1)), ("A",), ("A",))
        assert _of(labelling_function(lambda s: labels)) == expected
        assert _of(labelling_function(lambda s: [(1, 2, "PER", 0.4)]))[1] == Soft(("O", "B-PER"), (0.6, 0.4))
        assert _of(labelling_function(lambda s: None)) == (UNKNOWN,) * 5
        assert _of(labelling_function(lambda s: [None] * 5)) == (UNKNOWN,) * 5
        assert _of(labelling_function(outside=True)(lambda s: [])) == (OUTSIDE,) * 5

    @pytest.mark.parametrize(
        ("give", "message"),
        [
            (lambda s: ["O"], "found 1 labels, expected 5"),
            (lambda s: [(0, 9, "A")], "found the span 0:9"),
            (lambda s: [(0, "A")], "expected a span"),
            (lambda s: s.layers["gold"], "found KeyError: 'gold'"),
        ],
    )
    def test_errors_name_function_and_sentence(self, give, message):
        with pytest.raises(FunctionError, match=f"mine: .*{message}"):
            _of(labelling_function(name="mine")(give))

    def test_functions_of_a_file_travel_by_it(self, tmp_path):
        path = tmp_path / "mine.py"
        path.write_text(
            "import tagweave as tw\n@tw.labelling_function(outside=True)\ndef one(sentence):\n    yield 0, 1, 'A'\n"
            "def two(sentence):\n    yield 1, 2, 'A'\n",
            "utf-8",
        )
        (one,) = load_functions(str(path))
        assert [each.name for each in load_functions(f"{path}:two,one")] == ["two", "one"]
        travelled = pickle.loads(pickle.dumps(one))  # noqa: S301 - made here
        assert (travelled.name, travelled.outside) == ("one", True)
        assert _of(travelled) == _of(one) == (("B-A",), *[OUTSIDE] * 4)

    def test_a_function_in_no_file_does_not_travel(self):
        function = labelling_function(lambda s: None)
        with pytest.raises(FunctionError, match="in no file"):
            pickle.dumps(function)

    @pytest.mark.parametrize(
        ("text", "argument", "message"),
        [
            ("x = 1", "", "found no labelling function"),
            ("x = 1", ":x", "found no function 'x'"),
            ("1 / 0", "", "found ZeroDivisionError"),
        ],
    )
    def test_what_cannot_be_loaded(self, tmp_path, text, argument, message):
        (tmp_path / "bad.py").write_text(text, "utf-8")
        with pytest.raises(FunctionError, match=message):
            load_functions(f"{tmp_path / 'bad.py'}{argument}")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("model") / "tiny.model")
    forms, labels = ("Ann", "lives", "in", "Graz"), (("B-PER",), OUTSIDE, OUTSIDE, ("B-LOC",))
    corpus = tw.Corpus((Sentence(forms, {"tag": labels}),) * 3)
    tw.train(corpus, task="spans", iterations=5).save(path)
    return path


class TestModels:
    def test_a_model_of_tagweave(self, model):
        text = Sentence(("Ann", "in", "Graz"))
        assert _of(TagweaveModel("f", model), text) == (("B-PER",), UNKNOWN, ("B-LOC",))
        renamed = TagweaveModel("f", model, labels={"LOC": "PLACE"}, outside=True)
        assert _of(renamed, text)[1:] == (OUTSIDE, ("B-PLACE",))
        assert _of(TagweaveModel("f", model, labels={"LOC": "PLACE"}), text)[0] is UNKNOWN
        soft = _of(TagweaveModel("f", model, probabilities=True), text)[0]
        assert isinstance(soft, Soft)
        assert soft[0] == "B-PER"
        assert sum(soft.numbers) == pytest.approx(1, abs=1e-5)
        with pytest.raises(FunctionError, match="f: "):
            _of(TagweaveModel("f", model, guideline="ctb"), text)

    @pytest.fixture
    def classifier(self, tmp_path) -> Callable[..., str]:
        """The folder of a classifier whose scores are the same at every piece, but for one of `ann`."""

        def make(**scores: float) -> str:
            import torch
            from transformers import BertConfig, BertForTokenClassification

            folder = tmp_path / "-".join(scores)
            folder.mkdir()
            save_network(folder, ["ann", "graz"], 30)
            names = dict(enumerate(scores))
            sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
            network = BertForTokenClassification(
                BertConfig(vocab_size=30, id2label=names, max_position_embeddings=8, **sizes)
            )
            with torch.no_grad():
                network.classifier.weight.zero_()
                network.classifier.bias.copy_(torch.tensor([*scores.values()]))
            network.save_pretrained(folder)
            return str(folder)

        return make

    def test_a_classifier_of_transformers(self, classifier):
        text, labels = Sentence(("Ann", "in", "Graz", "graz") * 4), {"O": 0.0, "I-PER": 2.0, "E-PER": 1.0}
        folder = classifier(**labels)
        assert _of(TransformersModel("f", folder), text) == (("B-PER",), *((("I-PER",),) * 15))
        soft = _of(TransformersModel("f", folder, probabilities=True), text)[-1]
        share = (math.exp(2) + math.exp(1)) / (1 + math.exp(2) + math.exp(1))
        assert soft == Soft(("I-PER", "O"), (round(share, 6), round(1 - share, 6)))
        assert _of(TransformersModel("f", folder, task="tags"), text)[1] == ("I-PER",)
        with pytest.raises(FunctionError, match="found the label N in"):
            _of(TransformersModel("f", classifier(N=1.0, O=0.0)), text)

    def test_no_classifier(self, tmp_path):
        with pytest.raises(FunctionError, match="found no classifier of tokens"):
            _of(TransformersModel("f", str(tmp_path)))

    def test_a_pipeline_of_spacy(self, monkeypatch):
        def pipe(docs):
            for doc in docs:
                doc.ents = [SimpleNamespace(start=3, end=5, label_="GPE"), SimpleNamespace(start=1, end=2, label_="X")]
                yield doc

        class Doc(SimpleNamespace):
            def __init__(self, vocab, words):
                super().__init__(words=words)

            def __len__(self) -> int:
                return len(self.words)

        spacy, tokens = ModuleType("spacy"), ModuleType("spacy.tokens")
        spacy.load = lambda name: SimpleNamespace(pipe=pipe, vocab=None, meta={})  # type: ignore[attr-defined]
        tokens.Doc = Doc  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "spacy", spacy)
        monkeypatch.setitem(sys.modules, "spacy.tokens", tokens)
        found = _of(SpacyModel("f", "pretended", labels={"GPE": "LOC"}))
        assert found == (UNKNOWN, UNKNOWN, UNKNOWN, ("B-LOC",), ("I-LOC",))

    def test_without_spacy_it_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "spacy", None)
        with pytest.raises(FunctionError, match="expected the extra spacy"):
            _of(SpacyModel("f", "missing"))

    def test_nothing_else_imports_what_extras_bring(self):
        lines = "import sys, tagweave; tagweave.apply_functions; import tagweave.sources.functions as a"
        unwanted = {"spacy", "torch", "httpx2", "onnxruntime"}
        code = f"{lines}, tagweave.sources.builtin_functions; assert not set(sys.modules) & {unwanted}"
        subprocess.run([sys.executable, "-c", code], check=True)


class TestDeclaration:
    def test_functions_by_type_with_paths_beside_the_file(self, tmp_path):
        declared = [
            {"name": "a", "type": "lexicon", "file": "a.txt", "label": "LOC", "stop": ["x"]},
            {"name": "b", "type": "expression", "pattern": "x", "label": "LOC", "outside": True},
            {"name": "c", "type": "answers", "file": "/c.jsonl", "labels": ["LOC"]},
            {"name": "d", "type": "tagweave", "model": "d.model", "task": "spans"},
            {"name": "e", "type": "spacy", "model": "en", "labels": {"GPE": "LOC"}},
            {"name": "f", "type": "transformers", "model": "bert", "probabilities": True},
            {"name": "g", "type": "lac", "folder": "lac"},
        ]
        path = tmp_path / "rules.json"
        path.write_text(json.dumps({"task": "tags", "functions": declared}), "utf-8")
        assert read_functions(str(path)) == [
            LexiconFunction("a", str(tmp_path / "a.txt"), "LOC", stop=("x",), task="tags"),
            Expression("b", "x", "LOC", outside=True, task="tags"),
            AnswerFile("c", "/c.jsonl", ("LOC",), task="tags"),
            TagweaveModel("d", str(tmp_path / "d.model")),
            SpacyModel("e", "en", {"GPE": "LOC"}, task="tags"),
            TransformersModel("f", str(tmp_path / "bert"), probabilities=True, task="tags"),
            LacModel("g", str(tmp_path / "lac"), task="tags"),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "found no JSON"),
            ("[]", 'found no list "functions"'),
            ('{"functions": [{"name": "f"}]}', "function 1: found the type None"),
            ('{"functions": [{"name": "f", "type": "python"}]}', "found the type 'python', expected"),
            ('{"functions": [{"name": "f", "type": "lexicon", "path": "x"}]}', "found 'path' in a function of type"),
            ('{"functions": [{"name": "f", "type": "lexicon"}]}', "missing required field `file`"),
            ('{"functions": [{"name": "f", "type": "lexicon", "file": 3}]}', "Expected `str`, got `int`"),
            ('{"functions": [{"name": "f", "type": "expression", "pattern": "(", "label": "X"}]}', "which fails"),
            ('{"task": "x", "functions": [{}]}', "found the task 'x'"),
        ],
    )
    def test_what_is_refused(self, tmp_path, text, message):
        path = tmp_path / "rules.json"
        path.write_text(text, "utf-8")
        with pytest.raises(FunctionError, match=message):
            read_functions(str(path))


ONE = Sentence(("Ann", "ran"), {"tag": (("B-PER",), ("O",))}, {"pos": ("NNP", "VBD"), "tag": ("B-PER", "O")})
TWO = Sentence(("Bob",), {"tag": (("B-PER",),)}, {"pos": ("NNP",), "tag": ("B-PER",)})
CORPUS = Corpus((ONE, TWO, ONE))

MODULE = """
import tagweave as tw
from pathlib import Path

@tw.labelling_function
def proper(sentence):
    return [(at, at + 1, "PER") for at, pos in enumerate(sentence.columns["pos"]) if pos == "NNP"]
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MODULE, "utf-8")
    return path


def _function(module):
    return load_functions(str(module))[0]


def test_each_function_is_a_layer(module):
    labelled = tw.apply_functions(CORPUS, _function(module))
    assert [each.layers["proper"] for each in labelled] == [(("B-PER",), None), (("B-PER",),), (("B-PER",), None)]
    assert [each.layers["tag"] for each in labelled] == [each.layers["tag"] for each in CORPUS]


def test_functions_see_columns_but_no_labels():
    seen = []
    tw.apply_functions(CORPUS, tw.labelling_function(name="seen")(seen.append))
    assert all(not each.layers and {*each.columns} == {"pos"} for each in seen)


def test_other_processes_say_the_same(module):
    here = tw.apply_functions(CORPUS, _function(module))
    heard = []
    there = tw.apply_functions(CORPUS, _function(module), processes=2, progress=lambda *numbers: heard.append(numbers))
    assert there.sentences == here.sentences
    assert heard == [(1, 1)]


@pytest.mark.parametrize("name", ["pos", "tag", "form", "a b", ""])
def test_names_that_are_in_use_or_impossible(name):
    with pytest.raises(FunctionError, match="found the function name"):
        tw.apply_functions(CORPUS, PythonFunction(lambda s: None, name))


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
