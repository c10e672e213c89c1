"""`tagweave warm`: compiles kernels ahead of time."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

_SENTENCES = 20


def warm() -> None:
    """Compile the code that training, tagging, segmenting and parsing use by default, for images and CI.

    Compiled code is stored beside the package, where other users find it, or else in a folder of the user.
    """
    from tagweave.corpus.sample import path

    lines = path("ctb.txt").read_text(encoding="utf-8").splitlines()[:_SENTENCES]
    sentences = [[token.split("_") for token in line.split()] for line in lines]
    words = [[word for word, _ in sentence] for sentence in sentences]
    tagged = [" ".join(map("_".join, sentence)) for sentence in sentences]
    partly = [" ".join("_".join(each[: 2 - at % 2]) for at, each in enumerate(sentence)) for sentence in sentences]
    segmented, raw = [" ".join(each) for each in words], ["".join(each) for each in words]
    boundaries = ["|".join(" ".join(word) for word in each) for each in words]
    trees, partial_trees = ([_tree(each, every) for each in sentences] for every in (1, 2))
    _run("tag", "tagged-underscore", [tagged, partly], "segmented", segmented)
    _run("segment", "segmented", [segmented], "raw", raw)
    _run("segment", "kytea", [boundaries], "raw", raw)
    _run("segtag", "tagged-underscore", [tagged], "raw", raw)
    _run("parse", "conllu", [trees, partial_trees], "conllu", partial_trees)


def _tree(sentence: list[list[str]], every: int) -> str:
    """A tree in which each word's head is the next word; only every `every`-th head is known."""
    rows = []
    for at, (word, tag) in enumerate(sentence, 1):
        head, relation = (at + 1, "dep") if at < len(sentence) else (0, "root")
        known = (str(head), relation) if at % every == 0 else ("_", "_")
        rows.append("\t".join((str(at), word, "_", tag, tag, "_", *known, "_", "_")) + "\n")
    return "".join(rows)


def _run(task: str, format: str, corpora: list[list[str]], of_input: str, texts: list[str]) -> None:  # noqa: A002
    """Train on each of the corpora, with development data, and label the texts."""
    from tagweave.corpus.load import load
    from tagweave.front.training import train

    typer.echo(f"{task}, from {format} text", err=True)
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        files = [Path(folder, f"{number}.train") for number in range(len(corpora))]
        text, output = Path(folder, "text"), Path(folder, "output")
        text.write_text("\n".join(texts) + "\n", encoding="utf-8")
        for file, corpus in zip(files, corpora, strict=True):
            file.write_text("\n".join(corpus) + "\n", encoding="utf-8")
        first, *_ = read = [load(str(file), format) for file in files]
        for each in read:
            dev = first.with_sentences(first.sentences[1:])  # other data than each of them
            model = train(each, dev=dev, task=task, iterations=1)
        model.label_file(text, output, format=of_input)
