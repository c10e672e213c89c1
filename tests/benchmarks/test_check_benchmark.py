"""The average precision of the benchmark of `check`."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.check import average_precision

pytestmark = pytest.mark.slow


def test_precision_is_averaged_over_the_wrong_tokens() -> None:
    scores, is_wrong = np.array([0.9, 0.1, 0.8, 0.4]), np.array([True, True, False, False])
    assert average_precision(scores, is_wrong) == pytest.approx((1 / 1 + 2 / 4) / 2)


def test_equal_scores_are_one_step() -> None:
    for is_wrong in ([True, False, False], [False, True, False], [False, False, True]):
        assert average_precision(np.full(3, 0.5), np.array(is_wrong)) == pytest.approx(1 / 3)
