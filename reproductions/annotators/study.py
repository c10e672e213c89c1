"""Eight simulated annotators, two and two more a task, as in li-2015, section 4: `python -m reproductions annotators`.

See README.md in the folder above.
"""

from __future__ import annotations

import random
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from reproductions.annotators import saved, saved_page
from reproductions.annotators.page import AT_FOUR, AT_TWO, write
from reproductions.lab.corpora import PARTS, corpora_folder, cut
from reproductions.lab.options import study_parser
from reproductions.lab.simulated_annotators import (
    Chance,
    Simulated,
    StoreDesk,
    answer_chances,
    as_the_model,
    even,
    expected_shares,
    uneven,
    with_agreement,
    work_all,
)
from tagweave.annotate import selection
from tagweave.annotate.dashboard import (
    cohens_kappa,
    krippendorffs_alpha,
    of_all,
    of_every_two,
    of_first,
    raw_agreement,
)
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, label
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.features.templates import PRESETS
from tagweave.learning.run import SILENT, Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe

AGREEMENT, SHARE = AT_TWO / 100, 0.2
_HALVINGS = 12
_SOME = 2_500  # tasks that rules are compared on

Known = list[tuple[AnnotationTask, Answer]]


class Kind(NamedTuple):
    """How people are wrong: what to call it, how to find the number of it, and the chance that somebody is right."""

    name: str
    number: dict[str, float]
    chance: Chance


def read_data(quick: bool) -> tuple[Corpus, Corpus, Corpus]:
    """Training and development data of a tagger, and the text that is annotated."""
    if quick:
        corpus = load(str(sample.path("ctb.txt")))
        train, dev, test = cut(corpus, 60, 70, 120)
        return train, dev, test
    train, dev, test = (load(str(corpora_folder("zh/zx") / f"{part}.txt")) for part in PARTS)
    return train, dev, test


def hardest(train: Corpus, dev: Corpus, text: Corpus, number: int, run: Run) -> tuple[Known, float]:
    """The least certain fifth of as much text as makes so many tasks, what is right, and how often the tagger is."""
    tagger = ChainPredictor(
        fit([train], Recipe(templates=PRESETS["li-2015"], settings={"batch": 16, "initial": 1e-8}), dev, run).model
    )
    sentences = random.Random(0).sample(text.sentences, len(text.sentences))
    lengths = [0]
    while lengths[-1] * SHARE < number and len(lengths) <= len(sentences):
        lengths.append(lengths[-1] + len(sentences[len(lengths) - 1]))
    raw = [replace(sentence, layers={}) for sentence in sentences[: len(lengths) - 1]]
    found = selection.least_certain(tagger, raw, SHARE)
    tasks = [*selection.token_tasks(found, raw, tagger)][:number]
    right = {sentence.location: sentence.layers[text.guideline] for sentence in sentences}
    known = [(task, label((right[task.sentence.location][task.start] or ("",))[0])) for task in tasks]
    return known, sum(task.candidates[0].label == str(gold) for task, gold in known) / len(known)


def kinds(known: Known) -> Iterator[Kind]:
    """Annotators of whom two agree as often as the paper's: three ways to be wrong."""
    accuracy = with_agreement(AGREEMENT, even, 0.5, 1.0, known)
    yield Kind("equally on every task", {"accuracy": accuracy}, even(accuracy))
    odds = with_agreement(AGREEMENT, as_the_model, 1.0, 1e5, known)
    yield Kind("where the model doubts", {"odds": odds}, as_the_model(odds))
    share, accuracy = hard_tasks(known)
    yield Kind("on hard tasks alone", {"share": share, "accuracy": accuracy}, uneven(share, accuracy))


def hard_tasks(known: Known) -> tuple[float, float]:
    """The share of hard tasks, and the accuracy on them, that make the shares at two and at four those of the paper."""

    def of(share: float) -> tuple[float, float]:
        accuracy = with_agreement(AGREEMENT, lambda each: uneven(share, each), 0.34, 1.0, known)
        return accuracy, expected(known, uneven(share, accuracy))["four"]

    low, high = 0.2, 1.0  # the more tasks are hard, the more are agreed on in the end
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if 100 * of(middle)[1] < AT_FOUR else (low, middle)
    return middle, of(middle)[0]


def expected(known: Known, chance: Chance) -> dict[str, float]:
    """Shares of tasks by counting, without chance."""
    return expected_shares([answer_chances(task, right, chance(task, right)) for task, right in known])._asdict()


def simulate(known: Known, kind: Kind, people: int, folder: str, seed: int) -> dict[str, Any]:
    """Let people of a kind answer all tasks through a store of their own, and count."""
    store = Store.open(f"sqlite:///{folder}/{kind.name}-{seed}.db", seed=seed)
    guideline = known[0][0].guideline
    store.add_labels(guideline, {str(right): "" for _, right in known})
    store.add_tasks(task for task, _ in known)
    right = {(task.sentence.location, task.start): gold for task, gold in known}

    def gold(task: AnnotationTask) -> Answer:
        return right[task.sentence.location, task.start]

    desks = [StoreDesk(store, store.add_annotator(f"annotator {number}").id) for number in range(people)]
    answers = work_all([Simulated(desk, gold, kind.chance, 1000 * seed + i) for i, desk in enumerate(desks)], seed)
    found = {"seed": seed, "answers": answers, **count(store, guideline, gold)}
    store.close()
    return found


def count(store: Store, guideline: str, gold: Callable[[AnnotationTask], Answer]) -> dict[str, Any]:
    """What came of it: shares of tasks, whether what is kept is right, agreement."""
    votes = store.votes()
    slots = {vote.task: vote.slot for vote in votes}  # the last one of each task
    kept = {each.id: each.outcome == gold(each.task) for each in store.outcomes(guideline)}
    at_two = [is_right for number, is_right in kept.items() if (slots[number] or 0) < store.settings.rule.first]
    first = of_first(votes, store.settings.rule)
    kappas = [kappa for kappa in of_every_two(first, cohens_kappa).values() if kappa is not None]
    alone = [vote.answer == gold(found.task) for vote in first if vote.slot == 0 and (found := store.task(vote.task))]
    return {
        "tasks": len(slots),
        "two": len(at_two) / len(slots),
        "four": (len(kept) - len(at_two)) / len(slots),
        "dropped": 1 - len(kept) / len(slots),
        "right_alone": sum(alone) / len(alone),
        "right": sum(kept.values()) / len(kept),
        "right_two": sum(at_two) / max(len(at_two), 1),
        "right_four": (sum(kept.values()) - sum(at_two)) / max(len(kept) - len(at_two), 1),
        "agreement": of_all(first, raw_agreement),
        "alpha": krippendorffs_alpha(first),
        "kappas": [min(kappas), max(kappas)] if kappas else None,
    }


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("annotators", __doc__, "the bundled sample")
    parser.add_argument("--tasks", type=int, default=5769, help="how many tasks (default 5769, as in the paper)")
    parser.add_argument("--people", type=int, default=8, help="how many annotators (default 8)")
    parser.add_argument("--seeds", type=int, default=1, help="seeds 0 .. SEEDS - 1 (default 1)")
    parser.add_argument("--saved", action="store_true", help="what posteriors save in answers, on 2,500 of them")
    options = parser.parse_args(words)
    train, dev, text = read_data(options.quick)
    run = Run(Schedule(4, 2)) if options.quick else SILENT
    known, right = hardest(train, dev, text, 60 if options.quick else options.tasks, run)
    command = shlex.join(["python", "-m", "reproductions", "annotators", *words])
    if options.saved:
        equal, doubting = islice(kinds(known), 2)
        found = saved.summary(known, equal.number["accuracy"], doubting.chance, _SOME, options.seeds)
        saved_page.write({"command": command, **found}, options.out)
        return
    summary: dict[str, Any] = {"command": command, "tasks": len(known), "people": options.people, "tagger": right}
    summary["kinds"] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds(known):
            runs = [simulate(known, kind, options.people, folder, seed) for seed in range(options.seeds)]
            about = {"name": kind.name, "number": kind.number, "expected": expected(known, kind.chance)}
            summary["kinds"].append({**about, "runs": runs})
    write(summary, options.out)
