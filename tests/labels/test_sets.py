"""Numbers of candidates as label sets: likelihoods and posteriors."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.candidates import Soft
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace

SPACE = LabelSpace.plain("g", "ABCD")


def test_a_likelihood_is_a_row_whose_largest_number_is_1() -> None:
    sets = LabelSets(SPACE)
    sets.of_candidates("g", Soft("AB", (0.2, 0.1)))
    sets.of_candidates("g", Soft("BA", (2, 4)))
    np.testing.assert_allclose(sets.masks, [[1, 1, 1, 1], [1, 0.5, 0, 0], [1, 0.5, 0, 0]])
    np.testing.assert_allclose(sets.log_scales, np.log([1, 0.2, 4]))
    assert sets.posteriors is None


def test_equal_likelihoods_are_a_set() -> None:
    sets = LabelSets(SPACE)
    number = sets.of_candidates("g", Soft("AB", (0.2, 0.2)))
    assert sets.masks[number].tolist() == [1, 1, 0, 0]
    assert sets.of_candidates("g", Soft(("A", "!A"), (0.2, 0.2))) == ALL
    assert not sets.has_numbers


def test_likelihoods_are_multiplied() -> None:
    sets = LabelSets(SPACE)
    first, second = (sets.of_candidates("g", Soft("ABC", each)) for each in ((1, 0.5, 0.5), (0.1, 0.4, 0)))
    joined = sets.join(first, second)
    np.testing.assert_allclose(sets.masks[joined], [0.5, 1, 0, 0])
    np.testing.assert_allclose(np.exp(sets.log_scales[joined]), 0.2)


def test_a_posterior_is_a_set_with_probabilities() -> None:
    sets = LabelSets(SPACE, "posterior")
    number = sets.of_candidates("g", Soft(("A", "!A"), (0.7, 0.3)))
    assert sets.masks.tolist() == [[1, 1, 1, 1], [1, 1, 1, 1]] and number != ALL
    assert sets.posteriors is not None
    assert sets.posteriors.group.tolist() == [[0, 1, 1, 1]]
    assert sets.posteriors.share.tolist() == [[0.7, 0.3]]
    assert sets.posteriors.of_set.tolist() == [-1, 0]


def test_a_certain_posterior_is_a_set() -> None:
    sets = LabelSets(SPACE, "posterior")
    assert sets.of_candidates("g", Soft("AB", (1, 0))) == sets.of_candidates("g", ("A",))
    assert sets.posteriors is None


def test_a_posterior_is_conditioned_on_a_set() -> None:
    sets = LabelSets(SPACE, "posterior")
    joined = sets.join(sets.of_candidates("g", Soft("ABC", (0.5, 0.3, 0.2))), sets.of_candidates("g", ("B", "C", "D")))
    assert sets.posteriors is not None
    np.testing.assert_allclose(sets.posteriors.share[sets.posteriors.of_set[joined]][:2], [0.6, 0.4])
    assert sets.labels(joined).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("soft", "message"),
    [(Soft("AB", (0.5, 0.2)), "a sum of 1"), (Soft(("A", "!B"), (0.5, 0.5)), "a label that two of A, !B stand for")],
)
def test_posteriors_that_make_no_sense(soft: Soft[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelSets(SPACE, "posterior").of_candidates("g", soft)


def test_two_posteriors_have_no_product() -> None:
    sets = LabelSets(SPACE, "posterior")
    first, second = (sets.of_candidates("g", Soft("AB", (share, 1 - share))) for share in (0.2, 0.4))
    assert sets.join(first, ALL) == sets.join(ALL, first) == first
    with pytest.raises(ValueError, match="in two layers"):
        sets.join(first, second)
