"""How a server is set up and started: settings are plain data, which travels to its processes.

This module imports neither the application nor the client of Prometheus, which looks for its folder when imported.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from tagweave.web.http import listening, processes, server

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """Limits on a request.

    Attributes:
        texts: number of texts, or of lists of tokens.
        characters: of all texts together.
        bytes: of the body.
        tokens: of a sentence to parse; parsing takes time in proportion to its cube.
        seconds: until a request is answered, and for which the server waits for requests when it ends.
    """

    texts: int = 1_000
    characters: int = 200_000
    bytes: int = 10_000_000
    tokens: int = 256
    seconds: int = 30


@dataclass(frozen=True)
class Retraining:
    """Training on documents that annotation tools send.

    Attributes:
        folder: holds annotations, training data, new models and logs.
        train: corpora to train on as well, as arguments of the command line.
        label_studio: the address of Label Studio, from which all annotations of a project are fetched; `None`: train on
            those alone that it has sent.
        key: of its API.
    """

    folder: str
    train: tuple[str, ...] = ()
    label_studio: str | None = None
    key: str = ""


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server.

    Attributes:
        models: names and files, in the order in which they are asked.
        tokens: a tokenizer (`exchange.tokens`); `None`: the first segmenter served, or else `words`.
        token: the token that requests must bring, if any.
        hosts: host names that requests may use; empty: any.
    """

    models: tuple[tuple[str, str], ...]
    tokens: str | None = None
    limits: Limits = field(default_factory=Limits)
    token: str | None = None
    hosts: tuple[str, ...] = ()
    retraining: Retraining | None = None


def hosts(host: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the host names that requests may use, which blocks DNS rebinding.

    On a loopback address these are the server's own names; elsewhere any, unless some are given.
    """
    own = ("127.0.0.1", "localhost", "[::1]")
    return (*own, *allowed) if host in LOOPBACK or allowed else ()


def run(settings: ServerSettings, host: str, port: int, workers: int, tell: Callable[[str], None]) -> None:
    """Serve until interrupted; requests that have begun are answered first.

    Args:
        settings: of the server.
        host, port: where to listen; port 0 is any free one.
        workers: number of processes; one is this one.
        tell: is called with the address.

    Raises:
        OSError: the address cannot be listened on.
        ServeError, ModelFileError: as `ServedModels`.
    """
    logging.basicConfig(format="%(asctime)s %(message)s")
    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder, listening(host, port) as (opened, address):
        if workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # the client of Prometheus looks for it when imported
        app = _application(settings)  # so that errors are told once, by this process
        tell(f"{address}/")
        patience = max(1, settings.limits.seconds - 1)  # a second is for processes to be told, and to end
        if workers == 1:
            server(app, patience=patience).run([opened])
        else:
            processes(partial(_application, settings), workers, [opened], patience).run()


def _application(settings: ServerSettings) -> Starlette:
    from tagweave.serve.app import application  # a process imports it only when it can be told to end

    return application(settings)
