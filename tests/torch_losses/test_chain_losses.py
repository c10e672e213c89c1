"""`ChainLoss` as a PyTorch module; its numbers are in `test_exactness`."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torchcrf
from torch import Tensor

from benchmarks.torch_exactness import chain_case
from tagweave.structures.loss import ContradictionError
from tagweave.structures.terms import LabelShare
from tagweave.torch import ChainLoss, scored_batch


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The threads of PyTorch wait for each other, on rows as short as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def close(found: Tensor, expected: Any, tolerance: float = 1e-10) -> None:
    expected = torch.as_tensor(expected, dtype=found.dtype)
    assert torch.allclose(found, expected, rtol=tolerance, atol=tolerance), (found, expected)


def test_reductions_are_those_of_pytorch_crf() -> None:
    torch.manual_seed(1)
    other, module = torchcrf.CRF(3, batch_first=True), ChainLoss(3)
    module.load_state_dict(other.state_dict())
    emissions, labels, mask = torch.randn(4, 5, 3), torch.randint(3, (4, 5)), torch.ones(4, 5, dtype=torch.bool)
    for reduction in ("mean", "sum", "none", "token_mean"):
        close(module(emissions, labels, None, reduction), -other(emissions, labels, mask, reduction), 1e-5)
    with pytest.raises(ValueError, match="found the reduction 'all', expected one of mean, sum, none, token_mean"):
        module(emissions, labels, None, "all")


def test_samples_have_the_frequencies_of_marginals() -> None:
    case = chain_case(8, torch.float64)
    generator = torch.Generator().manual_seed(4)
    drawn = case.module.sample(case.input, 4000, case.mask, case.evidence, generator)
    marginals = case.module.marginals(case.input, case.mask, case.evidence)
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
    module, emissions, ids = ChainLoss(3), torch.randn(9, 5, 3, requires_grad=True), torch.zeros(9, 5, dtype=int)

    def gradients() -> Any:
        return torch.autograd.grad(module(emissions, ids, None, "sum"), [emissions, *module.parameters()])

    alone = gradients()
    monkeypatch.setattr(scored_batch, "SHARED_WORK", 0)
    torch.set_num_threads(3)
    for one, other in zip(alone, gradients(), strict=True):
        close(one, other, 1e-5)


def test_a_share_of_labels_is_a_term_of_the_loss() -> None:
    module = ChainLoss(3, terms=[LabelShare(np.arange(3) > 0, 0.1, 0.0, 2.0)]).double()
    emissions, ids = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True), torch.full((2, 4), -1)
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
        (torch.eye(3)[None] * 0.7, "row 0, position 0: found probabilities with the sum 0.7, expected 1"),
    ],
)
def test_evidence_that_cannot_be_is_named(evidence: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChainLoss(3, soft_labels="posterior")(torch.zeros(1, 3, 3), evidence)


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
