"""Raw text to segmented text: `python -m benchmarks.raw_text [--quick]`.

tagweave, python-crfsuite and KyTea are trained on the same lines of the People's Daily, by learners that need no
development data. vaporetto's package cannot train: it runs KyTea's model. Every measurement is a process of its own,
`python -m benchmarks.raw_text WHAT ...`, which prints a JSON object on its last line.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks import kytea
from benchmarks.characters import Words, attributes, bmes, corpora_folder, f_score, tagged_words, words_of
from benchmarks.processes import measured, publish

PASSIVE_AGGRESSIVE = 20
"""Iterations of python-crfsuite; of its learners this one came to the best F in docs/results/speed.md."""
MEGABYTES = 50
LONG = 10
"""How many times as long the text is on which memory is measured again."""
PACKAGES = ("rjieba", "vaporetto")
"""The packages that may be missing, beside KyTea."""
SLOW_LINES = 20_000  # at most for the slow ones


def daily(part: str, lines: int | None = None) -> Iterator[Words]:
    """The words of lines of the People's Daily."""
    return tagged_words(corpora_folder() / "zh" / "pd199801" / f"{part}.txt", "/", lines)


def train_tagweave(path: str, lines: int | None) -> None:
    """The preset `liu-2014`, all other settings as usual, to its end."""
    import tagweave as tw
    from tagweave.features.templates import PRESETS

    corpus = tw.Corpus(tuple(tw.Sentence(tuple(words)) for words in daily("train", lines)), "pd", "word")
    tw.train(corpus, task="segment", templates=PRESETS["liu-2014"].texts, callback=lambda _: None).save(path)


def train_crfsuite(path: str, lines: int | None) -> None:
    """The same features and letters, made in Python."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer("pa", verbose=False)
    trainer.set_params({"max_iterations": PASSIVE_AGGRESSIVE})
    for words in daily("train", lines):
        trainer.append(attributes("".join(words)), bmes(words))
    trainer.train(path)


def train_kytea(path: str, lines: int | None) -> None:
    """Its own features, and the words of the training data as a dictionary, which is how it is meant."""
    corpus = Path(f"{path}.txt")
    with corpus.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(words) + "\n" for words in daily("train", lines))
    kytea.train("-notags", "-tok", str(corpus), "-model", path)


TRAINERS: dict[str, Callable[[str, int | None], None]] = {
    "tagweave": train_tagweave,
    "python-crfsuite": train_crfsuite,
    "kytea": train_kytea,
}


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
    cut = kytea.segmenter(model)
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
        lines = [line.rstrip("\n") for line in islice(file, SLOW_LINES if slow else None)]
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


def one(words: list[str]) -> None:
    """One measurement, or one training, in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["text", "train", "tagweave", *PROGRAMS])
    parser.add_argument("file", help="of text; of the model for `train`")
    parser.add_argument("--program", choices=TRAINERS)
    parser.add_argument("--lines", type=int, help="of training data")
    parser.add_argument("--megabytes", type=float, default=MEGABYTES)
    parser.add_argument("--model", default="")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(words)
    result: dict[str, Any] = {}
    begin = time.perf_counter()
    if options.what == "text":
        write_text(options.file, options.megabytes)
    elif options.what == "train":
        TRAINERS[options.program](options.file, options.lines)
        result["training_seconds"] = time.perf_counter() - begin
    elif options.what == "tagweave":
        result = segmented(options.file, options.model, options.threads)
    else:
        result = timed(options.what, options.file, options.model)
    peak = "training_megabytes" if options.what == "train" else "peak_megabytes"
    result[peak] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


measure = partial(measured, "raw_text")


def run(megabytes: float, lines: int | None, progress: Progress) -> list[dict[str, Any]]:
    """A row for every program, in one run on the same text."""
    task = progress.add_task("raw text", total=13)
    missing = {name for name in PACKAGES if not find_spec(name)} | (set() if kytea.is_installed() else {"kytea"})
    with tempfile.TemporaryDirectory() as folder:
        text, long, ours, theirs, pointwise = (
            str(Path(folder, name)) for name in ("text", "long", "tagweave", "crfsuite", "model.kytea")
        )
        rows: list[dict[str, Any]] = []
        some = ("--lines", str(lines)) if lines else ()

        def train(program: str, path: str) -> dict[str, Any]:
            found = {} if program in missing else measure("train", path, "--program", program, *some)
            progress.advance(task)
            return found

        def add(name: str, program: str, *words: str, training: dict[str, Any] | None = None) -> None:
            known = {} if program in missing else {**(training or {}), **measure(program, *words)}
            rows.append({"program": name, **known})
            progress.advance(task)

        measure("text", text, "--megabytes", str(megabytes))
        progress.advance(task)
        by_ours, by_theirs = train("tagweave", ours), train("python-crfsuite", theirs)
        by_kytea = train("kytea", pointwise)
        add("tagweave, 1 thread", "tagweave", text, "--model", ours, training=by_ours)
        add("tagweave, 2 threads", "tagweave", text, "--model", ours, "--threads", "2")
        add("tagger", "tagger", text, "--model", ours)
        add("python-crfsuite", "python-crfsuite", text, "--model", theirs, training=by_theirs)
        add("KyTea", "kytea", text, "--model", pointwise, training=by_kytea)
        if "kytea" not in missing:
            add("vaporetto, KyTea's model", "vaporetto", text, "--model", pointwise)
        add("rjieba, its own dictionary", "rjieba", text)
        measure("text", long, "--megabytes", str(LONG * megabytes))
        progress.advance(task)
        add(f"tagweave, 1 thread, {LONG} times the text", "tagweave", long, "--model", ours)
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table."""
    head = ["", "characters a second, millions", "F", "peak memory, MB", "training, s", "peak memory of training, MB"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row["program"], "not installed", "", "", "", ""]
        if "seconds" in row:
            speed = row["characters"] / row["seconds"] / 1e6
            cells[1:4] = [f"{speed:.2f}", f"{100 * row['f']:.2f}", f"{row['peak_megabytes']:,.0f}"]
        if "training_seconds" in row:
            cells[4:] = [f"{row['training_seconds']:.0f}", f"{row['training_megabytes']:,.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(rows: list[dict[str, Any]], megabytes: float, lines: int | None) -> list[str]:
    """The lines of the page."""
    corpus = f"the first {lines:,} lines" if lines else "all lines"
    return [
        "# Speed on raw text",
        "",
        f"Written by `python -m benchmarks.raw_text` ({platform.machine()}, Python {platform.python_version()}).",
        f"The text is {megabytes:g} MB, lines of the People's Daily repeated and shuffled; F is of words on its test",
        f"data. tagweave, python-crfsuite and KyTea are trained on {corpus} of its training data, one thread",
        "each, files to model: tagweave by its default recipe, to its end; python-crfsuite with the same features",
        f"and letters by passive-aggressive updates, {PASSIVE_AGGRESSIVE} iterations, its best learner in",
        "[another run](speed.md); KyTea with its own features and words for a dictionary. vaporetto's package does not",
        "train.",
        "",
        "tagweave reads a file and writes UTF-8; the others take strings and give strings. `tagger` is tagweave's",
        "general way, with the same model; it, python-crfsuite, with features made in Python, and KyTea take the first",
        f"lines only. The last row is a text {LONG} times as long. Every measurement is a process of its own.",
        "",
        *table(rows),
        "",
    ]


def main() -> None:
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        one(sys.argv[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half a megabyte, nothing written")
    options = parser.parse_args()
    megabytes, lines = (0.5, 1000) if options.quick else (MEGABYTES, None)
    with Progress(console=Console(stderr=True)) as progress:
        rows = run(megabytes, lines, progress)
    publish("speed-raw-text", page(rows, megabytes, lines), rows, options.quick)


if __name__ == "__main__":
    main()
