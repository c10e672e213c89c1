"""Models in pipelines of spaCy: `python -m benchmarks.spacy_pipeline [--quick]`.

Words a second of `nlp.pipe` with tagweave's components, with spaCy's tagger, and of tagweave alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import publish
from benchmarks.serve import texts
from benchmarks.serve_child import train as train_spacy
from benchmarks.treebanks import first

_BATCH = 1_000  # texts


class Size(NamedTuple):
    """Sentences to train on, lines of the segmenter, how often the texts are repeated, and measurements of a row."""

    sentences: int | None = 2_000
    lines: int = 8_000
    repeated: int = 3
    times: int = 2


QUICK = Size(sentences=100, lines=200, repeated=1, times=1)


class Row(NamedTuple):
    """What was measured: words a second, or characters where there are no words yet."""

    title: str
    rate: float
    unit: str = "words"


def train(folder: Path, size: Size) -> None:
    ewt, pd = corpora_folder() / "en" / "ewt", corpora_folder() / "zh" / "pd199801"
    for name in ("train", "test"):
        (folder / f"{name}.conllu").write_text(first(ewt / f"{name}.conllu", size.sentences), encoding="utf-8")
    with (pd / "train.txt").open(encoding="utf-8") as lines:
        (folder / "words.txt").write_text("".join(islice(lines, size.lines)), encoding="utf-8")
    tw.train(f"{folder}/train.conllu#upos", iterations=5).save(folder / "tag.model")
    tw.train(f"{folder}/train.conllu#xpos", iterations=5).save(folder / "xpos.model")
    tw.train(str(folder / "train.conllu"), task="parse", iterations=3).save(folder / "parse.model")
    tw.train(str(folder / "words.txt"), task="segment", iterations=5).save(folder / "segment.model")
    train_spacy(*(str(folder / name) for name in ("train.conllu", "test.conllu", "spacy")), 1)


def seconds(work: Callable[[], Any], times: int) -> float:
    """Of the fastest of several runs, after one that makes everything ready."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


def exhaust(several: Iterable[Any]) -> None:
    for _ in several:
        pass


def english(folder: Path, size: Size) -> Iterator[Row]:
    import spacy

    given = texts("tag") * size.repeated
    blank = spacy.blank("en")
    forms = [[each.text for each in doc] for doc in blank.pipe(given)]
    words = sum(map(len, forms))
    (folder / "given.txt").write_text("".join(" ".join(each) + "\n" for each in forms), encoding="utf-8")

    def rate(work: Callable[[], Any]) -> float:
        return words / seconds(work, size.times)

    def piped(*names: str, batch: int = _BATCH) -> float:
        nlp = spacy.blank("en")
        for name in names:
            nlp.add_pipe("tagweave", name=name, config={"model": str(folder / f"{name}.model")})
        return rate(lambda: exhaust(nlp.pipe(given, batch_size=batch)))

    tagger, *others = (tw.load_model(folder / f"{name}.model") for name in ("tag", "xpos", "parse"))
    spacys = spacy.load(folder / "spacy")
    options: dict[str, Any] = {"format": "segmented", "output_format": "conllu"}
    yield Row("spaCy: its tokenizer alone", piped())
    yield Row("spaCy: tokenizer, tagweave's tagger", piped("tag"))
    yield Row("spaCy: the same, in batches of 100", piped("tag", batch=100))
    yield Row("spaCy: tokenizer, spaCy's tagger", rate(lambda: exhaust(spacys.pipe(given, batch_size=_BATCH))))
    yield Row("tagweave: `tag`, of lists of words", rate(lambda: tagger.tag(forms)))
    yield Row(
        "tagweave: `label_file`, of words",
        rate(lambda: tagger.label_file(folder / "given.txt", folder / "out", **options)),
    )
    yield Row("spaCy: tokenizer, tagweave's taggers and parser", piped("tag", "xpos", "parse"))
    stages = {**options, "then": others}
    yield Row(
        "tagweave: `label_file`, of words, then the parser",
        rate(lambda: tagger.label_file(folder / "given.txt", folder / "out", **stages)),
    )


def chinese(folder: Path, size: Size) -> Iterator[Row]:
    import spacy

    given = texts("segment") * size.repeated
    characters = sum(map(len, given))
    tokenizer = {"@tokenizers": "tagweave.Segmenter.v1", "model": str(folder / "segment.model")}
    nlp, plain = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}}), spacy.blank("zh")
    segmenter = tw.load_model(folder / "segment.model")
    (folder / "raw.txt").write_text("".join(each + "\n" for each in given), encoding="utf-8")

    def row(title: str, work: Callable[[], Any]) -> Row:
        return Row(title, characters / seconds(work, size.times), "characters")

    yield row("spaCy: tagweave's segmenter, text by text", lambda: exhaust(nlp.pipe(given)))
    yield row(
        "spaCy: the same, `nlp.pipe(nlp.tokenizer.pipe(texts))`", lambda: exhaust(nlp.pipe(nlp.tokenizer.pipe(given)))
    )
    yield row("spaCy: its tokenizer, which makes every character a token", lambda: exhaust(plain.pipe(given)))
    yield row("tagweave: `cut_all`", lambda: exhaust(segmenter.cut_all(given)))
    yield row("tagweave: `label_file`", lambda: segmenter.label_file(folder / "raw.txt", folder / "out"))


def page(rows: list[Row]) -> list[str]:
    return [
        "# Models in pipelines of spaCy",
        "",
        f"Written by `python -m benchmarks.spacy_pipeline` ({platform.machine()}, {os.cpu_count()} cores, Python"
        f" {platform.python_version()}); one process, one thread.",
        "English: the test sentences of UD English EWT, several times; models of UPOS, XPOS and trees are trained on",
        "2,000 of its training sentences, and so is spaCy's tagger (its default network, `nlp.update`), in one pass,",
        "since more do not change its speed. Chinese: lines of the People's Daily. The fastest of several runs, in",
        "batches of 1,000 texts.",
        "",
        "| | a second |",
        "|---|---|",
        *(f"| {each.title} | {each.rate:,.0f} {each.unit} |" for each in rows),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small models, one run each; nothing written")
    size = QUICK if (options := parser.parse_args()).quick else Size()
    with tempfile.TemporaryDirectory() as name:
        train(Path(name), size)
        rows = [*english(Path(name), size), *chinese(Path(name), size)]
    publish("speed-spacy", page(rows), [each._asdict() for each in rows], options.quick)


if __name__ == "__main__":
    main()
