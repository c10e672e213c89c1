"""Loads models from files and from trainings, each in its class of the front."""

from __future__ import annotations

from dataclasses import replace
from operator import index
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tagweave.cluster.shared_file import private_folder
from tagweave.corpus.sentence import kind_of
from tagweave.front.model import Model

if TYPE_CHECKING:
    from tagweave.models.storage import StoredModel
    from tagweave.training.job import Training


def load_model(path: str | PathLike[str], threads: int = 1, shared: bool = False) -> Model:
    """Read a model of any kind.

    Args:
        path: its file, or `hf:OWNER/NAME[@REVISION]`, a model on the Hugging Face hub.
        threads: how many threads share the work of the model.
        shared: whether to keep the weights in a file of the temporary directory that all processes map which load the
            model, so that they are in memory once; for servers and workers of several processes.

    Raises:
        ModelFileError: not a model of this program, a damaged file, or one of a newer version.
        HubError: a model on the hub that cannot be fetched.
        FileNotFoundError: no such file.
        TypeError, ValueError: not a path, or no threads.
    """
    from tagweave.models.storage import load_model

    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"found {kind_of(path)}, expected the path of a model, or hf:OWNER/NAME")
    if index(threads) < 1:
        raise ValueError(f"found threads={threads}, expected at least 1")
    name = fspath(path)
    model = _put_to_use(load_model(name, folder=private_folder("models") if shared else None), threads, name)
    model.is_stored = True
    return model


def of_training(training: Training) -> Model:
    """The model of a training, with its plan and scores in `about`."""
    return _put_to_use(replace(training.fitted.model, about=training.about()), training.job.plan.threads)


def content_of(model: Model) -> bytes:
    """Return the content of a model's file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def of_content(content: bytes, threads: int, name: str) -> Model:
    """Return the model of a file with this content. Raises as `load_model`."""
    from tagweave.models.storage import load_model

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        return _put_to_use(load_model(path), threads, name)


def _put_to_use(trained: StoredModel, threads: int, name: str = "the model") -> Model:
    """Return the model in its class. Only that is imported: a tagger need not wait for the parser's modules."""
    from tagweave.models.chain import ChainModel

    if not isinstance(trained, ChainModel):
        from tagweave.front.parser import Parser

        return Parser(trained, threads, name)
    if trained.of_characters:
        from tagweave.front.taggers import Segmenter

        return Segmenter(trained, threads, name)
    from tagweave.front.taggers import Tagger

    return Tagger(trained, threads, name)
