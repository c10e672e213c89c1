"""Spans that overlap: layers of one model beside a model of each type: `python -m benchmarks.overlap`.

`bio` has three corpora of `en/bio` (chemicals and diseases of the same abstracts, and diseases of others), each marked
with one type. `five` has five types over the text of `en/conllpp`: noun phrases, and the four types of entities inside
them; each is a corpus of its own. In `one` they are layers of one corpus, so that types which exclude one another are
found. All models are trained on TRAIN alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.columns import with_column_layers
from tagweave.corpus.overlapping import of_layer
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.spans import score_of_layers
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.layered import LayeredPredictor

ENTITIES, PHRASES = ("PER", "LOC", "ORG", "MISC"), "NP"
WARM_UP, PASSES = 200, 3
"""Sentences that are tagged first, and how often the others are, for the time."""
READING = """\
Chains of their own have the weights of separate models, bit for bit, so F is the same. A file holds the index of
features once, and weights for each chain: about half of a model is its index. Layers that exclude one another share a
chain, which is mostly better than models that do not know of one another, and takes half of the bytes.
"""
Numbers = dict[str, Any]
Data = tuple[list[Corpus], dict[str, Corpus]]
"""Training corpora, and a test corpus for each layer."""


def bio() -> Data:
    """Return the corpora of biomedical abstracts, each with its layer."""
    folders = {"chemical": "bc5cdr-chem", "disease": "bc5cdr-disease", "ncbi": "ncbi-disease"}
    corpora: dict[str, list[Corpus]] = {
        part: [
            tw.load(f"{name}={corpora_folder() / 'en' / 'bio' / folder / f'{part}.txt'}")
            for name, folder in folders.items()
        ]
        for part in ("train", "test")
    }
    return corpora["train"], {corpus.guideline: corpus for corpus in corpora["test"]}


def one() -> Data:
    """Return newspaper text as one corpus with five layers, each of a type."""
    return [_typed("train")], {name: replace(_typed("test"), guideline=name) for name in (*ENTITIES, PHRASES)}


def five() -> Data:
    """Return the same text as five corpora."""
    [train], test = one()
    return [_alone(train, name) for name in test], test


def _alone(corpus: Corpus, name: str) -> Corpus:
    return replace(corpus.map(lambda sentence: sentence.with_layers_of({name})), guideline=name)


def _typed(part: str) -> Corpus:
    """Return a corpus of `en/conllpp` with a layer for each type."""
    read = tw.load(str(corpora_folder() / "en" / "conllpp" / f"{part}.txt"))
    corpus = read.with_sentences(with_column_layers(read, ["column3"]))
    for layer in ("tag", "column3"):
        corpus = chunk_schemes.coded(corpus, "IOB2", layer)

    def typed(sentence: Sentence) -> Sentence:
        layers = {name: of_layer(sentence.layers["tag"], (name,)) for name in ENTITIES}
        layers[PHRASES] = of_layer(sentence.layers["column3"], (PHRASES,))
        return Sentence(sentence.forms, layers, location=sentence.location)

    return replace(corpus.map(typed), guideline=PHRASES)


SETTINGS: dict[str, Callable[[], Data]] = {"bio": bio, "five": five, "one": one}


def measured(setting: str, seeds: int) -> Numbers:
    """Return the numbers of separate models, and of one model, with each seed."""
    corpora, tests = SETTINGS[setting]()
    rows = [dict(_rows(corpora, tests, seed)) for seed in range(seeds)]
    sentences, tokens = sum(map(len, corpora)), sum(corpus.tokens() for corpus in corpora)
    return {"sentences": sentences, "tokens": tokens, "layers": [*tests], "rows": rows}


def _rows(corpora: Sequence[Corpus], tests: dict[str, Corpus], seed: int) -> Iterator[tuple[str, Numbers]]:
    text = [replace(sentence, layers={}, comments=()) for sentence in next(iter(tests.values()))]
    options = {"seed": seed, "callback": Silence(), "task": "spans"}
    begin = time.process_time()
    own = [
        tw.train(_alone(corpus, name), **options)
        for name in tests
        for corpus in corpora
        if name in {layer for sentence in corpus for layer in sentence.layers}
    ]
    seconds = time.process_time() - begin
    taggers = [ChainPredictor(model.chain) for model in own]
    yield "models", {**_numbers(own, taggers, tests, text), "training": seconds, "chains": len(own)}
    begin = time.process_time()
    model = tw.train(list(corpora), overlap=True, **options)
    seconds, predictor = time.process_time() - begin, LayeredPredictor(model.trained)
    yield (
        "layers",
        {
            **_numbers([model], [predictor], tests, text),
            "training": seconds,
            "chains": len(predictor.predictors),
        },
    )


def _numbers(
    models: Sequence[Any], taggers: Sequence[Any], tests: dict[str, Corpus], text: Sequence[Sentence]
) -> Numbers:
    """Return F by layer and of all, the bytes of files, and the seconds that models take for a text."""
    scores = {}
    for name, test in tests.items():
        bare = [replace(sentence, layers={}) for sentence in test]
        tagger = next(one for one in taggers if name in one.guidelines)
        scores[name] = score_of_layers(test, test.with_sentences(tagger.tag(bare)), [name]).f * 100
    with tempfile.TemporaryDirectory() as folder:
        sizes = []
        for number, model in enumerate(models):
            model.save(Path(folder) / str(number))
            sizes.append((Path(folder) / str(number)).stat().st_size)
    for tagger in taggers:
        list(tagger.tag(text[:WARM_UP]))
    begin = time.process_time()
    for _ in range(PASSES):
        for tagger in taggers:
            list(tagger.tag(text[WARM_UP:]))
    seconds = (time.process_time() - begin) / PASSES
    tokens = sum(len(sentence) for sentence in text[WARM_UP:])
    return {"F": scores, "bytes": sum(sizes), "tokens a second": tokens / seconds}


def page(found: dict[str, Numbers], command: str, seeds: int) -> list[str]:
    """Return the page of results."""
    lines = ["# Spans that overlap", "", f"`{command}`: means of {seeds} seeds.", ""]
    lines += [str(__doc__).partition("\n\n")[2].strip(), ""]
    lines += ["| | chains | F of each layer | bytes | tokens a second | training, s |", "|---|---|---|---|---|---|"]
    for setting, numbers in found.items():
        for name, what in (("models", "a model of each"), ("layers", "layers of one")):
            rows = [row[name] for row in numbers["rows"]]
            scores = ", ".join(
                f"{layer} {sum(row['F'][layer] for row in rows) / seeds:.2f}" for layer in numbers["layers"]
            )
            means = (sum(row[key] for row in rows) / seeds for key in ("bytes", "tokens a second", "training"))
            size, speed, seconds = means
            lines.append(
                f"| {setting}: {what} | {rows[0]['chains']} | {scores} | {size:,.0f} | {speed:,.0f} | {seconds:.0f} |"
            )
        first, second = ([row[name] for row in numbers["rows"]] for name in ("models", "layers"))
        size, speed = (
            sum(row[key] for row in second) / sum(row[key] for row in first) for key in ("bytes", "tokens a second")
        )
        lines.append(f"| *{setting}: of these* | | | {size:.2f} of the bytes | {speed:.1f} times | |")
    return [*lines, "", READING]


if __name__ == "__main__":
    by_seeds("overlap", __doc__, SETTINGS, measured, page, seeds=2)
