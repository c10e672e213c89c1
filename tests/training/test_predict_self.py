"""Predict-self re-estimation: what is left of the candidates is enough, and the choice is the one of the formula."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tagweave.training.cascades.system import KBest
from tagweave.training.cascades.transform import CandidateRanking, PredictSelf

SCORE = st.integers(-40, 0).map(lambda n: n / 4) | st.just(-np.inf)
PAIRS = st.lists(st.tuples(SCORE.filter(np.isfinite), SCORE), min_size=1, max_size=7)
SHARE = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])  # sums of quarters are exact


def ranking(pairs: list[tuple[float, float]]) -> CandidateRanking[int]:
    """Candidates are called by their place; scores fall, as those of a system do."""
    pairs = sorted(pairs, key=lambda pair: -pair[0])
    there, back = np.array(pairs).T
    return CandidateRanking.of(KBest(range(len(pairs)), there), back)


def by_the_formula(pairs: list[tuple[float, float]], share: float) -> float:
    """The greatest weighted sum of all candidates; 0 times minus infinity is 0."""
    return max(
        (1 - share) * there + (share * back if share else 0) for there, back in sorted(pairs, key=lambda pair: -pair[0])
    )


@given(PAIRS, SHARE)
def test_the_best_of_those_kept_is_the_best_of_all(pairs: list[tuple[float, float]], share: float) -> None:
    found = ranking(pairs)
    there, back = sorted(pairs, key=lambda pair: -pair[0])[found.best(share)]
    assert (1 - share) * there + (share * back if share else 0) == by_the_formula(pairs, share)


@given(PAIRS)
def test_kept_candidates_are_worse_there_and_better_back(pairs: list[tuple[float, float]]) -> None:
    found = ranking(pairs)
    assert (np.diff(found.there) <= 0).all()
    assert all(a < b for a, b in zip(found.back, found.back[1:], strict=False))
    assert found.annotations[0] == 0


def test_a_larger_share_trusts_the_way_back_more() -> None:
    found = ranking([(-1.0, -9.0), (-2.0, -3.0), (-8.0, -1.0), (-9.0, -5.0)])
    assert list(found.annotations) == [0, 1, 2]
    assert [found.best(share) for share in (0, 0.1, 0.2, 0.7, 0.8, 1)] == [0, 0, 1, 1, 2, 2]


def test_equal_candidates_stay_in_their_order() -> None:
    assert ranking([(-1.0, -1.0), (-1.0, -1.0)]).best(0.5) == 0
    assert ranking([(-1.0, -2.0), (-2.0, -1.0)]).best(0.5) == 0


def test_filtering_tries_nothing_else() -> None:
    assert PredictSelf((0.1, 0.2)).choices == (0.1, 0.2)
    assert PredictSelf((0.1, 0.2), filter=True).choices == (0.0,)
