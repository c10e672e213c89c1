"""Parsing beside UDPipe 1, and its time by length of sentence: `python -m benchmarks.parsing [--quick]`.

A measurement is a process of its own, `python -m benchmarks.parsing PROGRAM FOLDER --passes N` or
`python -m benchmarks.parsing lengths FOLDER`, which prints a JSON object on its last line; FOLDER has the files of
`copy`, and the model is left there. Times are of the processor, of one thread.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.characters import corpora_folder
from benchmarks.processes import measured, publish
from benchmarks.treebanks import BLANK, CORPORA, DEV, TEST, TRAIN, copy

PASSES = {"adagrad": 6, "perceptron": 8}
"""Of each learner of tagweave, those of docs/parsing.md."""
UDPIPE, UDPIPE_PASSES = "udpipe", 3
"""A pass of UDPipe over English takes five minutes; it makes ten if left to itself."""
NAMES = {"adagrad": "tagweave, AdaGrad (default)", "perceptron": "tagweave, perceptron", UDPIPE: "UDPipe 1, parser"}
LENGTHS = (10, 20, 40, 80, 150)
TOKENS = 12_000
"""In all sentences of a length."""
ROUNDS = 5
_FOR_LENGTHS = "zh/udc"

measure = partial(measured, "parsing")


def tagweave(folder: Path, learner: str, passes: int) -> dict[str, Any]:
    """tagweave's parser with one of its learners; the weights are those of the pass best on the development data."""
    import tagweave as tw

    train, dev = (tw.load(f"{folder / name}#head") for name in (TRAIN, DEV))
    given, path = tw.load(str(folder / BLANK)), model_path(folder, learner)
    begin = time.process_time()
    options: dict[str, Any] = {"drop_columns": 0, "iterations": passes, "callback": lambda _: None}
    model = tw.train(train, dev=dev, task="parse", learner=learner, **options)
    trained = time.process_time() - begin
    model.save(path)
    parsing = seconds(lambda: model.parse(given))
    peak = peak_megabytes()
    return {**_told(path, trained, given.tokens() / parsing, peak), **scores(folder, model.parse(given))}


def udpipe(folder: Path, passes: int) -> dict[str, Any]:
    """UDPipe's parser; the weights are those of the pass best on the development data."""
    from benchmarks import udpipe as other

    sentences, dev, given = (other.read(folder / name) for name in (TRAIN, DEV, BLANK))
    path, parsed = model_path(folder, UDPIPE), folder / "parsed.conllu"
    begin = time.process_time()
    model = other.train(sentences, dev, passes)
    trained = time.process_time() - begin
    path.write_bytes(model)
    parser = other.load(path)
    parsing = seconds(lambda: other.parse(parser, given))
    peak = peak_megabytes()  # before tagweave is loaded
    other.write(given, parsed)
    tokens = sum(len(sentence.words) - 1 for sentence in given)  # without the root

    import tagweave as tw

    return {**_told(path, trained, tokens / parsing, peak), **scores(folder, tw.load(f"{parsed}#head"))}


def model_path(folder: Path, program: str) -> Path:
    """Where the model of a program is."""
    return folder / f"{program}.model"


def seconds(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median time of a run; the first, which may load code, does not count."""
    run()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def peak_megabytes() -> float:
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def scores(folder: Path, parsed: Any) -> dict[str, float]:
    """UAS and LAS of the test data, 0 to 1, punctuation and subtypes of relations counted."""
    import tagweave as tw

    gold = tw.load(f"{folder / TEST}#head")
    (found,) = tw.evaluate(gold, {"parsed": gold.with_sentences(parsed)}, relations="full").systems.values()
    return {"uas": found.heads.f, "las": found.arcs.f}


def _told(path: Path, train: float, speed: float, peak: float) -> dict[str, float]:
    """What is told of both programs, besides their scores."""
    size = path.stat().st_size / 1e6
    return {"train": train, "tokens_per_second": speed, "peak_megabytes": peak, "model_megabytes": size}


def by_length(folder: Path, lengths: Sequence[int], tokens: int) -> dict[str, Any]:
    """The seconds of parsing as many sentences of each length as `tokens` make, by the model of the default learner."""
    import tagweave as tw

    parser, corpus = tw.load_model(model_path(folder, "adagrad")), tw.load(str(folder / BLANK))
    rows = []
    for length in lengths:
        sentences = of_length(corpus.sentences, length, tokens)
        rows.append(
            {"length": length, "sentences": len(sentences), "seconds": seconds(lambda own=sentences: parser.parse(own))}  # type: ignore[misc]
        )
    return {"rows": rows}


def of_length(sentences: Sequence[Any], length: int, tokens: int) -> list[Any]:
    """As many sentences of a length as `tokens` make, of the running tokens of others: these are put together, or cut.

    Layers and columns are those that all have; there are no heads.
    """
    from tagweave.corpus.sentence import Sentence

    usable = [sentence for sentence in sentences if len(sentence)]

    def runs(parts: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        values = list(chain.from_iterable(parts))
        values *= -(-tokens // len(values))  # from the beginning again, where there are too few
        return [tuple(values[at : at + length]) for at in range(0, tokens - length + 1, length)]

    layers, columns = (
        {
            name: runs([getattr(sentence, kind)[name] for sentence in usable])
            for name in sorted(set.intersection(*(set(getattr(sentence, kind)) for sentence in usable)))
        }
        for kind in ("layers", "columns")
    )
    return [
        Sentence(
            forms, {name: own[at] for name, own in layers.items()}, {name: own[at] for name, own in columns.items()}
        )
        for at, forms in enumerate(runs([sentence.forms for sentence in usable]))
    ]


def one(words: Sequence[str]) -> None:
    """One measurement, in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=[*PASSES, UDPIPE, "lengths"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passes", type=int)
    parser.add_argument("--lengths", type=int, nargs="+")
    parser.add_argument("--tokens", type=int)
    options = parser.parse_args(words)
    if options.what == "lengths":
        result = by_length(options.folder, options.lengths, options.tokens)
    elif options.what == UDPIPE:
        result = udpipe(options.folder, options.passes)
    else:
        result = tagweave(options.folder, options.what, options.passes)
    print(json.dumps(result))


def run(sentences: int | None, passes: dict[str, int], lengths: tuple[int, ...], tokens: int) -> dict[str, Any]:
    """The measurements of all treebanks by program, and those of all lengths; each treebank has a core."""

    def of_corpus(corpus: str) -> dict[str, Any]:
        folder = Path(name, corpus)
        folder.mkdir(parents=True)
        copy(corpora_folder() / corpus, folder, 20)
        for learner in PASSES:
            measure(learner, str(folder), "--passes", "1")  # compiles; not counted
        copy(corpora_folder() / corpus, folder, sentences)
        return {
            program: {"passes": count, **measure(program, str(folder), "--passes", str(count))}
            for program, count in passes.items()
        }

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        found: dict[str, Any] = {"corpora": dict(zip(CORPORA, pool.map(of_corpus, CORPORA), strict=True))}
        words = ("--lengths", *map(str, lengths), "--tokens", str(tokens))
        found["lengths"] = measure("lengths", str(Path(name, _FOR_LENGTHS)), *words)["rows"]
    return found


COLUMNS = {
    "passes": ("passes", "{}"),
    "UAS": ("uas", "{:.2%}"),
    "LAS": ("las", "{:.2%}"),
    "training, s": ("train", "{:.1f}"),
    "parsing, tokens a second": ("tokens_per_second", "{:,.0f}"),
    "peak memory, MB": ("peak_megabytes", "{:,.0f}"),
    "model, MB": ("model_megabytes", "{:.1f}"),
}
"""The heads of the columns; of each the number, and its form."""


def table(rows: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of the table of a treebank."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|" + "---|" * (1 + len(COLUMNS))]
    for program, row in rows.items():
        cells = [form.format(row[key]).rstrip("%") for key, form in COLUMNS.values()]
        lines.append(f"| {' | '.join([NAMES[program], *cells])} |")
    return lines


def page(found: dict[str, Any]) -> list[str]:
    """The lines of the page."""
    lines = [
        "# Speed of parsing",
        "",
        f"Written by `python -m benchmarks.parsing` ({platform.machine()}, Python {platform.python_version()}).",
        "Data are whole treebanks, with gold tags (UPOS, XPOS, FEATS), which every program",
        "looks at. Trees are taken from the test data before they are parsed; punctuation and subtypes of relations",
        "count. The weights are those of the pass that is best on the development data. Times are of the processor,",
        "one thread: of training from sentences in memory to a model of heads and relations, on sentences with their",
        "tags alone; of parsing from sentences in memory to sentences, the median of five runs. Memory is the most",
        "that a process of training and parsing has. What the compiler does once is not counted.",
        "",
        "UDPipe trains its parser alone, with its usual settings and XPOS besides, without embeddings from elsewhere;",
        "left to itself it makes ten passes.",
        "",
    ]
    for corpus, rows in found["corpora"].items():
        lines += [f"## {CORPORA[corpus]}", "", *table(rows), ""]
    lines += [
        "## Length of sentences",
        "",
        f"The running words of the test data of {CORPORA[_FOR_LENGTHS]}, cut into sentences of one length, and parsed",
        "from sentences to sentences; the model is AdaGrad's above. The time of the best tree (Eisner's algorithm)",
        "grows with the cube of the length, that of the scores of arcs with its square.",
        "",
        "| tokens | µs a sentence | µs a token |",
        "|---|---|---|",
    ]
    for row in found["lengths"]:
        of_sentence = 1e6 * row["seconds"] / row["sentences"]
        lines.append(f"| {row['length']} | {of_sentence:,.0f} | {of_sentence / row['length']:.1f} |")
    return [*lines, ""]


def main() -> None:
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        one(sys.argv[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200 sentences, a pass, two lengths; nothing written")
    quick = parser.parse_args().quick
    passes = dict.fromkeys((*PASSES, UDPIPE), 1) if quick else {**PASSES, UDPIPE: UDPIPE_PASSES}
    sentences, lengths, tokens = (200, LENGTHS[:2], 1000) if quick else (None, LENGTHS, TOKENS)
    found = run(sentences, passes, lengths, tokens)
    publish("speed-parsing", page(found), found, quick)


if __name__ == "__main__":
    main()
