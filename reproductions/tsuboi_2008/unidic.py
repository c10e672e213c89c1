"""The words of UniDic, from the package `unidic-lite`, which ships a dictionary that MeCab has compiled.

Such a file (MeCab 0.996, `dictionary.h`, and Darts, `darts.h`) begins with ten numbers of 32 bits, the first of which
tells the size of the file, and the name of the character set. Then comes the trie of the words, a double array: the
child of node p by byte c is node base[p] + c + 1, where check has the value base[p]; where a word ends, node base[p]
does. So every node names its parent, and words are read from their ends, all at once.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import CorpusError

_MAGIC = 0xEF718F77
_NUMBERS = 10
_TRIE_BYTES = 6  # which of the numbers
_BLOCK = 1 << 16  # words read at once
_TRIE = 72  # where it begins: the numbers, and 32 bytes for the character set

Ints = NDArray[np.int64]


def unidic_words() -> tuple[str, ...]:
    """The written forms of all words of two characters and more, sorted.

    Raises:
        CorpusError: the package is not installed, or its dictionary not such a file.
    """
    found = find_spec("unidic_lite")
    if found is None or found.origin is None:
        raise CorpusError("no word list of UniDic", "the package unidic-lite (pip install unidic-lite)", "unidic_lite")
    words = read_dictionary(Path(found.origin).parent / "dicdir" / "sys.dic")
    return tuple(word for word in words if len(word) > 1)


def read_dictionary(path: Path) -> list[str]:
    """The words of a dictionary that MeCab has compiled, sorted.

    Raises:
        CorpusError: not such a file.
        OSError: it cannot be read.
    """
    units = _units(path)
    base, check = units[:, 0].astype(np.int64), units[:, 1].astype(np.int64)
    owner = np.full(len(units) + 1, -1, np.int64)  # of a base, the node that has it
    inner = np.flatnonzero((base > 0) & (base <= len(units)))
    owner[base[inner]] = inner
    ends = np.flatnonzero((base < 0) & (check == np.arange(len(units))))
    try:
        blocks = (ends[first : first + _BLOCK] for first in range(0, len(ends), _BLOCK))
        return sorted(word for block in blocks for word in _words(owner, check, block))
    except (IndexError, UnicodeDecodeError) as error:
        raise CorpusError("a damaged trie", "a dictionary that MeCab has compiled", str(path)) from error


def _units(path: Path) -> NDArray[Any]:
    """int32[nodes, 2], base and check."""
    with path.open("rb") as stream:
        head = stream.read(_TRIE).ljust(_TRIE, b"\0")
        numbers = np.frombuffer(head, "<u4", _NUMBERS).tolist()
        in_utf_8 = head[4 * _NUMBERS :].rstrip(b"\0").lower() in (b"utf8", b"utf-8")
        if numbers[0] ^ _MAGIC != path.stat().st_size or not in_utf_8:
            raise CorpusError("something else", "a dictionary that MeCab has compiled, in UTF-8", str(path))
        return np.frombuffer(stream.read(numbers[_TRIE_BYTES]), "<i4").reshape(-1, 2)


def _words(owner: Ints, check: Ints, ends: Ints) -> list[str]:
    """The words that end in these nodes, from the last byte to the first."""
    node, columns = owner[check[ends]], []
    while (inside := node > 0).any():
        columns.append(np.where(inside, node - check[node] - 1, 0).astype(np.uint8))
        node = np.where(inside, owner[check[node]], 0)
    rows = np.stack(columns[::-1], axis=1) if columns else np.zeros((0, 1), np.uint8)
    return [row.tobytes().lstrip(b"\0").decode("utf-8") for row in rows]
