"""Trees whose arcs cross: `python -m reproductions free-trees`.

Parsers trained on projective trees and on all, by the treebank. See README.md in the folder above.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from reproductions.free_trees.cells import FREE, MIXED, PROJECTIVE, crosses, result
from reproductions.free_trees.page import lines
from reproductions.free_trees.treebanks import Treebank, treebanks
from reproductions.lab.cache import Cache, Result
from reproductions.lab.comparison import TRIALS, Measured, compare
from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from tagweave.errors import CorpusError
from tagweave.evaluation.score import share_of_counts
from tagweave.learning.progress import Lines

_ITERATIONS = 6


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("free-trees", __doc__, "a few sentences and one iteration")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 .. SEEDS - 1 (default 3)")
    options = parser.parse_args(words)
    iterations, cache, callback = 1 if options.quick else _ITERATIONS, Cache(options.cache), Lines(sys.stderr)
    found = []
    try:
        for bank in treebanks(all_corpora(), options.quick):
            trained: dict[str, list[Result]] = {PROJECTIVE: [], FREE: []}
            for seed in range(options.seeds):
                for name, results in trained.items():
                    print(f"{bank.name}, {name}, seed {seed}", file=sys.stderr, flush=True)
                    results.append(result(cache, bank, name, seed, iterations, callback))
            found.append(_summary(bank, trained))
    except CorpusError as error:
        sys.exit(str(error))
    command = shlex.join(["python", "-m", "reproductions", "free-trees", *words])
    told = {"command": command, "seeds": options.seeds, "iterations": iterations, "trials": TRIALS, "treebanks": found}
    write_page(options.out, "parsing-free-trees", told, lines(told))


def _summary(bank: Treebank, trained: dict[str, list[Result]]) -> dict[str, Any]:
    crossing = {name: crosses(part) for name, part in zip(("train", "dev", "test"), bank.parts, strict=True)}
    of_system = {PROJECTIVE: trained[PROJECTIVE], MIXED: trained[PROJECTIVE], FREE: trained[FREE]}
    measured = {name: _measures(name, results, crossing) for name, results in of_system.items()}
    systems = {
        name: {
            "scores": {measure: each.to_json() for measure, each in measures.items()},
            "crossing": [each["systems"][name]["test"]["crossing"] for each in of_system[name]],
            "against": {measure: compare(each, measured[PROJECTIVE][measure]) for measure, each in measures.items()},
        }
        for name, measures in measured.items()
    }
    return {
        "name": bank.name,
        "told": bank.told,
        "sizes": bank.parts.sizes(),
        "crossing": {name: int(each.sum()) for name, each in crossing.items()},
        "systems": systems,
        "cost": {
            name: {key: [each[key] for each in results] for key in ("seconds", "sums")}
            for name, results in trained.items()
        },
    }


def _measures(name: str, results: Sequence[Result], crossing: dict[str, Any]) -> dict[str, Measured]:
    """UAS and LAS of dev and test, and of those of their sentences whose gold arcs cross."""
    found = {}
    for part in ("dev", "test"):
        counts = np.array([each["systems"][name][part]["counts"] for each in results], np.int64)
        for column, measure in enumerate(("UAS", "LAS")):
            own = counts[:, :, [column, 2]]
            found[f"{part} {measure}"] = Measured(own, share_of_counts)
            found[f"{part} {measure}, crossing"] = Measured(own[:, crossing[part]], share_of_counts)
    return found
