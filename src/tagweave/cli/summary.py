"""What a training run is made of, told before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tagweave.adapt.fit import Problem
    from tagweave.adapt.recipe import Recipe

# vectors of the length of the weights that are alive at once: the learner's state, the gradient and buffers, the
# result, the best weights so far; L-BFGS has its history besides
_VECTORS = {"adagrad": 6, "lbfgs": 9, "sgd": 6, "rprop": 6, "cg": 14, "perceptron": 7}


def summary(problem: Problem, recipe: Recipe) -> list[str]:
    """Lines that tell the size of a problem: sentences, tokens, labels, features, weights and memory."""
    objective, encoder = problem.objective, problem.model.encoder
    encoded, space = objective.encoded, problem.model.structure.space
    known = int(np.count_nonzero(encoded.allow))
    return [
        f"{len(objective):,} sentences with evidence, {encoded.tokens:,} tokens ({known:,} with evidence)",
        f"{len(space):,} labels, {len(encoder.arrays()['index.codes']):,} features, {objective.size:,} weights",
        f"about {_readable(estimated_bytes(problem, recipe))} of memory for training",
    ]


def estimated_bytes(problem: Problem, recipe: Recipe) -> int:
    """The memory of the encoded corpora, the weights and what the learner keeps beside them, in bytes."""
    objective = problem.objective
    arrays = [value for value in vars(objective.encoded).values() if isinstance(value, np.ndarray)]
    itemsize = np.dtype(objective.dtype).itemsize
    vectors = _VECTORS[recipe.learner] * objective.size * itemsize
    if recipe.learner == "lbfgs":
        vectors += 2 * int(recipe.settings.get("memory", 6)) * objective.size * 4
    return sum(array.nbytes for array in arrays) * 2 + vectors


def _readable(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
