"""How a server is started, in one process or several.

This module imports neither the application nor the client of Prometheus, which looks for its folder when imported.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tagweave.serve.settings import ServerSettings
from tagweave.signals import leave_with_parent
from tagweave.web import listening, processes, server

if TYPE_CHECKING:
    from starlette.applications import Starlette


def run(settings: ServerSettings, host: str, port: int, workers: int, tell: Callable[[str], None]) -> None:
    """Serve until interrupted; requests that have begun are answered first. Port 0 is any free one.

    One worker is this process. `tell` is called with the address.
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
            processes(partial(_application_of_worker, settings), workers, [opened], patience).run()


def _application(settings: ServerSettings) -> Starlette:
    from tagweave.serve.app import application  # a process imports it only when it can be told to end

    return application(settings)


def _application_of_worker(settings: ServerSettings) -> Starlette:
    leave_with_parent()  # or it would answer on, and keep the port, when the parent is killed
    return _application(settings)
