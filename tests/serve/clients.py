"""Clients of servers in this process."""

from __future__ import annotations

from collections.abc import Callable

from starlette.testclient import TestClient

Connect = Callable[..., TestClient]
"""A client of a server of some models, by their names, with other settings as `Settings`."""
