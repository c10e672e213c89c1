"""One measurement of segmenting raw text in a process of its own: prints a JSON object on its last line.

python -m benchmarks.raw_text_measure text FILE --megabytes N       lines of the People's Daily, repeated and shuffled
python -m benchmarks.raw_text_measure PROGRAM FILE [--model FILE]   time a program on a text
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.characters import attributes, f_score, words_of
from benchmarks.raw_text_training import daily

_LINES = 20_000  # at most for the slow ones

Lines = Callable[[Iterator[str]], Iterator[str]]


def write_text(path: str, megabytes: float) -> None:
    """Raw text of about so many megabytes: all lines again and again, each time in another order."""
    lines = ["".join(line) + "\n" for line in daily("train")]
    order, size = random.Random(0), 0
    with Path(path).open("w", encoding="utf-8") as file:
        while True:
            order.shuffle(lines)
            for line in lines:
                file.write(line)
                size += len(line.encode())
                if size >= megabytes * 1e6:
                    return


def by_tagger(model: str) -> Lines:
    """tagweave without tables."""
    from tagweave.corpus.sentence import Sentence
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.models.storage import load_model

    tagger = ChainPredictor(load_model(model))
    return lambda lines: (" ".join(tagger.words(s).forms) for s in tagger.tag(Sentence(tuple(line)) for line in lines))


def by_vaporetto(model: str) -> Lines:
    """vaporetto with a model of its own, decompressed, or one of KyTea's (`.kytea`)."""
    from vaporetto import Vaporetto

    make = Vaporetto.create_from_kytea_model if model.endswith(".kytea") else Vaporetto
    cut = make(Path(model).read_bytes()).tokenize_to_string
    return lambda lines: map(cut, lines)


def by_kytea(model: str) -> Lines:
    """KyTea by its Python package."""
    from benchmarks.kytea import segmenter

    cut = segmenter(model)
    return lambda lines: (" ".join(cut(line)) for line in lines)


def by_rjieba(_model: str) -> Lines:
    """jieba in Rust, with its own dictionary."""
    import rjieba

    return lambda lines: (" ".join(rjieba.cut(line)) for line in lines)


def by_crfsuite(model: str) -> Lines:
    """python-crfsuite, its features made in Python."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return lambda lines: (" ".join(words_of(line, tagger.tag(attributes(line)))) for line in lines)


PROGRAMS: dict[str, Callable[[str], Lines]] = {
    "tagger": by_tagger,
    "vaporetto": by_vaporetto,
    "kytea": by_kytea,
    "rjieba": by_rjieba,
    "python-crfsuite": by_crfsuite,
}
SLOW = ("tagger", "python-crfsuite", "kytea")
"""Programs of about a million characters a second or less."""


def timed(program: str, text: str, model: str) -> dict[str, Any]:
    """Seconds for a text through a program that takes lines, and the F of its words on the test data."""
    run = PROGRAMS[program](model)
    slow = program in SLOW
    with Path(text).open(encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, _LINES if slow else None)]
    next(run(iter(lines[:1])))
    begin = time.perf_counter()
    for _ in run(iter(lines)):
        pass
    seconds = time.perf_counter() - begin
    gold = list(daily("test"))
    found = [plain(program, line).split(" ") for line in run("".join(line) for line in gold)]
    if any("".join(a) != "".join(b) for a, b in zip(gold, found, strict=True)):
        sys.exit(f"{program} changes the text: its F would say nothing")
    return {"characters": sum(map(len, lines)) + len(lines), "seconds": seconds, "f": f_score(gold, found)}


def plain(program: str, line: str) -> str:
    """Words as they stand in the text: vaporetto puts a backslash before some characters."""
    return re.sub(r"\\(.)", r"\1", line) if program == "vaporetto" else line


def segmented(text: str, model: str, threads: int) -> dict[str, Any]:
    """The same for tagweave by tables: from the file to UTF-8."""
    from tagweave.corpus.files import read_blocks
    from tagweave.models.pair_tables import TableSegmenter
    from tagweave.models.storage import load_model

    segmenter = TableSegmenter(load_model(model), threads)
    next(segmenter.segment(["好"]))
    begin, characters = time.perf_counter(), 0

    def counted() -> Iterator[str]:
        nonlocal characters
        for block in read_blocks(text):
            characters += len(block)
            yield block

    with Path("/dev/null").open("wb") as nowhere:
        for block in segmenter.blocks(counted()):
            nowhere.write(block)
    seconds = time.perf_counter() - begin
    gold = list(daily("test"))
    found = [line.split(" ") for line in segmenter.segment("".join(line) for line in gold)]
    return {"characters": characters, "seconds": seconds, "f": f_score(gold, found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["text", "tagweave", *PROGRAMS])
    parser.add_argument("file")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--model", default="")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    result: dict[str, Any] = {}
    if options.what == "text":
        write_text(options.file, options.megabytes)
    elif options.what == "tagweave":
        result = segmented(options.file, options.model, options.threads)
    else:
        result = timed(options.what, options.file, options.model)
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
