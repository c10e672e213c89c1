"""One measurement of segmenting raw text in a process of its own: prints a JSON object on its last line.

python -m benchmarks.raw_text_measure text FILE --megabytes N       lines of the People's Daily, repeated and shuffled
python -m benchmarks.raw_text_measure model FILE                    a model of the task segment, trained on it
python -m benchmarks.raw_text_measure PROGRAM FILE [--model FILE]   time a program on a text
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from benchmarks.workloads import attributes, corpora_folder

_SLOW = 20_000  # lines at most for programs of less than a million characters a second
_TRAINING = 2000  # lines for python-crfsuite, whose speed does not depend on them

Lines = Callable[[Iterator[str]], Iterator[str]]


def words(part: str, lines: int | None = None) -> list[list[str]]:
    """The words of lines of the People's Daily."""
    path = corpora_folder() / "zh" / "pd199801" / f"{part}.txt"
    with path.open(encoding="utf-8") as file:
        return [[token.rpartition("/")[0] for token in line.split()] for line in islice(file, lines)]


def write_text(path: str, megabytes: float) -> None:
    """Raw text of about so many megabytes: all lines again and again, each time in another order."""
    lines = ["".join(line) + "\n" for line in words("train")]
    order, size = random.Random(0), 0
    with Path(path).open("w", encoding="utf-8") as file:
        while True:
            order.shuffle(lines)
            for line in lines:
                file.write(line)
                size += len(line.encode())
                if size >= megabytes * 1e6:
                    return


def train(path: str, lines: int | None) -> None:
    """A model of the default recipe, after five iterations."""
    from tagweave.adapt.fit import fit
    from tagweave.adapt.recipe import Recipe
    from tagweave.adapt.task import Task
    from tagweave.corpus.load import load
    from tagweave.learning.loop import Schedule
    from tagweave.models.storage import save_model

    corpus = load(f"pd={corpora_folder() / 'zh' / 'pd199801' / 'train.txt'}")
    corpus = corpus.with_sentences(islice(corpus, lines))
    save_model(fit([corpus], Recipe(Task("segment")), None, Schedule(5)).model, path)


def by_tagger(model: str) -> Lines:
    """tagweave without tables."""
    from tagweave.corpus.sentence import Sentence
    from tagweave.models.storage import load_model
    from tagweave.models.tagger import Tagger

    tagger = Tagger(load_model(model))
    return lambda lines: (" ".join(tagger.words(s).forms) for s in tagger.tag(Sentence(tuple(line)) for line in lines))


def by_vaporetto(model: str) -> Lines:
    """vaporetto, its model decompressed."""
    from vaporetto import Vaporetto

    cut = Vaporetto(Path(model).read_bytes()).tokenize_to_string
    return lambda lines: map(cut, lines)


def by_rjieba(_model: str) -> Lines:
    """jieba in Rust, with its own dictionary."""
    import rjieba

    return lambda lines: (" ".join(rjieba.cut(line)) for line in lines)


def by_crfsuite(_model: str) -> Lines:
    """python-crfsuite with character n-grams, made in Python."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer("ap", verbose=False)
    trainer.set_params({"max_iterations": 5})
    for line in words("train", _TRAINING):
        labels = [letter for word in line for letter in ["B"] + ["I"] * (len(word) - 1)]
        trainer.append(attributes("segment", tuple("".join(line))), labels)
    path = f"{_model}.crfsuite"
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)

    def cut(line: str) -> str:
        pairs = zip(line, tagger.tag(attributes("segment", tuple(line))), strict=True)
        return "".join((" " if label == "B" else "") + character for character, label in pairs).strip()

    return lambda lines: map(cut, lines)


PROGRAMS: dict[str, Callable[[str], Lines]] = {
    "tagger": by_tagger,
    "vaporetto": by_vaporetto,
    "rjieba": by_rjieba,
    "python-crfsuite": by_crfsuite,
}


def timed(program: str, text: str, model: str) -> dict[str, Any]:
    """Seconds for a text through a program that takes lines, and the F of its words on the test data."""
    run = PROGRAMS[program](model)
    slow = program in {"tagger", "python-crfsuite"}
    with Path(text).open(encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, _SLOW if slow else None)]
    next(run(iter(lines[:1])))
    begin = time.perf_counter()
    for _ in run(iter(lines)):
        pass
    seconds = time.perf_counter() - begin
    gold = words("test")
    found = [line.split(" ") for line in run("".join(line) for line in gold)]
    return {"characters": sum(map(len, lines)) + len(lines), "seconds": seconds, "f": f_score(gold, found)}


def segmented(text: str, model: str, threads: int) -> dict[str, Any]:
    """The same for tagweave by tables: from the file to UTF-8."""
    from tagweave.corpus.text_blocks import read_blocks
    from tagweave.models.segmenter import Segmenter
    from tagweave.models.storage import load_model

    segmenter = Segmenter(load_model(model), threads)
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
    gold = words("test")
    found = [line.split(" ") for line in segmenter.segment("".join(line) for line in gold)]
    return {"characters": characters, "seconds": seconds, "f": f_score(gold, found)}


def f_score(gold: list[list[str]], found: list[list[str]]) -> float:
    """The F measure of words, 0 to 1."""
    right = sum(len(_spans(a) & _spans(b)) for a, b in zip(gold, found, strict=True))
    return 2 * right / (sum(map(len, gold)) + sum(map(len, found)))


def _spans(line: list[str]) -> set[tuple[int, int]]:
    ends = [0]
    for word in line:
        ends.append(ends[-1] + len(word))
    return set(pairwise(ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["text", "model", "tagweave", *PROGRAMS])
    parser.add_argument("file")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--model", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lines", type=int, help="of training data")
    options = parser.parse_args()
    result: dict[str, Any] = {}
    if options.what == "text":
        write_text(options.file, options.megabytes)
    elif options.what == "model":
        train(options.file, options.lines)
    elif options.what == "tagweave":
        result = segmented(options.file, options.model, options.threads)
    else:
        result = timed(options.what, options.file, options.model)
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
