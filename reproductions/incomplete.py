"""Tags that are left out or ambiguous: marginal likelihood and its rivals (after Tsuboi et al. 2008, 5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from reproductions.lab import page
from reproductions.lab.comparison import LEVEL, counts_of
from reproductions.lab.corpora import Parts, of_sample, read_parts
from reproductions.lab.models import pointwise, trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence, narrow
from tagweave.errors import CorpusError
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Schedule

MARGINAL, POINTWISE, DISCARD, ITSELF = "marginal", "pointwise", "discard", "argmax of marginal"
RANDOM, FIRST, FIRST_BY_NAME, FREQUENT = "random", "first", "first, by name", "frequent"
PARTIAL = (MARGINAL, POINTWISE, DISCARD, ITSELF)
AMBIGUOUS = (MARGINAL, RANDOM, FIRST, FREQUENT, DISCARD, FIRST_BY_NAME)


class Data(NamedTuple):
    """A corpus whose training part is incomplete, and how models of it are trained."""

    parts: Parts
    train: Corpus
    schedule: Schedule

    def about(self) -> Numbers:
        """Return what the page tells of it, and how often each way to choose a candidate is right, in percent."""
        choices = {}
        if any(candidates and len(candidates) > 1 for each in self.train for candidates in each.layers["tag"]):
            pairs = [pair for both in zip(self.train, self.parts.train, strict=True) for pair in _open(*both)]
            for name in (RANDOM, FIRST, FIRST_BY_NAME, FREQUENT):
                pick = _picks(self.train, 0)[name]
                choices[name] = 100 * float(np.mean([pick(candidates) == gold for candidates, gold in pairs]))
        return {
            "sizes": self.parts.sizes(),
            "budget": [self.schedule.iterations, self.schedule.patience],
            "right": choices,
        }


def _open(damaged: Sentence, gold: Sentence) -> Iterator[tuple[tuple[str, ...], str]]:
    for candidates, label in zip(damaged.layers["tag"], gold.layers["tag"], strict=True):
        if candidates and label and len(candidates) > 1:
            yield candidates, label[0]


def settings(quick: bool) -> list[Setting]:
    """Zhuxian, or the bundled sample, of which labels are taken away."""
    if quick:
        parts, schedule = Parts(*of_sample("ctb.txt", "tag", 60, 70, 90)), Schedule(2, 1)
    else:
        parts, schedule = read_parts("zh/zx", "tag"), Schedule(30, 5)

    def setting(name: str, title: str, damage: Callable[[int], Corpus], methods: tuple[str, ...]) -> Setting:
        return Setting(name, title, lambda seed: Data(parts, damage(seed), schedule), methods, Data.about)

    train = parts.train
    half = "The same in a random half of the sentences, the other half fully labelled"
    return [
        setting("full", "All labels", lambda _: train, (MARGINAL, POINTWISE)),
        setting("30", "A random 30% of the tokens labelled", lambda seed: labelled(train, 0.3, seed), PARTIAL),
        setting("10", "A random 10% of the tokens labelled", lambda seed: labelled(train, 0.1, seed), PARTIAL),
        setting(
            "candidates",
            "Every ambiguous word with its candidates only",
            lambda seed: with_candidates(train, 1.0, seed),
            AMBIGUOUS,
        ),
        setting("candidates-half", half, lambda seed: with_candidates(train, 0.5, seed), AMBIGUOUS),
    ]


def labelled(corpus: Corpus, share: float, seed: int) -> Corpus:
    """A random share of the tokens keep their label; the others are unknown."""
    rng = np.random.default_rng(seed)

    def hide(sentence: Sentence) -> Sentence:
        kept = (rng.random(len(sentence)) < share).tolist()
        pairs = zip(sentence.layers["tag"], kept, strict=True)
        return sentence.with_layer("tag", (label if keep else None for label, keep in pairs))

    return corpus.map(hide)


def with_candidates(corpus: Corpus, share: float, seed: int) -> Corpus:
    """In a random share of the sentences every word gets all the tags that its form has anywhere in the corpus."""
    tags: dict[str, dict[str, None]] = {}
    for sentence in corpus:
        for form, label in zip(sentence.forms, sentence.layers["tag"], strict=True):
            tags.setdefault(form, {}).update(dict.fromkeys(label or ()))
    chosen = np.random.default_rng(seed).permutation(len(corpus)) < round(share * len(corpus))
    return corpus.with_sentences(
        sentence.with_layer("tag", (tuple(tags[form]) for form in sentence.forms)) if choose else sentence
        for sentence, choose in zip(corpus, chosen.tolist(), strict=True)
    )


def train(data: Data, method: str, seed: int) -> Result:
    """Treat what is incomplete by a method, train, and score the tags of dev and test.

    Where nothing is left to be trained on, the result has the counts of a model that is always wrong.
    """
    try:
        corpus = _treated(data, method, seed)
        if method == POINTWISE:
            templates, learner = PRESETS["li-2015"].texts, {"batch": 16, "initial": 1e-8, "seed": seed}
            model = pointwise([corpus], data.parts.dev, "tag", templates, learner, data.schedule)
        else:
            model = _trained(data, corpus, seed)
    except CorpusError:
        counts = {name: [[0, len(each)] for each in gold] for name, gold in _golds(data).items()}
        return {"counts": counts, "sentences": 0}
    return {"counts": {name: counts_of(gold, model) for name, gold in _golds(data).items()}, "sentences": len(corpus)}


def _golds(data: Data) -> dict[str, Corpus]:
    return {"dev": data.parts.dev, "test": data.parts.test}


def _treated(data: Data, method: str, seed: int) -> Corpus:
    """Return the training corpus of a method.

    Raises:
        CorpusError: no sentence is complete, or all that are have the same label.
    """
    corpus = data.train
    if method == ITSELF:
        completed: Corpus = _trained(data, corpus, seed).complete(corpus)
        return completed
    if method == DISCARD:
        whole = corpus.with_sentences(
            each for each in corpus if all(own and len(own) == 1 for own in each.layers["tag"])
        )
        if not len(whole):
            raise CorpusError("no sentence whose annotation is complete", "some, to discard the others", corpus.path)
        return whole
    if method in (MARGINAL, POINTWISE):
        return corpus
    pick = _picks(corpus, seed)[method]
    return corpus.map(lambda each: each.with_layer("tag", narrow(each.layers["tag"], lambda own: (pick(own),))))


def _picks(corpus: Corpus, seed: int) -> dict[str, Callable[[tuple[str, ...]], str]]:
    """Return how a method chooses one of several candidates."""
    rng = np.random.default_rng(seed)
    alone = Counter(own[0] for each in corpus for own in each.layers["tag"] if own and len(own) == 1)
    return {
        RANDOM: lambda candidates: sorted(candidates)[int(rng.integers(len(candidates)))],
        FIRST: lambda candidates: candidates[0],
        FIRST_BY_NAME: min,
        FREQUENT: lambda candidates: max(sorted(candidates), key=lambda name: alone[name]),
    }


def _trained(data: Data, corpus: Corpus, seed: int) -> Any:
    return trained(
        corpus,
        dev=data.parts.dev,
        task="tag",
        method="single",
        templates=PRESETS["li-2015"].texts,
        settings={"batch": 16, "initial": 1e-8},
        seed=seed,
        average_seeds=1,
        iterations=data.schedule.iterations,
        patience=data.schedule.patience,
    )


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    first = numbers["settings"][0]
    iterations, patience = first["budget"]
    yield from page.opening("Incomplete annotation: tagging", numbers["command"])
    yield f"- Data: zh/zx: {page.sizes(first['sizes'])}. What is taken away is taken from the training part only."
    yield (
        "- `marginal` is what `train` does: it sums over all labels that the annotation allows, and where few positions"
        " have one label begins at the weights of `pointwise`. `pointwise` ignores unknown positions, and no label"
        " depends on its neighbours. `discard` keeps complete sentences; in `argmax of marginal`, the model of"
        " `marginal` completes the others. The others choose one of the candidates: at random, the"
        " first one, or the tag that is most frequent at unambiguous words."
    )
    yield (
        f"- Every training: AdaGrad, at most {iterations} passes, the pass that is best on dev, stopped after"
        f" {patience} passes without a better one. A method of two models has this budget for each."
    )
    yield (
        "- A seed draws what is taken away, the choices of `random` and the order of training sentences. Scores are"
        " accuracies x 100, means over the seeds; in brackets each seed."
    )
    yield page.significance(numbers["trials"])
    for setting in numbers["settings"]:
        yield f"\n## {setting['title']}\n"
        rows = []
        for name, own in setting["methods"].items():
            sentences = page.number_range(own["sentences"])
            scores = own["scores"]
            test = own["against"].get(MARGINAL, {}).get("test")
            told = [f"{scores['dev']['mean']:.2f}", page.score(scores["test"])] if max(own["sentences"]) else ["-", "-"]
            rows.append([name, sentences, *told, *page.difference(test if max(own["sentences"]) else None)])
        yield from page.table(["method", "sentences", "dev", "test", "test to `marginal`", "p"], rows)
        if setting["right"]:
            right = ", ".join(f"`{name}` {share:.2f}" for name, share in setting["right"].items())
            yield f"Of the candidates that stand in the place of a label, this share of choices is right, %: {right}.\n"
        yield f"{_verdict(setting)}\n"


def _verdict(setting: Numbers) -> str:
    """Tell in words which rivals marginal likelihood beats."""
    groups: dict[str, list[str]] = {}
    for name, own in setting["methods"].items():
        test = own["against"].get(MARGINAL, {}).get("test")
        if test and max(own["sentences"]):
            outcome = "is better than" if test["difference"] < 0 else "is worse than"
            outcome = f"does not differ (p >= {LEVEL}) from" if test["p_all"] >= LEVEL else f"{outcome} (p < {LEVEL})"
            groups.setdefault(outcome, []).append(f"`{name}`")
    return (
        "Marginal likelihood " + "; ".join(f"{outcome} {', '.join(names)}" for outcome, names in groups.items()) + "."
    )


STUDIES = [Study("incomplete-tagging", 3, settings, train, lines, (MARGINAL,))]
