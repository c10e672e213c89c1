"""Words with tags: one model of both beside a segmenter and a tagger of its words.

`python -m benchmarks.words_with_tags` trains each corpus by both methods, and by default, which names none.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any, NamedTuple

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_methods
from tagweave.learning.run import Silence

METHODS = ("single", "pipeline", "default")


class Setting(NamedTuple):
    """A training corpus, how many of its sentences are used, and what it is measured on.

    Without `dev`, the sentences after these are development data.
    """

    train: str
    sentences: int
    dev: str
    test: str


def _chinese(name: str, sentences: int, suffix: str) -> Setting:
    train, dev, test = (f"zh/{name}/{part}.{suffix}" for part in ("train", "dev", "test"))
    return Setting(train, sentences, dev, test)


def _japanese(name: str, layer: str) -> Setting:
    dev, test = (f"ja/{name}/{part}.conllu#{layer}" for part in ("dev", "test"))
    return Setting(dev, 400, "", test)


SETTINGS = {
    "Zhuxian": _chinese("zx", 300, "txt"),
    "Zhuxian, 1,000": _chinese("zx", 1000, "txt"),
    "Zhuxian, all": _chinese("zx", 2373, "txt"),
    "UD Chinese": _chinese("udc", 500, "conllu#xpos"),
    "UD Chinese, all": _chinese("udc", 3997, "conllu#xpos"),
    "People's Daily": _chinese("pd199801", 1000, "txt"),
    "People's Daily, 4,000": _chinese("pd199801", 4000, "txt"),
    "Japanese, short units": _japanese("gsd-suw", "xpos"),
    "Japanese, long units": _japanese("gsd-luw", "upos"),
}


class Result(NamedTuple):
    """F of words with their tags on dev and test, and of words alone on test, in percent; seconds of a processor."""

    dev: float
    test: float
    words: float
    seconds: float
    method: str


def trained(setting: Setting, method: str) -> Result:
    """Train by a method, or by default, which names none."""
    folder = corpora_folder()
    train, test = (_without_blanks(tw.load(str(folder / each))) for each in (setting.train, setting.test))
    rest = train.sentences[setting.sentences :]
    dev = tw.load(str(folder / setting.dev)) if setting.dev else train.with_sentences(rest)
    train = train.with_sentences(train.sentences[: setting.sentences])
    named, begin = None if method == "default" else method, process_time()
    model: Any = tw.train(train, dev=dev, task="segtag", method=named, callback=Silence())
    seconds, about = process_time() - begin, model.about
    (scores,) = model.evaluate(test).systems.values()
    tagged, words = (100 * float(each.f) for each in (scores.tagged.words, scores.words))
    return Result(100 * about["dev_score"], tagged, words, seconds, about["plan"]["method"])


def _without_blanks(corpus: tw.Corpus) -> tw.Corpus:
    """Leave out the sentences some of whose words have blanks, which are boundaries in raw text."""
    return corpus.with_sentences(each for each in corpus if not any(" " in form for form in each.forms))


def page(found: dict[str, dict[str, Result]], command: str) -> list[str]:
    """Return the lines of the page."""
    lines = [
        "# Words with tags",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "F of words with their tags, in percent, one seed. *joint*: one model of characters, whose labels have tags",
        "(`single`). *pipeline*: a segmenter, and a tagger of its words, in one model. *by default*: the method that",
        "wins a race. *words*: F of words alone, on test, of both. Seconds of a processor; those of the default have",
        "the race in them. Sentences with blanks in words are left out.",
        "",
        "| corpus | sentences | | joint | pipeline | by default | words | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, results in found.items():
        joint, two, default = (results[method] for method in METHODS)
        words = f"{joint.words:.2f}, {two.words:.2f}"
        took = ", ".join(f"{each.seconds:.0f}" for each in (joint, two, default))
        size, columns = f"{SETTINGS[name].sentences:,}", (joint, two, default)
        of_dev, of_test = (" | ".join(f"{getattr(each, part):.2f}" for each in columns) for part in ("dev", "test"))
        lines.append(f"| {name} | {size} | dev | {of_dev} ({default.method}) |  |  |")
        lines.append(f"| {name} | {size} | test | {of_test} | {words} | {took} |")
    return [*lines, ""]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_methods("words_with_tags", __doc__, SETTINGS, METHODS, trained, page, words)


if __name__ == "__main__":
    main()
