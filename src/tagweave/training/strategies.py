"""What may be done with incomplete annotation; the first is the method, the others are its baselines."""

from __future__ import annotations

from typing import Literal, get_args

Strategy = Literal["marginal", "argmax", "pointwise", "random", "first", "frequent", "discard"]
STRATEGIES: tuple[str, ...] = get_args(Strategy)
