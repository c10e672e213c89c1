"""python-crfsuite with the features of the usual tutorial on named entities, which many people start from."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

Labels = tuple[str, ...]

PARAMETERS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "feature.possible_transitions": True}
"""Those of the tutorial of sklearn-crfsuite, which give higher scores than those of python-crfsuite's own."""


def features(words: Sequence[str], at: int) -> list[str]:
    """The features of a word: its form, endings and case, and those of its neighbours."""
    found = ["bias", *_of_word(words[at], ""), f"end3={words[at][-3:]}", f"end2={words[at][-2:]}"]
    found += [f"digits={words[at].isdigit()}"]
    found += _of_word(words[at - 1], "-1:") if at else ["first"]
    return found + (_of_word(words[at + 1], "+1:") if at + 1 < len(words) else ["last"])


def _of_word(word: str, place: str) -> list[str]:
    return [f"{place}lower={word.lower()}", f"{place}title={word.istitle()}", f"{place}upper={word.isupper()}"]


def trained_labels(
    texts: Sequence[Sequence[str]], labels: Sequence[Labels], test: Sequence[Sequence[str]]
) -> list[Labels]:
    """The labels that a model trained on texts and labels gives to other texts."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for words, own in zip(texts, labels, strict=True):
        trainer.append([features(words, at) for at in range(len(words))], own)
    trainer.set_params(PARAMETERS)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        return [tuple(tagger.tag([features(words, at) for at in range(len(words))])) for words in test]
