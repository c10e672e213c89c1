"""The accuracy of all cells of a method, by what is measured."""

from __future__ import annotations

import numpy as np

from reproductions.lab.comparison import Measured
from reproductions.lab.run import Run, Setting
from reproductions.li_2015.methods import BASELINE, Method
from reproductions.li_2015.pair import Pair
from reproductions.li_2015.scores import HARD, least_certain, right_and_scored
from tagweave.evaluation.score import share_of_counts


def measures(run: Run[Pair, Method], setting: Setting[Pair, Method], method: Method) -> dict[str, Measured]:
    """Right and scored tokens by measure: `dev`, `test` and, in conversion, `hard`."""
    target, results = setting.draw(0).target, run.of(setting, method)
    found = {
        "dev": [right_and_scored(target.dev, result["dev"]) for result in results],
        "test": [right_and_scored(target.test, result["test"]) for result in results],
    }
    if run.part == "conversion":
        certainty = [result["certainty"] for result in run.of(setting, BASELINE)]
        found[HARD] = [
            right_and_scored(target.test, result["test"], least_certain(values))
            for result, values in zip(results, certainty, strict=True)
        ]
    return {name: Measured(np.stack(seeds), share_of_counts) for name, seeds in found.items()}
