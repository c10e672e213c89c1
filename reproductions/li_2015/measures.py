"""The accuracy of all cells of a method, by what is measured."""

from __future__ import annotations

import numpy as np

from reproductions.lab.comparison import Measured
from reproductions.lab.run import Run, Setting
from reproductions.li_2015.methods import Method
from reproductions.li_2015.pair import Pair
from reproductions.li_2015.scores import right_and_scored
from tagweave.evaluation.score import share_of_counts


def measures(run: Run[Pair, Method], setting: Setting[Pair, Method], method: Method) -> dict[str, Measured]:
    """Right and scored tokens by measure: `dev` and `test`."""
    target, results = setting.draw(0).target, run.of(setting, method)
    found = {
        "dev": [right_and_scored(target.dev, result["dev"]) for result in results],
        "test": [right_and_scored(target.test, result["test"]) for result in results],
    }
    return {name: Measured(np.stack(seeds), share_of_counts) for name, seeds in found.items()}
