"""What encoders have in common that let other models annotate sentences before templates look at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder


class CascadeEncoder:
    """The templates of a cascade.

    Args:
        encoder: the templates, which may use columns that the other models fill.
    """

    def __init__(self, encoder: TemplateEncoder) -> None:
        self.encoder = encoder

    @property
    def windows(self) -> NDArray[np.int64]:
        """int64[F], how many tokens see each feature."""
        return self.encoder.windows

    def tokens(self, sentences: Sequence[Sentence], threads: int = 1, layer: str | None = None) -> Sequence[Sentence]:
        """The sentences whose tokens are labelled: `sentences` themselves."""
        return sentences

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> None:
        """Stop growing; see `TemplateEncoder.freeze`."""
        self.encoder.freeze(encoded, minimum_count)
