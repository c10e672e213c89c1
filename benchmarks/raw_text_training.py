"""Train one of the programs that segment raw text, in a process of its own: prints a JSON object on its last line.

python -m benchmarks.raw_text_training tagweave|python-crfsuite|kytea MODEL [--lines N]

All of them learn from the same lines of the People's Daily, by learners that need no development data.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.characters import Words, attributes, bmes, corpora_folder, tagged_words

PASSIVE_AGGRESSIVE = 20
"""Iterations of python-crfsuite; of its learners this one came to the best F in docs/results/speed.md."""


def daily(part: str, lines: int | None = None) -> Iterator[Words]:
    """The words of lines of the People's Daily."""
    return tagged_words(corpora_folder() / "zh" / "pd199801" / f"{part}.txt", "/", lines)


def by_tagweave(path: str, lines: int | None) -> None:
    """The preset `liu-2014`, all other settings as usual, to its end."""
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence
    from tagweave.features.templates import PRESETS
    from tagweave.models.storage import save_model
    from tagweave.training.fit.fit import fit
    from tagweave.training.fit.recipe import Recipe
    from tagweave.training.fit.task import Task

    corpus = Corpus(tuple(Sentence(tuple(words)) for words in daily("train", lines)), "pd", "word")
    save_model(fit([corpus], Recipe(Task("segment"), PRESETS["liu-2014"])).model, path)


def by_crfsuite(path: str, lines: int | None) -> None:
    """The same features and letters, made in Python."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer("pa", verbose=False)
    trainer.set_params({"max_iterations": PASSIVE_AGGRESSIVE})
    for words in daily("train", lines):
        trainer.append(attributes("".join(words)), bmes(words))
    trainer.train(path)


def by_kytea(path: str, lines: int | None) -> None:
    """Its own features, and the words of the training data as a dictionary, which is how it is meant."""
    from benchmarks import kytea

    corpus = Path(f"{path}.txt")
    with corpus.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(words) + "\n" for words in daily("train", lines))
    kytea.train("-notags", "-tok", str(corpus), "-model", path)


TRAINERS: dict[str, Callable[[str, int | None], None]] = {
    "tagweave": by_tagweave,
    "python-crfsuite": by_crfsuite,
    "kytea": by_kytea,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=list(TRAINERS))
    parser.add_argument("model")
    parser.add_argument("--lines", type=int, help="of training data")
    options = parser.parse_args()
    begin = time.perf_counter()
    TRAINERS[options.program](options.model, options.lines)
    seconds = time.perf_counter() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"training_seconds": seconds, "training_megabytes": megabytes}))


if __name__ == "__main__":
    main()
