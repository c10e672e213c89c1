"""Pieces of words for a network that was trained before: the vocabulary that comes with it, and its configuration.

A folder of a `transformers` model has `config.json`, `tokenizer.json` and the weights. A model of this package stores
the first two as they are, and its own weights in place of the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import PlanError
from tagweave.evidence.sequences import pointers
from tagweave.features.rules import read_texts, text_array

EXTRA = "expected the extra encoders: pip install '.[encoders]' in a checkout of tagweave"
ARRAYS = ("subwords.config", "subwords.tokenizer")
_FILES = ("config.json", "tokenizer.json")
_LONGEST = 512  # pieces that a network reads at once, where its configuration does not tell
_OFFSET = (
    "roberta",
    "camembert",
    "longformer",
)  # types of networks whose positions are counted from after the padding's


@dataclass(frozen=True)
class Subwords:
    """The pieces of words that a network reads; `folder`: where its first weights are, "" for a trained model."""

    config: str  # JSON
    tokenizer: str  # JSON
    folder: str = field(default="", compare=False)

    @classmethod
    def of_folder(cls, folder: str) -> Subwords:
        """Read a folder. Raises PlanError if a file is missing; FileNotFoundError if the folder is."""
        if not Path(folder).is_dir():
            raise PlanError(f"{folder}: found no such folder, expected one with {', '.join(_FILES)} and weights")
        for name in _FILES:
            if not (Path(folder) / name).is_file():
                raise PlanError(f"{folder}: found no {name}, expected the folder of a model of transformers")
        config, tokenizer = ((Path(folder) / name).read_text("utf-8") for name in _FILES)
        return cls(config, tokenizer, folder)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Subwords | None:
        if not all(name in arrays for name in ARRAYS):
            return None
        return cls(*("".join(read_texts(arrays[name], name)) for name in ARRAYS))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: text_array([each]) for name, each in zip(ARRAYS, (self.config, self.tokenizer), strict=True)}

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The configuration of the network, which never names code to run."""
        try:
            settings = json.loads(self.config)
        except ValueError:
            settings = None
        if not isinstance(settings, dict) or not isinstance(settings.get("model_type"), str):
            raise ValueError(
                "found a network without `model_type`, expected the config.json of a model of transformers"
            )
        return {name: value for name, value in settings.items() if name != "auto_map"}

    @cached_property
    def longest(self) -> int:
        """How many pieces the network reads at once, special ones included."""
        most, padding = self.settings.get("max_position_embeddings"), self.settings.get("pad_token_id") or 0
        if not isinstance(most, int) or most < 1:
            return _LONGEST
        is_offset = any(name in self.settings["model_type"] for name in _OFFSET)
        return most - padding - 1 if is_offset else most

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError:
            raise PlanError(f"found no tokenizers, {EXTRA}") from None
        described = json.loads(self.tokenizer)
        for each in _parts(described.get("pre_tokenizer")):
            if each.get("type") == "ByteLevel":
                each["add_prefix_space"] = True  # words come one by one, each as if inside a sentence
        tokenizer = Tokenizer.from_str(json.dumps(described))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def frame(self) -> tuple[list[int], list[int]]:
        """The pieces before and after the words of a sentence."""
        bare, framed = (self._tokenizer.encode("a", add_special_tokens=each).ids for each in (False, True))
        at = next(i for i in range(len(framed) + 1) if framed[i : i + len(bare)] == bare)
        return framed[:at], framed[at + len(bare) :]

    def pieces(self, forms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return pointers int64[V + 1] and the pieces of each form, one at least."""
        unknown = self.settings.get("unk_token_id") or 0
        if (own := self._tokenizer.token_to_id("[UNK]")) is not None:
            unknown = own
        most = self.longest - sum(map(len, self.frame))
        cut = self._tokenizer.encode_batch(list(forms), add_special_tokens=False)
        found = [each.ids[:most] or [unknown] for each in cut]
        ids = np.fromiter((piece for each in found for piece in each), np.int32)
        return pointers(np.array([len(each) for each in found], np.int64)), ids


def _parts(described: Any) -> list[dict[str, Any]]:
    """Return the parts of a step of a tokenizer, described as JSON."""
    if not isinstance(described, dict):
        return []
    inner = [part for each in described.get("pretokenizers", ()) for part in _parts(each)]
    return [described, *inner]
