"""Which share of the gain of slow teachers arrives in one fast student: `python -m benchmarks.distillation`.

Teachers are models of five seeds that look up word clusters (for words of Chinese, a lexicon), trained on a small
corpus. The student is one linear model of what they believe of raw text, and of that corpus.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from benchmarks.scores import percent, score
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.templates import PRESETS
from tagweave.front.distillation import mean_probabilities
from tagweave.front.label_model import LabelModel
from tagweave.labels.coding import SEGMENTATION
from tagweave.learning.run import Silence
from tagweave.torch import ChainLoss

TEACHERS, SIZES, DEV, ROUNDS = 5, (1, 4, 16), 1000, 5
"""How many teachers there are, how many times as many raw sentences as labelled ones, development sentences, and
measurements of time."""
PREFIXES = tuple(f"cluster_{bits}[0]" for bits in (4, 6, 10, 20))
"""Templates of clusters that suit a thousand sentences."""


class Setting(NamedTuple):
    """Files of a corpus, how many of its training sentences have labels, and corpora whose words are a lexicon."""

    files: str
    task: str
    labelled: int
    lexicon: tuple[str, ...] = ()


SETTINGS = {
    "Spanish entities": Setting("es/conll2002/{}.txt", "spans", 1000),
    "English entities": Setting("en/conll2003/{}.txt", "spans", 1000),
    "English tags": Setting("en/ewt/{}.conllu#xpos", "tag", 1000),
    "Chinese words": Setting("zh/pd199801/{}.txt", "segment", 500, ("zh/zx/train.txt", "zh/udc/train.conllu")),
}
PLAIN, TEACHER, ENSEMBLE = "one linear model", "one teacher", f"{TEACHERS} teachers"


def read(setting: Setting) -> tuple[Corpus, Corpus, Corpus, Corpus]:
    """Return the sentences with labels, from all over the training data, the rest as raw text, and dev and test."""
    train, dev, test = (
        tw.load(str(corpora_folder() / setting.files.format(each))) for each in ("train", "dev", "test")
    )
    step = len(train) // setting.labelled
    labelled = train.with_sentences(train.sentences[: step * setting.labelled : step])
    dev = dev.with_sentences(dev.sentences[:DEV])
    used = {each.forms for part in (labelled, dev, test) for each in part}
    rest = train.with_sentences(each for each in train if each.forms not in used)
    return labelled, bare(rest, setting.task), dev, test


def bare(corpus: Corpus, task: str) -> Corpus:
    """Return a corpus without labels, of characters for the task segment."""
    if task == "segment":
        return Corpus(tuple(Sentence(tuple("".join(each.forms))) for each in corpus), SEGMENTATION, "character")
    return corpus.map(lambda each: Sentence(each.forms))


def lookups(setting: Setting, labelled: Corpus, raw: Corpus, folder: Path) -> dict[str, Any]:
    """Write what teachers look up; return the options of their training."""
    path = folder / "looked-up"
    if setting.lexicon:
        corpora = (tw.load(str(corpora_folder() / name)) for name in setting.lexicon)
        words = {form for corpus in corpora for sentence in corpus for form in sentence.forms}
        path.write_text("".join(f"{word}\n" for word in sorted(words)), "utf-8")
        return {"lexicons": str(path)}
    text = folder / "raw.seg"
    text.write_text("".join(" ".join(each.forms) + "\n" for each in (*labelled, *raw)), "utf-8")
    tw.harvest_clusters_files(text, path, classes=256)
    preset = "spans" if setting.task == "spans" else "words"
    return {"clusters": str(path), "templates": (*PRESETS[preset].texts, *PREFIXES)}


def together(teachers: Sequence[LabelModel], corpus: Corpus, task: str) -> Corpus:
    """Return a corpus as labelled by the mean of the probabilities of teachers."""
    tagger = teachers[0].under()
    text, name = bare(corpus, task), tagger.guideline
    labels, tables = mean_probabilities([each.under() for each in teachers], text)
    found = [best(labels, table) if task == "spans" else table.argmax(axis=1) for table in tables]
    pairs = zip(text, found, strict=True)
    done = [sentence.with_layer(name, [(labels[at],) for at in own]) for sentence, own in pairs]
    return corpus.with_sentences(map(tagger.words, done) if task == "segment" else done)


def best(labels: Sequence[str], table: NDArray[Any]) -> list[int]:
    """Return the labels of IOB2 that can follow each other and have the largest sum of probabilities [L, labels]."""
    scores = torch.from_numpy(table)[None]
    found: list[int] = ChainLoss(labels, "IOB2", transitions=False).decode(scores)[0].tolist()
    return found


def models(setting: Setting, corpora: tuple[Corpus, Corpus, Corpus, Corpus], seeds: int) -> dict[str, list[LabelModel]]:
    """Train everything."""
    labelled, raw, dev, _ = corpora
    run: dict[str, Any] = {"task": setting.task, "dev": dev, "callback": Silence()}
    found = {PLAIN: [tw.train(labelled, seed=seed, **run) for seed in range(TEACHERS)]}
    with tempfile.TemporaryDirectory() as folder:
        run |= lookups(setting, labelled, raw, Path(folder))
        found[TEACHER] = [tw.train(labelled, seed=seed, **run) for seed in range(TEACHERS)]
    for size in SIZES:
        text = raw.with_sentences(raw.sentences[: size * len(labelled)])
        rest: dict[str, Any] = {"tell": lambda line: None, "callback": Silence()}
        students = [tw.distill(found[TEACHER], text, labelled, dev, seed=seed, **rest) for seed in range(seeds)]
        found[f"student of {len(text):,} raw sentences"] = students
        print(size, [each.score for each in students], file=sys.stderr, flush=True)
    return found


def rates(found: dict[str, list[LabelModel]], test: Corpus, task: str) -> dict[str, float]:
    """Return how many tokens of the test set the first model of each kind labels in a second, and all teachers."""
    text = bare(test, task)
    lines = ["".join(each.forms) for each in text]

    def one(model: Any) -> Callable[[], object]:
        return (lambda: list(model.cut_all(lines))) if task == "segment" else (lambda: model.tag(text))

    work = {name: one(own[0]) for name, own in found.items()}
    taggers = [each.under() for each in found[TEACHER]]
    work[ENSEMBLE] = lambda: mean_probabilities(taggers, text)
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS + 1):
        for name, each in work.items():
            begin = time.process_time()
            each()
            seconds[name].append(time.process_time() - begin)
    return {name: text.tokens() / min(each[1:]) for name, each in seconds.items()}


Rows = dict[str, dict[str, Any]]


def measured(name: str, seeds: int) -> Rows:
    """Return the scores of all kinds of models on dev and test, and their speed."""
    setting = SETTINGS[name]
    corpora = read(setting)
    found = models(setting, corpora, seeds)
    _, _, dev, test = corpora
    rows: Rows = {
        way: {"dev": [100 * float(each.score or 0) for each in own], "test": [score(each, test) for each in own]}
        for way, own in found.items()
    }
    both = {part: (each, together(found[TEACHER], each, setting.task)) for part, each in (("dev", dev), ("test", test))}
    rows[ENSEMBLE] = {part: [percent(tw.evaluate(gold, {ENSEMBLE: own}))] for part, (gold, own) in both.items()}
    for way, rate in rates(found, test, setting.task).items():
        rows[way]["rate"] = rate
    print(name, rows, file=sys.stderr, flush=True)
    return {way: rows[way] for way in dict.fromkeys((PLAIN, TEACHER, ENSEMBLE, *found))}


def share(rows: Rows, way: str) -> float:
    """Return how much models have, in percent, of what their teachers gain over one linear model on test."""
    plain, *better = (mean(rows[each]["test"]) for each in (PLAIN, TEACHER, ENSEMBLE))
    return 100 * (mean(rows[way]["test"]) - plain) / (max(better) - plain)


def speed(rows: Rows, way: str) -> float:
    """Return how many times as fast as one linear model models are."""
    return float(rows[way]["rate"] / rows[PLAIN]["rate"])


def table(name: str, rows: Rows) -> list[str]:
    """Return the lines of a setting."""
    lines = [
        f"## {name}",
        "",
        "| | dev | test | share | tokens a second | times as fast |",
        "|---|---|---|---|---|---|",
    ]
    for way, row in rows.items():
        arrived = f"{share(rows, way):.0f} %" if way.startswith("student") else ""
        scores = f"{mean(row['dev']):.2f} | **{mean(row['test']):.2f}** | {arrived}"
        lines.append(f"| {way} | {scores} | {row['rate']:,.0f} | {speed(rows, way):.2f} |")
    return [*lines, ""]


def discussion(found: Collection[Rows]) -> list[str]:
    """Return what the numbers say."""
    last = [(rows, next(reversed(rows))) for rows in found]
    shares, speeds = [share(*each) for each in last], [speed(*each) for each in last]
    slow = [speed(rows, ENSEMBLE) for rows in found]
    return [
        "## Discussion",
        "",
        f"With the most raw text, students have {min(shares):.0f} to {max(shares):.0f} % of what their teachers gain,",
        f"and {min(speeds):.2f} to {max(speeds):.2f} times the speed of one linear model; teachers together have",
        f"{min(slow):.2f} to {max(slow):.2f} times.",
        "",
    ]


def page(found: dict[str, Rows], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    return [
        "# Distillation",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        f"Teachers are models of {TEACHERS} seeds, trained on 1,000 sentences (Chinese: 500 lines), which look up 256",
        "word clusters of the labelled and the raw sentences; for words of Chinese, which have no clusters, a lexicon:",
        "the words of two corpora of other guidelines. The student is one linear model, by",
        "[`distill`](../encoders.md) and its defaults, of raw text and the labelled sentences. Raw text are other",
        "training sentences without their labels, and without sentences of the development and test data, of which the",
        f"first {DEV:,} development sentences choose the iteration of every model.",
        "",
        f"F of spans and words, accuracy of tags, in percent: the mean of {TEACHERS} seeds for *{PLAIN}* and",
        f"*{TEACHER}*, of {seeds} for students. *{ENSEMBLE}*: the mean of their probabilities; labels of spans are the",
        "legal sequence with the largest sum of these. *share*: how much the student has of what one teacher or all",
        "together, whichever is better, gain over one linear model on test. *tokens a second* (characters for words of",
        f"Chinese): of the test set, one thread, the best of {ROUNDS} measurements by turns; for teachers together, of",
        "their probabilities alone.",
        "",
        *(line for name, rows in found.items() for line in table(name, rows)),
        *discussion(found.values()),
    ]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("distillation", __doc__, SETTINGS, measured, page, words, seeds=1)


if __name__ == "__main__":
    main()
