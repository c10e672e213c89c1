"""What the fixtures of conftest.py are. Not there: `conftest` is another file wherever several folders are tested."""

from __future__ import annotations

from collections.abc import Callable

from tagweave.annotate.store import Store

NewUrl = Callable[[], str]
"""Makes the URL of an empty store."""

OpenStore = Callable[..., Store]
"""Opens a store: a new one, or that of `url`."""
