"""The annotation server as a Starlette application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tagweave.annotate.database import CONNECTIONS
from tagweave.annotate.page_request import Page, endpoint, refusal_outside
from tagweave.annotate.pages import adjudication, concordance, dashboard, sign_in, task, uncertain
from tagweave.annotate.site import HERE, Site, WordList
from tagweave.annotate.store import Store
from tagweave.web.headers import SecurityHeaders


def application(store: Store, address: str, words: WordList | None = None) -> Starlette:
    """The pages of a store.

    Args:
        store: its settings say how many annotators a task has, and who is admitted.
        address: the public address, such as `https://example.org`, for the links in invitations.
        words: the words of the concordance; without them there is none.
    """
    routes = [
        *_routes("/", sign_in.start, role=None),
        *_routes("/sign-in", sign_in.show, sign_in.enter, role=None),
        *_routes("/invited", sign_in.invited, sign_in.accept, role=None),
        *_routes("/sign-out", sign_in.start, sign_in.leave),
        *_routes("/task", task.show, task.answer),
        *_routes("/task/undo", task.start, task.undo),
        *_routes("/adjudication", adjudication.show, adjudication.decide, role="curator"),
        *_routes("/dashboard", dashboard.show, role="curator"),
        *_routes("/dashboard/people", dashboard.start, dashboard.invite, role="curator"),
        *_routes("/dashboard/notes", dashboard.start, dashboard.note, role="curator"),
        *(_word_routes() if words else ()),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers = {HTTPException: refusal_outside, Exception: refusal_outside}
    app = Starlette(
        routes=routes, middleware=[Middleware(SecurityHeaders)], exception_handlers=handlers, lifespan=_lifespan
    )
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    app.state.site = Site(store, address.rstrip("/"), words)
    return app


def _word_routes() -> list[Route]:
    """The pages on which words of a list are marked."""
    routes = []
    for path, page in (("/concordance", concordance), ("/concordance/uncertain", uncertain)):
        routes += [*_routes(path, page.show, page.mark), *_routes(f"{path}/undo", page.start, page.undo)]
    return routes


def _routes(path: str, show: Page, change: Page | None = None, role: str | None = "annotator") -> list[Route]:
    """The routes of a page and of its form."""
    look = Route(path, endpoint(show, role), methods=["GET"])
    return [look, Route(path, endpoint(change, role), methods=["POST"])] if change else [look]


@asynccontextmanager
async def _lifespan(_app: Starlette) -> AsyncIterator[None]:
    # more threads would only wait for a connection
    anyio.to_thread.current_default_thread_limiter().total_tokens = CONNECTIONS
    yield
