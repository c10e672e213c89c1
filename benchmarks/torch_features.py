"""The linear model in PyTorch beside `train`: `python -m benchmarks.torch_features`.

The features of a model of `train` are rows of an `nn.EmbeddingBag`, whose sums are the emission scores of `ChainLoss`.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim.swa_utils import AveragedModel

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.gaps import percent, score
from benchmarks.processes import by_seeds
from tagweave.corpus.corpus import Corpus
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import Encoder
from tagweave.learning.run import Silence
from tagweave.torch import ChainLoss
from tagweave.training.task import Task

_EPOCHS, _PATIENCE, _BATCH = 100, 5, 4  # as `train` has them
_DECODED = 100  # sentences at a time


class Setting(NamedTuple):
    """A corpus, how many of its sentences are used, and the rate of Adagrad, the default of the task."""

    folder: str
    suffix: str
    task: str
    sentences: int
    rate: float


SETTINGS = {
    "Spanish entities": Setting("es/conll2002", "txt", "spans", 1000, 0.1),
    "English tags": Setting("en/ewt", "conllu", "tag", 2000, 0.2),
    "Chinese words": Setting("zh/zx", "txt", "segment", 1000, 0.2),
}


def features(encoded: Encoded, windows: NDArray[np.int64]) -> list[Tensor]:
    """Return for each sentence the features of its tokens from 1, int64[L, C], 0 where there are fewer.

    A gram has a number for each place in its window, as it has weights (`kernels.weight_vectors`).
    """
    first, e = np.cumsum(windows) - windows + 1, encoded
    sentence = np.repeat(np.arange(len(e)), e.lengths)
    anchor = np.arange(e.tokens) + sentence * e.outer_anchors + e.lead
    columns = []
    for family, (low, high) in enumerate(zip(e.low.tolist(), e.high.tolist(), strict=True)):
        for offset in range(low, high + 1):
            gram = e.grams[anchor + offset, family]
            columns.append(np.where(gram < 0, 0, first[gram] + high - offset))
    counts = np.diff(e.type_ptr)
    own = np.zeros((len(counts), counts.max(initial=0)), np.int64)
    own[np.arange(own.shape[1]) < counts[:, None]] = first[e.type_features]
    rows = np.concatenate([np.stack(columns, axis=1), own[e.word_types]], axis=1)
    return [torch.from_numpy(rows[low:high]) for low, high in pairwise(e.sentence_ptr.tolist())]


class Part(NamedTuple):
    """A part of a corpus, prepared for its task, with the features of its sentences."""

    corpus: Corpus
    features: list[Tensor]

    @classmethod
    def of(cls, corpus: Corpus, encoder: Encoder) -> Part:
        return cls(corpus, features(encoder.encode(corpus.sentences), encoder.windows))


class Tagger(nn.Module):
    """A linear model of features, with its loss; all its scores are 0."""

    def __init__(self, count: int, corpus: Corpus, coding: str) -> None:
        super().__init__()
        self.loss = ChainLoss(corpus, coding)
        self.bag = nn.EmbeddingBag(count + 1, len(self.loss.labels), mode="sum", sparse=True, padding_idx=0)
        for each in self.parameters():
            nn.init.zeros_(each)

    def forward(self, sentences: Sequence[Tensor]) -> Tensor:
        """[B, T, Y]: the scores of labels."""
        return pad_sequence(self.bag(torch.cat(list(sentences))).split(list(map(len, sentences))), True)

    @torch.no_grad()
    def score(self, part: Part) -> float:
        """F of spans or words, or the accuracy of tags, in percent."""
        names, labels = [(name,) for name in self.loss.labels], []
        for first in range(0, len(part.features), _DECODED):
            some = part.features[first : first + _DECODED]
            mask = pad_sequence([torch.ones(len(each), dtype=torch.bool) for each in some], True)
            labels += [[names[at] for at in row[row >= 0].tolist()] for row in self.loss.decode(self(some), mask)]
        layer, pairs = part.corpus.guideline, zip(part.corpus, labels, strict=True)
        found = part.corpus.with_sentences(each.with_layer(layer, own) for each, own in pairs)
        return percent(tw.evaluate(part.corpus, {"torch": found}))


def trained(tagger: Tagger, train: Part, dev: Part, rate: float, seed: int) -> tuple[Tagger, float]:
    """Train as `train` does, in the same order: the mean of weights at the ends of epochs from the second on.

    Returns the model that is best on dev, and its score there.
    """
    labels, mean_of_epochs, best, wait = tagger.loss.encode(train.corpus), AveragedModel(tagger), (tagger, -1.0), 0
    optimizer = torch.optim.Adagrad(tagger.parameters(), lr=rate, initial_accumulator_value=0.1)
    for epoch in range(_EPOCHS):
        order = torch.from_numpy(np.random.default_rng([seed, epoch]).permutation(len(labels)))
        for batch in order.split(_BATCH):
            optimizer.zero_grad()
            evidence = pad_sequence([labels[at] for at in batch], True, padding_value=-100)
            tagger.loss(tagger([train.features[at] for at in batch]), evidence, None, "sum").backward()
            optimizer.step()
        if epoch:
            mean_of_epochs.update_parameters(tagger)
        judged = mean_of_epochs.module if epoch else tagger
        wait, found = wait + 1, judged.score(dev)
        if found > best[1]:
            best, wait = (copy.deepcopy(judged), found), 0
        if wait == _PATIENCE:
            break
    return best


def measured(name: str, seeds: int) -> dict[str, list[float]]:
    """Return scores on test and on dev of both ways, one for each seed."""
    torch.set_num_threads(1)
    setting, found = SETTINGS[name], {}
    folder, task = corpora_folder() / setting.folder, Task(setting.task)
    train, dev, test = (tw.load(str(folder / f"{part}.{setting.suffix}")) for part in ("train", "dev", "test"))
    train = train.with_sentences(train.sentences[: setting.sentences])
    for seed in range(seeds):
        model = tw.train(train, dev=dev, task=setting.task, seed=seed, callback=Silence())
        encoder = model.chain.encoder
        parts = [Part.of(task.prepare(each), encoder) for each in (train, dev, test)]
        tagger = Tagger(int(encoder.windows.sum()), parts[0].corpus, task.coding)
        tagger, of_dev = trained(tagger, *parts[:2], setting.rate, seed)
        row = {"train": score(model, test), "train, dev": score(model, dev)}
        row |= {"torch": tagger.score(parts[2]), "torch, dev": of_dev}
        for way, value in row.items():
            found.setdefault(way, []).append(value)
        print(name, seed, {way: round(value, 2) for way, value in row.items()}, file=sys.stderr, flush=True)
    return found


def page(found: dict[str, dict[str, list[float]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    rows = []
    for name, own in found.items():
        scores = [f"{mean(own[way]):.2f} | {min(own[way]):.2f} to {max(own[way]):.2f}" for way in ("train", "torch")]
        difference, of_dev = (mean(own["torch" + part]) - mean(own["train" + part]) for part in ("", ", dev"))
        sentences = SETTINGS[name].sentences
        rows += [f"| {name} | {sentences:,} | {' | '.join(scores)} | {difference:+.2f} | {of_dev:+.2f} |"]
    return [
        "# The features of the linear model in PyTorch",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "The features that `train` finds by default are rows of an `nn.EmbeddingBag`, whose sums are the emission",
        "scores of a `ChainLoss`. It is trained as `train` does by default, with PyTorch's Adagrad: the same order",
        "of sentences, batches of four, means of the weights at the ends of epochs, and the epoch that is best on",
        f"dev. F of spans and words, accuracy of tags, on test, in percent; means of {seeds} seeds.",
        "",
        "| corpus | sentences | `train` | lowest to highest | PyTorch | lowest to highest | difference | on dev |",
        "|---|" + "---|" * 7,
        *rows,
        "",
    ]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("torch_features", __doc__, SETTINGS, measured, page, words)


if __name__ == "__main__":
    main()
