"""Lines that summarise a training run before it begins."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.labels.mapping import TagMapping
    from tagweave.models.chain import ChainModel
    from tagweave.models.parameters import ChainParameters
    from tagweave.training.problem import Problem
    from tagweave.training.recipe import Recipe

_SQUARES = 6  # tables of labels x labels shared by all threads; each thread has two more
_BUFFERS = 8  # tables of tokens x labels
_TOGETHER = 64  # sentences per thread at a time for learners without batches


def summary(problem: Problem, recipe: Recipe) -> list[str]:
    """Lines that tell the size of a problem: sentences, tokens, labels, features, weights and memory."""
    encoded = problem.objective.encoded
    evidence = int(np.count_nonzero(encoded.allow))
    needed, peak = estimated_bytes(problem, recipe), peak_bytes()
    in_all = f", {_readable(peak + needed)} in all" if peak else ""
    return [
        *size_lines(problem.model, len(encoded), encoded.tokens, evidence),
        f"about {_readable(needed)} of memory for training{in_all}",
    ]


def size_lines(model: ChainModel, sentences: int, tokens: int, evidence: int) -> list[str]:
    """Lines that tell how many sentences have evidence, their tokens and those with evidence, and the model's size."""
    features, parameters = len(model.encoder.arrays()["index.codes"]), model.linear
    return [
        f"{sentences:,} sentences with evidence, {tokens:,} tokens ({evidence:,} with evidence)",
        f"{_labels(parameters)}, {features:,} features, {parameters.size:,} weights{_by_view(parameters)}",
    ]


def weights_by_view(parameters: ChainParameters) -> dict[str, int]:
    """The number of weights of each view that has any, including transitions."""
    bounds = zip(parameters.weighted, parameters.offsets, parameters.offsets[1:], strict=False)
    return {view.guideline: end - start for (view, _), start, end in bounds}


def _labels(parameters: ChainParameters) -> str:
    space = parameters.space
    if len(space.views) == 1:
        return f"{len(space):,} labels"
    sides = " and ".join(f"{len(view.names):,} of {view.guideline}" for view in space.sides)
    return f"{len(space):,} bundles of labels ({sides})"


def _by_view(parameters: ChainParameters) -> str:
    if len(parameters.space.views) == 1:
        return ""
    return f" ({', '.join(f'{name} {count:,}' for name, count in weights_by_view(parameters).items())})"


def mapping_lines(problem: Problem, mappings: Sequence[TagMapping]) -> Iterator[str]:
    """Lines about the tags that mappings do not name, which are possible with every tag."""
    from tagweave.labels.mapping import over_labels
    from tagweave.labels.transition_scheme import split_label

    sides = {view.guideline: view.names for view in problem.model.space.sides}
    is_tag = problem.model.task != "segtag"
    for mapping in mappings:
        names = (mapping.first, mapping.second)
        labels = mapping if is_tag else over_labels(mapping, sides)
        lacking = labels.unnamed(*(sides[name] for name in names))
        if len(lacking[0]) == len(sides[mapping.first]):
            yield f"warning: the mapping of {' and '.join(names)} names no tag of these corpora: every pair is possible"
            continue
        for name, other, missing in zip(names, reversed(names), lacking, strict=True):
            if missing:
                tags = missing if is_tag else dict.fromkeys(split_label(label)[1] for label in missing)
                yield f"not in the mapping, so possible with every tag of {other}: {' '.join(tags)} of {name}"


def sample_line(corpora: Sequence[Corpus], sample: Sequence[int]) -> str:
    """How many sentences of each corpus an iteration visits; all without a sample."""
    sizes = sample or [len(corpus) for corpus in corpora]
    parts = [f"{size:,} of {len(corpus):,} in {corpus.path}" for corpus, size in zip(corpora, sizes, strict=True)]
    return f"an iteration visits sentences: {', '.join(parts)}"


def estimated_bytes(problem: Problem, recipe: Recipe) -> int:
    """An upper bound on the memory that training adds to the program and its corpora, in bytes.

    It consists of the learner's vectors, each as long as the weights, and a copy of its state for the checkpoint; the
    scores, potentials and counts of transitions, labels x labels; the buffers of the largest batch of sentences, tokens
    x labels; and the encoded sentences, of which a learner has a shuffled copy.
    """
    objective, Y = problem.objective, len(problem.model.space)
    itemsize = np.dtype(objective.dtype).itemsize
    arrays = [value for value in vars(objective.encoded).values() if isinstance(value, np.ndarray)]
    trainer = recipe.trainer()
    history = 2 * getattr(trainer, "memory", 0) * objective.size * 4  # of L-BFGS
    state = sum(prod(filter(None, rule.shape)) for rule in trainer.rules(objective).arrays.values())
    vectors = (trainer.vectors * objective.size + state) * itemsize + history
    tables = (_SQUARES + 2 * recipe.threads) * Y * Y * itemsize
    buffers = _BUFFERS * _longest(problem, recipe) * Y * itemsize
    return vectors + tables + buffers + 2 * sum(array.nbytes for array in arrays)


def peak_bytes() -> int:
    """The peak memory of this process so far, in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _longest(problem: Problem, recipe: Recipe) -> int:
    """The number of tokens of the longest sentences, as many as all threads may hold at once."""
    lengths = np.sort(problem.objective.encoded.lengths)[::-1]
    together = getattr(recipe.trainer(), "batch", _TOGETHER * recipe.threads)
    return int(lengths[:together].sum())


def _readable(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
