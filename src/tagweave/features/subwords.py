"""Pieces of words for a network that was trained before: the vocabulary that comes with it, and its configuration.

A folder of a `transformers` model has `config.json`, `tokenizer.json` and the weights. A model of this package stores
the first two as they are, and its own weights in place of the others.

Both may come from strangers. What is not needed is left out of the configuration, above all names of code, and sizes
are bounded; `tokenizer_rules` checks the tokenizer. The libraries that read them raise whatever they like, panics of
Rust included, which `refusing` turns into one error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from tagweave.errors import PlanError
from tagweave.evidence.sequences import pointers
from tagweave.features.rules import checked, read_texts, refuse, text_array
from tagweave.features.tokenizer_rules import check_tokenizer, enlarges, steps_of

EXTRA = "expected the extra encoders: pip install '.[encoders]' in a checkout of tagweave"
ARRAYS = ("subwords.config", "subwords.tokenizer")
POOLING = ("first", "mean", "last")
"""Which of the pieces of a token its vector comes from."""
Ints = NDArray[np.int64]
_FILES = ("config.json", "tokenizer.json")
_LONGEST = 512  # pieces that a network reads at once, where its configuration does not tell
# types of networks whose positions are counted from after the padding's
_OFFSET = ("roberta", "camembert", "longformer", "mpnet")
_MOST_BYTES = {"config.json": 1 << 20, "tokenizer.json": 48 << 20}
_MOST_ITEMS = 4_000_000  # of a tokenizer.json, which has about 2 million with 500,000 pieces and as many merges
_MOST_NESTED = 20
_MOST_LAYERS, _LARGEST_SIZE = 200, 1 << 24
_MOST_POSITIONS = 1 << 21  # numbers of a table of sines, which transformers computes one by one
_SINES = ("distilbert", "flaubert", "roformer", "xlm")
_LONGEST_FORM = 250  # characters of a word that are cut into pieces
_LONGEST_NORMALIZED = 10_000  # characters that normalizers make of a word
_TOGETHER = 50_000  # characters that are cut at a time
_MOST_FRAME = 16  # pieces before and after a sentence
# settings that name code to run or to fetch, files, other outputs, types of numbers, or that the library derives
_LEFT_OUT = (
    *("auto_map", "custom_pipelines", "quantization_config", "torch_dtype", "dtype", "num_labels", "return_dict"),
    *("use_return_dict", "return_dict_in_generate", "output_attentions", "output_hidden_states", "torchscript"),
    *("adapter_kwargs", "peft_config", "base_model_tp_plan", "use_kernels", "kernel_config", "transformers_weights"),
)
_IMPLEMENTATION = "_implementation"  # of attention or of experts, whose name may be that of code on a hub


class NetworkError(PlanError):
    """A network or its pieces of words that cannot be used: damaged, of another kind, or made to do harm."""


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Raise whatever a library raises, panics and failed allocations included, as a `NetworkError`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, PlanError):
        raise
    except BaseException as error:
        lines = str(error).strip().splitlines()
        reason = lines[0][:200] if lines else type(error).__name__
        raise NetworkError(f"found {what} that cannot be used: {reason}") from None


class Reading(NamedTuple):
    """Rows of pieces for the network, and where in them the tokens are."""

    pieces: Ints  # [R, longest], padded
    mask: NDArray[np.bool_]  # [R, longest]
    first_piece: Ints  # [n], of every token, as an index into the flattened rows
    piece_count: Ints  # [n], how many pieces it has


class _Pieces(Struct):
    pad_token_id: Annotated[int, Meta(ge=0, le=_LARGEST_SIZE)] | None = None
    unk_token_id: Annotated[int, Meta(ge=0, le=_LARGEST_SIZE)] | None = None


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
        texts: dict[str, str] = {}
        for name in _FILES:
            path = Path(folder) / name
            if not path.is_file():
                raise PlanError(f"{folder}: found no {name}, expected the folder of a model of transformers")
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES[name] + 1)
            if len(data) > _MOST_BYTES[name]:
                raise NetworkError(f"{path}: found more than {_MOST_BYTES[name]:,} bytes, expected fewer")
            try:
                texts[name] = data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise NetworkError(f"{path}: found {error.reason} at byte {error.start}, expected UTF-8") from None
        subwords = cls(texts["config.json"], texts["tokenizer.json"], folder)
        try:
            subwords.check()
        except ValueError as error:
            raise NetworkError(f"{folder}: {error}") from None
        return subwords

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Subwords | None:
        if not all(name in arrays for name in ARRAYS):
            return None
        return cls(*("".join(read_texts(arrays[name], name)) for name in ARRAYS))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: text_array([text]) for name, text in zip(ARRAYS, (self.config, self.tokenizer), strict=True)}

    def check(self) -> None:
        """Raise ValueError unless the configuration and the tokenizer can be used."""
        if self.vocabulary > _LARGEST_SIZE:
            refuse(self.vocabulary, "tokenizer.json", f"numbers of pieces below {_LARGEST_SIZE:,}")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The configuration of the network, which never names code to run."""
        try:
            settings = json.loads(self.config) if len(self.config) <= _MOST_BYTES["config.json"] else None
        except (ValueError, RecursionError):
            settings = None
        if not isinstance(settings, dict) or not isinstance(settings.get("model_type"), str):
            raise ValueError(
                "found a network without `model_type`, expected the config.json of a model of transformers"
            )
        settings = _harmless(settings, "config.json")
        checked(settings, _Pieces, "config.json")
        return settings

    @cached_property
    def longest(self) -> int:
        """How many pieces the network reads at once, special ones included."""
        most, padding = self.settings.get("max_position_embeddings"), self.settings.get("pad_token_id") or 0
        if not isinstance(most, int) or most < 1:
            return _LONGEST
        is_offset = any(name in self.settings["model_type"] for name in _OFFSET)
        return min(_LONGEST, most - padding - 1 if is_offset else most)

    @property
    def width(self) -> int:
        """How many numbers the states of the network have, by its configuration; 768 where this does not tell."""
        sizes = (self.settings.get(name) for name in ("hidden_size", "dim", "d_model", "emb_dim"))
        return next((size for size in sizes if isinstance(size, int) and size > 0), 768)

    def check_tables(self) -> None:
        """Raise ValueError for a table of sines that would take long: it is computed number by number."""
        if not any(name == self.settings["model_type"] for name in _SINES):
            return
        sizes = [self.settings.get(name) for name in ("max_position_embeddings", "dim", "emb_dim", "hidden_size")]
        positions, *widths = (size if isinstance(size, int) else 0 for size in sizes)
        if positions * max(widths) > _MOST_POSITIONS:
            refuse(positions, "config.json max_position_embeddings", f"a table of at most {_MOST_POSITIONS:,} numbers")

    @cached_property
    def _described(self) -> dict[str, Any]:
        """The tokenizer, checked."""
        if len(self.tokenizer) > _MOST_BYTES["tokenizer.json"] or (
            sum(self.tokenizer.count(sign) for sign in ",[{") > _MOST_ITEMS
        ):
            refuse(len(self.tokenizer), "tokenizer.json", f"at most {_MOST_ITEMS:,} values")
        try:
            described = check_tokenizer(json.loads(self.tokenizer))
        except RecursionError:
            refuse("many", "tokenizer.json", "few levels")
        pieces, rows = described["model"].get("vocab"), self.settings.get("vocab_size")
        if isinstance(pieces, dict | list) and isinstance(rows, int) and len(pieces) > rows:
            refuse(len(pieces), "tokenizer.json model.vocab", f"at most {rows:,} pieces, as config.json")
        for step in steps_of(described.get("pre_tokenizer"), "pre_tokenizer"):
            if step["type"] == "ByteLevel":
                step["add_prefix_space"] = True  # words come one by one, each as if inside a sentence
        return described

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError:
            raise PlanError(f"found no tokenizers, {EXTRA}") from None
        with refusing("a tokenizer.json"):
            return Tokenizer.from_str(json.dumps(self._described))

    @cached_property
    def vocabulary(self) -> int:
        """One more than the highest number of a piece."""
        with refusing("a tokenizer.json"):
            numbers = self._tokenizer.get_vocab(with_added_tokens=True).values()
        return max([*numbers, self.settings.get("pad_token_id") or 0, *self.frame[0], *self.frame[1]], default=0) + 1

    @cached_property
    def frame(self) -> tuple[list[int], list[int]]:
        """The pieces before and after the words of a sentence."""
        with refusing("a tokenizer.json"):
            list(self._batches("a"))  # it refuses a tokenizer that makes too much of a letter
            bare, framed = (
                self._tokenizer.encode("a", add_special_tokens=with_frame).ids for with_frame in (False, True)
            )
        at = next((i for i in range(len(framed) - len(bare) + 1) if framed[i : i + len(bare)] == bare), None)
        frame = ([], []) if at is None else (framed[:at], framed[at + len(bare) :])
        special = sum(map(len, frame))
        if at is None or special > _MOST_FRAME or special >= self.longest:
            problem = f"{len(framed) - len(bare)} pieces beside those of a word"
            raise ValueError(f"found {problem}, expected at most {min(_MOST_FRAME, self.longest - 1)} around them")
        return frame

    @cached_property
    def unknown(self) -> int:
        """The piece for words that have none."""
        number: int | None = self._tokenizer.token_to_id("[UNK]")
        return self.settings.get("unk_token_id") or 0 if number is None else number

    def pieces(self, forms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return pointers int64[V + 1] and the pieces of each form, one at least.

        Raises:
            NetworkError: a tokenizer that fails at a form, or makes too much of it.
        """
        most = self.longest - sum(map(len, self.frame))
        rows: list[list[int]] = []
        with refusing("a tokenizer.json"):
            for batch in self._batches(forms):
                cut = self._tokenizer.encode_batch(batch, add_special_tokens=False)
                rows += [encoding.ids[:most] or [self.unknown] for encoding in cut]
        ids = np.fromiter((piece for row in rows for piece in row), np.int32)
        return pointers(np.array([len(row) for row in rows], np.int64)), ids

    def _batches(self, forms: Sequence[str]) -> Iterator[list[str]]:
        """Yield forms, so many at a time that their pieces take little memory."""
        normalizer = self._tokenizer.normalizer if enlarges(self._described) else None
        batch, size = list[str](), 0
        for form in forms:
            short = form[:_LONGEST_FORM]
            size += len(short) if normalizer is None else _normalized_length(normalizer, short)
            batch.append(short)
            if size >= _TOGETHER:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

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


def _harmless(settings: Mapping[str, Any], where: str, depth: int = 0) -> dict[str, Any]:
    """Return settings without those that could name code. Raises ValueError for sizes beyond those of networks."""
    kept = {}
    for name, value in settings.items():
        if name.startswith("_") or name in _LEFT_OUT or name.endswith(_IMPLEMENTATION):
            continue
        place = f"{where} {name}"
        if isinstance(value, int) and not isinstance(value, bool):
            most = _MOST_LAYERS if "layer" in name else _LARGEST_SIZE
            if not -_LARGEST_SIZE <= value <= most:
                refuse(value, place, f"a whole number from {-_LARGEST_SIZE} to {most}")
        if isinstance(value, dict):
            if depth >= _MOST_NESTED:
                refuse(name, where, "few levels")
            kept[name] = _harmless(value, place, depth + 1)
        else:
            kept[name] = value
    return kept


def _normalized_length(normalizer: Any, form: str) -> int:
    """Return how long normalizers make a form, step by step, so that no step sees more than a few thousand characters.

    Raises:
        NetworkError: they make too much of it.
    """
    try:
        steps = [normalizer[at] for at in range(len(normalizer))]
    except TypeError:  # it is one step
        steps = [normalizer]
    text = form
    for step in steps:
        text = step.normalize_str(text)
        if len(text) > _LONGEST_NORMALIZED:
            raise NetworkError(
                f"found a tokenizer.json that makes {len(text):,} characters of a word of {len(form)},"
                f" expected at most {_LONGEST_NORMALIZED:,}"
            )
    return len(text)


def windows_of(count: Ints, most: int) -> Sequence[tuple[int, int, int, int]]:
    """Cut a sentence into windows of at most so many pieces, which overlap by half.

    Returns:
        the first token of each window and the end, and the first token that is taken from it and their end.
    """
    if not len(count):
        return []
    ends = np.cumsum(count)
    windows, low = [], 0
    while True:
        before = ends[low] - count[low]
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        windows.append((low, high))
        if high == len(count):
            break
        low = max(low + 1, int(np.searchsorted(ends, before + most // 2, side="right")))
    middles = [0, *((low + high) // 2 for (low, _), (_, high) in zip(windows[1:], windows, strict=False)), len(count)]
    return [(*window, *taken) for window, taken in zip(windows, pairwise(middles), strict=True)]
