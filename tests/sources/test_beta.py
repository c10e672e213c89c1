"""Functions of the Beta and Dirichlet distributions against SciPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tagweave.sources.beta import beta_distribution, beta_quantile, digamma, log_gamma

X = np.concatenate([10.0 ** np.arange(-9, 10), np.arange(0.5, 30, 0.25)])
COUNTS = st.floats(1e-3, 1e6)


def test_digamma_and_log_gamma() -> None:
    np.testing.assert_allclose(digamma(X), special.digamma(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(log_gamma(X), special.gammaln(X), rtol=1e-11, atol=1e-12)


@given(COUNTS, COUNTS, st.floats(0, 1, allow_subnormal=False))  # of others SciPy has only three digits
def test_the_distribution_of_beta(a: float, b: float, x: float) -> None:
    np.testing.assert_allclose(beta_distribution(x, a, b), special.betainc(a, b, x), rtol=1e-8, atol=1e-12)


@given(st.floats(0.1, 1e6), st.floats(0.1, 1e6), st.floats(0.001, 0.999))
def test_a_quantile_has_its_share_below_it(a: float, b: float, share: float) -> None:
    found = beta_quantile(a, b, share)
    np.testing.assert_allclose(found, special.betaincinv(a, b, share), rtol=1e-6, atol=1e-9)


def test_quantiles_of_arrays_and_of_nothing_but_one_kind_of_answer() -> None:
    right, wrong = np.array([[1e-9, 3.0], [700.0, 1e-9]]), np.array([[5.0, 1e-9], [300.0, 2.0]])
    for share in (0.025, 0.975):
        expected = special.betaincinv(right, wrong, share)
        np.testing.assert_allclose(beta_quantile(right, wrong, share), expected, atol=1e-9)
