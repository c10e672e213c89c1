"""The socket and the processes of a server."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tagweave.serve.settings import LOOPBACK, Settings
from tagweave.web.server import listening, processes, server

if TYPE_CHECKING:
    from starlette.applications import Starlette


def hosts(host: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The names by which requests may call a server: what a page of another site in a browser cannot choose.

    On a loopback address these are its own names, elsewhere any, unless some are given.
    """
    own = ("127.0.0.1", "localhost", "[::1]")
    return (*own, *allowed) if host in LOOPBACK or allowed else ()


def run(settings: Settings, host: str, port: int, workers: int, tell: Callable[[str], None]) -> None:
    """Serve until somebody ends it; requests that have begun are answered first.

    Args:
        settings: of the server.
        host, port: where to listen; port 0 is any that is free.
        workers: how many processes; one is this one.
        tell: takes what is served and, once it listens, the address.

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


def _application(settings: Settings) -> Starlette:
    """The application; a process imports what it needs only when it can be told to end."""
    from tagweave.serve.app import application

    return application(settings)
