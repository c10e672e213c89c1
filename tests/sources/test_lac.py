"""LAC as a labelling function: what it says of tokens that are its words, of others, and which folders it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import TagweaveError
from tagweave.sources.functions import FunctionError
from tagweave.sources.lac import LacModel

LABELS = ["n-B", "n-I", "nr-B", "nr-I", "v-B", "O", ""]  # the last is none, as those of the ends of a CRF
EMISSIONS = {
    "山": {"n-B": 1},
    "川": {"n-I": 1},
    "王": {"nr-B": 1},
    "明": {"nr-I": 1},
    "或": {"n-I": 1, "v-B": 1.5},  # the transitions decide
    "A": {"v-B": 1},
    "。": {"O": 1},
    "OOV": {"n-B": 1},
}


def _save_encoder(path: Path, inputs: tuple[str, ...] = ("token_ids", "length")) -> None:
    """Save a network whose emissions are a row of a table for each character."""
    table = np.array([[scores.get(label, 0) for label in LABELS] for scores in EMISSIONS.values()], np.float32)
    numbers, emissions = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gather", ["table", inputs[0]], ["emissions"])],
        "encoder",
        [
            onnx.helper.make_tensor_value_info(name, numbers, sizes)
            for name, sizes in zip(inputs, (["B", "L"], ["B"]), strict=True)
        ],
        [onnx.helper.make_tensor_value_info("emissions", emissions, ["B", "L", len(LABELS)])],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    transitions = np.zeros((len(LABELS), len(LABELS)), np.float32)
    transitions[LABELS.index("n-B"), LABELS.index("v-B")] = -1
    np.save(tmp_path / "lac_crf_transitions.npy", transitions)
    _save_encoder(tmp_path / "lac_encoder.onnx")
    lines = {
        "word.dic": [f"{number}\t{word}" for number, word in enumerate(EMISSIONS)],
        "tag.dic": [*(f"{number}\t{label}" for number, label in enumerate(LABELS) if label), "2\tPER-B", "3\tPER-I"],
        "q2b.dic": ["Ａ\tA"],
    }
    for name, entries in lines.items():
        (tmp_path / name).write_text("\n".join(entries) + "\n", "utf-8")
    return tmp_path


def _of(folder: Path, *forms: str, task: str = "tags", outside: bool = False) -> Layer:
    function = LacModel("f", str(folder), task=task, outside=outside)
    function.check([])
    return function.layers([Sentence(forms)])[0]


@pytest.mark.parametrize(
    ("forms", "tags"),
    [
        (("王明", "Ａ", "山川", "。", "龘"), ("PER", "v", "n", None, "n")),  # `O` is no tag
        (("王", "明Ａ", "山川"), (None, None, "n")),  # the ends of words are inside of tokens, and of a token of words
        (("王或", "山或"), (None, "n")),
        (("明", "川"), (None, None)),  # a text may begin inside of a word
        (("明川",), ("PER",)),
    ],
)
def test_a_tag_is_that_of_the_word_that_is_the_token(folder, forms, tags):
    assert _of(folder, *forms) == tuple(tag and (tag,) for tag in tags)


def test_names_are_spans_of_tokens(folder):
    forms = "王", "明", "山川", "王明", "王Ａ"
    assert _of(folder, *forms, task="spans") == (("B-PER",), ("I-PER",), None, ("B-PER",), None)
    assert _of(folder, *forms, task="spans", outside=True)[2] == ("O",)


def test_texts_are_labelled_in_their_order(folder):
    sentences = [Sentence(tuple(forms.split())) for forms in ("王明 山川", "山川", "", *["王明"] * 40, "山川 王明")]
    expected = [(("PER",), ("n",)), (("n",),), (), *[(("PER",),)] * 40, (("n",), ("PER",))]
    assert LacModel("f", str(folder), task="tags").layers(sentences) == expected


def _unlink(name: str):
    return lambda folder: (folder / name).unlink()


def _write(name: str, text: str):
    return lambda folder: (folder / name).write_text(text, "utf-8")


def _save(array: object):
    return lambda folder: np.save(folder / "lac_crf_transitions.npy", array)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_unlink("lac_crf_transitions.npy"), "transitions.npy that cannot be used: .* No such file"),
        (_unlink("lac_encoder.onnx"), "lac_encoder.onnx that cannot be used: .*NO_SUCHFILE"),
        (_unlink("q2b.dic"), "No such file or directory: .*q2b.dic"),
        (_write("lac_encoder.onnx", "no network"), "lac_encoder.onnx that cannot be used: "),
        (lambda folder: _save_encoder(folder / "lac_encoder.onnx", ("ids", "length")), "cannot be used: .*token_ids"),
        (_save(np.zeros((8, 8), np.float32)), r"\[1, 3, 7\]' at the output, expected .*\[1\]\[3\]\[8\]"),
        (_save(np.zeros((7, 8), np.float32)), r"transitions.npy that .*, expected float32 or float64 of \[7\]\[7\]"),
        (_save(np.full((7, 7), np.nan)), "found .nan to nan. at the transitions"),
        (_save(np.array([None])), "allow_pickle=False"),
        (_write("tag.dic", "7\tn-B\n"), "found the id 7 in tag.dic, expected a row of .*transitions.npy"),
        (_write("tag.dic", "0\tn-B\n1\tn\n"), "tag.dic:2: found the line '1.tn', expected an id"),
        (_write("word.dic", "-1\tOOV\n"), "word.dic:1: found the line"),
        (_write("word.dic", "99\tOOV\n"), "lac_encoder.onnx that cannot be used: .*idx=99"),
        (_write("word.dic", "0\t山\n"), "found no OOV in word.dic"),
        (_write("q2b.dic", "AB\tA\n"), "q2b.dic:1: found the line"),
    ],
)
def test_what_is_refused(folder, damage, message):
    damage(folder)
    with pytest.raises((TagweaveError, FileNotFoundError), match=message):
        _of(folder, "王明")


def test_without_onnx_runtime_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(FunctionError, match="expected the extra onnx"):
        _of(folder, "王明")
