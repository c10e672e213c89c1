"""How far the losses in PyTorch are from exact numbers: all outputs enumerated, and what others compute in float64."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from benchmarks.torch_exactness_cases import Case, Row
from tagweave.structures.lockstep import TransitionScores, sum_in_logarithms
from tagweave.torch import ChainLoss, TreeLoss

Errors = dict[str, float]
"""By quantity, each relative to the exact number."""
_BEST = 3  # outputs that `topk` is asked for


def distance(found: Tensor, exact: Tensor, whole: Tensor | float = 0.0) -> float:
    """The largest error, relative to the exact number, to what this is subtracted from, or to 1."""
    if found.shape != exact.shape:
        return math.inf
    size = torch.maximum(exact.abs(), torch.as_tensor(whole).abs()).clamp(min=1)
    found_errors = ((found.detach().double() - exact).abs() / size).detach().nan_to_num(math.inf)
    return float(found_errors.max()) if found.numel() else 0.0


def of_gradients(case: Case, found: Tensor, exact: Tensor, whole: Tensor) -> list[float]:
    """The distance of the gradients of each of the scores: of what was found, and of what `exact` is taken from."""
    weights = case.weights.to(found.dtype), case.weights, case.weights
    ours, theirs, of_whole = (
        torch.autograd.grad(values, scores, weight, retain_graph=True, materialize_grads=True)
        for values, scores, weight in zip(
            (found, exact, whole), (case.scores, case.exact, case.exact), weights, strict=True
        )
    )
    return list(map(distance, ours, theirs, of_whole))


def enumerated(case: Case) -> Errors:
    """How far each quantity is from the sum over all outputs."""
    module, asked, nothing = case.module, (case.input, case.mask, case.evidence), 0 * case.exact[0].sum()
    log_z = torch.stack([row.free.logsumexp(0) for row in case.rows]) + nothing
    given = torch.stack([row.given.logsumexp(0) for row in case.rows]) + nothing
    loss = log_z - torch.stack([row.fitted for row in case.rows])
    (marginals,) = torch.autograd.grad(given.sum(), case.exact[:1], retain_graph=True)
    logarithms = [(row.given - row.given.logsumexp(0)).detach() for row in case.rows]
    entropy = torch.stack([-(own.exp() * own).sum() for own in logarithms])
    found, partition = module(case.input, case.evidence, case.mask, "none"), module.log_partition(*asked)
    of_scores, *of_others = of_gradients(case, found, loss, log_z)
    outputs, totals = module.topk(case.input, _BEST, case.mask, case.evidence)
    return {
        "loss": distance(found, loss, log_z),
        "gradient: emissions, arcs": of_scores,
        "gradient: transitions, siblings": max(of_others, default=0.0),
        "log partition": distance(partition, given),
        "its gradient": max(of_gradients(case, partition, given, given)),
        "marginals": distance(module.marginals(*asked), marginals),
        "entropy": distance(module.entropy(*asked), entropy),
        "`decode`": max(map(regret, module.decode(*asked)[:, None], case.rows)),
        f"`topk`, {_BEST}": max(map(regret, outputs, case.rows, totals)),
    }


def regret(found: Tensor, row: Row, totals: Tensor | None = None) -> float:
    """How far the outputs found, [k, T], are from the best by their exact scores, and their totals from these.

    inf if one of them is not allowed, or comes twice, or if there is anything but -100 where there is none.
    """
    best = row.given.detach().sort(descending=True).values[: len(found)]
    own, is_word = found[: len(best), row.places], torch.zeros(found.shape[1], dtype=torch.bool)
    is_word[row.places] = True
    same = (own[:, None] == row.outputs).all(2)
    is_absent = (found[len(best) :] == -100).all() and (found[:, ~is_word] == -100).all()
    is_absent &= totals is None or totals[len(best) :].isneginf().all()
    at = same.int().argmax(1)
    if not is_absent or not same.any(1).all() or len(at.unique()) < len(at):
        return math.inf
    scores = row.given.detach()[at]
    worst = distance(scores, best)
    return worst if totals is None else max(worst, distance(totals[: len(best)], scores))


def by_engine(case: Case) -> Errors:
    """How far chains without evidence are from the sums in logarithms of the package's NumPy engine."""
    module, emissions, *others = case.module, *(each.detach().numpy() for each in case.exact)
    assert isinstance(module, ChainLoss)  # noqa: S101 - trees have no such engine
    allowed = module.scheme.transition, module.scheme.start, module.scheme.end
    scores = [np.where(each, own, -np.inf) for own, each in zip(others, allowed, strict=True)]
    transitions = TransitionScores.of_scores(*scores)
    log_z, marginals = module.log_partition(case.input, case.mask), module.marginals(case.input, case.mask)
    found = {"log partition": 0.0, "marginals": 0.0}
    for at, row in enumerate(torch.ones(log_z.shape + emissions.shape[1:2]) if case.mask is None else case.mask):
        if len(places := np.flatnonzero(row)):
            sums = sum_in_logarithms(emissions[at, places], transitions)
            own = (
                distance(log_z[at], torch.tensor(sums.log_z, dtype=torch.float64)),
                distance(marginals[at, places], torch.from_numpy(sums.gamma)),
            )
            found = {name: max(before, each) for (name, before), each in zip(found.items(), own, strict=True)}
    return found


def beside_crf(seed: int, dtype: torch.dtype) -> Errors:
    """How far losses of known labels are from pytorch-crf's in float64, and how far its own are in this type."""
    from torchcrf import CRF

    torch.manual_seed(seed)
    rows, length, size = (int(torch.randint(low, high, ())) for low, high in ((1, 9), (2, 30), (2, 12)))
    module, same, exact = (
        ChainLoss(size).to(dtype),
        *(CRF(size, batch_first=True).to(each) for each in (dtype, torch.float64)),
    )
    for each in (same, exact):
        each.load_state_dict(module.state_dict())
    labels, lengths = torch.randint(size, (rows, length)), torch.randint(1, length + 1, (rows, 1))
    emissions, mask = (2 * torch.randn(rows, length, size)).to(dtype).requires_grad_(), torch.arange(length) < lengths
    of_exact = emissions.detach().double().requires_grad_()
    loss, log_z = -exact(of_exact, labels, mask, "none"), exact._compute_normalizer(of_exact.transpose(0, 1), mask.T)
    found = {}
    for who, own in (("", module), ("pytorch-crf's ", same)):
        values = own(emissions, labels, mask, "none") * (1 if own is module else -1)
        names = ("transitions", "start_transitions", "end_transitions")
        scores, others = (
            (given, *map(each.get_parameter, names)) for given, each in ((emissions, own), (of_exact, exact))
        )
        case = Case(module, scores, others, labels, mask, torch.ones(rows, dtype=torch.float64), [])
        of_emissions, *of_others = of_gradients(case, values, loss, log_z)
        found |= {
            f"{who}loss": distance(values, loss, log_z),
            f"{who}gradient: emissions": of_emissions,
            f"{who}gradient: transitions": max(of_others),
        }
    decoded = [row[row >= 0].tolist() for row in module.decode(emissions, mask)]
    return {"`decode`": 0.0 if decoded == exact.decode(of_exact, mask) else math.inf} | found


def padded_arcs(seed: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Scores of arcs of up to eight words, the same in float64 with those of the root on the diagonal, and lengths."""
    torch.manual_seed(seed)
    rows, words = int(torch.randint(1, 5, ())), int(torch.randint(2, 9, ()))
    arcs, lengths = (2 * torch.randn(rows, words + 1, words + 1)).to(dtype), torch.randint(2, words + 1, (rows,))
    lengths[0] = words
    of_words = arcs[:, 1:, 1:].double()
    of_words.diagonal(dim1=1, dim2=2)[:] = arcs[:, 0, 1:]
    return arcs, of_words.requires_grad_(), lengths


def of_trees(arcs: Tensor, lengths: Tensor, log_z: Tensor, marginals: Tensor, is_projective: bool) -> Errors:
    """How far trees whose root may have several children are from these, shaped as the scores of `padded_arcs`."""
    module, mask = TreeLoss(is_projective, single_root=False), torch.arange(arcs.shape[1] - 1) < lengths[:, None]
    found = module.marginals(arcs, mask)
    of_words = found[:, 1:, 1:] + torch.diag_embed(found[:, 0, 1:])
    return {
        "log partition": distance(module.log_partition(arcs, mask), log_z),
        "marginals": distance(of_words, marginals),
    }


def beside_torch_struct(seed: int, dtype: torch.dtype) -> Errors:
    """How far projective trees are from torch-struct in float64."""
    torch.distributions.Distribution.set_default_validate_args(False)
    from torch_struct import DependencyCRF

    arcs, of_words, lengths = padded_arcs(seed, dtype)
    theirs = DependencyCRF(of_words, lengths=lengths)
    return of_trees(arcs, lengths, theirs.partition, theirs.marginals, True)


def by_laplacian(seed: int, dtype: torch.dtype) -> Errors:
    """How far all trees are from the determinant of the Laplacian (Koo et al. 2007) in float64."""
    arcs, of_words, lengths = padded_arcs(seed, dtype)
    log_z = []
    for own, length in zip(of_words, lengths.tolist(), strict=True):
        potential = own[:length, :length].exp()
        log_z.append((torch.diag(potential.sum(0)) - potential + torch.diag(potential.diagonal())).logdet())
    total = torch.stack(log_z)
    (marginals,) = torch.autograd.grad(total.sum(), of_words)
    return of_trees(arcs, lengths, total, marginals, False)
