"""The server of an application: uvicorn, with limits that it lacks."""

from __future__ import annotations

from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette

from tagweave.annotate.connection import Connection

_KEEP_ALIVE = 75  # seconds, longer than people think about a task: a request sent just as a connection closes is lost


def server(app: Starlette, proxies: Sequence[str] = ()) -> uvicorn.Server:
    """A server of an application, for sockets that are already open.

    Args:
        app: the pages.
        proxies: addresses or networks of reverse proxies whose `X-Forwarded-For` and `-Proto` are trusted.
    """
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=[*proxies],
    )
    return uvicorn.Server(config)
