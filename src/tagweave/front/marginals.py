"""Marginal probabilities of one sentence, with the names of their rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Marginals:
    """How probable each label is at each token; in a notebook a heat map.

    Attributes:
        forms: the L tokens.
        labels: the Y labels.
        probabilities: [L, Y]; the rows sum to 1.
    """

    forms: tuple[str, ...]
    labels: tuple[str, ...]
    probabilities: NDArray[np.floating[Any]]

    def _repr_html_(self) -> str:
        from tagweave.display.heat import heat_map
        from tagweave.display.markup import picture

        return picture(heat_map(self.forms, self.labels, self.probabilities.tolist()))
