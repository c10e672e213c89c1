"""Random cases of the losses in PyTorch, with all their outputs, enumerated, and the scores of these in float64."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.torch import ChainLoss, TreeLoss
from tests import naive_trees

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
