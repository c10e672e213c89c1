"""How exact the losses in PyTorch are: `python -m benchmarks.torch_exactness [--quick]`.

Nothing that they are compared with uses their arithmetic: sums over all outputs in float64, with PyTorch's gradients,
the sums in logarithms of the NumPy engine, pytorch-crf, and torch-struct if it is installed (`benchmarks.torch_losses`
says how).
"""

from __future__ import annotations

import argparse
import math
import platform
from collections.abc import Callable, Iterable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.structures.lockstep import TransitionScores, sum_in_logarithms
from tagweave.torch import ChainLoss, TreeLoss
from tests import naive_trees

BARS = {torch.float32: 1e-6, torch.float64: 1e-10}
"""What no error may exceed."""
_CASES = 2000

Errors = dict[str, float]
"""By quantity, each relative to the exact number."""
_BEST = 3  # outputs that `topk` is asked for
KINDS = ("ids", "sets", "likelihoods", "posteriors")
"""What evidence is, by case in turn."""


class Row(NamedTuple):
    """All outputs of the words of one row, with their scores in float64; of K words, at `places`."""

    places: list[int]
    free: Tensor  # [S], the scores of all outputs
    outputs: Tensor  # [G, K], those that the evidence allows
    given: Tensor  # [G], their scores with the logarithms of the evidence
    fitted: Tensor  # what is subtracted from log Z to give the loss


class Case(NamedTuple):
    """A module with its input, the same numbers in float64, and the enumeration of each row."""

    module: ChainLoss | TreeLoss
    scores: tuple[Tensor, ...]  # what has gradients: of the input, then of the module
    exact: tuple[Tensor, ...]
    evidence: Tensor
    mask: Tensor | None
    weights: Tensor  # [B], by which the losses of rows are multiplied
    rows: list[Row]

    @property
    def input(self) -> Any:
        """The scores as the module takes them."""
        own = [each for each in self.scores if each.dim() > 2]  # neither [Y, Y] nor [Y]
        return own[0] if len(own) == 1 else tuple(own)


def _drawn(random: np.random.Generator, spread: float, *shape: int) -> Tensor:
    return torch.from_numpy(random.normal(0, spread, shape))


def _shares(random: np.random.Generator, kind: str, shape: tuple[int, ...], truth: Tensor) -> Tensor:
    """Evidence as numbers [..., N], K distributions, that allow the truth: int[...], the output of each."""
    one = torch.nn.functional.one_hot(truth, shape[-1]).double()
    some = torch.from_numpy(random.random(shape) * (random.random(shape) < 0.6)) + one * (1 - random.random())
    is_unknown = torch.from_numpy(random.random((*shape[:-1], 1)) < 0.4)
    if kind == "ids":
        return torch.where(is_unknown, 1.0, one)
    if kind == "sets":
        return (some > 0).double()
    if kind == "likelihoods":
        return some
    return torch.where(is_unknown, 1.0, some / some.sum(-1, keepdim=True))


def _where(random: np.random.Generator, kept: Tensor, kind: str, ids: Tensor) -> tuple[Tensor, Tensor | None]:
    """The ids, with -100 where there is no position, and a mask, which leaves some of these to the ids, or none."""
    if kind != "ids":
        return ids, kept
    mask = kept | torch.from_numpy(random.random(tuple(kept.shape)) < 0.5)
    return torch.where(kept, ids, -100), None if random.random() < 0.5 else mask


# Chains


def chain_case(seed: int, dtype: torch.dtype) -> Case:
    """Up to four labels, five positions and three rows; with all kinds of evidence but posteriors, some transitions
    are forbidden."""
    random, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    count, length, size = (int(random.integers(low, high)) for low, high in ((1, 4), (1, 6), (2, 5)))
    allowed = random.random((size + 2, size)) >= (0.3 if kind != "posteriors" and random.random() < 0.7 else 0)
    allowed[:, 0] = allowed[2] = True  # label 0 is possible everywhere
    module = ChainLoss(
        size,
        TransitionScheme(allowed[2:], allowed[0], allowed[1]),
        soft_labels="posterior" if kind == "posteriors" else "likelihood",
    ).to(dtype)
    with torch.no_grad():
        for each in module.parameters():
            each.copy_(_drawn(random, 1, *each.shape))
    emissions = _drawn(random, 2, count, length, size).to(dtype).requires_grad_()
    scores = (emissions, *module.parameters())
    exact = tuple(each.detach().double().requires_grad_() for each in scores)
    kept = torch.from_numpy(random.random((count, length)) < random.choice([0.6, 1]))
    truth, rows = torch.zeros(count, length, dtype=torch.int64), []
    shares = torch.zeros(count, length, size, dtype=torch.float64)
    for at, own in enumerate(kept):
        outputs, free = label_sequences(torch.from_numpy(allowed), exact[0][at, own], *exact[1:])
        truth[at, own] = outputs[int(random.integers(len(outputs)))]
        shares[at] = _shares(random, kind, (length, size), truth[at])
        share = shares[at, own].gather(1, outputs.T).log().sum(0)
        is_given, places = share > -math.inf, own.nonzero().flatten().tolist()
        given = free[is_given] + share[is_given]
        fitted = given.logsumexp(0)
        if kind == "posteriors":
            given = free[is_given]
            fitted = _fitted(given, outputs[is_given], shares[at, own])
        rows.append(Row(places, free, outputs[is_given], given, fitted))
    ids = torch.where((shares == 1).all(-1), -1, truth)
    ids, mask = _where(random, kept, kind, ids)
    evidence = {"ids": ids, "sets": shares > 0}.get(kind, shares)
    return Case(module, scores, exact, evidence, mask, _weights(random, count), rows)


def label_sequences(
    allowed: Tensor, emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the sequences [S, K] that are allowed (bool[2 + Y, Y]: first, last, by the one before), and their
    scores."""
    length, size = emissions.shape
    if not length:
        return torch.zeros(1, 0, dtype=torch.int64), 0 * emissions.sum()[None]
    found = torch.cartesian_prod(*[torch.arange(size)] * length).reshape(-1, length)
    before, after = found[:, :-1], found[:, 1:]
    found = found[allowed[0][found[:, 0]] & allowed[1][found[:, -1]] & allowed[2:][before, after].all(1)]
    before, after = found[:, :-1], found[:, 1:]
    scores = emissions.gather(1, found.T).sum(0) + transitions[before, after].sum(1)
    return found, scores + start[found[:, 0]] + end[found[:, -1]]


def _fitted(given: Tensor, outputs: Tensor, shares: Tensor) -> Tensor:
    """The mean of log Z over independent draws of the labels of positions that have probabilities of them."""
    drawn = [at for at, share in enumerate(shares) if 0 < share.max() < 1]
    if not drawn:
        return given.logsumexp(0)
    draws, draw_of = outputs[:, drawn].unique(dim=0, return_inverse=True)
    probabilities = shares[drawn].gather(1, draws.T).prod(0)
    log_z = torch.stack([given[draw_of == draw].logsumexp(0) for draw in range(len(draws))])
    return (probabilities * log_z).sum()


# Trees


def tree_case(seed: int, dtype: torch.dtype) -> Case:
    """Up to four words and three rows; projective, with siblings, and trees whose arcs cross, in turn."""
    random, kind = np.random.default_rng(seed), KINDS[seed // 3 % len(KINDS)]
    is_projective, has_siblings = seed % 3 < 2, seed % 3 == 1 and kind != "posteriors"
    count, length = int(random.integers(1, 4)), int(random.integers(1, 5))
    reading = "posterior" if kind == "posteriors" else "likelihood"
    module, wide = TreeLoss(is_projective, bool(random.random() < 0.5), soft_labels=reading), length + 1
    shapes = [(count, *[wide] * axes) for axes in ((2, 3) if has_siblings else (2,))]
    scores = tuple(_drawn(random, 2, *shape).to(dtype).requires_grad_() for shape in shapes)
    exact = tuple(each.detach().double().requires_grad_() for each in scores)
    kept = torch.from_numpy(random.random((count, length)) < random.choice([0.6, 1]))
    heads, rows = torch.zeros(count, length, dtype=torch.int64), []
    shares = torch.zeros(count, wide, wide, dtype=torch.float64)
    for at, own in enumerate(kept):
        words = torch.cat([torch.zeros(1, dtype=torch.int64), own.nonzero().flatten() + 1])
        trees = naive_trees.trees(len(words) - 1, is_projective, module.structure.single_root)
        outputs = words[torch.tensor(trees, dtype=torch.int64)]
        heads[at, own] = outputs[int(random.integers(len(outputs)))]
        given_to = _shares(random, kind, (length, wide), heads[at]).T
        if kind == "posteriors":  # of all words, the marginals of a few trees
            given_to = _marginals(random, outputs, words[1:], wide)
        shares[at, :, 1:] = given_to
        free = exact[0][at, outputs, words[1:]].sum(1)
        if has_siblings:
            pairs = torch.tensor([naive_trees.pairs_of(tree) for tree in trees], dtype=torch.int64)
            free = free + exact[1][at][tuple(words[pairs].reshape(len(trees), -1, 3).unbind(2))].sum(1)
        share = shares[at, outputs, words[1:]].log().sum(1)
        is_given, given = share > -math.inf, (free + share)[share > -math.inf]
        fitted = given.logsumexp(0) if kind != "posteriors" else (given_to * exact[0][at, :, 1:]).sum()
        rows.append(Row((words[1:] - 1).tolist(), free, outputs[is_given], given, fitted))
    heads, mask = _where(random, kept, kind, torch.where((shares[:, :, 1:] == 1).all(1), -1, heads))
    evidence = {"ids": heads, "sets": shares > 0}.get(kind, shares)
    return Case(module, scores, exact, evidence, mask, _weights(random, count), rows)


def _marginals(random: np.random.Generator, outputs: Tensor, words: Tensor, wide: int) -> Tensor:
    """[wide, wide - 1]: the probabilities of heads in a few of these trees; words that are none keep nothing."""
    found, p = torch.zeros(wide, wide - 1, dtype=torch.float64), random.dirichlet([1.0] * min(3, len(outputs)))
    for share, tree in zip(p.tolist(), outputs[random.permutation(len(outputs))], strict=False):
        found[tree, words - 1] += share
    return found


def _weights(random: np.random.Generator, count: int) -> Tensor:
    """One for each row, or one for all, which the losses compute in another way."""
    return torch.from_numpy(random.random(count)) if random.random() < 0.5 else torch.ones(count, dtype=torch.float64)


# Errors


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


# The page

COMPARISONS: dict[str, Callable[[int, torch.dtype], Errors]] = {
    "Chains beside all label sequences": lambda seed, dtype: enumerated(chain_case(seed, dtype)),
    "Trees beside all trees": lambda seed, dtype: enumerated(tree_case(seed, dtype)),
    "Chains beside the NumPy engine": lambda seed, dtype: by_engine(chain_case(seed, dtype)),
    "Chains beside pytorch-crf": beside_crf,
    "All trees beside the determinant of the Laplacian": by_laplacian,
}
"""Each takes a seed and a type to the errors of a case."""
if find_spec("torch_struct") is not None:
    COMPARISONS["Projective trees beside torch-struct"] = beside_torch_struct


def worst(errors_of: Callable[[int, torch.dtype], Errors], dtype: torch.dtype, seeds: Iterable[int]) -> Errors:
    """The largest error of each quantity."""
    found: Errors = {}
    for seed in seeds:
        for name, error in errors_of(seed, dtype).items():
            found[name] = max(found.get(name, 0.0), error)
    return found


def page(found: dict[str, dict[str, Errors]], cases: int) -> list[str]:
    """The lines of the page."""
    lines = [
        "# Exactness of losses in PyTorch",
        "",
        f"Written by `python -m benchmarks.torch_exactness` ({platform.machine()}, PyTorch {version('torch')},",
        f"pytorch-crf {version('pytorch-crf')}): the largest errors in {cases:,} random cases of each comparison.",
        "What is compared with is in float64. Errors are relative to the exact number, or to 1 if that is larger. A",
        "loss and its gradient are differences: if what is subtracted from is larger still, errors are relative to",
        "that.",
        "",
        "Chains have up to 4 labels and 5 positions, trees up to 4 words, in up to 3 rows. Masks are random, and",
        "`-100` is anywhere. Evidence is ids and `-1`, sets, likelihoods and posteriors by turns. Some transitions",
        "are forbidden, except with posteriors. Trees are projective, projective with siblings (without",
        "posteriors), and all trees by turns; the root has one child, or any number. Emissions and arcs are normal",
        "with a deviation of 2. In half of the cases rows have weights. The error of `decode` and `topk` is how",
        "much less than the best their outputs score; that of an output which the evidence excludes is inf.",
        "",
        "Beside pytorch-crf, rows are padded to the right, have up to 29 positions and 11 labels, and all labels are",
        "known. The last rows of that table are its own errors in the same type.",
        "",
    ]
    for name, by_type in found.items():
        lines += [f"## {name}", "", f"| | {' | '.join(by_type)} |", "|---|" + "---|" * len(by_type)]
        for each in next(iter(by_type.values())):
            lines += [f"| {each} | " + " | ".join(_shown(own[each]) for own in by_type.values()) + " |"]
        lines += [""]
    return lines[:-1]


def _shown(error: float) -> str:
    return f"{error:.0e}" if error else "0"


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundred cases of each")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)  # threads wait for each other, on rows as short as these
    cases = 100 if quick else _CASES
    found = {
        name: {str(dtype).removeprefix("torch."): worst(each, dtype, range(cases)) for dtype in BARS}
        for name, each in COMPARISONS.items()
    }
    print("\n".join(page(found, cases)))


if __name__ == "__main__":
    main()
