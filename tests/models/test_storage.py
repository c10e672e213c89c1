"""Model files: loaded models equal saved ones, and parts that do not fit are refused before a kernel sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_parts import parts, rewrite
from safetensors.numpy import save_file

from problems import Problem, bundles, plain
from tagweave.corpus.sentence import Sentence
from tagweave.features.attributes import AttributeEncoder
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import storage
from tagweave.models.chain import ChainModel
from tagweave.models.chain_file import GRAMS
from tagweave.models.layout import Layout
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.storage import ModelFileError, describe_model, load_model, save_model

TEXTS = [["a", "B", "Aa"], [], ["abbc", "a"]]
SEGMENTS = LabelSpace.plain("seg", "BMES")
PROBLEMS = {
    "dense": lambda: Problem(TEXTS, plain(), 1),
    "observed": lambda: Problem(TEXTS, plain(), 1, observed=True, observed_transitions=True),
    "bundles": lambda: Problem(TEXTS, bundles(), 2, observed=True, edges=False),
    "scheme": lambda: Problem(TEXTS, SEGMENTS, 3, scheme=TransitionScheme.of("BMES", "BMES"), transitions=False),
}


def model(name: str = "observed", dtype: type = np.float64) -> tuple[ChainModel, Problem]:
    problem = PROBLEMS[name]()
    about = {"trained on": ["a corpus"], "F": 0.5}
    weights = problem.weights.astype(dtype)
    return ChainModel(problem.parameters, problem.encoder, weights, "tag", "", about), problem


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_a_loaded_model_gives_the_same_answers(name: str, dtype: type, tmp_path: Path) -> None:
    saved, problem = model(name, dtype)
    save_model(saved, tmp_path / "m.model")
    loaded = load_model(tmp_path / "m.model")
    assert (loaded.weights == saved.weights).all()
    assert loaded.weights.dtype == dtype
    assert (loaded.task, loaded.coding, loaded.about) == (saved.task, saved.coding, saved.about)
    assert (loaded.parameters.transitions, loaded.parameters.edges) == (
        saved.parameters.transitions,
        saved.parameters.edges,
    )
    fresh = [*problem.sentences, Sentence(("x", "a"))]
    ours, theirs = saved.encoder.encode(fresh), loaded.encoder.encode(fresh)
    assert saved.best(ours).tolist() == loaded.best(theirs).tolist()
    assert (saved.marginals(ours)[0] == loaded.marginals(theirs)[0]).all()
    for mine, others in zip(saved.parameters.space.views, loaded.space.views, strict=True):
        assert mine.names == others.names
    observed = saved.parameters.observed_transitions
    assert (observed is None) == (loaded.parameters.observed_transitions is None)


def test_saving_twice_gives_the_same_bytes_and_leaves_nothing_else(tmp_path: Path) -> None:
    saved, _ = model()
    save_model(saved, tmp_path / "a")
    save_model(load_model(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    save_model(saved, tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_model_of_attributes(tmp_path: Path) -> None:
    encoder = AttributeEncoder()
    encoded = encoder.encode_attributes([[["w=a", "日本"], {"w=b": 0.5}]])
    encoder.freeze(encoded)
    space = LabelSpace.plain("tag", ("X", "Y"))
    parameters = ChainParameters(space, (Layout.dense(encoder.windows, 2),), TransitionScheme.free(2))
    saved = ChainModel(parameters, encoder, np.random.default_rng(0).normal(size=parameters.size))
    save_model(saved, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded.encoder, AttributeEncoder)
    assert loaded.encoder.names == ["w=a", "日本", "w=b"]
    fresh = [[["日本"], {"w=b": 2.0, "new": 1}]]
    theirs = loaded.encoder.encode_attributes(fresh)
    assert (loaded.marginals(theirs)[0] == saved.marginals(encoder.encode_attributes(fresh))[0]).all()


def test_the_description_is_read_without_the_arrays(tmp_path: Path) -> None:
    save_model(model()[0], tmp_path / "m")
    described = describe_model(tmp_path / "m")
    assert (described["task"], described["coding"], described["format"]) == ("tag", "", 7)
    assert described["about"] == {"trained on": ["a corpus"], "F": 0.5}


def _cell(arrays: dict[str, Any]) -> None:
    arrays["layout.0.cell"] = np.full_like(arrays["layout.0.cell"], 255)


def _pointer(arrays: dict[str, Any]) -> None:
    arrays["layout.0.ptr"][1:] += 5


def _falling_pointer(arrays: dict[str, Any]) -> None:
    arrays["layout.0.ptr"][1] = arrays["layout.0.ptr"][-1]


def _weights(arrays: dict[str, Any]) -> None:
    arrays["weights"] = arrays["weights"][:-1]


def _whole_weights(arrays: dict[str, Any]) -> None:
    arrays["weights"] = arrays["weights"].astype(np.int64)


def _scheme(arrays: dict[str, Any]) -> None:
    arrays["scheme.start"] = arrays["scheme.start"][:-1]


def _codes(arrays: dict[str, Any]) -> None:
    arrays["index.codes"] = arrays["index.codes"][:-1]


def _windows(arrays: dict[str, Any]) -> None:
    arrays["index.codes"] = arrays["index.codes"] ^ np.uint64(GRAMS.least)


def _missing(arrays: dict[str, Any]) -> None:
    del arrays["weights"]


DAMAGES = (_cell, _pointer, _falling_pointer, _weights, _whole_weights, _scheme, _codes, _windows, _missing)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_arrays_that_do_not_fit_are_refused(damage: Any, tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_model(model()[0], path)
    description, arrays = parts(path)
    damage(arrays)
    rewrite(path, description, arrays)
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(path)


def test_a_projection_beyond_its_tags_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_model(model("bundles")[0], path)
    description, arrays = parts(path)
    description["space"]["views"][1]["projection"][0] = 99
    rewrite(path, description, arrays)
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(path)


def test_every_truncation_and_a_flipped_byte_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_model(model()[0], path)
    whole = path.read_bytes()
    damaged = [whole[:n] for n in (0, 1, 7, 9, 100, len(whole) // 2, len(whole) - 1)]
    damaged += [whole[:-4] + bytes([whole[-4] ^ 1]) + whole[-3:], whole + b"x"]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="expected"):
            load_model(path)


def test_other_files_newer_ones_and_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such model file"):
        load_model(tmp_path / "none")
    save_file({"x": np.zeros(2)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="of another program"):
        load_model(tmp_path / "other")
    save_model(model()[0], tmp_path / "m")
    description, arrays = parts(tmp_path / "m")
    rewrite(tmp_path / "m", description | {"format": 99, "version": "9.0"}, arrays)
    for read in (load_model, describe_model):
        with pytest.raises(ModelFileError, match=r"tagweave 9\.0 \(format 99\), expected format 7"):
            read(tmp_path / "m")


def test_a_model_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"nowhere|written"):
        save_model(model()[0], tmp_path / "nowhere" / "m")
    assert list(tmp_path.iterdir()) == []


# Memory that follows from a model


def many_labels(count: int) -> ChainModel:
    """A model of labels without a single feature: nearly nothing on disk, and tables of pairs of labels in memory."""
    small = Problem([["a"]], plain(), 1, observed=True)
    layout = Layout(np.zeros(len(small.encoder.index) + 1, np.int32), np.zeros(0, np.uint16))
    space = LabelSpace.plain("tag", [f"L{i}" for i in range(count)])
    parameters = ChainParameters(space, (layout,), TransitionScheme.free(count))
    return ChainModel(parameters, small.encoder, np.zeros(parameters.size, np.float32))


def test_a_small_file_does_not_get_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `save_model` writes is as large as what it asks for, so that it can be loaded."""
    path, large = tmp_path / "m.model", many_labels(400)
    monkeypatch.setattr(storage, "_LEAST", 1 << 20)
    save_model(large, path)
    assert len(load_model(path, ChainModel).space) == 400
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_LEAST", 1 << 40)
        save_model(large, path)
    assert path.stat().st_size < 20_000
    with pytest.raises(ModelFileError, match=r"400 labels and .* at most 1 MB, what a file of [\d,]+ bytes may ask"):
        load_model(path)
    assert len(describe_model(path)["space"]["names"]) == 400
    monkeypatch.setattr(storage, "_LEAST", 1 << 40)
    monkeypatch.setattr(storage, "machine_memory", lambda: 1 << 20)
    with pytest.raises(ModelFileError, match="at most 1 MB, the memory of this machine"):
        load_model(path)


def test_models_inside_a_model_count(tmp_path: Path) -> None:
    own, inner = ({"space": {"names": ["x"] * count}, "about": {"space": 3}} for count in (10, 1000))
    outer = {**own, "encoder": {"guide": inner, "taggers": [inner]}}
    assert storage.needed_bytes(outer, 7) - storage.needed_bytes(own, 7) == 2 * storage.needed_bytes(inner, 0)
