"""`TreeLoss` against the enumeration of all trees, and as a PyTorch module."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

import naive_trees
from tagweave.structures.loss import ContradictionError
from tagweave.torch import TreeLoss

CASES = int(os.environ.get("TAGWEAVE_CASES", "200"))


class Case(NamedTuple):
    """A module, its input, and the scores of the trees of each row with and without the evidence."""

    module: TreeLoss
    arcs: Tensor
    siblings: Tensor | None
    evidence: Tensor
    mask: Tensor | None
    places: list[list[int]]  # of the root and of the words of each row
    free: list[dict[naive_trees.Heads, float]]
    given: list[dict[naive_trees.Heads, float]]

    @property
    def scores(self) -> Tensor | tuple[Tensor, Tensor]:
        return self.arcs if self.siblings is None else (self.arcs, self.siblings)


def random_case(seed: int) -> Case:
    """Up to three rows of up to four words: any mask, -100 anywhere, heads, sets and numbers that allow some tree."""
    random = np.random.default_rng(seed)
    rows, length = int(random.integers(1, 4)), int(random.integers(1, 5))
    module = TreeLoss(bool(random.random() < 0.6), bool(random.random() < 0.5))
    kept = random.random((rows, length)) < random.choice([0.6, 1])
    wide = length + 1
    arcs = random.normal(0, 2, (rows, wide, wide))
    siblings = random.normal(0, 2, (rows, wide, wide, wide)) if seed % 3 == 0 and module.structure.projective else None
    shares = random.random((rows, wide, wide)) * (random.random((rows, wide, wide)) < 0.6)
    heads = np.full((rows, length), -100)
    places, free, given = [], [], []
    for row in range(rows):
        own = [0, *(np.flatnonzero(kept[row]) + 1).tolist()]
        options = naive_trees.trees(len(own) - 1, module.structure.projective, module.structure.single_root)
        tree = options[int(random.integers(len(options)))]
        for m, head in enumerate(tree, 1):
            heads[row, own[m] - 1] = own[head] if random.random() < 0.5 else -1
            shares[row, own[head], own[m]] = 1 - random.random()
        places.append(own)
    mask: Tensor | None = torch.from_numpy(kept)
    kind = random.choice(["heads", "sets", "numbers"])
    if kind == "heads":
        evidence, mask = torch.from_numpy(heads), None
        shares = np.where(heads[:, None] < 0, 1.0, np.arange(wide)[None, :, None] == heads[:, None])
        shares = np.concatenate([np.ones((rows, wide, 1)), shares], axis=2)
    elif kind == "sets":
        evidence, shares = torch.from_numpy(shares > 0), (shares > 0).astype(float)
    else:
        evidence = torch.from_numpy(shares)
    for row, own in enumerate(places):
        at = np.ix_(own, own)
        cube = None if siblings is None else siblings[row][np.ix_(own, own, own)].tolist()
        of_trees = (module.structure.projective, module.structure.single_root, cube)
        free.append(naive_trees.tree_scores(arcs[row][at].tolist(), *of_trees))
        given.append(naive_trees.under_evidence(free[-1], shares[row][at].tolist()))
    cubes = None if siblings is None else torch.from_numpy(siblings)
    return Case(module, torch.from_numpy(arcs), cubes, evidence, mask, places, free, given)


def close(found: Tensor, expected: Any, tolerance: float = 1e-10) -> None:
    expected = torch.as_tensor(expected, dtype=found.dtype)
    assert torch.allclose(found, expected, rtol=tolerance, atol=tolerance), (found, expected)


@pytest.mark.parametrize("part", range(10))
def test_sums_and_trees_are_those_of_the_enumeration(part: int) -> None:
    for seed in range(part, CASES, 10):
        case = random_case(seed)
        module, inputs = case.module, (case.scores, case.mask, case.evidence)
        free, given = ([naive_trees.log_partition(each) for each in trees] for trees in (case.free, case.given))
        losses = module(case.scores, case.evidence, case.mask, "none")
        close(losses, [one - other for one, other in zip(free, given, strict=True)])
        close(module.log_partition(*inputs), given)
        close(module.entropy(*inputs), list(map(naive_trees.entropy, case.given)))
        marginals, best = module.marginals(*inputs), module.decode(*inputs)
        several, totals = module.topk(case.scores, 3, *inputs[1:])
        for row, (own, trees) in enumerate(zip(case.places, case.given, strict=True)):
            words = [place - 1 for place in own[1:]]
            assert (best[row] != -100).nonzero().flatten().tolist() == words
            if not words:
                continue
            expected = torch.zeros_like(marginals[row])
            expected[np.ix_(own, own)] = torch.tensor(naive_trees.marginals(trees, len(words)), dtype=torch.float64)
            close(marginals[row], expected)
            ranked = sorted(trees.items(), key=lambda item: -item[1])[:3]
            close(totals[row, : len(ranked)], [total for _, total in ranked])
            assert totals[row, len(ranked) :].isneginf().all()
            found = several[row, : len(ranked)][:, words].tolist()
            assert found == [[own[head] for head in heads] for heads, _ in ranked]
            assert best[row, words].tolist() == found[0]


def test_gradients_are_those_of_finite_differences() -> None:
    for seed in range(12):
        case = random_case(seed)
        weights = torch.rand(len(case.arcs), dtype=torch.float64)

        def loss(*scores: Tensor, case: Case = case, weights: Tensor = weights) -> Tensor:
            given = scores if len(scores) > 1 else scores[0]
            return (weights * case.module(given, case.evidence, case.mask, "none")).sum()

        scores = [each.clone().requires_grad_() for each in (case.arcs, case.siblings) if each is not None]
        assert torch.autograd.gradcheck(loss, scores)


def test_the_gradient_of_log_z_are_marginals() -> None:
    for seed in range(6):
        case = random_case(seed)
        case.arcs.requires_grad_()
        inputs = (case.scores, case.mask, case.evidence)
        (gradient,) = torch.autograd.grad(case.module.log_partition(*inputs).sum(), case.arcs)
        close(gradient, case.module.marginals(*inputs))


def test_samples_have_the_frequencies_of_marginals() -> None:
    module, arcs = TreeLoss(), torch.randn(1, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    drawn = module.sample(arcs, 1500, generator=torch.Generator().manual_seed(1))
    marginals = module.marginals(arcs)
    for head in range(4):
        close((drawn == head).double().mean(1), marginals[:, head, 1:], 0.05)


def test_probabilities_of_heads_are_what_marginals_become() -> None:
    module, arcs = TreeLoss(soft_labels="posterior"), torch.randn(1, 3, 3, dtype=torch.float64, requires_grad=True)
    numbers = torch.tensor([[[0, 0.6, 0.4], [0, 0, 0.6], [0, 0.4, 0]]], dtype=torch.float64)
    (gradient,) = torch.autograd.grad(module(arcs, numbers), arcs)
    close(gradient, module.marginals(arcs) - numbers)
    numbers[0, 0, 1] = 0.5
    with pytest.raises(ValueError, match="row 0, position 0: found probabilities of heads without the sum of 1"):
        module(arcs, numbers)


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
        monkeypatch.setattr("tagweave.torch.problem.SHARED_WORK", 0)
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
    ],
)
def test_what_cannot_be_is_named(arcs: tuple[int, ...], evidence: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TreeLoss()(torch.zeros(arcs), evidence)


def test_heads_that_are_no_tree_are_told_with_their_row() -> None:
    for heads in ([3, 4, 0, 3], [0, 0, 2, 2], [3, 4, 0, -1]):
        with pytest.raises(ContradictionError, match="sentence 2: no projective tree agrees"):
            TreeLoss()(torch.zeros(2, 5, 5), torch.tensor([[0, 1, 2, 3], heads]))
    assert TreeLoss(False)(torch.zeros(1, 5, 5), torch.tensor([[3, 4, 0, 3]])).item() > 0
    with pytest.raises(ContradictionError, match="sentence 1"):
        TreeLoss().decode(torch.zeros(1, 5, 5), None, torch.tensor([[3, 4, 0, -1]]))
    with pytest.raises(ValueError, match="found scores of siblings for trees whose arcs may cross"):
        TreeLoss(False)((torch.zeros(1, 2, 2), torch.zeros(1, 2, 2, 2)), torch.zeros(1, 1, dtype=int))
