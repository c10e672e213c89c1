"""Speed of word clusters on one thread: `python -m benchmarks.word_clusters [--quick]`.

The text is the first million words of training sentences of English corpora.
"""

from __future__ import annotations

import argparse
import platform
import resource
import time
from collections.abc import Iterator
from itertools import chain

from benchmarks.characters import corpora_folder
from benchmarks.processes import publish
from tagweave.corpus.load import iterate
from tagweave.harvest.clusters import cluster_words

TEXTS = ("brown/train.txt", "conll2000/train.txt")
CLASSES = (128, 256, 512, 1000)
SIZES = (250_000, 500_000, 1_000_000)
"""Words of the text, for 256 classes; the largest for every number of classes."""


def text(size: int) -> list[tuple[str, ...]]:
    """The first sentences, until there are so many words."""
    found, words = [], 0
    for sentence in chain.from_iterable(iterate(str(corpora_folder() / "en" / name)) for name in TEXTS):
        if words >= size:
            break
        found.append(sentence.forms)
        words += len(sentence)
    return found


def rows(sizes: tuple[int, ...]) -> Iterator[dict[str, float]]:
    """A row for every size with 256 classes, and for every number of classes with the last size."""
    cluster_words(text(1000), 4)  # compiles; not counted
    for size, classes in [*((size, 256) for size in sizes[:-1]), *((sizes[-1], each) for each in CLASSES)]:
        sentences = text(size)
        begin = time.process_time()
        made = cluster_words(sentences, classes)
        seconds = time.process_time() - begin
        counts = {"words": sum(made.counts), "different": len(made), "classes": classes}
        yield {**counts, "seconds": seconds}


def page(found: list[dict[str, float]]) -> list[str]:
    """The lines of the page."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        "# Speed of word clusters",
        "",
        f"Written by `python -m benchmarks.word_clusters` ({platform.machine()}, Python {platform.python_version()}).",
        "Processor seconds of one thread for counting and clustering; reading the files and what the compiler does",
        f"once are not counted. Every word gets a cluster. The process took {peak:,.0f} MB at most, with the text.",
        "",
        "| words | different words | classes | seconds | microseconds per different word |",
        "|---|---|---|---|---|",
        *(
            f"| {row['words']:,} | {row['different']:,} | {row['classes']:,} | {row['seconds']:.1f} |"
            f" {1e6 * row['seconds'] / row['different']:,.0f} |"
            for row in found
        ),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20,000 words, nothing written")
    options = parser.parse_args()
    found = list(rows((10_000, 20_000) if options.quick else SIZES))
    publish("speed-word-clusters", page(found), found, options.quick)


if __name__ == "__main__":
    main()
