"""Losses in PyTorch beside what does not use their arithmetic, in random cases; the benchmark takes more of them."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from benchmarks import torch_exactness
from benchmarks.torch_exactness import BARS, COMPARISONS

_CASES = 20


def _compiled_for_it_alone(name: str, dtype: torch.dtype) -> bool:
    """Whether nothing else compiles these kernels: sums over trees in double precision."""
    return dtype == torch.float64 and "ees" in name


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(*case, marks=pytest.mark.slow if _compiled_for_it_alone(*case) else ())
        for case in product(COMPARISONS, BARS)
    ],
    ids=str,
)
def test_errors_are_below_the_bar(name: str, dtype: torch.dtype) -> None:
    found = torch_exactness.worst(COMPARISONS[name], dtype, range(_CASES))
    assert {each: error for each, error in found.items() if error > BARS[dtype] and "pytorch-crf" not in each} == {}
    page = torch_exactness.page({name: {"float32": found}}, _CASES)
    assert {line.split(" | ")[0].removeprefix("| ") for line in page} >= found.keys()
