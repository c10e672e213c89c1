"""The process that serves an application: uvicorn, with bounds where it has none."""

from __future__ import annotations

from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette

from tagweave.annotate.connection import Connection

_KEEP_ALIVE = 75  # seconds, longer than people think: what is sent just as a connection is closed is lost


def server(app: Starlette, proxies: Sequence[str] = ()) -> uvicorn.Server:
    """Serves an application on sockets that are open.

    Args:
        app: the pages.
        proxies: addresses or networks of servers in front, whose `X-Forwarded-For` and `-Proto` are believed.
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
