"""The server of an application: uvicorn, with limits that it lacks, in this process or in several."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from tagweave.web.connection import Connection

_KEEP_ALIVE = 75  # seconds, longer than people think about a task: a request sent just as a connection closes is lost
_ANSWER = 20  # seconds in which a process answers its parent, also while it starts; the parent waits for nothing else


def server(app: Starlette, proxies: Sequence[str] = (), patience: int | None = None) -> uvicorn.Server:
    """A server of an application, for sockets that are already open.

    Args:
        app: the pages.
        proxies: addresses or networks of reverse proxies whose `X-Forwarded-For` and `-Proto` are trusted.
        patience: seconds for which requests are waited for at the end; `None`: until all are answered.
    """
    return uvicorn.Server(_config(app, proxies, patience))


def processes(make: Callable[[], Starlette], workers: int, sockets: list[socket.socket], patience: int) -> Multiprocess:
    """Several processes that serve an application, and are replaced if they die.

    Args:
        make: makes the application in each process; it is pickled.
        workers: how many.
        sockets: already open.
        patience: as in `server`.
    """
    config = _config(make, (), patience)
    config.factory, config.workers, config.timeout_worker_healthcheck = True, workers, _ANSWER
    return Multiprocess(config, sockets)


@contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """A socket that listens, and its address as a URL without a path.

    Args:
        host: of the machine's addresses.
        port: 0 is any that is free.

    Raises:
        OSError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as opened:
        name = f"[{host}]" if ":" in host else host
        yield opened, f"http://{name}:{opened.getsockname()[1]}"


def _config(app: Starlette | Callable[[], Starlette], proxies: Sequence[str], patience: int | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=patience,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=[*proxies],
    )
