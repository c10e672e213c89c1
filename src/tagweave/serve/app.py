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
from tagweave.serve.settings import Settings
from tagweave.serve.site import Endpoint, Site, refusal_outside, route
from tagweave.web.headers import SecurityHeaders

_LABEL_STUDIO: dict[str, Endpoint] = {
    "setup": label_studio.setup,
    "predict": label_studio.predict,
    "webhook": label_studio.webhook,
    "train": label_studio.train,
}


def application(settings: Settings) -> Starlette:
    """The endpoints of some models, which are read first. Raises as `ServedModels`."""
    return application_of(Site.of(settings))


def application_of(site: Site) -> Starlette:
    """The endpoints of a site."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        site.close()

    routes = [
        *(route(site, f"/{name}", "POST", endpoints.operation(name)) for name in OPERATIONS),
        route(site, "/metrics", "GET", endpoints.metrics),
        route(site, "/openapi.json", "GET", endpoints.openapi),
        route(site, "/", "GET", endpoints.description),
        *(
            route(site, f"{prefix}/{name}", "POST", endpoint)
            for prefix in ("", "/label-studio/{model}")
            for name, endpoint in _LABEL_STUDIO.items()
        ),
        *(
            route(site, f"{prefix}/{name}", "GET", endpoint)
            for prefix in ("", "/label-studio/{model}")
            for name, endpoint in {"health": endpoints.health, "versions": label_studio.versions}.items()
        ),
        route(site, "/{model}/predict", "POST", inception.predict),
        route(site, "/{model}/train", "POST", inception.train),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*site.settings.hosts] or ["*"], www_redirect=False)
    app = Starlette(
        routes=routes,
        middleware=[Middleware(SecurityHeaders), hosts],
        exception_handlers={HTTPException: refusal_outside, Exception: refusal_outside},
        lifespan=lifespan,
    )
    app.state.site = site
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    return app
