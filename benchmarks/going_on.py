"""Models that go on learning, beside training anew: `python -m benchmarks.going_on`.

A new type is added, corpora of other types follow one another, a corpus comes in ten parts, and single sentences are
corrected; spaCy's `nlp.update` does the second of these, too, if spaCy is installed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import Row, by_seeds, rows_by_way
from benchmarks.scores import score
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.spans import OUTSIDE
from tagweave.estimators import ChainCRF
from tagweave.evaluation.spans import span_scores
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor

OLD, NEW = ("LOC", "PER"), ("MISC", "ORG")
BIO = {"chemicals": "bc5cdr-chem", "diseases": "bc5cdr-disease", "ncbi": "ncbi-disease"}
TYPES = {"chemicals": "Chemical", "diseases": "Disease", "ncbi": "Disease"}
PARTS = 10
CORRECTIONS = 200
ROUNDS = 10  # of spaCy over a corpus
Rows = Iterator[tuple[str, Row]]


def read(name: str) -> Corpus:
    return tw.load(str(corpora_folder() / name))


def only(corpus: Corpus, types: Collection[str]) -> Corpus:
    """Return a corpus in which spans of these types alone are marked."""

    def kept(candidates: Any) -> Any:
        return candidates if candidates[0] == OUTSIDE or candidates[0][2:] in types else (OUTSIDE,)

    name = corpus.guideline
    return corpus.map(lambda sentence: sentence.with_layer(name, map(kept, sentence.layers[name])))


def f_of(model: Any, test: Corpus, types: Collection[str]) -> float:
    """Return F of spans of some types, in percent."""
    text = (replace(sentence, layers={}) for sentence in test)
    answers = test.with_sentences(ChainPredictor(model.chain).tag(text))
    return 100 * float(span_scores(only(test, types), only(answers, types)).spans.f)


def compile_kernels() -> None:
    """Train and update on a few sentences, so that no time is that of compiling."""
    few = read("en/conll2003/train.txt")
    few = few.with_sentences(few.sentences[:60])
    for task in ("spans", "tag"):
        model = tw.train(few, task=task, callback=Silence())
        model.update(only(few, NEW).covering(NEW) if task == "spans" else few, callback=Silence())


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of some work, and how many seconds of a processor it took."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def of_a_new_type(seed: int) -> Rows:
    """CoNLL-2003: in the first half people and places are marked, in the second organisations and other names."""
    train, dev, test = (read(f"en/conll2003/{name}.txt") for name in ("train", "dev", "test"))
    half = len(train) // 2
    first = only(train.with_sentences(train.sentences[:half]), OLD)
    second = only(train.with_sentences(train.sentences[half:]), NEW).covering(NEW)
    usual: dict[str, Any] = {"task": "spans", "seed": seed, "callback": Silence()}

    def scores(model: Any, seconds: float) -> Row:
        return {"old types": f_of(model, test, OLD), "new types": f_of(model, test, NEW), "seconds": seconds}

    model, seconds = timed(lambda: tw.train(first, **usual))
    yield "the first half alone", scores(model, seconds)
    _, seconds = timed(lambda: model.update(second, seed=seed, callback=Silence()))
    yield "going on with the second", scores(model, seconds)
    both = [first.covering(OLD), second]
    for way, judge in {"both at once": None, "both at once, with development data": dev}.items():
        model, seconds = timed(lambda judge=judge: tw.train(both, dev=judge, **usual))
        yield way, scores(model, seconds)


def of_types_in_turn(seed: int) -> Rows:
    """Biomedical text: chemicals, then diseases in other abstracts, then diseases of another corpus."""
    trains = {name: read(f"en/bio/{folder}/train.txt") for name, folder in BIO.items()}
    tests = {name: read(f"en/bio/{folder}/test.txt") for name, folder in BIO.items()}
    half = len(trains["chemicals"]) // 2
    trains["chemicals"] = trains["chemicals"].with_sentences(trains["chemicals"].sentences[:half])
    trains["diseases"] = trains["diseases"].with_sentences(trains["diseases"].sentences[half:])
    usual: dict[str, Any] = {"seed": seed, "callback": Silence()}

    def scores(model: Any, seconds: float) -> Row:
        return {**{name: f_of(model, test, [TYPES[name]]) for name, test in tests.items()}, "seconds": seconds}

    alone = {}
    for name, train in trains.items():
        alone[name], seconds = timed(lambda train=train: tw.train(train, task="spans", **usual))
        yield f"{name} alone", scores(alone[name], seconds)
    for way, replay in (("", False), (", with text of before", True)):
        model = copy(alone["chemicals"])
        before = [trains["chemicals"]]
        for name in ("diseases", "ncbi"):
            covers = [TYPES[name], *([types_of(corpus) for corpus in before] if replay else [])]
            known = before if replay else []
            _, seconds = timed(
                lambda name=name, model=model, known=known, covers=covers: model.update(
                    trains[name], sources=known, covers=covers, **usual
                )
            )
            before = [*before, trains[name]]
            yield f"going on with {name}{way}", scores(model, seconds)
    corpora = [train.covering([TYPES[name]]) for name, train in trains.items()]
    model, seconds = timed(lambda: tw.train(corpora, task="spans", **usual))
    yield "all at once", scores(model, seconds)
    if seed == 0 and find_spec("spacy"):  # which takes some minutes
        yield from of_spacy(trains, tests, seed)


def types_of(corpus: Corpus) -> list[str]:
    """Return the types of a corpus that covers all that it marks."""
    labels = (label for sentence in corpus for (label,) in set(sentence.layers[corpus.guideline]))
    return sorted({label[2:] for label in labels} - {""})


def of_spacy(trains: Mapping[str, Corpus], tests: Mapping[str, Corpus], seed: int) -> Rows:
    """The same by `nlp.update` of spaCy's entity recogniser, without vectors."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example, iob_to_biluo
    from spacy.util import fix_random_seed, minibatch

    fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.max_length = 10**9
    recogniser = nlp.add_pipe("ner")
    for kind in sorted(set(TYPES.values())):
        recogniser.add_label(kind)

    def examples(corpus: Corpus) -> list[Any]:
        made = []
        for sentence in corpus:
            labels = [candidates[0] for candidates in sentence.layers[corpus.guideline]]
            doc = Doc(nlp.vocab, words=list(sentence.forms))
            made.append(Example.from_dict(doc, {"entities": iob_to_biluo(labels)}))
        return made

    def scores(seconds: float) -> Row:
        row: Row = {}
        for name, test in tests.items():
            docs = nlp.pipe(Doc(nlp.vocab, words=list(sentence.forms)) for sentence in test)
            layers = [
                [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else OUTSIDE for token in doc] for doc in docs
            ]
            answers = test.with_sentences(
                sentence.with_layer(test.guideline, [(label,) for label in layer])
                for sentence, layer in zip(test, layers, strict=True)
            )
            kind = [TYPES[name]]
            row[name] = 100 * float(span_scores(only(test, kind), only(answers, kind)).spans.f)
        return {**row, "seconds": seconds}

    optimizer = nlp.initialize(lambda: examples(trains["chemicals"])[:100])
    order = random.Random(seed)
    for name, train in trains.items():

        def learn(train: Corpus = train) -> None:
            made = examples(train)
            for _ in range(ROUNDS):
                order.shuffle(made)
                for batch in minibatch(made, 32):
                    nlp.update(batch, sgd=optimizer, drop=0.1)

        _, seconds = timed(learn)
        yield f"spaCy, `nlp.update` with {name}", scores(seconds)


def of_parts(name: str, task: str) -> Callable[[int], Rows]:
    """Return a setting of a corpus that comes in ten parts."""

    def rows(seed: int) -> Rows:
        layer = "head" if task == "parse" else "xpos"
        path = f"en/ewt/{{}}.conllu#{layer}" if name == "EWT" else f"{name}/{{}}.txt"
        train, test = (read(path.format(part)) for part in ("train", "test"))
        bounds = np.linspace(0, len(train), PARTS + 1).astype(int).tolist()
        parts = [train.with_sentences(train.sentences[a:b]) for a, b in pairwise(bounds)]
        usual: dict[str, Any] = {"task": task, "seed": seed, "callback": Silence()}
        model, seconds = timed(lambda: tw.train(parts[0], **usual))
        yield "the first part", {"test": score(model, test), "seconds": seconds}
        times = []
        for part in parts[1:]:
            _, seconds = timed(lambda part=part: model.update(part, seed=seed, callback=Silence()))
            times.append(seconds)
        yield "going on with each part", {"test": score(model, test), "seconds": mean(times)}
        model, seconds = timed(lambda: tw.train(train, **usual))
        yield "anew on all parts", {"test": score(model, test), "seconds": seconds}

    return rows


def attributes(forms: Sequence[str], at: int) -> dict[str, Any]:
    """Return what users of CRFsuite give of a token."""
    word = forms[at]
    found: dict[str, Any] = {"bias": True, "word": word.lower(), "suffix": word[-3:], "end": word[-2:]}
    found |= {"upper": word.isupper(), "title": word.istitle(), "digits": word.isdigit()}
    for step in (-1, 1):
        if 0 <= at + step < len(forms):
            beside = forms[at + step]
            found |= {f"{step}word": beside.lower(), f"{step}title": beside.istitle(), f"{step}upper": beside.isupper()}
        else:
            found[f"{step}edge"] = True
    return found


def of_estimator(seed: int) -> Rows:
    """`partial_fit` of ChainCRF over shuffled tenths of CoNLL-2002 in Spanish, beside `fit`."""

    def pairs(corpus: Corpus) -> tuple[list[Any], list[Any]]:
        X = [[attributes(sentence.forms, at) for at in range(len(sentence))] for sentence in corpus]
        return X, [[candidates[0] for candidates in sentence.layers[corpus.guideline]] for sentence in corpus]

    (X, y), test = (pairs(read(f"es/conll2002/{name}.txt")) for name in ("train", "test"))
    crf = ChainCRF(coding="IOB2")
    times = []
    for part in np.array_split(np.random.default_rng(seed).permutation(len(X)), PARTS):
        _, seconds = timed(lambda part=part: crf.partial_fit([X[at] for at in part], [y[at] for at in part]))
        times.append(seconds)
    yield "`partial_fit` with each tenth", {"test": 100 * crf.score(*test), "seconds": mean(times)}
    if seed == 0:
        fitted, seconds = timed(lambda: ChainCRF(coding="IOB2", c1=0.1, c2=0.1, max_iterations=100).fit(X, y))
        yield "`fit`, L-BFGS, c1 and c2 0.1, 100 iterations", {"test": 100 * fitted.score(*test), "seconds": seconds}


def of_corrections(seed: int) -> Rows:
    """CoNLL-2003: 200 errors of development data, each corrected by itself; F of the others before and after."""
    train, dev = (read(f"en/conll2003/{name}.txt") for name in ("train", "dev"))
    model = tw.train(train, task="spans", seed=seed, callback=Silence())
    before, name = f_of(model, dev, (*OLD, *NEW)), dev.guideline
    gold = [[candidates[0] for candidates in sentence.layers[name]] for sentence in dev]
    wrong = [at for at, sentence in enumerate(dev) if list(model.tag(list(sentence.forms))) != gold[at]]
    chosen = np.random.default_rng(seed).permutation(wrong)[:CORRECTIONS].tolist()
    right, times, changes = 0, [], []
    for number, at in enumerate(chosen):
        corrected, forms = copy(model), list(dev[at].forms)
        _, seconds = timed(lambda corrected=corrected, forms=forms, at=at: corrected.correct(forms, gold[at]))
        times.append(1000 * seconds)
        right += list(corrected.tag(forms)) == gold[at]
        if number % 10 == 0:
            changes.append(f_of(corrected, dev, (*OLD, *NEW)) - before)
    yield (
        "`model.correct`",
        {
            "right afterwards": 100 * right / len(chosen),
            "F, mean change": mean(changes),
            "F, worst change": min(changes),
            "milliseconds": mean(times),
        },
    )


SETTINGS: dict[str, Callable[[int], Rows]] = {
    "A new type: CoNLL-2003 in two halves": of_a_new_type,
    "Types in turn: chemicals, diseases, diseases of another corpus": of_types_in_turn,
    "Ten parts: CoNLL-2002, Spanish": of_parts("es/conll2002", "spans"),
    "Ten parts: EWT, tags": of_parts("EWT", "tag"),
    "Ten parts: EWT, trees": of_parts("EWT", "parse"),
    "Ten parts: ZX, words": of_parts("zh/zx", "segment"),
    "Ten parts: ChainCRF, CoNLL-2002, Spanish": of_estimator,
    "One correction: CoNLL-2003": of_corrections,
}


def measured(name: str, seeds: int) -> dict[str, list[Row]]:
    """Return the rows of each way of a setting."""
    compile_kernels()
    return rows_by_way(SETTINGS, name, seeds)


def page(numbers: dict[str, dict[str, list[Row]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    lines = [
        "# Going on",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "F of spans or words, accuracy of tags, or LAS, on test, in percent, and seconds of a processor: the mean of",
        f"{seeds} seeds, of spaCy and L-BFGS one. A model goes on by `tagweave train --from`, or `model.update`, with",
        "text that it has not seen, and without the text that it has. All is by default.",
        "",
    ]
    for name, by_way in numbers.items():
        columns = list(dict.fromkeys(column for rows in by_way.values() for row in rows for column in row))
        lines += [f"## {name}", "", f"| way | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for way, rows in by_way.items():
            means = [mean(row[column] for row in rows) for column in columns]
            digits = [1 if column in ("seconds", "milliseconds") else 2 for column in columns]
            cells = [f"{value:.{places}f}" for value, places in zip(means, digits, strict=True)]
            lines.append(f"| {way} | {' | '.join(cells)} |")
        lines.append("")
    return lines


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("going_on", __doc__, SETTINGS, measured, page, words)


if __name__ == "__main__":
    main()
