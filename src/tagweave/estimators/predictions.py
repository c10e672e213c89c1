"""Predictions of many sentences as an array, of the shape that NumPy gives nested lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np


class Predictions(np.ndarray[Any, np.dtype[np.object_]]):
    """What was predicted for sentences: [sentences, tokens] if all have as many tokens, else [sentences] of lists.

    This is the shape of sklearn-crfsuite's answers. Arrays of both kinds can be concatenated, as scikit-learn does with
    the predictions of folds: the result is again of the one kind or the other.
    """

    @classmethod
    def of(cls, rows: Sequence[list[Any]]) -> Predictions:
        """The predictions of sentences, a list each."""
        return np.array(rows, dtype=object).view(cls)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Iterable[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """NumPy's functions; only `concatenate` differs."""
        if func is np.concatenate and not kwargs:
            (parts,) = args
            return Predictions.of([row for part in parts for row in part.tolist()])
        return super().__array_function__(func, types, args, kwargs)
