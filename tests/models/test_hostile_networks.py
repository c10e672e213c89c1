"""Folders of networks and model files with networks that are damaged or made to do harm: each works or is refused.

The cases are a few of what `python -m benchmarks.hostile_networks` tries.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from benchmarks import hostile_networks
from benchmarks.fuzz_bases import save_network
from benchmarks.hostile_networks import EITHER, FOLDERS, MODELS, REFUSED, WORKS, outcome, use_model
from tagweave.features.subwords import NetworkError, Subwords
from tagweave.features.tokenizer_rules import check_expression
from tagweave.models.pretrained import pretrained
from tagweave.models.storage import save_model

CHOSEN = (
    *(
        "hidden_size 1000000",
        "num_hidden_layers 3",
        "num_hidden_layers 1000000000000",
        "vocab_size 1000000000000000000",
    ),
    *("unknown type", "type vit", "code of attention", "a billion labels", "eps of nan", "deep config", "a key twice"),
    *("three replacements", "replacements of 60", "broken map", "map to long texts", "bytes of bytes", "no frame"),
    *("expression (a+)+b", "unheard model", "ids of 32 bits", "a vocabulary of others", "frame of 1000 pieces"),
    *(
        "a layer is missing",
        "a bias is missing",
        "no pooler",
        "a head more",
        "prefix bert.",
        "prefix evil.",
        "other sizes",
    ),
    *("nan", "float16", "truncated weights", "a pickle named safetensors", "pickle", "two shards", "shards outside"),
    *("link to zeros", "links to files elsewhere", "weights are a pipe", "adapter"),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("network")
    save_network(folder)
    return folder


def test_folders(base: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cases = {case.name: case for case in FOLDERS}
    for number, name in enumerate(CHOSEN):
        folder = tmp_path / str(number)
        shutil.copytree(base, folder)
        cases[name].change(folder)
        result, told = outcome(lambda folder=folder: pretrained(Subwords.of_folder(str(folder))))  # type: ignore[misc]
        assert (name, result) in {(name, WORKS), (name, REFUSED)}, told
        expected = cases[name].expected
        assert expected in (result, EITHER) or name == "eps of nan", (name, told)  # that shows in use
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""  # neither panics nor reports


def test_model_files(base: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    save_model(hostile_networks._of_folder(base), model)
    for case in (case for case in MODELS if case.name in CHOSEN[::2]):
        result, told = outcome(lambda case=case: use_model(case, model, tmp_path / "changed"))  # type: ignore[misc]
        assert result == case.expected or (case.expected == EITHER and result in (WORKS, REFUSED)), (case.name, told)


def test_weights_that_are_missing_are_named(base: Path, tmp_path: Path) -> None:
    """They used to be random numbers."""
    folder = tmp_path / "network"
    shutil.copytree(base, folder)
    weights = load_file(folder / "model.safetensors")
    few = {name: array for name, array in weights.items() if "layer.1." not in name}
    few["cls.bias"] = np.zeros(9000, np.float32)  # as many numbers as are missing
    save_file(few, folder / "model.safetensors")
    with pytest.raises(NetworkError, match=r"found no encoder\.layer\.1\.\S+ among the weights \(16 are missing\)"):
        pretrained(Subwords.of_folder(str(folder)))


def test_expressions_of_published_tokenizers() -> None:
    for expression in (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)",
        r"[^\r\n\p{L}]?[\p{Lu}\p{Lt}\p{M}]*[\p{Ll}\p{M}]+(?i:'s|'t)?|\s*[\r\n]+",
        r"\d{1,3}(?=(?:\d{3})*\b)",
        r" {2,}",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}]?[\p{L}\p{M}]+",
    ):
        check_expression(expression, "")
    for expression in ("(a+)+b", "a*a*a*b", "(?:a?){20}", "a?" * 20, r"(a)\1", "(a*|b)(a*|b)(a*|b)", "[[a]]*[b]*c*x"):
        with pytest.raises(ValueError, match="expected one that cannot search for long"):
            check_expression(expression, "")
