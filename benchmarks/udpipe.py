"""UDPipe 1 (Straka and Strakova 2017): its parser alone, which takes tags as they are given.

Nothing here imports tagweave, so that the memory of a process of UDPipe is its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

OPTIONS = {"embedding_xpostag": 20}
"""Besides UDPipe's own, by which it sees forms, UPOS and FEATS: it is to see what tagweave sees, so XPOS, too."""


def read(path: Path) -> list[Any]:
    """The sentences of a CoNLL-U file, as UDPipe has them; not in a list of its own, which hands out copies."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence

    reader, error, found = InputFormat.newConlluInputFormat(), ProcessingError(), []
    reader.setText(path.read_text(encoding="utf-8"))
    while reader.nextSentence(sentence := Sentence(), error):
        found.append(sentence)
    _check(error)
    return found


def train(sentences: Iterable[Any], dev: Iterable[Any], iterations: int) -> bytes:
    """A model of sentences: that of the iteration which is the best on the development data."""
    from ufal.udpipe import ProcessingError, Sentences, Trainer

    options = ";".join(f"{name}={value}" for name, value in {"iterations": iterations, **OPTIONS}.items())
    error, data = ProcessingError(), (Sentences(sentences), Sentences(dev))
    model: bytes = Trainer.train("morphodita_parsito", *data, Trainer.NONE, Trainer.NONE, options, error)
    _check(error)
    return model


def load(path: Path) -> Any:
    """A model on disk."""
    from ufal.udpipe import Model

    model = Model.load(str(path))
    if model is None:
        raise ValueError(f"found {path}, expected a model of UDPipe")
    return model


def parse(model: Any, sentences: Iterable[Any]) -> None:
    """Give sentences their trees, in place of those that they have."""
    from ufal.udpipe import Model, ProcessingError

    error, options = ProcessingError(), Model.DEFAULT
    for sentence in sentences:
        model.parse(sentence, options, error)
    _check(error)


def write(sentences: Iterable[Any], path: Path) -> None:
    """Write CoNLL-U."""
    from ufal.udpipe import OutputFormat

    writer = OutputFormat.newConlluOutputFormat()
    path.write_text("".join(map(writer.writeSentence, sentences)), encoding="utf-8")


def _check(error: Any) -> None:
    if error.occurred():
        raise ValueError(error.message)
