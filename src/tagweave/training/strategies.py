"""The strategies for incomplete annotation; the first is the method, the others are baselines."""

from __future__ import annotations

from typing import Literal, get_args

Strategy = Literal[
    "marginal", "posterior", "argmax", "pointwise", "random", "first", "frequent", "discard", "outside", "folds"
]
STRATEGIES: tuple[str, ...] = get_args(Strategy)
OF_SPANS = ("outside", "folds")
"""The strategies for the task spans alone."""
