"""The server as a Starlette application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from tagweave.serve import endpoints, inception, label_studio
from tagweave.serve.served_models import OPERATIONS
from tagweave.serve.serving import ServerSettings
from tagweave.serve.site import ServerSite, refusal_outside, route
from tagweave.web.http import SecurityHeaders


def application(settings: ServerSettings) -> Starlette:
    """Read the models and return the application that serves them. Raises as `ServedModels`."""
    return application_of(ServerSite.of(settings))


def application_of(site: ServerSite) -> Starlette:
    """Return the application of a site."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        site.close()

    routes = [
        *(route(site, f"/{name}", "POST", endpoints.operation(name)) for name in OPERATIONS),
        route(site, "/metrics", "GET", endpoints.metrics),
        route(site, "/openapi.json", "GET", endpoints.openapi),
        route(site, "/", "GET", endpoints.description),
    ]
    for prefix in ("", "/label-studio/{model}"):
        for name in ("setup", "predict", "webhook", "train"):
            routes.append(route(site, f"{prefix}/{name}", "POST", getattr(label_studio, name)))
        routes.append(route(site, f"{prefix}/health", "GET", endpoints.health))
        routes.append(route(site, f"{prefix}/versions", "GET", label_studio.versions))
    routes.append(route(site, "/{model}/predict", "POST", inception.predict))
    routes.append(route(site, "/{model}/train", "POST", inception.train))
    static = Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*site.settings.hosts] or ["*"], www_redirect=False)
    app = Starlette(
        routes=[*routes, static],
        middleware=[Middleware(SecurityHeaders), hosts],
        exception_handlers={HTTPException: refusal_outside, Exception: refusal_outside},
        lifespan=lifespan,
    )
    app.state.site = site
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    return app
