"""Loads models: each in the class for what it does."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from os import PathLike, fspath
from typing import TYPE_CHECKING

from tagweave.corpus.sentence import kind_of
from tagweave.errors import StreamError
from tagweave.front.model import File, Model
from tagweave.labels import LAYERS
from tagweave.models import storage
from tagweave.models.chain import ChainModel
from tagweave.models.packing import private_folder

if TYPE_CHECKING:
    from tagweave.models.storage import StoredModel
    from tagweave.training.job import Training


def load_model(path: File, threads: int = 1, shared: bool = False, int8: bool = False) -> Model:
    """Read a model of any kind.

    Args:
        path: its file, or `hf:OWNER/NAME[@REVISION]`, a model on the Hugging Face hub.
        threads: how many threads share the work of the model.
        shared: whether to keep the weights in a file of the temporary directory that all processes map which load the
            model, so that they are in memory once; for servers and workers of several processes.
        int8: whether ONNX Runtime computes its network, on the processor and with weights in int8: faster, and almost
            the same labels. The first time, the network is converted, and kept in the cache folder of the user.

    Raises:
        ModelFileError: not a model of this program, a damaged file, or one of a newer version.
        HubError: a model on the hub that cannot be fetched.
        FileNotFoundError: no such file.
        NetworkError: a network that cannot be converted to int8.
        StreamError: `int8` with a model without a network.
        TypeError, ValueError: not a path, or no threads.
    """
    return load_models([path], threads, shared, int8)[0]


def load_models(paths: Sequence[File], threads: int = 1, shared: bool = False, int8: bool = False) -> list[Model]:
    """Read models that work together: see `load_model`. With `int8`, one of them at least has a network."""
    models = [_read(path, threads, shared) for path in paths]
    if int8:
        from tagweave.models.int8 import use_int8

        for model in models:
            model.int8 = isinstance(model.trained, ChainModel) and use_int8(model.trained, model.tell)
        if not any(model.int8 for model in models):
            names = ", ".join(model.name for model in models)
            raise StreamError(
                f"{names}: found `int8` without a network, expected a model that was trained with one as its `encoder`"
            )
    return models


def _read(path: File, threads: int, shared: bool) -> Model:
    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"found {kind_of(path)}, expected the path of a model, or hf:OWNER/NAME")
    if index(threads) < 1:
        raise ValueError(f"found threads={threads}, expected at least 1")
    name = fspath(path)
    model = _put_to_use(storage.load_model(name, folder=private_folder("models") if shared else None), threads, name)
    model.is_stored = True
    return model


def of_training(training: Training) -> Model:
    """Return the model of a training, with its plan and scores in `about`."""
    from tagweave.training.model_file import recorded  # models need no training

    return _put_to_use(recorded(training), training.job.plan.threads)


def _put_to_use(trained: StoredModel, threads: int, name: str = "the model") -> Model:
    """Return the model in its class. Only that is imported: a tagger need not wait for the parser's modules."""
    if trained.kind == LAYERS:
        from tagweave.front.layered_tagger import LayeredTagger

        return LayeredTagger(trained, threads, name)
    if not isinstance(trained, ChainModel):
        from tagweave.front.parser import Parser

        return Parser(trained, threads, name)
    from tagweave.front.taggers import Segmenter, Tagger

    return (Segmenter if trained.of_characters else Tagger)(trained, threads, name)
