"""`TreeLoss` as a PyTorch module; its numbers are in `test_exactness`."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from tagweave.structures.loss import ContradictionError
from tagweave.torch import TreeLoss


def close(found: Tensor, expected: Any, tolerance: float = 1e-10) -> None:
    expected = torch.as_tensor(expected, dtype=found.dtype)
    assert torch.allclose(found, expected, rtol=tolerance, atol=tolerance), (found, expected)


def test_samples_have_the_frequencies_of_marginals() -> None:
    module, arcs = TreeLoss(), torch.randn(1, 4, 4, generator=torch.Generator().manual_seed(0))
    drawn = module.sample(arcs, 1500, generator=torch.Generator().manual_seed(1))
    marginals = module.marginals(arcs)
    for head in range(4):
        close((drawn == head).double().mean(1), marginals[:, head, 1:], 0.05)


def test_rows_without_words_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    arcs = torch.randn(4, 5, 5, requires_grad=True)
    heads = torch.tensor([[-100] * 4, [2, 0, 2, -100], [-1, 0, -1, 2], [0, 1, 1, -1]])
    before, found = torch.get_num_threads(), []
    for threads in (1, 3):
        try:
            torch.set_num_threads(threads)
            losses = TreeLoss()(arcs, heads, None, "none")
            found.append([losses.detach(), *torch.autograd.grad(losses.sum(), arcs)])
        finally:
            torch.set_num_threads(before)
        monkeypatch.setattr("tagweave.torch.scored_batch.SHARED_WORK", 0)
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)
    assert found[0][0][0] == 0
    assert not found[0][1][0].any()
    assert TreeLoss()(arcs[:1], heads[:1], None, "sum").item() == 0
    assert (TreeLoss().decode(arcs, torch.zeros(4, 4)) == -100).all()


def test_half_precision_and_scores_out_of_bounds() -> None:
    arcs = torch.randn(1, 3, 3, dtype=torch.bfloat16, requires_grad=True)
    loss = TreeLoss()(arcs, torch.tensor([[0, 1]]))
    loss.backward()
    assert loss.dtype == torch.float32
    assert arcs.grad is not None
    assert arcs.grad.dtype == torch.bfloat16
    broken = torch.full((1, 3, 3), math.nan, requires_grad=True)
    TreeLoss()(broken, torch.tensor([[0, 1]])).backward()
    assert broken.grad is not None
    assert broken.grad.isnan().any()


@pytest.mark.parametrize(
    ("arcs", "evidence", "message"),
    [
        ((1, 3, 4), torch.zeros(1, 2, dtype=int), r"found arcs of the shape \(1, 3, 4\), expected rows, 1 \+ words"),
        (
            (1, 3, 3),
            torch.zeros(1, 3, dtype=int),
            r"found evidence of the shape \(1, 3\) .* heads of the shape \(1, 2\)",
        ),
        ((1, 3, 3), torch.tensor([[0, 3]]), "row 0, position 1: found the head 3, expected another position"),
        ((1, 3, 3), torch.tensor([[0, 2]]), "row 0, position 1: found the head 2, expected another position"),
        ((1, 3, 3), torch.tensor([[2, -100]]), "row 0, position 0: found the head 2, expected another position"),
        ((1, 3, 3), torch.zeros(1, 3, 3), "row 0, position 0: found no head that is possible"),
        ((1, 2, 2), torch.full((1, 2, 2), 0.9), "row 0, position 0: found probabilities of heads without the sum of 1"),
    ],
)
def test_what_cannot_be_is_named(arcs: tuple[int, ...], evidence: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TreeLoss(soft_labels="posterior")(torch.zeros(arcs), evidence)


def test_heads_that_are_no_tree_are_told_with_their_row() -> None:
    for heads in ([3, 4, 0, 3], [0, 0, 2, 2], [3, 4, 0, -1]):
        with pytest.raises(ContradictionError, match="sentence 2: no projective tree agrees"):
            TreeLoss()(torch.zeros(2, 5, 5), torch.tensor([[0, 1, 2, 3], heads]))
    assert TreeLoss(False)(torch.zeros(1, 5, 5), torch.tensor([[3, 4, 0, 3]])).item() > 0
    with pytest.raises(ContradictionError, match="sentence 1"):
        TreeLoss().decode(torch.zeros(1, 5, 5), None, torch.tensor([[3, 4, 0, -1]]))
    with pytest.raises(ValueError, match="found scores of siblings for trees whose arcs may cross"):
        TreeLoss(False)((torch.zeros(1, 2, 2), torch.zeros(1, 2, 2, 2)), torch.zeros(1, 1, dtype=int))
