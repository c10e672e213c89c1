"""One measurement of training on partial annotation in a process of its own: prints a JSON object on its last line.

python -m benchmarks.partial_measure data FOLDER [--lines N]     makes the training data, and measures the model that
                                                                 completes the partial sentences
python -m benchmarks.partial_measure crfsuite FOLDER             python-crfsuite on the completed sentences
python -m benchmarks.partial_measure kytea FOLDER                KyTea on the partial sentences
python -m benchmarks.partial_measure tagweave FOLDER [--data completed|partial] [--learner NAME] [--threads N]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.characters import (
    Words,
    attributes,
    bmes,
    corpora_folder,
    f_score,
    plain_words,
    tagged_words,
    unknown_recall,
    words_of,
)

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.models.chain import ChainModel
    from tagweave.training.recipe import Recipe

C2 = 1.0
SOURCE, PARTIAL, COMPLETED, TEST = "source.txt", "partial.kytea", "completed.txt", "test.txt"
"""The files of a folder: the annotated corpus, the partial sentences, these as whole words, and the test data."""


def make_data(folder: Path, lines: int | None, threads: int) -> dict[str, Any]:
    """The People's Daily, and the sentences of Zhuxian in which a word of the lexicon is found."""
    from reproductions.tsuboi_2008.retraining import completed
    from tagweave.corpus.formats import plain
    from tagweave.features.templates import PRESETS
    from tagweave.training.recipe import Recipe
    from tagweave.training.task import Task

    corpora = corpora_folder() / "zh"
    _write(folder / SOURCE, tagged_words(corpora / "pd199801" / "train.txt", "/", lines))
    _write(folder / TEST, tagged_words(corpora / "zx" / "test.txt", "_"))
    kept, known = harvest(corpora, folder / PARTIAL)
    recipe = Recipe(Task("segment"), PRESETS["liu-2014"], threads=threads)
    model, found = trained([f"pd={folder / SOURCE}"], recipe, None)
    with (folder / COMPLETED).open("w", encoding="utf-8") as stream:
        plain.write_segmented(completed(model, _load(f"pd={folder / PARTIAL}"), recipe).sentences, stream)
    return {**found, **scores(by_model(model), folder), "sentences": kept, "known": known}


def harvest(corpora: Path, path: Path) -> tuple[int, float]:
    """Write the partial sentences; their number, and the share of their characters with one label."""
    from tagweave.corpus.formats import kytea
    from tagweave.harvest.lexicon import read
    from tagweave.harvest.matching import LexiconHarvest, LexiconMatcher

    raw = ("".join(words) for words in tagged_words(corpora / "zx" / "train.txt", "_"))
    matcher = LexiconMatcher((read(str(corpora / "lexicons" / "zhuxian-names.txt")),))
    found = list(LexiconHarvest(matcher).of(raw, ""))
    with path.open("w", encoding="utf-8") as stream:
        kytea.write(found, stream)
    positions = list(chain.from_iterable(sentence.layers[kytea.SEGMENTATION] for sentence in found))
    return len(found), sum(each is not None and len(each) == 1 for each in positions) / len(positions)


def tagweave(folder: Path, data: str, learner: str, iterations: int, threads: int) -> dict[str, Any]:
    """tagweave on the annotated corpus and the partial sentences, or what they were completed to."""
    from tagweave.features.templates import PRESETS
    from tagweave.training.recipe import Recipe
    from tagweave.training.task import Task

    recipe = Recipe(Task("segment"), PRESETS["liu-2014"], threads=threads)
    if learner == "lbfgs":  # the weights of CRFsuite
        recipe = Recipe(
            Task("segment"),
            PRESETS["liu-2014"],
            learner="lbfgs",
            settings={"c2": C2},
            features="observed",
            edges=False,
            threads=threads,
        )
    added = PARTIAL if data == "partial" else COMPLETED
    arguments = [f"pd={folder / SOURCE}", f"pd={folder / added}"]
    model, found = trained(arguments, recipe, iterations if learner == "lbfgs" else None)
    return {**found, **scores(by_model(model), folder)}


def trained(arguments: list[str], recipe: Recipe, iterations: int | None) -> tuple[ChainModel, dict[str, Any]]:
    """A model of corpora, and the seconds that it took; without a number of iterations as many as are usual."""
    from tagweave.learning.run import Iteration, Run, Schedule
    from tagweave.training.fit import fit_problem, prepare

    begin = time.perf_counter()
    problem = prepare([_load(argument) for argument in arguments], recipe)
    encoded = time.perf_counter()
    ends: list[float] = []

    class Watch:
        def iteration(self, iteration: Iteration, _limit: int) -> None:
            ends.append(iteration.seconds)

    fitted = fit_problem(problem, recipe, None, Run(Schedule(iterations), Watch()))
    return fitted.model, {
        "features": encoded - begin,
        "train": time.perf_counter() - encoded,
        "iteration": _median([later - earlier for earlier, later in pairwise(ends) if later > earlier]),
        "iterations": len(ends),
        "loss": fitted.outcome.history[-1].loss,
        "weights": problem.objective.size,
        "peak_megabytes": peak(),
    }


def crfsuite(folder: Path, iterations: int) -> dict[str, Any]:
    """python-crfsuite on the annotated corpus and the completed sentences."""
    import pycrfsuite

    begin = time.perf_counter()
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    trainer.set_params({"c1": 0, "c2": C2, "max_iterations": iterations, "feature.possible_transitions": True})
    for words in chain(plain_words(folder / SOURCE), plain_words(folder / COMPLETED)):
        trainer.append(attributes("".join(words)), bmes(words))
    encoded = time.perf_counter()
    model = str(folder / "model.crfsuite")
    trainer.train(model)
    found = {"features": encoded - begin, "train": time.perf_counter() - encoded, "peak_megabytes": peak()}
    log = trainer.logparser
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return {
        **found,
        "c2": C2,
        "iteration": _median([float(entry["time"]) for entry in log.iterations if "time" in entry][1:]),
        "iterations": len(log.iterations),
        "loss": float(log.iterations[-1]["loss"]),
        "weights": int(log.featgen_num_features),
        **scores(lambda characters: tagger.tag(attributes(characters)), folder),
    }


def pointwise(folder: Path) -> dict[str, Any]:
    """KyTea on the annotated corpus and the partial sentences, from the files to a model."""
    from benchmarks import kytea

    model = str(folder / "model.kytea")
    begin = time.perf_counter()
    kytea.train("-notags", "-tok", str(folder / SOURCE), "-part", str(folder / PARTIAL), "-model", model)
    found = {"whole": time.perf_counter() - begin, "peak_megabytes": peak()}
    segment = kytea.segmenter(model)
    return {**found, **scores(lambda characters: bmes(segment(characters)), folder)}


def by_model(model: ChainModel) -> Callable[[str], list[str]]:
    """A function from characters to letters."""
    from tagweave.corpus.sentence import Sentence
    from tagweave.models.chain_predictor import ChainPredictor

    tagger = ChainPredictor(model)

    def label(characters: str) -> list[str]:
        (sentence,) = tagger.tag([Sentence(tuple(characters))])
        return [candidates[0] for candidates in sentence.layers[tagger.guideline] if candidates]

    return label


def scores(label: Callable[[str], list[str]], folder: Path) -> dict[str, float]:
    """F of the words of the test data, and the recall of those that the annotated corpus lacks."""
    gold = list(plain_words(folder / TEST))
    found = [words_of(text, label(text)) for text in map("".join, gold)]
    known = frozenset(chain.from_iterable(plain_words(folder / SOURCE)))
    return {"f": f_score(gold, found), "oov": unknown_recall(gold, found, known)}


def peak() -> float:
    """The most memory that the process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _load(argument: str) -> Corpus:
    from tagweave.corpus.load import load

    return load(argument, "segmented" if argument.endswith(".txt") else None)


def _write(path: Path, lines: Iterable[Words]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(words) + "\n" for words in lines)


def _median(values: list[float]) -> float:
    return statistics.median(values) if values else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["data", "crfsuite", "kytea", "tagweave"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, help="of the People's Daily")
    parser.add_argument("--data", choices=["completed", "partial"], default="partial")
    parser.add_argument("--learner", choices=["lbfgs", "adagrad"], default="lbfgs")
    parser.add_argument("--iterations", type=int, default=20, help="of L-BFGS")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.what == "data":
        result = make_data(options.folder, options.lines, options.threads)
    elif options.what == "crfsuite":
        result = crfsuite(options.folder, options.iterations)
    elif options.what == "kytea":
        result = pointwise(options.folder)
    else:
        result = tagweave(options.folder, options.data, options.learner, options.iterations, options.threads)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
