"""Phrases of gazetteers in raw text, characters a second: `python -m benchmarks.gazetteer [--quick] [--phrases N]`."""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO, cast

import numpy as np

from benchmarks.processes import publish
from tagweave.corpus.files import read_blocks, written
from tagweave.corpus.gazetteer import Gazetteer, parse
from tagweave.harvest.phrases import PhraseHarvest, PhraseMatcher
from tagweave.kernels.trie import pieces_of_text

PHRASES, CHARACTERS = 300_000, 50_000_000
WORDS = 100_000
TYPES = ("PER", "LOC", "ORG", "MISC")
MATCHERS = {"unknown": {}, "O": {"elsewhere": "O"}, "O, folded": {"elsewhere": "O", "fold": True}}
"""The rows: what tokens in no phrase are, and the options."""
_RUNS = 3


def made_words(rng: np.random.Generator, count: int) -> list[str]:
    """Different words of two to twelve letters, some with a capital."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    words: dict[str, None] = {}
    while len(words) < count:
        word = "".join(letters[rng.integers(0, 26, rng.integers(2, 13))])
        words[word.capitalize() if rng.random() < 0.2 else word] = None
    return list(words)


def made_gazetteer(rng: np.random.Generator, words: Sequence[str], count: int) -> Gazetteer:
    """Phrases of one to four words, most of them rare, each with one type, every twentieth with two."""
    phrases: dict[str, str] = {}
    while len(phrases) < count:
        phrase = " ".join(words[i] for i in rng.integers(0, len(words), rng.integers(1, 5)))
        phrases[phrase] = "|".join(rng.choice(TYPES, 2 if rng.random() < 0.05 else 1, replace=False))
    return parse(f"{types}\t{phrase}" for phrase, types in phrases.items())


def made_text(rng: np.random.Generator, words: Sequence[str], gazetteer: Gazetteer, characters: int) -> str:
    """Lines of twenty words by Zipf's law, with a phrase and a comma inside."""
    lines, size = [], 0
    while size < characters:
        own = [words[int(rank)] for rank in len(words) ** rng.random(20) - 1]  # about Zipf's law
        own.insert(7, f"{gazetteer.phrases[rng.integers(len(gazetteer))]},")
        lines.append(" ".join(own) + ".\n")
        size += len(lines[-1])
    return "".join(lines)


def seconds(work: Callable[[], object]) -> float:
    """Seconds of the processor, the least of three runs after one that compiles."""
    work()
    times = []
    for _ in range(_RUNS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def measured(gazetteer: Gazetteer, path: Path, options: dict[str, Any]) -> dict[str, float]:
    """Seconds for loading, matching, rows in memory, and from file to file; and how many phrases were found."""
    begin = time.process_time()
    matcher = PhraseMatcher(gazetteer, **options)
    _ = matcher.labels
    loading = time.process_time() - begin
    blocks, harvest = list(read_blocks(str(path))), PhraseHarvest(matcher, everything=True)

    def to_file() -> None:
        with written(str(path.with_suffix(".col"))) as stream:
            for block in PhraseHarvest(matcher, everything=True).rows(read_blocks(str(path))):
                cast("TextIO", stream).buffer.write(block)

    found = {
        "loading": loading,
        "matching": seconds(lambda: [matcher.in_text(pieces_of_text(block, matcher.fold)) for block in blocks]),
        "rows": seconds(lambda: [None for _ in harvest.rows(blocks)]),
        "file": seconds(to_file),
    }
    return {**found, "phrases": harvest.phrases // (_RUNS + 1)}


def page(found: dict[str, dict[str, float]], phrases: int, characters: int) -> list[str]:
    """The lines of the page."""
    head = ["tokens in no phrase", "matching", "with labels as rows", "file to file", "phrases found", "loading, s"]
    lines = [
        "# Speed of gazetteers",
        "",
        f"Written by `python -m benchmarks.gazetteer` ({platform.machine()}, Python {platform.python_version()}).",
        f"{phrases:,} made phrases of one to four words, and {characters / 1e6:.0f} million characters of made text,",
        "in which words occur by Zipf's law and each sentence has a phrase. Millions of characters a second of the",
        "processor, one thread: cutting text into tokens and finding phrases; the same with the rows of a column",
        "file; and from a file to a file. Loading, once, builds the trie of phrases that have been read. With `O`,",
        "all occurrences are found too, since the rest of those that overlap a match stays unknown.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
    ]
    for name, row in found.items():
        rates = [f"{characters / 1e6 / row[key]:.1f}" for key in ("matching", "rows", "file")]
        cells = [name, *rates, f"{row['phrases']:,.0f}", f"{row['loading']:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a thousandth of the phrases and text, nothing written")
    parser.add_argument("--phrases", type=int, default=PHRASES, help=f"default {PHRASES:,}")
    parser.add_argument("--characters", type=int, default=CHARACTERS, help=f"of text (default {CHARACTERS:,})")
    options = parser.parse_args()
    scale = 1000 if options.quick else 1
    rng = np.random.default_rng(0)
    words = made_words(rng, WORDS // scale)
    gazetteer = made_gazetteer(rng, words, options.phrases // scale)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_text(made_text(rng, words, gazetteer, options.characters // scale), encoding="utf-8")
        found = {name: measured(gazetteer, path, given) for name, given in MATCHERS.items()}
        size = path.stat().st_size
    publish("speed-gazetteer", page(found, len(gazetteer), size), found, options.quick)


if __name__ == "__main__":
    main()
