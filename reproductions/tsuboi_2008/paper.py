"""What Tsuboi et al. (2008) print and find in section 5.1. Its Figure 3 has curves, no numbers."""

from __future__ import annotations

from reproductions.lab.comparison import Finding
from reproductions.tsuboi_2008.methods import (
    ARGMAX,
    POINTWISE,
    PROPOSED,
    RANDOM,
    RANDOM_ARGMAX,
    RANDOM_POINTWISE,
)

SIZES = {"A": (11_700, 145_925), "B": (1_300, 16_348), "C": (1_000, 29_216)}
"""Table 2: sentences and words."""
TERMS = 224
"""Terms of the list that occur in C1, on average."""
SOURCE_F = {"B": 96.84, "C2": 92.3}
"""F of the model of A alone."""

FINDINGS = (
    Finding("Marginal likelihood is better than argmax, asking by entropy.", PROPOSED, ARGMAX, +1),
    Finding("It is better than the pointwise classifier, asking by entropy.", PROPOSED, POINTWISE, +1),
    Finding("It is better than argmax, asking at random.", RANDOM, RANDOM_ARGMAX, +1),
    Finding("It is better than the pointwise classifier, asking at random.", RANDOM, RANDOM_POINTWISE, +1),
    Finding("Asking by entropy is better than asking at random.", PROPOSED, RANDOM, +1),
)
"""The paper tests its method against the other two with Wilcoxon's signed-rank test, p < 0.05."""
