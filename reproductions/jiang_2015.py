"""Jiang et al. (2015): a corpus relabelled under the target's guideline, for words (Tables 6, 8) and trees (7, 9)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from reproductions.lab import page
from reproductions.lab.comparison import Finding, counts_of
from reproductions.lab.corpora import Parts, drawn, of_sample, read_parts, without_relations
from reproductions.lab.models import trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.templates import PRESETS

BASELINE, SOURCE, MERGING = "baseline", "source model", "merging"
MODEL_1, MODEL_2, MODEL_3 = "Model 1", "Model 2", "Model 3"
METHODS: dict[str, dict[str, Any]] = {
    BASELINE: {"method": "single"},
    SOURCE: {"method": "single"},
    MERGING: {"method": "merged"},
    MODEL_1: {"method": "stacked"},
    MODEL_2: {"method": "iterate", "rounds": 1, "predict_self": (0.0,)},
    MODEL_3: {"method": "iterate"},
}
"""Options of `tw.train`, by the names of the tables."""
PERCEPTRON: dict[str, Any] = {
    "learner": "perceptron",
    "templates": PRESETS["jiang-2015"].texts,
    "guide": "joined",
    "ways_back": (0.0, 0.5, 1.0),
}
ADAGRAD: dict[str, Any] = {
    "learner": "adagrad",
    "templates": PRESETS["liu-2014"].texts,
    "settings": {"rate": 0.05, "batch": 16, "initial": 1e-8},
    "guide": "window",
    "ways_back": (0.0, 0.3),
}
TREES: dict[str, Any] = {"learner": "adagrad", "drop_columns": 0, "ways_back": (0.0, 0.5)}
"""How models are trained; `ways_back` are the values of lambda for Model 3."""
SPD = (10_000, 1_000, 1_000)
"""Sentences of the newspaper; the paper has 20,000 to train on (5.1)."""
EWT = (2_000, 500, 500)
"""Trees of the source."""
SHARES = (0.25, 0.1)
"""Of the target's trees."""
REPEATS = 5
"""Of measurements of decoding; the best counts."""
FULL_STOP = "。"


@dataclass(frozen=True, eq=False)
class Pair:
    """Corpora of two guidelines, and how models of them are trained.

    Attributes:
        target, source: fully annotated.
        options: of `tw.train`, and `ways_back`.
        rounds: how often Model 3 transforms at most.
    """

    target: Parts
    source: Parts
    options: dict[str, Any]
    rounds: int

    def about(self) -> Numbers:
        """Return what the page tells of them."""
        told = {name: self.options[name] for name in ("learner", "iterations", "patience")}
        ways_back = list(self.options["ways_back"])
        sizes = {"target": self.target.sizes(), "source": self.source.sizes()}
        return {"sizes": sizes, **told, "ways back": ways_back, "rounds": self.rounds}


def words(quick: bool) -> list[Setting]:
    """Zhuxian, and sentences of the People's Daily, by the paper's learner and features and by others."""
    if quick:
        target = Parts(*of_sample("ctb.txt", "ctb", 30, 45, 60))
        source, counts, iterations, rounds = Parts(*of_sample("pd.txt", "pd", 40, 60, 80)), (30, 20, 20), 2, 1
    else:
        target, source = read_parts("zh/zx", "ctb"), read_parts("zh/pd199801", "pd").map(in_sentences)
        counts, iterations, rounds = SPD, 10, 3

    def data(options: dict[str, Any], seed: int) -> Pair:
        options = {**options, "task": "segment", "iterations": iterations, "patience": 3}
        return Pair(target, _drawn(source, counts, seed), options, rounds)

    return [
        Setting(name, f"With {title}: zh/pd199801 to zh/zx", partial(data, options), list(METHODS), Pair.about)
        for name, title, options in (
            ("perceptron", "the averaged perceptron", PERCEPTRON),
            ("adagrad", "AdaGrad", ADAGRAD),
        )
    ]


def trees(quick: bool) -> list[Setting]:
    """Function heads of a newspaper, and content heads of English web text, without relations."""
    target, source = (
        read_parts(f"en/{name}", guideline, "head").map(without_relations)
        for name, guideline in (("wsj-dep", "function"), ("ewt", "content"))
    )
    if quick:
        target, source = target.first(300, 20), source.first(60, 20)
    options = {**TREES, "task": "parse", "iterations": 1 if quick else 4, "patience": 1}

    def data(share: float, seed: int) -> Pair:
        train = drawn(target.train, round(share * len(target.train)), seed)
        part = Parts(train, target.dev, target.test)
        return Pair(part, _drawn(source, EWT, seed), options, 1 if quick else 2)

    return [
        Setting(
            f"{share:g}",
            f"{share:.0%} of the target trees: en/ewt to en/wsj-dep",
            partial(data, share),
            list(METHODS),
            Pair.about,
        )
        for share in SHARES
    ]


def _drawn(source: Parts, counts: Sequence[int], seed: int) -> Parts:
    return Parts(*(drawn(corpus, count, seed) for corpus, count in zip(source, counts, strict=True)))


def in_sentences(corpus: Corpus) -> Corpus:
    """Return paragraphs of words, each cut after every full stop (5.1)."""

    def cut(paragraph: Sentence) -> Iterator[Sentence]:
        begin = 0
        for end, form in enumerate(paragraph.forms, 1):
            if form == FULL_STOP or end == len(paragraph.forms):
                yield Sentence(paragraph.forms[begin:end])
                begin = end

    return corpus.with_sentences(part for paragraph in corpus for part in cut(paragraph))


def train(pair: Pair, method: str, seed: int) -> Result:
    """Train a method; score it on dev and test data of the target, and where Table 6 has it on those of the source."""
    options = {**pair.options, **METHODS[method], "average_seeds": 1, "seed": seed}
    ways_back, guide = options.pop("ways_back"), options.pop("guide", None)
    if guide and options["method"] in ("stacked", "iterate"):
        options["guide"] = guide
    if method == MODEL_3:
        options |= {"rounds": pair.rounds, "predict_self": ways_back}
    main = pair.source if method == SOURCE else pair.target
    sources = [] if options["method"] == "single" else [pair.source.train]
    model = trained(main.train, sources, dev=main.dev, **options)
    golds = {"dev": pair.target.dev, "test": pair.target.test}
    golds |= {"source test": pair.source.test} if method in (BASELINE, SOURCE) else {}
    about = {
        name: model.about[key] for name, key in (("round", "round"), ("way back", "predict_self")) if key in model.about
    }
    counts = {name: counts_of(gold, model.relabelled(gold)) for name, gold in golds.items()}
    return {"counts": counts, "decoding": _decoding(model, pair.target.test), **about}


def _decoding(model: Any, test: Corpus) -> float:
    """The seconds from raw sentences to words, or from tagged ones to trees."""
    lines = ["".join(sentence.forms) for sentence in test]
    seconds = []
    for _ in range(REPEATS + 1):
        begin = time.perf_counter()
        if model.plan.task == "parse":
            model.parse(test)
        else:
            for _words in model.cut_all(lines):
                pass
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:])


Cells = dict[str, Sequence[str]]


@dataclass(frozen=True)
class Printed:
    """What the pages of words and of trees call things, and the cells of the paper.

    Attributes:
        score, decoding: what is measured, and how a text is decoded.
        opposite, models: the titles of two tables.
        of_opposite, of_models: their cells, by method; the heads come first, under "".
        quicker: the time of Model 3 in that of Model 1, and its gain over it.
    """

    score: str
    decoding: str
    opposite: str
    of_opposite: Cells
    models: str
    of_models: Cells
    quicker: tuple[str, str]


OF_WORDS = Printed(
    "F of words",
    "from raw sentences to words",
    "Table 6: each guideline's model on both",
    {"": ("paper: CTB", "paper: SPD"), BASELINE: ("97.35", "86.65"), SOURCE: ("91.23", "94.25")},
    "Table 8: the models, and the time of decoding",
    {
        "": ("paper: test", "paper: seconds"),
        BASELINE: ("97.35", "1.21"),
        MERGING: ("93.79", "1.33"),
        MODEL_1: ("97.67", "4.39"),
        MODEL_2: ("97.69", "1.33"),
        MODEL_3: ("97.97", "1.33"),
    },
    ("30 %", "+0.30"),
)
OF_TREES = Printed(
    "UAS",
    "from tagged sentences to trees",
    "Table 7: each guideline's parser on both",
    {"": (), BASELINE: (), SOURCE: ()},
    "Table 9: the models, and the time of decoding",
    {
        "": ("paper: test", "paper: minutes"),
        BASELINE: ("77.51", "6.67"),
        MERGING: ("65.95", "7.38"),
        MODEL_1: ("78.69", "15.43"),
        MODEL_2: ("78.73", "7.38"),
        MODEL_3: ("79.34", "7.38"),
    },
    ("48 %", "+0.65"),
)


def _findings(
    table: str, opposite: Sequence[float | None], merging: float, model_1: float, model_2: float, model_3: float
) -> tuple[Finding, ...]:
    """What a table of the models says, by differences to the baseline, and the one of each model on both guidelines."""
    source, target = opposite
    other = {"Table 8": "Table 6", "Table 9": "Table 7"}[table]
    return (
        Finding(f"Under the target guideline the source model is worse ({other}).", SOURCE, BASELINE, -1, source),
        Finding(
            f"Under the source guideline the target model is worse ({other}).",
            BASELINE,
            SOURCE,
            -1,
            target,
            "source test",
        ),
        Finding(f"Merging is worse than the baseline ({table}).", MERGING, BASELINE, -1, merging),
        Finding(f"Model 1 is better than the baseline ({table}).", MODEL_1, BASELINE, 1, model_1),
        Finding(f"Model 2 is about as good as Model 1 ({table}).", MODEL_2, MODEL_1, 0, round(model_2 - model_1, 2)),
        Finding(f"Model 3 is better than the baseline ({table}).", MODEL_3, BASELINE, 1, model_3),
        Finding(f"Model 3 is better than Model 1 ({table}).", MODEL_3, MODEL_1, 1, round(model_3 - model_1, 2)),
    )


FINDINGS_OF_WORDS = _findings("Table 8", (-6.12, -7.60), -3.56, 0.32, 0.34, 0.62)
FINDINGS_OF_TREES = _findings("Table 9", (None, None), -11.56, 1.18, 1.22, 1.83)

_MODELS = (
    "Model 1 is guided by the source model, which annotates every text first (`stacked`). Model 2 is an ordinary model"
    " of the target corpus and the source corpus, transformed once. Model 3 is the same after iterative training with"
    " predict-self re-estimation (`iterate`): of all rounds and values of lambda, the one that is best on dev.\n"
)
NOTES_OF_WORDS = (
    "The paper adapts from 20,000 sentences of the People's Daily to the CTB, which is about as large, and newspaper as"
    " well. Here the target is a novel under the guideline of the CTB, a quarter as large as the source: the two differ"
    " in their guideline and in their domain.\n",
    _MODELS,
    "Beside the paper's learner and features stand others, which are better here.\n",
)
NOTES_OF_TREES = (
    "The paper adapts from syntactic dependencies of Chinese newspaper text to semantic ones of the same newspaper, of"
    " 244,000 words. Here the source has content heads, of English web text; the target has function heads, of English"
    " newspaper text. Trees are unlabelled.\n",
    _MODELS,
    "Not in the paper: the transformed source has the transfer model's probabilities of all heads in place of its best"
    " trees. Model 3 with lambda 0 is what the method `transform` does by default.\n",
)


def lines(printed: Printed, title: str, notes: Sequence[str], numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from page.opening(f"Jiang et al. (2015): {title}", numbers["command"])
    yield from notes
    first = numbers["settings"][0]
    yield (
        f"- Every training: at most {first['iterations']} iterations, the one that is best on dev, stopped after"
        f" {first['patience']} without a better one. The paper has steps of 0.05 of lambda and 10 rounds; here there"
        f" are {first['rounds']} rounds at most."
    )
    yield (
        f"- Scores are {printed.score}, x 100, means over the seeds; in brackets each seed. A seed draws the sentences"
        " of corpora of which not all are taken, and the order of sentences."
    )
    yield page.significance(numbers["trials"])
    for setting in numbers["settings"]:
        yield f"\n## {setting['title']}\n"
        yield from _of_setting(setting, printed)


def _of_setting(setting: Numbers, printed: Printed) -> Iterator[str]:
    methods = setting["methods"]
    for side, sizes in setting["sizes"].items():
        yield f"- {side.capitalize()}: {page.sizes(sizes)}."
    ways_back = ", ".join(f"{each:g}" for each in setting["ways back"])
    yield f"- Learner: {setting['learner']}; lambda: {ways_back}.\n"
    yield f"### {printed.opposite}\n"
    rows = []
    for name in (BASELINE, SOURCE):
        scores = methods[name]["scores"]
        rows.append([name, *(page.score(scores[part]) for part in ("test", "source test")), *printed.of_opposite[name]])
    yield from page.table(["model", "target test", "source test", *printed.of_opposite[""]], rows)
    yield f"### {printed.models}\n"
    head = [
        "method",
        "rounds, lambda",
        "dev",
        "test",
        "to baseline, p",
        "to Model 1, p",
        "seconds",
        *printed.of_models[""],
    ]
    rows = []
    for name, cells in printed.of_models.items():
        if name:
            own = methods[name]
            ways = zip(own.get("round", ()), own.get("way back", ()), strict=True)
            row = [name, "; ".join(dict.fromkeys(f"{number}, {share:g}" for number, share in ways)) or "-"]
            row += [page.score(own["scores"][part]) for part in ("dev", "test")]
            for reference in (BASELINE, MODEL_1):
                test = own["against"].get(reference, {}).get("test")
                row.append(f"{test['difference']:+.2f}, {test['p_all']:.4f}" if test else "-")
            rows.append([*row, f"{np.mean(own['decoding']):.3f}", *cells])
    yield from page.table(head, rows)
    yield f"Seconds: of the test data, {printed.decoding}; one thread, the best of several; means over the seeds.\n"
    model_1, model_3 = (np.mean(methods[name]["decoding"]) for name in (MODEL_1, MODEL_3))
    test, (paper_time, paper_gain) = methods[MODEL_3]["against"][MODEL_1]["test"], printed.quicker
    yield (
        f"Model 3 takes {100 * model_3 / model_1:.0f} % of the time of Model 1 (paper: {paper_time}), and its"
        f" {printed.score} on test is {test['difference']:+.2f} points from that of Model 1, p {test['p_all']:.4f}"
        f" (paper: {paper_gain}).\n"
    )
    yield from page.findings(setting["findings"])


REFERENCES = (BASELINE, MODEL_1, MODEL_2)
STUDIES = [
    Study(
        "jiang-2015-models",
        2,
        words,
        train,
        partial(lines, OF_WORDS, "Tables 6 and 8", NOTES_OF_WORDS),
        REFERENCES,
        FINDINGS_OF_WORDS,
    ),
    Study(
        "jiang-2015-parsing-models",
        2,
        trees,
        train,
        partial(lines, OF_TREES, "Tables 7 and 9", NOTES_OF_TREES),
        REFERENCES,
        FINDINGS_OF_TREES,
    ),
]
