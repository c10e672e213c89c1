"""Pieces of words for a network that was trained before: the vocabulary that comes with it, and its configuration.

A folder of a `transformers` model has `config.json`, `tokenizer.json` and the weights. A model of this package stores
the first two as they are, and its own weights in place of the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import PlanError
from tagweave.evidence.sequences import pointers
from tagweave.features.rules import read_texts, text_array

EXTRA = "expected the extra encoders: pip install '.[encoders]' in a checkout of tagweave"
ARRAYS = ("subwords.config", "subwords.tokenizer")
POOLING = ("first", "mean", "last")
"""Which of the pieces of a token its vector comes from."""
Ints = NDArray[np.int64]
_FILES = ("config.json", "tokenizer.json")
_LONGEST = 512  # pieces that a network reads at once, where its configuration does not tell
# types of networks whose positions are counted from after the padding's
_OFFSET = ("roberta", "camembert", "longformer")


class Reading(NamedTuple):
    """Rows of pieces for the network, and where in them the tokens are."""

    pieces: Ints  # [R, longest], padded
    mask: NDArray[np.bool_]  # [R, longest]
    first_piece: Ints  # [n], of every token, as an index into the flattened rows
    piece_count: Ints  # [n], how many pieces it has


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

    def laid_out(self, pieces: NDArray[Any], piece_ptr: Ints, sentence_ptr: Ints) -> Reading:
        """Lay out sentences in rows, each with the pieces before and after a sentence.

        Args:
            pieces: of all tokens.
            piece_ptr: [n + 1], where the pieces of each token begin.
            sentence_ptr: where the tokens of each sentence begin.
        """
        before, after = self.frame
        count, most = np.diff(piece_ptr), self.longest - len(before) - len(after)
        windows = [
            [low + at for at in window]
            for low, high in pairwise(sentence_ptr.tolist())
            for window in windows_of(count[low:high], most)
        ]
        longest = max((int(piece_ptr[high] - piece_ptr[low]) for low, high, _, _ in windows), default=0)
        width = longest + len(before) + len(after)
        table = np.full((len(windows), width), self.settings.get("pad_token_id") or 0, np.int64)
        mask, place = np.zeros(table.shape, np.bool_), np.zeros(len(count), np.int64)
        for row, (low, high, begin, end) in enumerate(windows):
            line = np.concatenate([before, pieces[piece_ptr[low] : piece_ptr[high]], after]).astype(np.int64)
            table[row, : len(line)], mask[row, : len(line)] = line, True
            place[begin:end] = row * width + len(before) + piece_ptr[begin:end] - piece_ptr[low]
        return Reading(table, mask, place, count)


def _parts(described: Any) -> list[dict[str, Any]]:
    """Return the parts of a step of a tokenizer, described as JSON."""
    if not isinstance(described, dict):
        return []
    inner = [part for each in described.get("pretokenizers", ()) for part in _parts(each)]
    return [described, *inner]


def windows_of(count: Ints, most: int) -> Sequence[tuple[int, int, int, int]]:
    """Cut a sentence into windows of at most so many pieces, which overlap by half.

    Returns:
        the first token of each window and the end, and the first token that is taken from it and their end.
    """
    if not len(count):
        return []
    ends = np.cumsum(count)
    found, low = [], 0
    while True:
        before = ends[low] - count[low]
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        found.append((low, high))
        if high == len(count):
            break
        low = max(low + 1, int(np.searchsorted(ends, before + most // 2, side="right")))
    middles = [0, *((low + high) // 2 for (low, _), (_, high) in zip(found[1:], found, strict=False)), len(count)]
    return [(*window, *taken) for window, taken in zip(found, pairwise(middles), strict=True)]
