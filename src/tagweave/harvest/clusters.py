"""Word clusters from raw text (Brown et al. 1992), and the files that hold them.

A file has a line for each word, in the form that other programs write and read, too:

    bit string TAB word TAB count

The bit string is the way to the cluster of the word in the binary tree of all clusters: words whose strings begin alike
are alike, and a prefix is a larger cluster.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import read_lines
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from tagweave.kernels.word_classes import Neighbours

Progress = Callable[[Iterable[Any], str], Iterable[Any]]

_BITS = re.compile("[01]+")
_UNFIT = re.compile("[\t\n\r\0]")
_FORM = "bit string TAB word TAB count"
_BLOCK = 64  # words that a call of the kernel gives their classes
_END = -1  # of a sentence


@dataclass(frozen=True, slots=True)
class Clusters:
    """W different words, the bit string of each, and how often each occurred; 0 if unknown."""

    words: tuple[str, ...]
    paths: tuple[str, ...]
    counts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def classes(self) -> int:
        return len(set(self.paths))


def read(path: str) -> Clusters:
    """Read a file of clusters; `-` is standard input, gzip is decompressed.

    Raises:
        CorpusError: a line that is not of the form, a repeated word, or no word; or as `read_lines`.
    """
    entries: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(read_lines(path), 1):
        bits, _, rest = line.partition("\t")
        word, _, count = rest.partition("\t")
        if not _BITS.fullmatch(bits) or not word or not (count.isdecimal() or not count):
            raise CorpusError(f"the line {line[:80]!r}", f"{_FORM}, the form of word clusters", path, number)
        if word in entries:
            raise CorpusError(f"the word {word!r} again", "each word once", path, number)
        entries[word] = bits, int(count or 0)
    if not entries:
        raise CorpusError("no word", f"word clusters, one word a line: {_FORM}", path)
    paths, counts = zip(*entries.values(), strict=True)
    return Clusters(tuple(entries), paths, counts)


def write(clusters: Clusters, stream: IO[str]) -> None:
    """Write clusters, in the order of their bit strings; the most frequent words of a cluster come first."""
    lines = zip(clusters.paths, clusters.words, clusters.counts, strict=True)
    for bits, word, count in sorted(lines, key=lambda line: (line[0], -line[2], line[1])):
        stream.write(f"{bits}\t{word}\t{count}\n")


def cluster_words(
    sentences: Iterable[Sequence[str]],
    classes: int = 256,
    minimum_count: int = 1,
    progress: Progress = lambda items, _: items,
) -> Clusters:
    """Cluster words by their neighbours (`tagweave.kernels.word_classes`). Bigrams do not cross sentences.

    Deterministic: the order of the sentences does not matter. Of the words of sentences, 4 bytes per token are held in
    memory, and 30 while bigrams are counted.

    Args:
        minimum_count: less frequent words get no cluster; all their occurrences count as one class.
        progress: passes items on, and shows how many.

    Raises:
        CorpusError: fewer than two words to cluster, or a word that a file of clusters cannot hold.
    """
    words, counts, ids = _counted(sentences, minimum_count)
    if len(words) < 2:
        raise CorpusError(f"{len(words)} words of {minimum_count} or more occurrences", "two or more, to cluster them")
    leaf, paths = _clustered(_neighbours(ids, len(words)), min(classes, len(words)), progress)
    return Clusters(tuple(words), tuple(paths[cluster] for cluster in leaf), tuple(counts))


def _counted(sentences: Iterable[Sequence[str]], minimum_count: int) -> tuple[list[str], list[int], NDArray[np.int32]]:
    """Return the frequent words and their counts, by falling count, and the tokens as their ranks.

    Other words have the rank that follows the last; sentences end with `_END`.
    """
    numbers: dict[str, int] = {}
    tokens = array("i")
    for sentence in sentences:
        tokens.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
        tokens.append(_END)
    ids = np.frombuffer(tokens, np.int32)
    times = np.bincount(ids[ids != _END], minlength=len(numbers)).tolist()
    chosen = sorted((-times[n], word) for word, n in numbers.items() if times[n] >= minimum_count)
    words = [word for _, word in chosen]
    if (unfit := next((word for word in words if not word or _UNFIT.search(word)), None)) is not None:
        raise CorpusError(f"the word {unfit!r}", "words without tabs and line breaks, and none empty")
    ranks = np.full(len(numbers) + 1, len(words), np.int32)
    ranks[[numbers[word] for word in words]] = np.arange(len(words))
    ranks[_END] = _END
    return words, [-count for count, _ in chosen], ranks[ids]


def _neighbours(ids: NDArray[np.int32], words: int) -> Neighbours:
    """Return the bigrams of tokens, by their first and by their second word."""
    from tagweave.kernels.word_classes import Neighbours

    inside = (ids[:-1] != _END) & (ids[1:] != _END)
    sides = []
    for word_of, other in ((ids[:-1], ids[1:]), (ids[1:], ids[:-1])):
        pairs, times = np.unique(word_of[inside].astype(np.int64) * (words + 1) + other[inside], return_counts=True)
        sides.append((*np.divmod(pairs, words + 1), times))
    ptr = np.stack([np.searchsorted(words_of_side, np.arange(words + 1)) for words_of_side, _, _ in sides])
    word, times = (np.stack([side[at] for side in sides]) for at in (1, 2))
    return Neighbours(ptr.astype(np.int64), word.astype(np.int32), times.astype(np.int32))


def _clustered(neighbours: Neighbours, classes: int, progress: Progress) -> tuple[list[int], list[str]]:
    """Return the cluster of every word, and the bit string of every cluster: the way to it from the last merger."""
    from tagweave.kernels.word_classes import Classes, slots_of, step, tree

    words = neighbours.ptr.shape[1] - 1
    state = Classes.empty(words, classes, int(neighbours.times[0].sum()))
    first = 0
    for word in progress(range(words), "words in clusters"):
        if word + 1 == words or word + 1 == first + _BLOCK:
            step(state, neighbours, first, word + 1)
            first = word + 1
    leaf = np.empty(words, np.int32)
    slots_of(state, leaf)
    children = np.empty((classes - 1, 2), np.int32)
    tree(state, np.arange(classes + 1, dtype=np.int32), children)
    strings = [""] * (2 * classes - 1)
    for at in range(classes - 2, -1, -1):
        for bit, child in zip("01", children[at].tolist(), strict=True):
            strings[child] = strings[classes + at] + bit
    return leaf.tolist(), strings[:classes]
