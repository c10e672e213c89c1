"""python-crfsuite with the features of the usual tutorial on named entities, which many people start from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tagweave.corpus.sentence import Sentence
from tagweave.estimators import ChainCRF

Labels = tuple[str, ...]
POS = "column2"

PARAMETERS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "feature.possible_transitions": True}
"""Those of the tutorial of sklearn-crfsuite, which give higher scores than those of python-crfsuite's own."""


def features(sentence: Sentence, at: int) -> list[str]:
    """The features of a word: its form, endings, case and part of speech if there is one, and those of neighbours."""
    word = sentence.forms[at]
    found = ["bias", *_of_word(sentence, at, ""), f"end3={word[-3:]}", f"end2={word[-2:]}", f"digits={word.isdigit()}"]
    found += _of_word(sentence, at - 1, "-1:") if at else ["first"]
    return [*found, *(_of_word(sentence, at + 1, "+1:") if at + 1 < len(sentence) else ["last"])]


def _of_word(sentence: Sentence, at: int, place: str) -> Iterator[str]:
    word = sentence.forms[at]
    yield from (f"{place}lower={word.lower()}", f"{place}title={word.istitle()}", f"{place}upper={word.isupper()}")
    if POS in sentence.columns:
        pos = sentence.columns[POS][at]
        yield from (f"{place}pos={pos}", f"{place}pos2={pos[:2]}")


def chain_crf_labels(train: Sequence[Sentence], labels: Sequence[Labels], test: Sequence[Sentence]) -> list[Labels]:
    """The same of `ChainCRF`, with the same features and parameters."""
    learnt, asked = ([[features(each, at) for at in range(len(each))] for each in part] for part in (train, test))
    crf = ChainCRF(c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    return [tuple(own) for own in crf.fit(learnt, [list(own) for own in labels]).predict(asked)]


def trained_labels(train: Sequence[Sentence], labels: Sequence[Labels], test: Sequence[Sentence]) -> list[Labels]:
    """The labels that a model trained on sentences and labels gives to other sentences."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, own in zip(train, labels, strict=True):
        trainer.append([features(sentence, at) for at in range(len(sentence))], own)
    trainer.set_params(PARAMETERS)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        return [tuple(tagger.tag([features(each, at) for at in range(len(each))])) for each in test]
