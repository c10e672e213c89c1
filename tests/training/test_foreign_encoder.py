"""Word vectors as features: an encoder that is no matter of templates goes the whole way, from a file of vectors on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

import tagweave as tw
from tagweave.corpus.sentence import Sentence
from tagweave.evidence.sequences import Evidence, pointers
from tagweave.features.columns import value_numbers
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import Encoder
from tagweave.features.rules import BYTES, FLOATS, LARGEST, ArrayRule, Arrays, read_texts, text_array
from tagweave.labels.space import LabelSpace
from tagweave.models.assembly import ENCODERS
from tagweave.options import option
from tagweave.structures import CHAIN
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.job import Job, Method
from tagweave.training.methods import METHODS
from tagweave.training.plan import Options


class VectorEncoder(Encoder):
    """The D features of a word are the numbers of its vector; a word without one has no features."""

    kind = "vectors"
    has_values = True

    def __init__(self, words: Sequence[str], vectors: NDArray[Any]) -> None:
        if len(words) != len(vectors):
            raise ValueError(f"found {len(words)} words, expected {len(vectors)}, one for each vector")
        self.words, self.vectors = list(words), vectors
        self.number = {word: i for i, word in enumerate(words)}

    @property
    def windows(self) -> NDArray[np.int64]:
        return np.ones(self.vectors.shape[1], np.int64)

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        ptr = pointers(np.array([len(sentence) for sentence in sentences], np.int64))
        word_types, forms = value_numbers(chain.from_iterable(each.forms for each in sentences), int(ptr[-1]))
        vectors = self.vectors[[self.number[form] for form in forms if form in self.number]]
        none = np.zeros(0, np.int64)
        return Encoded(
            evidence=Evidence.unknown(ptr, np.array([sentence.weight for sentence in sentences], np.float64)),
            word_types=word_types,
            type_ptr=pointers(np.array([len(self.windows) * (form in self.number) for form in forms], np.int64)),
            type_features=np.tile(np.arange(len(self.windows), dtype=np.int32), len(vectors)),
            type_values=vectors.reshape(-1).astype(np.float64),
            grams=np.zeros((int(ptr[-1]), 0), np.int32),
            lead=0,
            low=none,
            high=none,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"vectors.words": text_array(self.words), "vectors.values": self.vectors}

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        values = ArrayRule(FLOATS, (None, None), -LARGEST, LARGEST)
        return {"vectors.words": ArrayRule(BYTES, (None,)), "vectors.values": values}

    @classmethod
    def of_parts(cls, description: Any, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        return cls(read_texts(arrays["vectors.words"], "vectors.words"), arrays["vectors.values"])


@dataclass(frozen=True)
class VectorOptions(Options):
    """Options of the method `vectors`."""

    vectors: str = option("", "A file with a word and its vector on each line.", "FILE")


def fit(job: Job) -> Fitted:
    lines = Path(job.options(VectorOptions).vectors).read_text("utf-8").splitlines()
    words, rows = zip(*(line.split(" ", 1) for line in lines), strict=True)
    encoder = VectorEncoder(words, np.array([row.split(" ") for row in rows], np.float32))
    return fit_problem(prepare(job.data.targets, job.recipe, encoder=encoder), job.recipe, job.dev, job.run)


METHOD = Method("vectors", "one model of word vectors", (CHAIN,), VectorOptions, fit, several=False)


@pytest.mark.parametrize("learner", ["adagrad", "lbfgs", "perceptron"])
def test_a_method_trains_on_it_and_words_that_only_have_vectors_get_labels(
    learner: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(ENCODERS, VectorEncoder.kind, VectorEncoder)
    monkeypatch.setitem(METHODS, METHOD.name, METHOD)
    file = tmp_path / "vectors"
    file.write_text("cat 1 0.1\ndog 0.9 0\nfox 1.2 0.1\nruns 0 1\nsits 0.2 0.8\nhides 0.1 1.3\n", "utf-8")
    texts = [("cat", "runs"), ("dog", "sits"), ("sits", "dog"), ("runs", "runs"), ("cat", "dog")] * 4
    tags = {"cat": "N", "dog": "N", "runs": "V", "sits": "V"}
    corpus = tw.Corpus(tuple(tw.Sentence(text, {"g": tuple((tags[word],) for word in text)}) for text in texts), "g")
    model = tw.train(corpus, method="vectors", vectors=str(file), learner=learner, iterations=20)
    model.save(tmp_path / "m")
    for each in (model, tw.load_model(tmp_path / "m")):
        assert each.tag([["fox", "hides"], ["hides", "fox"]]) == [["N", "V"], ["V", "N"]]
