"""Networks in int8: labels as of PyTorch, a conversion once, and refusals."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tagweave as tw
from benchmarks.fuzz_bases import corpus, save_network
from tagweave.cli.main import application
from tagweave.errors import PlanError, StreamError
from tagweave.features.subwords import NetworkError
from tagweave.front.loading import load_models
from tagweave.front.many_files import ModelWork
from tagweave.learning.run import Silence
from tagweave.models import int8
from tagweave.serve.served_models import ServedModels
from tagweave.serve.settings import ServerSettings

TEXTS = [["ba", "dor", "Kim", "luna"], ["."], ["se", "tovi", "3", "rex"] * 20]
QUICK: dict[str, Any] = {"iterations": 10, "callback": Silence(), "settings": {"rate": 1e-2, "batch": 4}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `network`, a model whose network is in the cache, what this told, and `plain`, without one."""
    place = tmp_path_factory.mktemp("int8")
    save_network(place)
    tw.train(corpus("ud"), encoder=str(place), **QUICK).save(place / "network")
    tw.train(corpus("ud"), iterations=2, callback=Silence()).save(place / "plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8, "cache_folder", lambda: place / "cache")
        patch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
        with redirect_stderr(StringIO()) as told, redirect_stdout(told):
            tw.load_model(place / "network", int8=True)
        (place / "told").write_text(told.getvalue(), "utf-8")
        yield place


@pytest.fixture
def converted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The contents that conversions give, which would take seconds: they repeat that of the folder."""
    (file,) = (folder / "cache").rglob("*.onnx")
    content, calls = file.read_bytes()[32:], list[bytes]()
    monkeypatch.setattr(int8, "_converted", lambda *_: calls.append(content) or content)
    return calls


def test_labels_are_those_of_pytorch(folder: Path) -> None:
    slow, fast = tw.load_model(folder / "network"), tw.load_model(folder / "network", int8=True)
    assert fast.tag(TEXTS) == slow.tag(TEXTS)
    sentences = [tw.Sentence(tuple(forms)) for forms in TEXTS]
    ours, theirs = (np.concatenate(model.under().probabilities(sentences)) for model in (fast, slow))
    assert np.abs(ours - theirs).max() < 0.05
    assert (ours != theirs).any()
    assert len({label for labels in slow.tag(TEXTS) for label in labels}) > 1


def test_a_network_is_converted_once(folder: Path, converted: list[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    model = tw.load_model(folder / "network", threads=2, int8=True)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.int8
    assert again.tag(TEXTS) == model.tag(TEXTS)
    assert not converted
    assert capsys.readouterr().err == ""
    assert re.fullmatch(
        r"network converted to int8 in \d+ s, and kept in .*cache.networks\n", (folder / "told").read_text("utf-8")
    )
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-9], lambda data: data[:-9] + b"\1" + data[-8:]]
)
def test_a_damaged_file_is_made_anew(folder: Path, converted: list[bytes], damage: Any) -> None:
    (file,) = (folder / "cache").rglob("*.onnx")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    tw.load_model(folder / "network", int8=True)
    assert len(converted) == 1
    assert file.read_bytes() == whole


def test_few_files_stay(folder: Path, converted: list[bytes]) -> None:
    (file,) = (folder / "cache").rglob("*.onnx")
    for number in range(6):
        old = file.with_name(f"{number}.onnx")
        old.write_bytes(b"old")
        os.utime(old, (number, number))
    file.unlink()
    tw.load_model(folder / "network", int8=True)
    assert {path.name for path in file.parent.iterdir()} == {"3.onnx", "4.onnx", "5.onnx", file.name}
    for number in (3, 4, 5):
        file.with_name(f"{number}.onnx").unlink()


def test_other_weights_are_another_file(folder: Path, converted: list[bytes]) -> None:
    network = tw.load_model(folder / "network").trained
    encoder, subwords = network.parameters.network(network.weights.copy()).encoder, network.parameters.subwords
    before = int8._digest(encoder, subwords)
    next(encoder.parameters()).data[0, 0] += 1
    assert int8._digest(encoder, subwords) != before


@pytest.mark.usefixtures("converted")
def test_commands_and_servers_take_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("ba dor Kim\n", "utf-8")
    network, plain = str(folder / "network"), str(folder / "plain")
    run = ["tag", network, str(tmp_path / "text"), "--int8", "-o"]
    assert CliRunner().invoke(application(["tag"]), [*run, str(tmp_path / "one")]).exit_code == 0
    ModelWork("tag", (network,), 1, {}, True)(str(tmp_path / "text"), str(tmp_path / "two"))
    assert (tmp_path / "one").read_text("utf-8") == (tmp_path / "two").read_text("utf-8")
    served = ServedModels(ServerSettings((("plain", plain), ("network", network)), int8=True))
    assert [each.model.int8 for each in served.all] == [False, True]


def test_models_inside_a_model_have_networks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tw.train(corpus("ud"), corpus("old", "AB", 1), method="stacked", encoder=str(folder), **QUICK)
    encoders = []
    monkeypatch.setattr(int8, "_kept", lambda encoder, *_: encoders.append(encoder))
    assert int8.use_int8(model.trained, lambda _: None)
    assert len({id(encoder) for encoder in encoders}) == 2


def test_what_cannot_be_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StreamError, match="plain: found `int8` without a network, expected a model that"):
        tw.load_model(folder / "plain", int8=True)
    with pytest.raises(StreamError, match=r"plain, .*plain: found `int8` without a network"):
        load_models([folder / "plain", folder / "plain"], int8=True)
    monkeypatch.setattr(int8, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(int8, "_quantized", lambda *_: 1 / 0)
    with pytest.raises(NetworkError, match="found a network of the type bert that cannot be exported to ONNX"):
        tw.load_model(folder / "network", int8=True)
    monkeypatch.setattr(int8, "_quantized", lambda *_: b"")
    monkeypatch.setattr(int8, "_session", lambda _: lambda pieces, _: np.zeros((*pieces.shape, 8), np.float32))
    with pytest.raises(NetworkError, match="states `int8` changes by 100%, expected at most 50%"):
        tw.load_model(folder / "network", int8=True)
    assert not list(tmp_path.rglob("*.onnx"))
    monkeypatch.setattr(int8, "find_spec", lambda name: None if name == "onnxruntime" else name)
    with pytest.raises(PlanError, match="found no onnxruntime, expected the extra onnx"):
        tw.load_model(folder / "network", int8=True)
