"""Ten labelling functions on CoNLL-2003: what each is worth, what aggregation makes of them, and taggers from that."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tagweave as tw
from reproductions.lab.cache import Cache, Result
from reproductions.lab.corpora import all_corpora
from reproductions.sources.aggregation import labelled
from reproductions.sources.calibration import calibration_error
from reproductions.sources.rivals import rival_result
from reproductions.sources.rules import country_names, rules
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.soft import Soft
from tagweave.evaluation.spans import SpanScores, span_scores
from tagweave.learning.callback import Silence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.sources.answers import Answers
from tagweave.sources.posterior import aggregate

BELIEF = 0.9
"""How far every function is believed, where its reliability is given and not estimated: nobody measured it."""
ITERATIONS = 6
"""Of every training, since development data would be gold labels."""
_LEAST = 0.01  # of the probability of a candidate
_EXCLUDES = "plain"  # the function that says only `O`
MAJORITY, BELIEVED, SKWEAK, GOLD = "majority", "HMM, silence, believed", "skweak, HMM", "gold labels"


@dataclass(frozen=True)
class Way:
    """How what functions say becomes one layer.

    Attributes:
        name: in tables.
        method: of `tagweave.sources`; "" is skweak.
        options: of the method.
        believed: whether every function has the reliability `BELIEF`.
    """

    name: str
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    believed: bool = False


_SILENCE = {"silence": True}
WAYS = (
    Way(MAJORITY, "majority"),
    Way("Dawid-Skene", "dawid-skene"),
    Way("HMM", "hmm"),
    Way("BSC-seq", "bsc"),
    Way("Dawid-Skene, silence", "dawid-skene", _SILENCE),
    Way("HMM, silence", "hmm", _SILENCE),
    Way("BSC-seq, silence", "bsc", _SILENCE),
    Way("Dawid-Skene, silence, believed", "dawid-skene", _SILENCE, believed=True),
    Way(BELIEVED, "hmm", _SILENCE, believed=True),
    Way("BSC-seq, silence, believed", "bsc", _SILENCE, believed=True),
    Way(SKWEAK),
)
FORMS = {
    "hard": (False, True),
    "hard, nothing where no function answers": (False, False),
    "soft": (True, True),
    "soft, nothing where no function answers": (True, False),
}
"""What taggers learn from: whether labels have probabilities, and whether all tokens have labels."""
TRAINED = {MAJORITY: tuple(FORMS), BELIEVED: tuple(FORMS), SKWEAK: ("hard", "soft"), GOLD: ("hard",)}
"""What taggers are trained from."""


class Text(NamedTuple):
    """A corpus with gold labels and a layer for each function; the names of these."""

    corpus: Corpus
    functions: tuple[str, ...]

    @property
    def answers(self) -> Answers:
        """What the functions say."""
        return Answers.of_sentences(self.corpus, self.functions)

    @property
    def marked_everywhere(self) -> Answers:
        """What they say as skweak takes it: `O` where a function is silent, and no function that says only `O`."""
        names = [name for name in self.functions if name != _EXCLUDES]
        return Answers.of_sentences((_filled(each, names) for each in self.corpus), names)


class Outcome(NamedTuple):
    """Labels, the best of each token int32[N], probabilities [N, Y], and CPU seconds."""

    labels: tuple[str, ...]
    best: NDArray[np.integer]
    probabilities: NDArray[np.floating]
    seconds: float


def word_lists(python: Path) -> dict[str, list[str]]:
    """The lists of PyPI packages, which another Python has."""
    script = Path(__file__).with_name("word_lists.py")
    shown = subprocess.run([python, script], check=True, capture_output=True, text=True).stdout
    lists: dict[str, list[str]] = json.loads(shown)
    return lists


def text_of(part: str, lists: Mapping[str, list[str]], sentences: int | None) -> Text:
    """A part of CoNLL-2003 under the functions, without its columns."""
    corpus = tw.load(str(all_corpora() / "en/conll2003" / f"{part}.txt"))
    bare = corpus.with_sentences(replace(each, columns={}) for each in corpus.sentences[:sentences])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "countries.txt").write_text("\n".join(country_names(lists)), encoding="utf-8")
        countries = {"name": "countries", "type": "lexicon", "file": "countries.txt", "label": "LOC"}
        (path / "functions.json").write_text(json.dumps({"functions": [countries]}), encoding="utf-8")
        weak = tw.apply_functions(bare, path / "functions.json", *rules(lists))
    return Text(weak, tuple(name for name in weak[0].layers if name != weak.guideline))


def outcome(way: Way, text: Text, python: Path) -> Outcome:
    """What a way makes of a text."""
    if not way.method:
        answers = text.marked_everywhere
        rival = rival_result(python, "skweak", answers)
        return Outcome(answers.labels, rival.probabilities.argmax(axis=1), rival.probabilities, rival.seconds)
    answers, begin = text.answers, time.process_time()
    known = dict.fromkeys(text.functions, BELIEF) if way.believed else None
    found = aggregate(answers, way.method, way.options, known)
    return Outcome(found.labels, found.best, found.probabilities, time.process_time() - begin)


def aggregated(way: Way, text: Text, own: Outcome) -> Result:
    """The row of a way on a text."""
    corpus, number = text.corpus, {label: y for y, label in enumerate(own.labels)}
    gold = [number.get(each[0], -1) for sentence in corpus for each in sentence.layers[corpus.guideline] if each]
    scores = span_scores(_only_gold(corpus), labelled(_only_gold(corpus), own.labels, own.best))
    error = calibration_error(own.probabilities, np.array(gold))
    return {"name": way.name, **_numbers(scores), "calibration": error, "seconds": own.seconds}


def training_text(text: Text, own: Outcome, form: str) -> Corpus:
    """The text with what a way makes of it as its labels."""
    soft, everywhere = FORMS[form]
    answered = np.zeros(len(own.best), bool)
    answered[text.answers.position] = True
    rows = zip(own.best.tolist(), own.probabilities.tolist(), answered.tolist(), strict=True)
    gold = _only_gold(text.corpus)

    def layer(sentence: Sentence) -> Iterator[Candidates]:
        before: Candidates = ("O",)
        for best, row, is_answered in islice(rows, len(sentence)):
            if not (everywhere or is_answered):
                before = None
            else:
                before = _probable(own.labels, row, before) if soft else (own.labels[best],)
            yield before

    return gold.with_sentences(each.with_layer(gold.guideline, layer(each)) for each in gold.sentences)


def trained(train: Corpus, test: Corpus, name: str, seed: int, cache: Cache) -> list[str]:
    """The labels of the test text by a tagger of a training text, a line a sentence."""
    texts = [[(each.forms, each.layers[train.guideline]) for each in part] for part in (train, test)]
    digest = hashlib.sha256(repr(texts).encode()).hexdigest()[:12]

    def run() -> Result:
        model = tw.train(
            train, task="spans", seed=seed, iterations=ITERATIONS, settings={"batch": 16}, callback=Silence()
        )
        tagger = ChainPredictor(model.chain)
        said = tagger.tag([Sentence(each.forms) for each in test])
        return {"test": [" ".join(each[0] for each in own.layers[tagger.guideline] if each) for own in said]}

    description = {"text": digest, "seed": seed, "iterations": ITERATIONS}
    lines: list[str] = cache.result(f"weak {name} {seed}", description, run)["test"]
    return lines


def study(python: Path, seeds: int, sentences: int | None, cache: Cache, say: Callable[[str], None]) -> dict[str, Any]:
    """All numbers of the page."""
    lists = word_lists(python)
    texts = {part: text_of(part, lists, sentences) for part in ("train", "test")}
    outcomes: dict[str, Outcome] = {}
    parts: dict[str, Any] = {}
    for part, text in texts.items():
        rows = []
        for way in WAYS:
            own = outcome(way, text, python)
            rows.append(aggregated(way, text, own))
            say(f"{part}, {way.name}: {rows[-1]['f']:.2f}")
            if part == "train":
                outcomes[way.name] = own
        compared = tw.compare_sources(text.corpus, text.functions, text.corpus.guideline)
        parts[part] = {
            "sentences": len(text.corpus),
            "tokens": text.corpus.tokens(),
            "all": compared["all"],
            "functions": compared["sources"],
            "rows": rows,
        }
    return {"parts": parts, "taggers": list(_taggers(texts, outcomes, seeds, cache, say))}


def _taggers(
    texts: Mapping[str, Text], outcomes: Mapping[str, Outcome], seeds: int, cache: Cache, say: Callable[[str], None]
) -> Iterator[Result]:
    test = _only_gold(texts["test"].corpus)
    for name, forms in TRAINED.items():
        for form in forms:
            train = _only_gold(texts["train"].corpus)
            if name != GOLD:
                train = training_text(texts["train"], outcomes[name], form)
            said = [trained(train, test, f"{name} {form}", seed, cache) for seed in range(seeds)]
            scores = [span_scores(test, _with_lines(test, lines)) for lines in said]
            numbers = [_numbers(each) for each in scores]
            row = {key: float(np.mean([each[key] for each in numbers])) for key in numbers[0]}
            say(f"tagger, {name}, {form}: {row['f']:.2f}")
            yield {"name": name, "form": form, **row, "values": [each["f"] for each in numbers]}


def _numbers(scores: SpanScores) -> dict[str, float]:
    spans = scores.spans
    return {
        name: 100 * float(np.nan_to_num(getattr(spans, name)))  # without any span, precision is 0
        for name in ("f", "precision", "recall")
    }


def _only_gold(corpus: Corpus) -> Corpus:
    return corpus.map(lambda sentence: sentence.with_layers_of([corpus.guideline]))


def _with_lines(corpus: Corpus, lines: list[str]) -> Corpus:
    pairs = zip(corpus, lines, strict=True)
    return corpus.with_sentences(each.with_layer(corpus.guideline, [(y,) for y in own.split()]) for each, own in pairs)


def _filled(sentence: Sentence, names: list[str]) -> Sentence:
    layers = {name: tuple(each or ("O",) for each in sentence.layers[name]) for name in names}
    return replace(sentence, layers=layers)


def _probable(labels: tuple[str, ...], row: list[float], before: Candidates) -> Candidates:
    """The probable labels that can follow those before, with their probabilities, the most probable first."""
    possible = {"O", *(name for name in labels if name[0] == "B"), *(f"I{name[1:]}" for name in before or labels)}
    pairs = [(p, label) for p, label in zip(row, labels, strict=True) if p >= _LEAST and label in possible]
    if len(pairs) < 2:
        return (pairs[0][1],) if pairs else ("O",)
    total = sum(p for p, _ in pairs)
    ordered = sorted(pairs, reverse=True)
    return Soft((label for _, label in ordered), (round(p / total, 6) for p, _ in ordered))
