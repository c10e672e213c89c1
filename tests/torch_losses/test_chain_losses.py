"""`ChainLoss` against the enumeration of all label sequences, against pytorch-crf, and as a PyTorch module.

`TAGWEAVE_CASES=2000` draws more random cases, here and for trees.
"""

from __future__ import annotations

import copy
import math
import os
import pickle
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import torchcrf
from torch import Tensor

import naive
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.structures.loss import ContradictionError
from tagweave.structures.terms import LabelShare
from tagweave.torch import ChainLoss, problem

CASES = int(os.environ.get("TAGWEAVE_CASES", "200"))
_EXACT, _SINGLE = 1e-10, 1e-6


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The threads of PyTorch wait for each other, on rows as short as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Case(NamedTuple):
    """A module, its input, and the chain of each row with and without the evidence, `None` for an empty one."""

    module: ChainLoss
    emissions: Tensor
    evidence: Tensor
    mask: Tensor | None
    kept: list[list[int]]
    free: list[naive.Chain | None]
    given: list[naive.Chain | None]


def random_case(seed: int, dtype: torch.dtype = torch.float64) -> Case:
    """Up to three rows over up to four labels: any mask, -100 anywhere, evidence of any kind that allows something."""
    random = np.random.default_rng(seed)
    rows, length, size = (int(random.integers(low, high)) for low, high in ((1, 4), (1, 6), (2, 5)))
    forbidden = random.random((size + 2, size)) < random.choice([0, 0.3])
    forbidden[:, 0] = forbidden[0] = False  # label 0 is possible everywhere
    scheme = TransitionScheme(~forbidden[2:], ~forbidden[0], ~forbidden[1])
    scheme.transition[0] = True
    module = ChainLoss(size, scheme).to(dtype)
    with torch.no_grad():
        for each in module.parameters():
            each.copy_(torch.from_numpy(random.normal(0, 2, tuple(each.shape))))
    emissions = torch.from_numpy(random.normal(0, 3, (rows, length, size))).to(dtype)
    kept = random.random((rows, length)) < random.choice([0.6, 1])
    shares = random.random((rows, length, size)) * (random.random((rows, length, size)) < 0.6)
    shares[..., 0] = 1 - random.random((rows, length))
    mask: Tensor | None = torch.from_numpy(kept.copy())
    kind = random.choice(["ids", "sets", "numbers"])
    if kind == "numbers":
        evidence = torch.from_numpy(shares)
    elif kind == "sets":
        shares = (shares > 0).astype(float)
        evidence = torch.from_numpy(shares > 0)
    else:
        ids = np.where(random.random((rows, length)) < 0.5, -1, 0)
        evidence = torch.from_numpy(np.where(kept, ids, -100))
        shares = np.where(ids[..., None] < 0, 1.0, np.arange(size) == 0)
        mask = None if random.random() < 0.5 else torch.from_numpy(kept | (random.random((rows, length)) < 0.5))
    return Case(module, emissions, evidence, mask, *_chains(module, emissions, kept, shares))


def _chains(module: ChainLoss, emissions: Tensor, kept: Any, shares: Any) -> tuple[Any, Any, Any]:
    never, scheme = -math.inf, module.scheme
    score, start, end = (each.detach().double().numpy() for each in module._scores)
    edges = [np.where(*each, never).tolist() for each in ((scheme.transition, score), (scheme.start, start))]
    edges.append(np.where(scheme.end, end, never).tolist())
    places = [np.flatnonzero(row).tolist() for row in kept]
    of_rows = [emissions[row, at].double().tolist() for row, at in enumerate(places)]
    free = [naive.Chain(own, *edges) if own else None for own in of_rows]
    given = [
        naive.Chain(own, *edges, shares[row, places[row]].tolist()) if own else None for row, own in enumerate(of_rows)
    ]
    return places, free, given


def log_z(chain: naive.Chain | None) -> float:
    return naive.log_partition(chain) if chain else 0.0


@pytest.mark.parametrize("part", range(10))
def test_sums_and_sequences_are_those_of_the_enumeration(part: int) -> None:
    for seed in range(part, CASES, 10):
        case = random_case(seed)
        module, inputs = case.module, (case.emissions, case.mask, case.evidence)
        losses = module(case.emissions, case.evidence, case.mask, "none")
        free, given = ([log_z(each) for each in chains] for chains in (case.free, case.given))
        close(losses, [one - other for one, other in zip(free, given, strict=True)])
        close(module.log_partition(*inputs), given)
        marginals, best, (several, totals) = (
            module.marginals(*inputs),
            module.decode(*inputs),
            module.topk(*inputs[:1], 3, *inputs[1:]),
        )
        entropy = module.entropy(*inputs)
        for row, (places, chain) in enumerate(zip(case.kept, case.given, strict=True)):
            assert (best[row] >= 0).nonzero().flatten().tolist() == places
            if chain is None:
                continue
            gamma = torch.zeros_like(marginals[row])
            gamma[places] = torch.tensor(naive.state_marginals(chain), dtype=gamma.dtype)
            close(marginals[row], gamma)
            close(entropy[row], naive.entropy(chain, 0, len(places)))
            expected = naive.k_best(chain, 3)
            close(totals[row, : len(expected)], [total for total, _ in expected])
            assert totals[row, len(expected) :].isneginf().all()
            found = [each[places].tolist() for each in several[row, : len(expected)]]
            assert found == [list(labels) for _, labels in expected]
            assert best[row, places].tolist() == found[0]


def close(found: Tensor, expected: Any, tolerance: float = _EXACT) -> None:
    expected = torch.as_tensor(expected, dtype=found.dtype)
    assert torch.allclose(found, expected, rtol=tolerance, atol=tolerance), (found, expected)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, _EXACT), (torch.float32, _SINGLE)])
def test_losses_gradients_and_best_labels_are_those_of_pytorch_crf(dtype: torch.dtype, tolerance: float) -> None:
    """Its weights are moved; it computes in float64. Each row has an upstream gradient of its own."""
    torch.manual_seed(0)
    for _ in range(CASES // 4):
        rows, length, size = (int(torch.randint(low, high, ())) for low, high in ((1, 9), (2, 30), (2, 12)))
        other, module = torchcrf.CRF(size, batch_first=True), ChainLoss(size).to(dtype)
        module.load_state_dict(other.state_dict())
        other = other.double()
        emissions = (3 * torch.randn(rows, length, size)).to(dtype).requires_grad_()
        labels, lengths = torch.randint(size, (rows, length)), torch.randint(1, length + 1, (rows, 1))
        mask, weights = torch.arange(length) < lengths, torch.randn(rows, dtype=dtype)
        exact = emissions.detach().double().requires_grad_()
        found, expected = module(emissions, labels, mask, "none"), -other(exact, labels, mask, "none")
        scale = other._compute_normalizer(exact.transpose(0, 1), mask.T).detach()
        assert ((found - expected).abs() <= tolerance * scale.abs().clamp(min=1)).all()
        names = [name for name, _ in other.named_parameters()]
        of_both = (
            torch.autograd.grad((losses * weights).sum(), [scores, *map(owner.get_parameter, names)])
            for owner, scores, losses in ((module, emissions, found), (other, exact, expected))
        )
        for one, another in zip(*of_both, strict=True):
            close(one, another, 10 * tolerance)
        assert [row[row >= 0].tolist() for row in module.decode(emissions, mask)] == other.decode(exact, mask)


def test_reductions_are_those_of_pytorch_crf() -> None:
    torch.manual_seed(1)
    other, module = torchcrf.CRF(3, batch_first=True), ChainLoss(3)
    module.load_state_dict(other.state_dict())
    emissions, labels, mask = torch.randn(4, 5, 3), torch.randint(3, (4, 5)), torch.ones(4, 5, dtype=torch.bool)
    for reduction in ("mean", "sum", "none", "token_mean"):
        close(module(emissions, labels, None, reduction), -other(emissions, labels, mask, reduction), 1e-5)
    with pytest.raises(ValueError, match="found the reduction 'all', expected one of mean, sum, none, token_mean"):
        module(emissions, labels, None, "all")


def test_gradients_are_those_of_finite_differences() -> None:
    for seed in range(12):
        case = random_case(seed)
        names = [name for name, _ in case.module.named_parameters()]
        upstream = torch.rand(len(case.emissions), dtype=torch.float64)

        def loss(
            emissions: Tensor, *values: Tensor, case: Case = case, names: Any = names, w: Tensor = upstream
        ) -> Any:
            inputs = (emissions, case.evidence, case.mask, "none")
            losses = torch.func.functional_call(case.module, dict(zip(names, values, strict=True)), inputs)
            return (w * losses).sum()

        values = [each.detach().clone().requires_grad_() for each in (case.emissions, *case.module.parameters())]
        assert torch.autograd.gradcheck(loss, values)


def test_the_gradient_of_log_z_are_marginals() -> None:
    case = random_case(3)
    emissions = case.emissions.requires_grad_()
    (gradient,) = torch.autograd.grad(case.module.log_partition(emissions, case.mask, case.evidence).sum(), emissions)
    close(gradient, case.module.marginals(emissions, case.mask, case.evidence))


def test_probabilities_are_what_marginals_become() -> None:
    """With probabilities of labels at one position, the loss is the divergence of the nearest distribution."""
    torch.manual_seed(2)
    module = ChainLoss(3, soft_labels="posterior").double()
    emissions, numbers = torch.randn(1, 3, 3, dtype=torch.float64), torch.ones(1, 3, 3, dtype=torch.float64)
    numbers[0, 1] = torch.tensor([0.7, 0.3, 0.0])
    (chain,) = _chains(module, emissions, np.ones((1, 3), bool), np.ones((1, 3, 3)))[1]
    nearest = naive.nearest(chain, {1: {0: 0.7, 1: 0.3}})
    close(module(emissions, numbers, None, "sum"), naive.divergence(nearest, chain), 1e-6)
    numbers[0, 1, 1] = 0
    with pytest.raises(ValueError, match=r"row 0, position 1: found probabilities with the sum 0.7, expected 1"):
        module(emissions, numbers)


def test_samples_have_the_frequencies_of_marginals() -> None:
    case = random_case(8)
    generator = torch.Generator().manual_seed(4)
    drawn = case.module.sample(case.emissions, 4000, case.mask, case.evidence, generator)
    marginals = case.module.marginals(case.emissions, case.mask, case.evidence)
    for label in range(marginals.shape[-1]):
        close((drawn == label).double().mean(1), marginals[..., label], 0.03)


def test_rows_without_positions_cost_nothing() -> None:
    module, emissions = ChainLoss(3), torch.randn(2, 4, 3, requires_grad=True)
    ids = torch.tensor([[-100] * 4, [-1] * 4])
    loss = module(emissions, ids, None, "token_mean")
    loss.backward()
    assert loss.item() == 0
    assert emissions.grad is not None
    assert not emissions.grad.any()
    nothing = module(emissions, ids[:, :1].expand(2, 4).clone().fill_(-100), None, "none")
    assert nothing.tolist() == [0, 0]
    assert (module.decode(emissions, torch.zeros(2, 4)) == -100).all()
    assert module.entropy(emissions, torch.zeros(2, 4)).tolist() == [0, 0]


def test_the_gradient_has_no_gradient() -> None:
    module, emissions = ChainLoss(2), torch.randn(1, 2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="found create_graph=True, expected False"):
        torch.autograd.grad(module(emissions, torch.zeros(1, 2, dtype=int)), emissions, create_graph=True)


def test_half_precision_is_summed_in_float32() -> None:
    torch.manual_seed(3)
    module, encoder, inputs = ChainLoss(5), torch.nn.Linear(4, 5), torch.randn(3, 6, 4)
    ids = torch.randint(5, (3, 6))
    with torch.autocast("cpu", torch.bfloat16):
        emissions = encoder(inputs)
        loss = module(emissions, ids)
    assert (emissions.dtype, loss.dtype) == (torch.bfloat16, torch.float32)
    assert loss.item() == module(emissions.float(), ids).item()
    loss.backward()
    assert encoder.weight.grad is not None
    assert encoder.weight.grad.isfinite().all()


def test_scores_out_of_bounds_make_gradients_that_a_scaler_notices() -> None:
    module, emissions = ChainLoss(2), torch.full((1, 2, 2), math.nan, requires_grad=True)
    module(emissions, torch.zeros(1, 2, dtype=int)).backward()
    assert emissions.grad is not None
    assert emissions.grad.isnan().all()


def test_threads_share_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(5)
    emissions, ids = torch.randn(9, 5, len(case.module.labels), requires_grad=True), torch.zeros(9, 5, dtype=int)
    module = case.module.float()

    def gradients() -> Any:
        return torch.autograd.grad(module(emissions, ids, None, "sum"), [emissions, *module.parameters()])

    alone = gradients()
    monkeypatch.setattr(problem, "SHARED_WORK", 0)
    torch.set_num_threads(3)
    for one, other in zip(alone, gradients(), strict=True):
        close(one, other, 1e-5)


def test_a_share_of_labels_is_a_term_of_the_loss() -> None:
    case = random_case(0)
    inside = np.arange(len(case.module.labels)) > 0
    module = ChainLoss(len(inside), terms=[LabelShare(inside, 0.1, 0.0, 2.0)]).double()
    emissions, ids = case.emissions.clone().requires_grad_(), torch.full(case.emissions.shape[:2], -1)
    share = 1 - module.marginals(emissions)[..., 0].mean().item()
    close(module(emissions, ids, None, "token_mean"), 2 * abs(share - 0.1))
    assert torch.autograd.gradcheck(lambda scores: module(scores, ids), emissions, atol=1e-4)
    with pytest.raises(ValueError, match="found the reduction 'none' with terms"):
        module(emissions, ids, None, "none")


def test_frozen_and_absent_transitions() -> None:
    module, emissions = ChainLoss(3, transitions=False), torch.randn(2, 4, 3, requires_grad=True)
    ids = torch.randint(3, (2, 4))
    expected = torch.nn.functional.cross_entropy(emissions.flatten(0, 1), ids.flatten(), reduction="sum")
    close(module(emissions, ids, None, "sum"), expected, 1e-5)
    assert [each for each in module.parameters() if each.requires_grad] == []


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_an_encoder_around_it_can_be_compiled() -> None:
    torch.manual_seed(5)
    encoder, module = torch.nn.Linear(4, 3), ChainLoss(3)

    def step(inputs: Tensor, ids: Tensor) -> Tensor:
        return module(encoder(inputs).tanh(), ids) * 2

    inputs, ids = torch.randn(2, 5, 4), torch.randint(3, (2, 5))
    compiled = torch.compile(step, backend="eager")(inputs, ids)
    compiled.backward()
    close(compiled, step(inputs, ids), 1e-6)
    assert encoder.weight.grad is not None


def test_copies_and_files_of_a_module_are_the_same() -> None:
    module = ChainLoss(["O", "B-X", "I-X"], "IOB2")
    emissions, ids = torch.randn(1, 3, 3), torch.tensor([[0, 1, 2]])
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):  # noqa: S301
        assert other(emissions, ids).item() == module(emissions, ids).item()
    assert [*module.state_dict()] == ["transitions", "start_transitions", "end_transitions"]
    assert repr(module) == "ChainLoss(3 labels, coding=IOB2)"


@pytest.mark.parametrize(
    ("emissions", "evidence", "mask", "message"),
    [
        ((2, 3), (2, 3), None, r"found emissions of the shape \(2, 3\), expected rows, positions, 2 labels"),
        ((2, 3, 4), (2, 3), None, r"found emissions of the shape \(2, 3, 4\), expected rows, positions, 2 labels"),
        ((2, 3, 2), (2, 4), None, r"found evidence of the shape \(2, 4\) .* expected ids of the shape \(2, 3\)"),
        ((2, 3, 2), (2, 3), (2, 2), r"found a mask of the shape \(2, 2\), expected \(2, 3\)"),
    ],
)
def test_shapes_that_do_not_fit_are_named(
    emissions: tuple[int, ...], evidence: tuple[int, ...], mask: tuple[int, ...] | None, message: str
) -> None:
    given = None if mask is None else torch.ones(mask)
    with pytest.raises(ValueError, match=message):
        ChainLoss(2)(torch.zeros(emissions), torch.zeros(evidence, dtype=int), given)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (torch.tensor([[0, 1, 3]]), r"row 0, position 2: found the label 3, expected 0 to 2, -1 \(unknown\) or -100"),
        (torch.tensor([[0, -2, 1]]), "row 0, position 1: found the label -2"),
        (torch.zeros(1, 3, 3, dtype=torch.bool), "row 0, position 0: found no label that is possible"),
        (-torch.ones(1, 3, 3), "row 0, position 0: found no label that is possible"),
        (torch.eye(3)[None] * 2 - 1, "row 0, position 0: found a number below 0"),
        (torch.ones(1, 3, dtype=torch.bool), "a mask is the argument `mask`"),
    ],
)
def test_evidence_that_cannot_be_is_named(evidence: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChainLoss(3)(torch.zeros(1, 3, 3), evidence)


def test_labels_that_the_coding_forbids_are_told_with_their_row() -> None:
    module = ChainLoss(["O", "B-X", "I-X"], "IOB2")
    with pytest.raises(ContradictionError, match="sentence 2: no label sequence agrees"):
        module(torch.zeros(2, 2, 3), torch.tensor([[0, 1], [0, 2]]))
    for ask in (
        module.decode,
        module.marginals,
        module.entropy,
        lambda *inputs: module.sample(inputs[0], 1, *inputs[1:]),
    ):
        with pytest.raises(ContradictionError, match="sentence 2"):
            ask(torch.zeros(2, 2, 3), None, torch.tensor([[0, 1], [0, 2]]))
    for labels, message in ((1, "found 1 labels, expected 2 or more"), (["A", "A"], "found the label 'A' twice")):
        with pytest.raises(ValueError, match=message):
            ChainLoss(labels)
