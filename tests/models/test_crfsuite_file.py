"""Models of CRFsuite beside python-crfsuite, which wrote them, and damaged ones."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.estimators import ChainCRF
from tagweave.front.description import describe
from tagweave.models.crfsuite_file import PairWeights, attribute_model
from tagweave.models.storage import ModelFileError, describe_model, load_model, save_model
from tagweave.models.tree import TreeModel

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

Sentences = list[list[dict[str, float]]]


def sentences(count: int, seed: int) -> tuple[Sentences, list[list[str]]]:
    rng = np.random.default_rng(seed)
    X = [
        [{f"w={rng.integers(30)}": 1.0, "größe:x": float(rng.random()), "bias": 1.0} for _ in range(rng.integers(1, 9))]
        for _ in range(count)
    ]
    return X, [[str(rng.choice(["B", "I", "O", "höher"])) for _ in sentence] for sentence in X]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("crfsuite") / "m.crfsuite"
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    for sentence, labels in zip(*sentences(60, 0), strict=True):
        trainer.append(sentence, labels)
    trainer.set_params({"c1": 0.1, "c2": 0.01, "max_iterations": 30})
    trainer.train(str(path))
    return path


@pytest.fixture(scope="module")
def tagger(file: Path) -> Any:
    tagger = pycrfsuite.Tagger()
    tagger.open(str(file))
    return tagger


def test_answers_are_crfsuites(file: Path, tagger: Any) -> None:
    crf = ChainCRF.load(file)
    X = [*sentences(40, 1)[0], [{}], [{"unknown": 3.0}, {"w=1": -2.0}]]
    assert crf.classes_ == tagger.labels()
    for sentence, labels, marginals in zip(X, crf.predict(X), crf.predict_marginals(X), strict=True):
        assert list(labels) == crf.predict_single(sentence) == tagger.tag(sentence)
        for t, each in enumerate(marginals):
            for label, probability in each.items():
                assert probability == pytest.approx(tagger.marginal(label, t), abs=1e-9)
    info = tagger.info()
    assert crf.state_features_ == pytest.approx(info.state_features, abs=1e-6)
    assert crf.transition_features_ == pytest.approx(info.transitions, abs=1e-6)


def test_it_is_a_model_like_any_other(file: Path, tagger: Any, tmp_path: Path) -> None:
    save_model(load_model(file), tmp_path / "m")
    X = sentences(10, 2)[0]
    assert ChainCRF.load(tmp_path / "m").predict(X).tolist() == ChainCRF(model_filename=file).predict(X).tolist()
    described = describe_model(file)
    assert described["about"] == {"program": "CRFsuite"} and described["kind"] == "chain"
    json.dumps(described)
    assert describe(str(file))["labels"] == {"label": tagger.labels()}
    (tmp_path / "text.crfsuite").write_text("O\tw=1\tw=2:2\nB\tw=3\n\n", encoding="utf-8")
    tagged = tw.load_model(file).relabelled(tw.load(tmp_path / "text.crfsuite"))
    assert [each[0] for each in tagged[0].layers[tagged.guideline] if each] == tagger.tag(
        [{"w=1": 1.0, "w=2": 2.0}, {"w=3": 1.0}]
    )
    with pytest.raises(ModelFileError, match="found a chain model, expected a tree model"):
        load_model(file, TreeModel)


HEADER = struct.calcsize("<4sI4s9I")


def word(data: bytes, at: int, value: int) -> bytes:
    """The bytes with another number at a place."""
    return data[:at] + struct.pack("<I", value) + data[at + 4 :]


def at(data: bytes, field: int) -> int:
    """An offset of the header: 0 features, 1 labels, 2 attributes."""
    return int(struct.unpack_from("<I", data, 28 + 4 * field)[0])


DAMAGE: list[tuple[Any, str]] = [
    (lambda d: d[:30], "found a header at byte 0 of 30, expected a whole file"),
    (lambda d: d[:-1], "bytes, expected .* as the header says"),
    (lambda d: d[:8] + b"SEMI" + d[12:], "found a model of the type b'SEMI'"),
    (lambda d: word(d, 12, 99), "found version 99 of CRFsuite's models, expected 100"),
    (lambda d: word(d, 28, len(d)), "a list of features at byte .* expected a whole file"),
    (lambda d: word(d, 28, 0), "b'lCRF' at byte 0, expected the features"),
    (lambda d: word(d, at(d, 0) + 8, 1 << 31), "found 2147483648 features .* expected a whole file"),
    (lambda d: word(d, at(d, 0) + 12, 7), "a feature of the type 7, expected 0 or 1"),
    (lambda d: word(d, at(d, 0) + 16, 1 << 30), "a feature of number 1073741824, expected numbers below"),
    (lambda d: word(d, at(d, 0) + 20, 4), "a feature of number 4, expected numbers below 4"),
    (lambda d: word(d, at(d, 0) + 28, 0x7FF80000), "a weight that is nan"),
    (lambda d: word(d, 20, 3), "found names of 4 labels, expected 3"),
    (lambda d: word(d, 20, 1 << 31), "found 2,147,483,648 labels, which need"),
    (lambda d: word(d, at(d, 1), 0), "expected the labels, b'CQDB'"),
    (lambda d: word(d, at(d, 1) + 20, 1 << 31), "found names of 4 labels at byte .* expected a whole file"),
    (lambda d: d.replace("höher\0".encode(), b"h\xff\xffher\0"), "expected UTF-8"),
    (lambda d: d.replace(b"w=11\0", b"w=12\0"), "found the attribute 'w=12' twice, expected each once"),
    (lambda d: d.replace(b"w=11\0", b"w=111"), "the record of attribute"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_damaged_files_are_refused(damage: Any, message: str, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ModelFileError, match=f"damaged: found .*{message.removeprefix('found ')}"):
        load_model(path)


def test_changed_bytes_are_refused_or_harmless(file: Path, tmp_path: Path) -> None:
    """A changed weight, or a byte of what is not read, leaves a model that answers."""
    data, rng, path = file.read_bytes(), np.random.default_rng(0), tmp_path / "mutated"
    X = sentences(2, 3)[0]
    refused = 0
    for _ in range(200):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), rng.integers(1, 6)):
            changed[place] = rng.integers(256)
        path.write_bytes(bytes(changed) if rng.random() < 0.8 else bytes(changed[: rng.integers(len(data))]))
        try:
            ChainCRF.load(path).predict(X)
        except ModelFileError:
            refused += 1
    assert refused > 40


def test_a_small_file_does_not_get_much_memory(file: Path, tmp_path: Path) -> None:
    """Labels take memory by the square; names that overlap would give every label all bytes of the file."""
    data, path = file.read_bytes(), tmp_path / "m"
    path.write_bytes(word(data, 20, 50_000))
    with pytest.raises(ModelFileError, match=r"50,000 labels, which need 100\.0 GB, expected at most"):
        ChainCRF.load(path)
    count, head, length = 100, struct.calcsize("<4sI4I"), 0x2020
    text = b"".join(struct.pack("<II", number, length) for number in range(count)) + b"a" * 3000 + bytes(8000)
    offsets = struct.pack(f"<{count}I", *(head + 8 * number for number in range(count)))
    begin = struct.pack("<4sI4I", b"CQDB", 0, 0, 0x62445371, count, head + len(text))
    whole = data + begin + text + offsets
    for place, value in ((4, len(whole)), (24, count), (36, len(data))):
        whole = word(whole, place, value)
    path.write_bytes(whole)
    with pytest.raises(ModelFileError, match="names of attributes that overlap"):
        ChainCRF.load(path)


def test_no_labels_and_repeated_pairs() -> None:
    none = PairWeights(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    with pytest.raises(ValueError, match="no labels"):
        attribute_model([], [], none, none, {})
    twice = PairWeights(np.zeros(2, np.int64), np.ones(2, np.int64), np.ones(2))
    with pytest.raises(ValueError, match="a feature twice"):
        attribute_model(["A", "B"], ["a"], twice, none, {})
    with pytest.raises(ValueError, match="a label without a name"):
        attribute_model(["A", ""], [], none, none, {})
    model = attribute_model(["A", "B"], [], none, PairWeights(*[np.array([1])] * 2, np.array([2.0])), {})
    assert model.parameters.size == 4 + 4
