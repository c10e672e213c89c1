"""Model files: round trips, and `ModelFileError` for everything else."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_parts import parts, rewrite
from safetensors.numpy import save_file

from problems import Problem, bundles, plain
from tagweave.corpus.sentence import Sentence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoder import GRAMS
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import memory, packing, storage
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.storage import ModelFileError, describe_model, load_model, save_model

TEXTS = [["a", "B", "Aa"], ["abbc"], ["a", "a"]]


def of_templates(seed: int = 0, dtype: Any = np.float32, **switches: Any) -> ChainModel:
    space = switches.pop("space", plain())
    problem = Problem(TEXTS, space, seed, **switches)
    about = {"score": 0.5, "labels": ["é", "字"], "nested": {"none": None}}
    return ChainModel(problem.parameters, problem.encoder, problem.weights.astype(dtype), "tag", "", about)


def of_attributes() -> ChainModel:
    encoder = AttributeEncoder()
    encoded = encoder.encode([attributes("word=a\tbias", "word=é:2.5"), attributes("word=a")])
    encoder.freeze(encoded)
    layout = Layout.dense(encoder.windows, 3)
    parameters = ChainParameters(plain(3), (layout,), TransitionScheme.free(3))
    return ChainModel(parameters, encoder, np.random.default_rng(0).normal(size=parameters.size))


def attributes(*tokens: str) -> Sentence:
    return Sentence(tuple("x" * len(tokens)), columns={"attributes": tokens})


MODELS: dict[str, Callable[[], ChainModel]] = {
    "dense": of_templates,
    "observed": lambda: of_templates(observed=True),
    "float64": lambda: of_templates(dtype=np.float64),
    "bundles": lambda: of_templates(space=bundles(), observed=True, observed_transitions=True),
    "pointwise": lambda: of_templates(transitions=False, edges=False),
    "scheme": lambda: replace(
        of_templates(space=LabelSpace.plain("seg", "BMES"), scheme=TransitionScheme.of("BMES", "BMES")),
        task="segment",
        coding="BMES",
    ),
    "attributes": of_attributes,
}


def assert_equal(one: ChainModel, other: ChainModel) -> None:
    assert one.to_json() == other.to_json()
    arrays, same = one.arrays(), other.arrays()
    assert arrays.keys() == same.keys()
    for name, array in arrays.items():
        assert array.dtype == same[name].dtype
        np.testing.assert_array_equal(array, same[name])


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    save_model(model, tmp_path / "model")
    loaded = load_model(str(tmp_path / "model"))
    assert_equal(model, loaded)
    if name == "attributes":
        sentences = [attributes("word=a\tbias:0.5", "new", "word=é")]
    else:
        sentences = [Sentence(("a", "B", "zz", "Aa")), Sentence(("abbc",)), Sentence(())]
    gamma, log_z = model.marginals(model.encoder.encode(sentences))
    same_gamma, same_log_z = loaded.marginals(loaded.encoder.encode(sentences))
    np.testing.assert_array_equal(gamma, same_gamma)
    np.testing.assert_array_equal(log_z, same_log_z)
    save_model(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["again", "model"]


def test_the_description_alone(tmp_path: Path) -> None:
    save_model(of_templates(), tmp_path / "model")
    told = describe_model(tmp_path / "model")
    assert (told["kind"], told["task"], told["about"]["score"]) == ("chain", "tag", 0.5)


# What is no model, or not whole

READERS = (load_model, describe_model)


@pytest.mark.parametrize("name", MODELS)
def test_cut_short_anywhere(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save_model(MODELS[name](), path)
    whole = path.read_bytes()
    for twentieth in range(20):
        path.write_bytes(whole[: len(whole) * twentieth // 20])
        for read in READERS:
            with pytest.raises(ModelFileError, match="expected"):
                read(path)


@pytest.mark.parametrize("name", MODELS)
def test_damaged_bytes(name: str, tmp_path: Path) -> None:
    path, model, rng = tmp_path / "model", MODELS[name](), np.random.default_rng(1)
    save_model(model, path)
    whole = path.read_bytes()
    noticed = 0
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[int(rng.integers(len(damaged)))] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(damaged))
        with suppress(ModelFileError):
            describe_model(path)
        try:
            loaded = load_model(path)
        except ModelFileError:
            noticed += 1
        else:  # bytes that say nothing, such as the padding of the header
            assert_equal(model, loaded)
    assert noticed > 150


def rewritten(path: Path, model: ChainModel, changes: Any, arrays: Any = None) -> None:
    """A file of the model, its description and arrays changed and its digest right."""
    save_model(model, path)
    description, held = parts(path)
    held = {name: array for name, array in (held | (arrays or {})).items() if array is not None}
    rewrite(path, description | changes, held)


@pytest.mark.parametrize("other", [3, 99])
def test_another_format(other: int, tmp_path: Path) -> None:
    path = tmp_path / "model"
    rewritten(path, of_templates(), {"format": other, "version": "9.9"})
    for read in READERS:
        with pytest.raises(ModelFileError, match=rf"of tagweave 9\.9 \(format {other}\), expected format 8"):
            read(path)


@pytest.mark.parametrize("metadata", [None, {}, {"x": "y"}, {"tagweave": "{"}, {"tagweave": "[]"}, {"tagweave": "{}"}])
def test_files_of_others(metadata: Any, tmp_path: Path) -> None:
    save_file({"weights": np.zeros(3)}, tmp_path / "model", metadata)
    for read in READERS:
        with pytest.raises(ModelFileError, match="expected a tagweave model"):
            read(tmp_path / "model")


def test_text_a_folder_and_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a text that is long enough to have a header\n" * 3)
    (tmp_path / "empty").write_bytes(b"")
    for read in READERS:
        for path in (tmp_path / "text", tmp_path / "empty", tmp_path):
            with pytest.raises(ModelFileError):
                read(path)
        with pytest.raises(FileNotFoundError, match="no such model file"):
            read(tmp_path / "none")


ARRAYS: list[dict[str, Any]] = [
    {"weights": np.zeros((2, 2), np.float32)},
    {"layout.0.ptr": np.array([0, 4], np.int32)},
    {"layout.0.ptr": np.zeros(0, np.int32)},
    {"layout.0.cell": np.array([1, 2, 3], np.uint16)},
    {"layout.0.cell": np.zeros(0, np.uint8)},
    {"scheme.transition": np.ones((2, 2), bool)},
    {"scheme.transition": np.ones((4, 4), np.int32)},
    {"index.codes": np.arange(1, 4, dtype=np.uint64)},
    {"observed.0": np.ones((2, 2), bool)},
    {"observed.1": np.ones((4, 4), bool)},
    {"scheme.end": np.ones((4, 1), bool)},
    {"unknown": np.ones(3)},
    {"weights": of_templates().weights.astype(np.int64)},
    {"index.codes": of_templates().encoder.arrays()["index.codes"] ^ np.uint64(GRAMS.least)},
]


@pytest.mark.parametrize("arrays", ARRAYS, ids=lambda arrays: next(iter(arrays)))
@pytest.mark.parametrize("name", ["dense", "observed"])
def test_arrays_that_do_not_fit(name: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    rewritten(tmp_path / "model", MODELS[name](), {}, arrays)
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e30])
def test_weights_that_are_not_finite(number: float, tmp_path: Path) -> None:
    weights = of_templates().weights.copy()
    weights[7] = number
    rewritten(tmp_path / "model", of_templates(), {}, {"weights": weights})
    with pytest.raises(ModelFileError, match="at weights, expected -1e"):
        load_model(tmp_path / "model")


def test_kernels_never_see_pointers_that_lead_outside(tmp_path: Path) -> None:
    model = MODELS["observed"]()
    layout = model.parameters.layouts[0]
    for at, value in ((1, 10**6), (1, -5), (1, layout.ptr[-1]), (0, 1), (-1, 10**6)):
        ptr = layout.ptr.copy()
        ptr[at] = value
        rewritten(tmp_path / "model", model, {}, {"layout.0.ptr": ptr})
        with pytest.raises(ModelFileError, match="parts do not fit"):
            load_model(tmp_path / "model")
    cell = layout.cell.copy()
    cell[0] = 255
    rewritten(tmp_path / "model", model, {}, {"layout.0.cell": cell})
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize(
    "changes",
    [
        {"space": {}},
        {"space": {"names": ["A"], "views": []}},
        {"space": {"names": ["A"], "views": [{"guideline": "g", "names": ["A"], "projection": [10**12]}]}},
        {"space": {"names": list("WXYZ"), "views": [{"guideline": "g", "names": ["A"], "projection": [0, 1, 2, 9]}]}},
        {"space": None},
        {"encoder": {"kind": "templates", "templates": ["nonsense["]}},
        {"encoder": {}},
        {"encoder": []},
        {"about": None, "space": 3},
        {"kind": None},
        {"kind": ["chain"]},
        {"task": "segment"},
        {"coding": "BMES"},
        {"transitions": 1},
        {"weighted": [1]},
        {"space": {"names": ["A"], "views": [{"guideline": "g", "names": ["A", "A"], "projection": [0]}]}},
        {"space": {"names": ["A"], "views": [{"guideline": "g", "names": ["A"], "projection": [False]}]}},
        {"space": {"names": ["\ud800"], "views": [{"guideline": "g", "names": ["A"], "projection": [0]}]}},
        {"encoder": {"kind": "templates", "templates": "form[0]"}},
        {"encoder": {"kind": "guided", "templates": ["form[0]"], "guide": {}, "taggers": []}},
        {"encoder": {"templates": ["form[0]"]}},
        {"about": {"plan": {"target": [{"path": 3}]}}},
        {"about": {"dev_score": float("nan")}},
        {"version": None},
        {"nobody": "knows"},
    ],
    ids=str,
)
def test_descriptions_that_do_not_fit(changes: dict[str, Any], tmp_path: Path) -> None:
    rewritten(tmp_path / "model", of_templates(), changes)
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "model")
    if changes != {"encoder": {"kind": "templates", "templates": ["nonsense["]}}:  # templates are read with the index
        with pytest.raises(ModelFileError):
            describe_model(tmp_path / "model")


def test_templates_that_take_all_memory_are_refused(tmp_path: Path) -> None:
    rewritten(tmp_path / "model", of_templates(), {"encoder": {"kind": "templates", "templates": ["form[-2000000]"]}})
    with pytest.raises(ModelFileError, match=r"found the offset -2000000 .* expected one from -32 to 32"):
        load_model(tmp_path / "model")


def lying(model: ChainModel, factor: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Its description and arrays as if every feature were seen by so many times more tokens, all of it consistent."""
    one = np.uint64(GRAMS.least)  # the code of a window of one token, with a hash of 0
    codes = model.encoder.arrays()["index.codes"]
    windows = (codes // one).astype(np.int64) * factor
    arrays: dict[str, Any] = {"index.codes": codes % one + windows.astype(np.uint64) * one}
    size = 0
    for i, view in enumerate(model.space.views):
        tags = len(view.names)
        arrays[f"layout.{i}.ptr"] = np.concatenate([[0], np.cumsum(windows * tags)]).astype(np.int32)
        if len(model.parameters.layouts[i].cell):
            cells = [np.arange(width * tags) for width in windows.tolist()]
            arrays[f"layout.{i}.cell"] = np.concatenate(cells).astype(np.uint16)
        size += int(arrays[f"layout.{i}.ptr"][-1]) + tags * tags + 2 * tags
    arrays["weights"] = np.ones(size, np.float32)
    return {}, arrays


@pytest.mark.parametrize("name", ["dense", "observed", "bundles"])
def test_a_consistent_lie_about_windows_reaches_no_kernel(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    rewritten(tmp_path / "model", model, *lying(model, 1))
    honest = load_model(tmp_path / "model")
    rewritten(tmp_path / "model", model, *lying(model, 4))
    loaded = load_model(tmp_path / "model")
    sentences = [Sentence(tuple(text)) for text in TEXTS] * 20
    assert (honest.encoder.encode(sentences).grams >= 0).any()
    encoded = loaded.encoder.encode(sentences)
    assert (encoded.grams == -1).all()
    assert (encoded.type_features == -1).all()
    assert np.isfinite(loaded.marginals(encoded)[1]).all()


def test_truth_values_that_are_neither(tmp_path: Path) -> None:
    strange = np.full((4, 4), 2, np.uint8).view(bool)
    rewritten(tmp_path / "model", of_templates(), {}, {"scheme.transition": strange})
    with pytest.raises(ModelFileError, match="expected truth values"):
        load_model(tmp_path / "model")


# Writing


def test_failing_to_write_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, model = tmp_path / "model", of_templates()
    save_model(model, path)

    def full(arrays: Any, file: Path, metadata: Any) -> None:
        Path(file).write_bytes(b"half")
        raise storage.SafetensorError("no space left on device")

    monkeypatch.setattr(storage, "save_file", full)
    with pytest.raises(OSError, match="the model cannot be written"):
        save_model(of_templates(1), path)
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert_equal(load_model(path), model)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none/model"):
        save_model(of_templates(), tmp_path / "none" / "model")


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
    monkeypatch.setattr(memory, "_LEAST", 1 << 20)
    save_model(large, path)
    assert len(load_model(path, ChainModel).space) == 400
    with monkeypatch.context() as patch:
        patch.setattr(memory, "_LEAST", 1 << 40)
        save_model(large, path)
    assert path.stat().st_size < 20_000
    with pytest.raises(ModelFileError, match=r"400 labels and .* at most 1 MB, what a file of [\d,]+ bytes may ask"):
        load_model(path)
    assert len(describe_model(path)["space"]["names"]) == 400
    monkeypatch.setattr(memory, "_LEAST", 1 << 40)
    monkeypatch.setattr(memory, "machine_memory", lambda: 1 << 20)
    with pytest.raises(ModelFileError, match="at most 1 MB, the memory of this machine"):
        load_model(path)


def test_models_inside_a_model_count(tmp_path: Path) -> None:
    own, inner = ({"space": {"names": ["x"] * count}, "about": {"space": 3}} for count in (10, 1000))
    outer = {**own, "encoder": {"guide": inner, "taggers": [inner]}}
    assert memory.needed_bytes(outer, 7) - memory.needed_bytes(own, 7) == 2 * memory.needed_bytes(inner, 0)


# Arrays that processes share


def test_a_shared_model_is_the_same(tmp_path: Path) -> None:
    for name, make in MODELS.items():
        save_model(make(), tmp_path / name)
        plain = load_model(tmp_path / name)
        for _ in range(2):  # the second one finds what the first one wrote
            shared = load_model(tmp_path / name, folder=tmp_path)
            assert_equal(shared, plain)
            for key, array in plain.arrays().items():
                assert array.flags.writeable == shared.arrays()[key].flags.writeable  # kernels are compiled for one


def test_a_change_stays_with_the_process(tmp_path: Path) -> None:
    save_model(MODELS["dense"](), tmp_path / "model")
    load_model(tmp_path / "model", folder=tmp_path).arrays()["weights"][:] = 0
    assert load_model(tmp_path / "model", folder=tmp_path).arrays()["weights"].any()


def test_arrays_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    made: list[Path] = []

    def use(model: Path) -> None:
        packing.shared_arrays(tmp_path, model.name, lambda: made.append(model) or {"a": np.ones(3)})

    models = [tmp_path / f"{number}.model" for number in range(7)]
    for model in models:
        model.write_text(model.name)
        use(model)
        use(models[0])
    assert len(list(tmp_path.glob("*.arrays"))) == 4
    assert made == models


def test_arrays_that_others_remove_at_the_same_time_are_made_again(tmp_path: Path) -> None:
    models = [tmp_path / f"{number}.model" for number in range(6)]
    for model in models:
        model.write_text(model.name)

    def load(seed: int) -> None:
        for number in np.random.default_rng(seed).integers(6, size=100):
            packing.shared_arrays(tmp_path, models[number].name, lambda: {"a": np.zeros(1000)})

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(load, range(4))) == [None] * 4
