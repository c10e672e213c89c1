"""Word clusters from raw text as features of small corpora: `python -m reproductions word-clusters`.

See README.md in the folder above.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import tagweave as tw
from reproductions.lab.corpora import corpora_folder
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from tagweave.features.templates import PRESETS


class Data(NamedTuple):
    """A corpus: its language, its task, and its layer if that is not the usual one."""

    language: str
    task: str
    layer: str = ""


CORPORA = {
    "en/conll2003": Data("en", "spans"),
    "es/conll2002": Data("es", "spans"),
    "en/ewt": Data("en", "tag", "#xpos"),
    "en/brown": Data("en", "tag"),
    "en/wsj": Data("en", "tag"),
}
TEXTS = {
    "en": ("en/conll2003", "en/brown", "en/wsj", "en/conll2000", "en/ewt", "en/wikigold"),
    "es": ("es/conll2002",),
}
"""The corpora whose training sentences, without their labels, are the raw text of each language."""
_PREFIXES = ("cluster_4", "cluster_6", "cluster_10", "cluster_20")


def _window(*columns: str) -> tuple[str, ...]:
    return tuple(f"{column}[{offset}]" for column in columns for offset in (-1, 0, 1))


TEMPLATES = {
    "none": (),
    "whole, window 1": _window("cluster"),
    "10 and whole, window 1": _window("cluster_10", "cluster"),
    "4, 6, 10, 20": tuple(f"{column}[0]" for column in _PREFIXES),
    "4, 6, 10, 20, whole, window 1": _window(*_PREFIXES, "cluster"),
}
"""Which bits of the clusters of which words are features."""
_ITERATIONS, _PATIENCE = 15, 3
_MOST = 1500  # sentences of development data


def part(name: str, which: str) -> Path:
    """The file of a part of a corpus; the text of wikigold is that of its distant labels."""
    names = ("train", "distant") if which == "train" else (which,)
    return next(file for each in names for file in corpora_folder(name).glob(f"{each}.*"))


def cluster_files(folder: Path, languages: Sequence[str], classes: int) -> dict[str, dict[str, Any]]:
    """The clusters of each language: the path, words and occurrences."""
    found: dict[str, dict[str, Any]] = {}
    for language in languages:
        path = folder / f"{language}.paths"
        made = tw.harvest_clusters_files([part(name, "train") for name in TEXTS[language]], path, classes=classes)
        found[language] = {"path": str(path), "words": len(made), "tokens": sum(made.counts)}
    return found


def parts(name: str, size: int) -> tuple[tw.Corpus, tw.Corpus]:
    """So many training sentences from all over the training data, and development data."""
    train, dev = (tw.load(f"{part(name, which)}{CORPORA[name].layer}") for which in ("train", "dev"))
    step = max(1, len(train) // size)
    return train.with_sentences(train.sentences[: step * size : step]), dev.with_sentences(dev.sentences[:_MOST])


def score(train: tw.Corpus, dev: tw.Corpus, task: str, templates: Sequence[str], clusters: str, seed: int) -> float:
    """The best development score of a model: F of spans, or accuracy of tags, in percent."""
    base = PRESETS["spans" if task == "spans" else "words"].texts
    run: dict[str, Any] = {"iterations": _ITERATIONS, "patience": _PATIENCE, "seed": seed}
    if templates:
        run["clusters"] = clusters
    model = tw.train(train, dev=dev, task=task, templates=(*base, *templates), **run)
    return 100 * (model.score or 0.0)


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("word-clusters", __doc__)
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds each training has")
    parser.add_argument("--sentences", type=int, default=1000, help="of training data")
    parser.add_argument("--classes", type=int, default=256, help="how many clusters")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        languages = sorted({CORPORA[name].language for name in options.corpora})
        files = cluster_files(Path(folder), languages, options.classes)
        numbers = {"seeds": options.seeds, "sentences": options.sentences, "classes": options.classes}
        summary: dict[str, Any] = {**numbers, "texts": files, "scores": {}}
        for name in options.corpora:
            data, (train, dev) = CORPORA[name], parts(name, options.sentences)
            clusters = files[data.language]["path"]
            summary["scores"][name] = {
                label: [score(train, dev, data.task, templates, clusters, seed) for seed in range(options.seeds)]
                for label, templates in TEMPLATES.items()
            }
            print(name, summary["scores"][name], flush=True)
    for file in files.values():
        del file["path"]
    command = " ".join(["python -m reproductions word-clusters", *words])
    write_page(options.out, "word-clusters", summary, page(summary, command))


def page(summary: dict[str, Any], command: str) -> Iterator[str]:
    """The lines of the page."""
    yield "# Word clusters as features\n"
    yield f"Written by `{command}`. The mean over seeds ({summary['seeds']}) on development data: F of"
    yield "entities for `conll2003` and `conll2002` (task `spans`), accuracy of tags for the others. Trained are the"
    yield f"presets `spans` and `words` on {summary['sentences']:,} sentences, with templates over"
    yield f"{summary['classes']} clusters beside them: whole bit strings or prefixes of them, of the word, or also of"
    yield "both neighbours (window 1). The raw text is that of training sentences:\n"
    for language, text in summary["texts"].items():
        sources = ", ".join(f"`{name}`" for name in TEXTS[language])
        yield f"- {language}: {text['tokens']:,} words, {text['words']:,} different ones, of {sources}"
    names = list(summary["scores"])
    yield f"\n| clusters | {' | '.join(f'`{name}`' for name in names)} | mean |\n{'|---' * (len(names) + 2)}|"
    for label in TEMPLATES:
        means = [fmean(summary["scores"][name][label]) for name in names]
        yield f"| {label} | {' | '.join(f'{mean:.2f}' for mean in (*means, fmean(means)))} |"
