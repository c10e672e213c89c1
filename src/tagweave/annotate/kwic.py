"""A concordance of raw text: every occurrence of a word, aligned, page by page (KWIC; tsuboi-2008, section 2.1).

The index is a folder of memory-mapped arrays: the text, 4 bytes a character, and its positions twice, sorted by what
follows them and by what precedes them (`tagweave.kernels.text_arrays`), 4 bytes each. All occurrences of a word are one
run in either order, sorted by context, so a page costs two bisections, however large the text is.

No occurrence begins or ends inside a run of cased letters or of digits, as in `active.strategies.occurrences`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import whole_folder
from tagweave.errors import CorpusError
from tagweave.kernels import text_arrays
from tagweave.kernels.trie import code_points, run_characters

ORDERS = ("following", "preceding", "text")
"""Sorted by what follows the word, by what precedes it (read backwards), or in the order of the text."""
LONGEST = text_arrays.DEPTH
"""Characters of the longest word; contexts are sorted by as many characters, including the word."""

_FORMAT = 1
_ARRAYS = {"text": np.uint32, "begins": np.int64, "following": np.uint32, "preceding": np.uint32}
_STEP = {"following": 1, "preceding": -1}

Positions = NDArray[np.uint32]


class Occurrence(NamedTuple):
    """A word in a sentence (numbered from 0), its characters start .. stop - 1, and its context in the sentence."""

    sentence: int
    start: int
    stop: int
    before: str
    after: str


class OccurrencePage(NamedTuple):
    """Some occurrences of a word, and the total number."""

    total: int
    occurrences: tuple[Occurrence, ...]


class Concordance:
    """The occurrences of any word in a text, from a folder that `build` wrote."""

    def __init__(self, folder: Path | str) -> None:
        folder = Path(folder)
        arrays = _read(folder)
        self._text, self._begins = arrays["text"], arrays["begins"]
        self._order: dict[str, Positions] = {name: arrays[name] for name in _STEP}
        self._counted: dict[str, int] = {}
        self._held: tuple[tuple[str, str], Positions] = (("", ""), np.zeros(0, np.uint32))

    def __len__(self) -> int:
        return len(self._begins)

    def counts(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Count each word, int64[W]. Counts are cached. Raises ValueError for words of 0 or too many characters."""
        if new := [word for word in dict.fromkeys(words) if word not in self._counted]:
            start, stop = self._runs(new, "following")
            for word, count in zip(new, (stop - start).tolist(), strict=True):
                is_inside = count and any(_inside_runs(word))
                self._counted[word] = len(self._search(word, "following")) if is_inside else count
        return np.array([self._counted[word] for word in words], np.int64)

    def page(
        self, word: str, order: str = "following", first: int = 0, size: int = 50, context: int = 20
    ) -> OccurrencePage:
        """Return the occurrences first .. first + size - 1 of a word, each with `context` characters on either side."""
        key, positions = self._held  # cached for turning pages
        if key != (word, order):
            positions = self._search(word, order)
            self._held = (word, order), positions
        chosen = np.asarray(positions[first : first + size], np.int64).tolist()
        return OccurrencePage(len(positions), tuple(self._occurrence(start, len(word), context) for start in chosen))

    def sentence(self, number: int) -> str:
        """Return the text of a sentence."""
        return self._string(int(self._begins[number]), self._end(number))

    def _occurrence(self, start: int, length: int, context: int) -> Occurrence:
        sentence, stop = int(np.searchsorted(self._begins, start, side="right")) - 1, start + length
        begin = int(self._begins[sentence])
        before = self._string(max(start - context, begin), start)
        after = self._string(stop, min(stop + context, self._end(sentence)))
        return Occurrence(sentence, start - begin, stop - begin, before, after)

    def _end(self, sentence: int) -> int:
        return (int(self._begins[sentence + 1]) if sentence + 1 < len(self) else len(self._text)) - 1

    def _string(self, start: int, stop: int) -> str:
        return self._text[start:stop].tobytes().decode("utf-32-le", "surrogatepass")

    def _search(self, word: str, order: str) -> Positions:
        """Find where the word begins, in an order."""
        name = order if order in _STEP else "following"
        start, stop = self._runs([word], name)[:, 0].tolist()
        positions = self._order[name][start:stop]
        if name == "preceding":
            positions = positions - np.uint32(len(word) - 1)
        for beside, is_inside in zip((-1, len(word)), _inside_runs(word), strict=True):
            if is_inside:  # next to a letter it would be part of a longer word
                positions = positions[~run_characters()[self._text[positions.astype(np.int64) + beside]]]
        return np.sort(positions) if order == "text" else positions

    def _runs(self, words: Sequence[str], name: str) -> NDArray[np.int64]:
        """Find where the run of each word begins and ends in an order, int64[2, W]."""
        if strange := [word for word in words if not 0 < len(word) <= LONGEST or "\0" in word]:
            length, expected = f"a word of {len(strange[0])} characters", f"1 to {LONGEST}, none of them NUL"
            raise ValueError(f"found {length}, expected {expected}")
        points = code_points("".join(word[:: _STEP[name]] for word in words))
        ptr = np.cumsum([0, *map(len, words)], dtype=np.int64)
        runs = np.zeros((2, len(words)), np.int64)
        text_arrays.runs(self._text, _STEP[name], self._order[name], points, ptr, *runs)
        return runs


def build(lines: Iterable[str], folder: Path | str) -> Concordance:
    """Index sentences, and write the index to a folder, completely or not at all. An index of the same text is kept."""
    folder = Path(folder)
    text, begins = _laid_out(lines)
    about = {"format": _FORMAT, "digest": hashlib.sha256(text.tobytes()).hexdigest()}
    if (existing := _about(folder)) == about:
        return Concordance(folder)
    if folder.exists() and existing is None:
        raise CorpusError("something else than an index", "a concordance, or no such file", str(folder))
    arrays: dict[str, NDArray[Any]] = {"text": text, "begins": begins}
    arrays |= {name: _sorted_positions(text, step) for name, step in _STEP.items()}
    with whole_folder(folder) as unfinished:
        for name, array in arrays.items():
            np.save(unfinished / f"{name}.npy", array, allow_pickle=False)
        (unfinished / "index.json").write_text(json.dumps(about), encoding="utf-8")
    return Concordance(folder)


def _laid_out(lines: Iterable[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the text with END before, between and after the sentences, and where each begins."""
    sentences = list(lines)
    if (bad := next((i for i, sentence in enumerate(sentences) if "\0" in sentence), None)) is not None:
        raise CorpusError("a NUL character", "sentences of text", line=bad + 1)
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    if (size := int(lengths.sum()) + len(sentences)) > np.iinfo(np.uint32).max - 1:
        raise CorpusError(f"a text of {size:,} characters", "less than 2^32")
    text = code_points("\0".join(("", *sentences, "")) if sentences else "\0")
    return text, np.concatenate([[1], 1 + np.cumsum(lengths + 1)])[:-1].astype(np.int64)


def _sorted_positions(text: NDArray[np.uint32], step: int) -> Positions:
    order = np.empty(int(np.count_nonzero(text != text_arrays.END)), np.uint32)
    counts = np.zeros(len(run_characters()) + 2, np.int64)
    text_arrays.first_characters(text, counts, order)
    sizes = np.diff(counts, prepend=0)
    key = np.empty(int(sizes.max()), np.uint64)
    for character in np.flatnonzero(sizes).tolist():
        run = slice(counts[character] - sizes[character], counts[character])
        text_arrays.sort_run(text, step, order[run], key)
    return order


def _inside_runs(word: str) -> tuple[bool, bool]:
    """Return whether a letter before the word, and one after it, would belong to the same run as the word."""
    return bool(run_characters()[ord(word[0])]), bool(run_characters()[ord(word[-1])])


def _about(folder: Path) -> dict[str, Any] | None:
    """Read the description in the folder; `None` if it is not an index."""
    try:
        about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) else None


def _read(folder: Path) -> dict[str, NDArray[Any]]:
    about = _about(folder)
    if about is None or about.get("format") != _FORMAT:
        raise CorpusError(f"no index of format {_FORMAT}", "a concordance, to be built again", str(folder))
    try:
        # Numba does not support np.memmap
        arrays = {name: np.asarray(np.load(folder / f"{name}.npy", "r", allow_pickle=False)) for name in _ARRAYS}
    except (OSError, ValueError, EOFError, OverflowError, TypeError) as error:
        raise CorpusError(f"a damaged index ({error})", "a concordance, to be built again", str(folder)) from error
    fits = all(arrays[name].dtype == kind and arrays[name].ndim == 1 for name, kind in _ARRAYS.items())
    size = len(arrays["text"]) - len(arrays["begins"]) - 1
    if not fits or any(len(arrays[name]) != size for name in _STEP):
        raise CorpusError("a damaged index", "a concordance, to be built again", str(folder))
    return arrays
