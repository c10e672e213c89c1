"""The linear model in PyTorch: its scores are those of a model of `train` with the same weights, and it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tagweave as tw
from benchmarks import torch_features
from benchmarks.torch_features import Part, Tagger
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Silence

_SENTENCES = (("the dog runs", "DT NN VB"), ("they run", "PR VB"), ("the dogs", "DT NN"), ("run", "VB"))


def _corpus() -> Corpus:
    pairs = ((words.split(), [(tag,) for tag in tags.split()]) for words, tags in _SENTENCES)
    return Corpus(tuple(Sentence(tuple(words), {"tag": tuple(tags)}) for words, tags in pairs), "tag")


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_scores_are_those_of_the_same_weights_and_training_gives_the_labels() -> None:
    corpus = _corpus()
    chain = tw.train(corpus, iterations=3, callback=Silence()).chain
    part, count = Part.of(corpus, chain.encoder), int(chain.encoder.windows.sum())
    tagger = Tagger(count, corpus, "")
    size = len(chain.space)
    with torch.no_grad():
        tagger.bag.weight[1:] = torch.from_numpy(chain.weights[: count * size].reshape(-1, size))
        found = torch.cat([tagger([each])[0] for each in part.features])
    expected = chain.scoring.scores(chain.encoder.encode(corpus.sentences), 0, len(corpus)).emission
    np.testing.assert_allclose(found, expected, atol=1e-6)
    best, on_dev = torch_features.trained(Tagger(count, corpus, ""), part, part, 0.2, 0)
    assert (best.score(part), on_dev) == (100.0, 100.0)


def test_the_page_has_differences() -> None:
    ways = [f"{way}{what}" for way in ("train", "torch") for what in ("", ", dev")]
    own = dict(zip(ways, ([70.0, 71.0], [60.0, 60.0], [70.0, 70.5], [61.0, 61.0]), strict=True))
    text = "\n".join(torch_features.page({"English tags": own}, "python", 2))
    assert "| 70.50 | 70.00 to 71.00 | 70.25 | 70.00 to 70.50 | -0.25 | +1.00 |" in text
