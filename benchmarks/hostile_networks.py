"""Folders of networks, and model files with networks, that are damaged or made to do harm.

`python -m benchmarks.hostile_networks` runs them.

Each is used in a process of its own: it must work or be refused by an error for users, within ten seconds of the
processor and a gigabyte. Cases that must not work (weights that are missing, say) say so. Exit code 1 where any fails.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pickle
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file, save_file

from benchmarks.fuzz import measured_call
from benchmarks.fuzz_bases import corpus, save_network
from benchmarks.fuzz_mutations import read, write
from tagweave.corpus.sentence import Sentence
from tagweave.features.lookups import Lookups
from tagweave.features.rules import text_array
from tagweave.features.subwords import Subwords
from tagweave.front.options import message
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe

REFUSED, EITHER, WORKS = "refused", "either", "works"
_WEIGHTS, _CONFIG, _TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
_TEXTS = [Sentence(("ba", "dor", "Kim", "é" * 60, "a" * 3000, "一丁", " ", "\0", "[CLS]")), Sentence(("luna",) * 90)]


class Case(NamedTuple):
    """A change to a folder, or to the texts of a model file, and what must come of it."""

    name: str
    change: Callable[[Path], object]
    expected: str = EITHER


# Configurations

_SIZES: dict[str, tuple[Any, ...]] = {
    "hidden_size": (0, -8, 7, 10**6, 10**9, 1 << 63, 10**30, "8", 8.5, None, [], True, 1e308),
    "num_hidden_layers": (0, -1, 1, 3, 10**6, 10**12, "2", None, 1e9, [2]),
    "num_attention_heads": (0, -2, 3, 10**6, 10**12, "2", None),
    "intermediate_size": (0, -12, 10**6, 10**9, 10**15, "12", None),
    "vocab_size": (0, -1, 1, 3, 10**6, 10**9, 10**18, "40", None, 1e6),
    "max_position_embeddings": (0, -1, 1, 2, 3, 10**6, 10**12, "40", None),
    "type_vocab_size": (0, -1, 10**9, "2"),
    "pad_token_id": (-1, 39, 10**9, "0", 1.5, [0], True),
    "unk_token_id": (-5, 10**12, "x", {}),
}
_SETTINGS: list[tuple[str, dict[str, Any], str]] = [
    ("unknown type", {"model_type": "unheard"}, REFUSED),
    ("no type", {"model_type": None}, REFUSED),
    ("a type that is a number", {"model_type": 7}, REFUSED),
    ("a type that is a path", {"model_type": "../../bert"}, REFUSED),
    *(
        (f"type {kind}", {"model_type": kind}, REFUSED)
        for kind in (
            *(
                "clip",
                "vit",
                "whisper",
                "timm_wrapper",
                "timm_backbone",
                "encoder-decoder",
                "rag",
                "t5",
                "gpt2",
                "llama",
            ),
            *("layoutlmv2", "esm", "canine", "mixtral", "funnel", "xlnet", "mamba", "longformer", "xlm", "modernbert"),
        )
    ),
    ("code by auto_map", {"auto_map": {"AutoModel": "evil--evil.Model", "AutoConfig": "evil.Config"}}, WORKS),
    ("code of attention", {"_attn_implementation": "evil/kernels"}, WORKS),
    ("more code of attention", {"attn_implementation": "evil/kernels:attention"}, WORKS),
    (
        "internal code of attention",
        {"_attn_implementation_internal": "evil/kernels", "_experts_implementation": "x/y"},
        WORKS,
    ),
    ("attention by object", {"attn_implementation": {"": "evil/kernels"}}, WORKS),
    ("flash attention", {"_attn_implementation": "flash_attention_2"}, WORKS),
    ("remote code", {"trust_remote_code": True, "custom_pipelines": {"x": {"impl": "evil.X"}}}, WORKS),
    ("quantization", {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}, WORKS),
    ("unheard quantization", {"quantization_config": {"quant_method": "unheard"}}, WORKS),
    ("a type of numbers", {"torch_dtype": "evil"}, WORKS),
    ("another type of numbers", {"dtype": {"": "x"}, "torch_dtype": 17}, WORKS),
    ("half numbers", {"torch_dtype": "float16", "dtype": "float16"}, WORKS),
    ("a name elsewhere", {"_name_or_path": "/etc/passwd", "_commit_hash": 7}, WORKS),
    ("tuples", {"return_dict": False, "use_return_dict": False, "torchscript": True}, WORKS),
    ("all states", {"output_hidden_states": True, "output_attentions": True}, WORKS),
    ("a billion labels", {"num_labels": 10**9}, WORKS),
    ("labels that are no numbers", {"id2label": {"x": "y"}}, EITHER),
    ("labels as a list", {"id2label": ["a"], "label2id": 7}, EITHER),
    ("unheard activation", {"hidden_act": "evil"}, REFUSED),
    ("activation of another type", {"hidden_act": ["gelu"]}, REFUSED),
    ("dropout of 7", {"hidden_dropout_prob": 7}, REFUSED),
    ("dropout of nan", {"hidden_dropout_prob": float("nan")}, EITHER),
    ("eps of nan", {"layer_norm_eps": float("nan")}, REFUSED),
    ("eps as text", {"layer_norm_eps": "x"}, REFUSED),
    ("a decoder", {"is_decoder": True, "add_cross_attention": True}, REFUSED),
    ("chunks", {"chunk_size_feed_forward": 3}, EITHER),
    ("negative chunks", {"chunk_size_feed_forward": -3}, EITHER),
    ("pruned heads", {"pruned_heads": {"0": [0, 1], "7": [9]}}, EITHER),
    ("long text", {"architectures": ["B" * 100_000]}, EITHER),
    ("position type", {"position_embedding_type": "evil"}, EITHER),
    ("deep settings", {"task_specific_params": json.loads('{"a":' * 60 + "1" + "}" * 60)}, EITHER),
    ("MoE", {"model_type": "qwen2_moe", "num_experts": 10**6}, REFUSED),
    ("sines", {"model_type": "distilbert", "sinusoidal_pos_embds": True, "max_position_embeddings": 10**7}, REFUSED),
    ("sines of roformer", {"model_type": "roformer", "max_position_embeddings": 10**7, "embedding_size": 8}, REFUSED),
    ("groups of albert", {"model_type": "albert", "num_hidden_groups": 10**6, "inner_group_num": 10**6}, REFUSED),
]


def _config(change: Callable[[str], str]) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        path = folder / _CONFIG
        path.write_text(change(path.read_text("utf-8")), "utf-8")

    return changed


def _updated(new: dict[str, Any], old: str) -> str:
    return json.dumps({**json.loads(old), **new})


def of_config() -> Iterator[Case]:
    for name, values in _SIZES.items():
        for value in values:
            yield Case(f"{name} {value!r}"[:60], _config(partial(_updated, {name: value})))
    for what, new, expected in _SETTINGS:
        yield Case(what, _config(partial(_updated, new)), expected)
    for what, text in (
        ("empty config", ""),
        ("config of a list", "[]"),
        ("config of null", "null"),
        ("truncated config", '{"model_type": "be'),
        ("deep config", "[" * 100_000),
        ("config of 2 MB", '{"model_type": "bert", "x": "' + "y" * (2 << 20) + '"}'),
        ("a number of many digits", '{"model_type": "bert", "hidden_size": ' + "9" * 6000 + "}"),
    ):
        yield Case(what, _config(lambda _old, text=text: text), REFUSED)  # type: ignore[misc]
    twice = '"hidden_size": 1000000000}'
    yield Case("a key twice", _config(lambda old: old.rstrip().removesuffix("}").rstrip() + "," + twice), REFUSED)


# Tokenizers


def _tokenizer(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        path = folder / _TOKENIZER
        described = change(json.loads(path.read_text("utf-8")))
        path.write_text(described if isinstance(described, str) else json.dumps(described), "utf-8")

    return changed


def _replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def _split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _charsmap(texts: bytes, units: int = 256) -> dict[str, Any]:
    data = (4 * units).to_bytes(4, "little") + bytes(4 * units) + texts
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


_BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}
_META = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
_NORMALIZERS: list[tuple[str, Any, str]] = [
    ("three replacements", [_replace("a", "a" * 100)] * 3, REFUSED),
    ("replacements of 60", [_replace("a", "a" * 60)] * 5, REFUSED),
    ("replacements of 2", [_replace("a", "aa")] * 20, REFUSED),
    ("replaced by a megabyte", [_replace("a", "b" * (1 << 20))], REFUSED),
    ("replaced nothing", [_replace("", "b")], REFUSED),
    ("replaced an empty expression", [_replace("a*", "b" * 60, "Regex")] * 4, REFUSED),
    ("a slow replacement", [_replace("(a+)+b", "b", "Regex")], REFUSED),
    ("prepended megabyte", [{"type": "Prepend", "prepend": "x" * (1 << 20)}], REFUSED),
    ("unheard normalizer", [{"type": "Evil"}], REFUSED),
    ("normalizer without type", [{}], REFUSED),
    ("normalizers of text", ["x"], REFUSED),
    ("a thousand normalizers", [{"type": "Lowercase"}] * 1000, REFUSED),
    ("bytes of bytes", [{"type": "ByteLevel"}] * 14, REFUSED),
    ("broken map", [{"type": "Precompiled", "precompiled_charsmap": "AAAA"}], REFUSED),
    ("map that is no text", [{"type": "Precompiled", "precompiled_charsmap": 7}], REFUSED),
    ("map of an odd size", [{"type": "Precompiled", "precompiled_charsmap": "/////wAA"}], REFUSED),
    ("map to long texts", [_charsmap(b"x" * 100_000)], REFUSED),
    ("map to texts of 100", [_charsmap(b"x" * 100 + b"\0")], EITHER),
    ("map of zeros", [_charsmap(b"abc\0")], EITHER),
    ("decomposition", [{"type": "NFKD"}, {"type": "StripAccents"}], EITHER),
]
_EXPRESSIONS = (
    *(
        "(a+)+b",
        "(a*)*$",
        "(a|aa)+b",
        "a*a*a*a*a*b",
        "(?=(a+)+b)",
        "(a)\\1",
        "(",
        "(?R)",
        "(?<n>a+)\\g<n>",
        "a{1,100000}",
    ),
    *(
        "(?:a{1,1000}){1,1000}b",
        "a?" * 30 + "a" * 30,
        "[",
        "\\p{Evil}",
        "(?:(?:(?:a{90}){90}){90}){90}",
        "*",
    ),
)
_PRE: list[tuple[str, Any, str]] = [
    *((f"expression {text[:30]}", [_split(text)], REFUSED) for text in _EXPRESSIONS),
    ("looking back", [_split("(?<=a+)b")], EITHER),
    ("an empty expression", [_split("")], REFUSED),
    ("bytes of bytes of words", [_BYTES] * 14, REFUSED),
    ("blanks of blanks", [_META] * 14, REFUSED),
    ("unheard pre-tokenizer", [{"type": "Evil"}], REFUSED),
    ("a long blank", [{**_META, "replacement": "x" * 1000}], REFUSED),
    ("expression of GPT-2", [_split(r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")], WORKS),
    ("expression of thousands", [_split(r"\d{1,3}(?=(?:\d{3})*\b)")], WORKS),
]


def _with_step(part: str, list_name: str, steps: list[Any], described: dict[str, Any]) -> dict[str, Any]:
    return {**described, part: {"type": "Sequence", list_name: steps}}


def _vocabulary(change: Callable[[dict[str, int]], Any], described: dict[str, Any]) -> dict[str, Any]:
    return {**described, "model": {**described["model"], "vocab": change(described["model"]["vocab"])}}


def _of_model(new: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    return {**described, "model": {**described["model"], **new}}


def _framed(before: int, described: dict[str, Any]) -> dict[str, Any]:
    special = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    single = [*[special] * before, {"Sequence": {"id": "A", "type_id": 0}}]
    return {**described, "post_processor": {**described["post_processor"], "single": single}}


_MODELS: list[tuple[str, dict[str, Any], str]] = [
    ("unheard model", {"type": "Evil"}, REFUSED),
    ("no unknown piece", {"unk_token": "[NOWHERE]"}, EITHER),
    ("a prefix of a megabyte", {"continuing_subword_prefix": "x" * (1 << 20)}, REFUSED),
    ("words of any length", {"max_input_chars_per_word": 10**15}, EITHER),
    ("words of a negative length", {"max_input_chars_per_word": -1}, EITHER),
    ("BPE without merges", {"type": "BPE"}, EITHER),
    ("BPE with dropout", {"type": "BPE", "merges": [], "dropout": 0.5}, EITHER),
    ("BPE with merges of others", {"type": "BPE", "merges": [["x", "nowhere"]]}, EITHER),
    ("Unigram without scores", {"type": "Unigram"}, REFUSED),
    ("Unigram with an unknown id", {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 99}, EITHER),
    ("Unigram of nan", {"type": "Unigram", "vocab": [["a", float("nan")]], "unk_id": 0}, EITHER),
    ("words only", {"type": "WordLevel"}, EITHER),
]


def of_tokenizer() -> Iterator[Case]:
    for what, steps, expected in _NORMALIZERS:
        yield Case(what, _tokenizer(partial(_with_step, "normalizer", "normalizers", steps)), expected)
    for what, steps, expected in _PRE:
        yield Case(what, _tokenizer(partial(_with_step, "pre_tokenizer", "pretokenizers", steps)), expected)
    for what, new, expected in _MODELS:
        yield Case(what, _tokenizer(partial(_of_model, new)), expected)
    for what, change, expected in (
        ("ids out of range", lambda vocab: {**vocab, "ba": 10**6}, REFUSED),
        ("ids of 32 bits", lambda vocab: {**vocab, "ba": (1 << 32) - 1}, REFUSED),
        ("ids of 64 bits", lambda vocab: {**vocab, "ba": 1 << 63}, REFUSED),
        ("negative ids", lambda vocab: {**vocab, "ba": -1}, REFUSED),
        ("ids as text", lambda vocab: {**vocab, "ba": "x"}, REFUSED),
        ("one id for all", lambda vocab: dict.fromkeys(vocab, 1), EITHER),
        ("no pieces", lambda _vocab: {}, REFUSED),
        ("a list of pieces", lambda vocab: [*vocab], REFUSED),
        ("a vocabulary of others", lambda vocab: {**vocab, **{f"x{i}": i for i in range(len(vocab), 90)}}, REFUSED),
        ("a million pieces", lambda vocab: {**vocab, **{f"x{i}": i for i in range(len(vocab), 10**6)}}, REFUSED),
    ):
        yield Case(what, _tokenizer(partial(_vocabulary, change)), expected)
    for what, change, expected in (
        ("empty tokenizer", lambda _old: "", REFUSED),
        ("tokenizer of null", lambda _old: "null", REFUSED),
        ("tokenizer of a list", lambda _old: "[]", REFUSED),
        ("deep tokenizer", lambda _old: '{"model":' * 100_000, REFUSED),
        ("many empty lists", lambda _old: "[" + "[]," * (15 << 20) + "[]]", REFUSED),
        ("a model of text", lambda old: {**old, "model": "WordPiece"}, REFUSED),
        ("frame of 1000 pieces", partial(_framed, 1000), REFUSED),
        ("frame as long as the network", partial(_framed, 40), REFUSED),
        ("no frame", lambda old: {**old, "post_processor": None}, WORKS),
        ("unheard post-processor", lambda old: {**old, "post_processor": {"type": "Evil"}}, REFUSED),
        ("unheard decoder", lambda old: {**old, "decoder": {"type": "Evil"}}, WORKS),
        (
            "padded to a billion",
            lambda old: {**old, "padding": {"strategy": {"Fixed": 10**9}, "direction": "Right"}},
            WORKS,
        ),
        ("truncated to nothing", lambda old: {**old, "truncation": {"max_length": 0, "stride": 9}}, WORKS),
        (
            "added pieces",
            lambda old: {**old, "added_tokens": [{"id": 10**6, "content": "ba", "special": True}]},
            REFUSED,
        ),
        ("added pieces of text", lambda old: {**old, "added_tokens": "x"}, REFUSED),
        ("another version", lambda old: {**old, "version": "9.0"}, EITHER),
        ("lone surrogates", lambda old: json.dumps(old).replace('"ba"', '"\\ud800"'), EITHER),
    ):
        yield Case(what, _tokenizer(change), expected)


# Weights and files


def _weights(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        weights = change(load_file(folder / _WEIGHTS))
        save_file({name: np.ascontiguousarray(each) for name, each in weights.items()}, folder / _WEIGHTS)

    return changed


def _without(text: str, weights: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in weights.items() if text not in name}


def _filled(value: float, weights: dict[str, Any]) -> dict[str, Any]:
    return {name: np.full_like(each, value) if "layer.1" in name else each for name, each in weights.items()}


def _renamed(prefix: str, weights: dict[str, Any]) -> dict[str, Any]:
    return {prefix + name: each for name, each in weights.items()}


def _of_type(kind: str, weights: dict[str, Any]) -> dict[str, Any]:
    return {name: each.astype(kind) for name, each in weights.items()}


def _index(folder: Path, shards: Any, rename: str = "") -> None:
    if rename:
        (folder / _WEIGHTS).rename(folder / rename)
    else:
        (folder / _WEIGHTS).unlink()
    (folder / f"{_WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": shards}), "utf-8")


def _bytes(data: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        path = folder / _WEIGHTS
        path.write_bytes(data(path.read_bytes()))

    return changed


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("/tmp/evil",)  # noqa: S108 - nothing may make it


def _pickled(name: str, folder: Path) -> None:
    (folder / _WEIGHTS).unlink()
    (folder / name).write_bytes(pickle.dumps(_Evil()))


def _sparse(folder: Path) -> None:
    with (folder / _WEIGHTS).open("r+b") as file:
        file.truncate(20 << 30)


def _linked(name: str, target: str, folder: Path) -> None:
    (folder / name).unlink()
    (folder / name).symlink_to(target)


def _as_folder(name: str, folder: Path) -> None:
    (folder / name).unlink()
    (folder / name).mkdir()


def _as_pipe(name: str, folder: Path) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)


def _moved(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    for name in (_CONFIG, _WEIGHTS):
        (folder / name).rename(folder / "elsewhere" / name)
        (folder / name).symlink_to(folder / "elsewhere" / name)


def _sharded(folder: Path) -> None:
    weights = load_file(folder / _WEIGHTS)
    names = sorted(weights)
    shards = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for shard, of_shard in shards.items():
        save_file({name: weights[name] for name in of_shard}, folder / shard)
    _index(folder, {name: shard for shard, of_shard in shards.items() for name in of_shard})


def of_files() -> Iterator[Case]:
    for what, change, expected in (
        ("a layer is missing", partial(_without, "layer.1."), REFUSED),
        ("a bias is missing", partial(_without, "layer.0.attention.self.query.bias"), REFUSED),
        ("the words are missing", partial(_without, "word_embeddings"), REFUSED),
        ("all is missing", lambda _weights: {"x": np.zeros(3)}, REFUSED),
        ("nothing at all", lambda _weights: {}, REFUSED),
        ("no pooler", partial(_without, "pooler"), WORKS),
        ("a head more", lambda weights: {**weights, "cls.predictions.bias": np.zeros(40, np.float32)}, WORKS),
        ("prefix bert.", partial(_renamed, "bert."), WORKS),
        ("prefix evil.", partial(_renamed, "evil."), REFUSED),
        ("other sizes", lambda w: {k: v[:-1] if "word_embeddings" in k else v for k, v in w.items()}, REFUSED),
        ("other axes", lambda w: {k: v.T if "intermediate.dense.weight" in k else v for k, v in w.items()}, REFUSED),
        ("one number", lambda w: {k: np.zeros((), np.float32) for k in w}, REFUSED),
        ("nan", partial(_filled, float("nan")), REFUSED),
        ("infinity", partial(_filled, float("inf")), REFUSED),
        ("1e30", partial(_filled, 1e30), REFUSED),
        ("float16", partial(_of_type, "float16"), WORKS),
        ("float64", partial(_of_type, "float64"), WORKS),
        ("whole numbers", partial(_of_type, "int64"), EITHER),
        ("truth values", partial(_of_type, "bool"), EITHER),
    ):
        yield Case(what, _weights(change), expected)
    for what, data in (
        ("empty weights", lambda _data: b""),
        ("truncated weights", lambda data: data[: len(data) // 2]),
        ("truncated header", lambda data: data[:50]),
        ("garbage", lambda data: bytes(range(256)) * 40),
        ("a header of 4 GB", lambda data: (1 << 32).to_bytes(8, "little") + data[8:]),
        ("a pickle named safetensors", lambda _data: pickle.dumps(_Evil())),
        ("a pointer of git-lfs", lambda _data: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
        ("a header of a list", lambda _data: (2).to_bytes(8, "little") + b"[]"),
        ("offsets outside", lambda data: data.replace(b'"data_offsets":[0,', b'"data_offsets":[9,')),
        ("zeros behind", lambda data: data + bytes(999)),
    ):
        yield Case(what, _bytes(data), REFUSED)
    for what, change, expected in (
        ("pickle", partial(_pickled, "pytorch_model.bin"), REFUSED),
        ("pickle in parts", partial(_pickled, "pytorch_model.bin.index.json"), REFUSED),
        ("no weights", lambda folder: (folder / _WEIGHTS).unlink(), REFUSED),
        ("no tokenizer", lambda folder: (folder / _TOKENIZER).unlink(), REFUSED),
        ("twenty gigabytes", _sparse, REFUSED),
        ("two shards", _sharded, WORKS),
        ("shards outside", lambda folder: _index(folder, {"x": "../../../etc/passwd"}), REFUSED),
        ("shards at a path", lambda folder: _index(folder, {"x": "/dev/zero"}), REFUSED),
        ("shards that are missing", lambda folder: _index(folder, {"x": "model-00001-of-00002.safetensors"}), REFUSED),
        (
            "a shard of a pickle",
            lambda folder: _index(folder, {"x": "pytorch_model.bin"}, "pytorch_model.bin"),
            REFUSED,
        ),
        ("no shards", lambda folder: _index(folder, {}), REFUSED),
        ("a list of shards", lambda folder: _index(folder, ["x"]), REFUSED),
        ("shards of numbers", lambda folder: _index(folder, {"x": 7, "y": [1]}), REFUSED),
        (
            "a million shards",
            lambda folder: _index(folder, {str(i): f"{i}.safetensors" for i in range(10**6)}),
            REFUSED,
        ),
        ("link to zeros", partial(_linked, _WEIGHTS, "/dev/zero"), REFUSED),
        ("config of zeros", partial(_linked, _CONFIG, "/dev/zero"), REFUSED),
        ("link to itself", partial(_linked, _TOKENIZER, _TOKENIZER), REFUSED),
        ("link to a text", partial(_linked, _WEIGHTS, "/etc/passwd"), REFUSED),
        ("links to files elsewhere", _moved, WORKS),
        ("weights are a folder", partial(_as_folder, _WEIGHTS), REFUSED),
        ("config is a folder", partial(_as_folder, _CONFIG), REFUSED),
        ("weights are a pipe", partial(_as_pipe, _WEIGHTS), REFUSED),
        ("config is a pipe", partial(_as_pipe, _CONFIG), REFUSED),
        ("config in UTF-16", lambda f: (f / _CONFIG).write_bytes((f / _CONFIG).read_text().encode("utf-16")), REFUSED),
        ("tokenizer of bytes", lambda folder: (folder / _TOKENIZER).write_bytes(bytes(range(256))), REFUSED),
        ("adapter", lambda f: (f / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/x"}'), WORKS),
    ):
        yield Case(what, change, expected)


FOLDERS = [*of_config(), *of_tokenizer(), *of_files()]
MODELS = [case for case in (*of_tokenizer(), *of_config()) if "layers True" not in case.name]


def use_folder(folder: Path) -> None:
    """Make a network of a folder, and tag a text with it."""
    _tag(_of_folder(folder))


def _of_folder(folder: Path) -> Any:
    recipe = Recipe(lookups=Lookups(subwords=Subwords.of_folder(str(folder))), learner="adamw")
    return prepare([corpus("ud")], recipe).model


def _tag(model: Any) -> None:
    list(ChainPredictor(model).tag(_TEXTS))


def use_model(case: Case, base: Path, path: Path) -> None:
    """Write a model file whose texts a case has changed, and tag with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        description, arrays = read(base)
        names = {_CONFIG: "subwords.config", _TOKENIZER: "subwords.tokenizer"}
        for file, array in names.items():
            (folder / file).write_text(json.loads(arrays[array].tobytes())[0], "utf-8")
        case.change(folder)
        texts = {array: text_array([(folder / file).read_text("utf-8")]) for file, array in names.items()}
    write(path, description, {**arrays, **texts})
    _tag(load_model(path))


def outcome(use: Callable[[], object]) -> list[str]:
    """What came of a case, and what was said."""
    try:
        use()
    except BaseException as error:
        told = message(error)
        return ["tracebacks", f"{type(error).__name__}: {error}"[:300]] if told is None else [REFUSED, told]
    return [WORKS, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="cases whose name has this text")
    only = parser.parse_args().only or ""
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        base, again, model = Path(name) / "base", Path(name) / "case", Path(name) / "model"
        base.mkdir()
        save_network(base)
        first = _of_folder(base)
        _tag(first)  # a case should not wait for a compiler
        save_model(first, model)
        _tag(load_model(model))
        for kind, cases in (("folders", FOLDERS), ("model files", MODELS)):
            counts: Counter[str] = Counter()
            peak, slowest = 0, 0.0
            for case in (each for each in cases if only in each.name):
                shutil.rmtree(again, ignore_errors=True)
                shutil.copytree(base, again)
                if kind == "folders":
                    case.change(again)
                    use = partial(use_folder, again)
                else:
                    use = partial(use_model, case, model, again / "model")
                result, said, megabytes, seconds = measured_call(partial(outcome, use))
                is_wrong = case.expected != EITHER and result in (REFUSED, WORKS) and result != case.expected
                result = "wrong" if is_wrong else "large" if megabytes > 1000 else result
                counts[result] += 1
                peak, slowest = max(peak, megabytes), max(slowest, seconds)
                if result not in (REFUSED, WORKS) or only:
                    print(f"{kind}: {case.name}: {result}, {megabytes} MB, {seconds} s: {said}", flush=True)
            failures += sum(counts.values()) - counts[REFUSED] - counts[WORKS]
            print(f"{kind}: {sum(counts.values())} {dict(counts)}, at most {peak} MB, {slowest} s", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
