"""The annotation server: its pages as a Starlette application, its word list, the plan of its trainings, its socket."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import PurePath

import anyio.to_thread
from starlette.applications import Starlette
from starlette.responses import RedirectResponse
from starlette.routing import Route

from tagweave import web
from tagweave.annotate import dashboard, kwic, sign_in, task_pages, word_pages
from tagweave.annotate.database import CONNECTIONS
from tagweave.annotate.page_request import HERE, Page, Progress, Site, WordList, endpoint, refusal_outside
from tagweave.annotate.retraining import Retraining
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose, Status
from tagweave.corpus.files import read_lines
from tagweave.errors import PlanError
from tagweave.harvest.lexicon import read
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.correction import refuse
from tagweave.training.retraining import again
from tagweave.web import listening, server


def application(
    store: Store, address: str, words: WordList | None = None, progress: Progress | None = None
) -> Starlette:
    """Return the pages of a store, with a concordance if there are words for it.

    The public address, such as `https://example.org`, is for the links in invitations.
    """
    routes = [
        *_routes("/", sign_in.start, role=None),
        *_routes("/sign-in", sign_in.show, sign_in.enter, role=None),
        *_routes("/invited", sign_in.invited, sign_in.accept, role=None),
        *_routes("/sign-out", sign_in.start, sign_in.leave),
        *_routes("/task", task_pages.show, task_pages.answer),
        *_routes("/task/undo", _to("/task"), task_pages.undo),
        *_routes("/adjudication", task_pages.show_dispute, task_pages.decide, role="curator"),
        *_routes("/dashboard", dashboard.show, role="curator"),
        *_routes("/dashboard/people", _to("/dashboard"), dashboard.invite, role="curator"),
        *_routes("/dashboard/notes", _to("/dashboard"), dashboard.note, role="curator"),
    ]
    if words:
        show = word_pages.concordance
        routes += _routes("/concordance", show, word_pages.mark_concordance)
        routes += _routes("/concordance/undo", show, word_pages.undo_concordance)
    site = Site(store, address.rstrip("/"), words, progress or Progress())
    return web.application(site, routes, HERE / "static", refusal_outside, _lifespan)


def _to(path: str) -> Page:
    """Return a page that redirects, where a form is sent whose page has another path."""
    return lambda _request: RedirectResponse(path, 303)


def _routes(path: str, show: Page, change: Page | None = None, role: str | None = "annotator") -> list[Route]:
    look = Route(path, endpoint(show, role), methods=["GET"])
    return [look, Route(path, endpoint(change, role), methods=["POST"])] if change else [look]


@asynccontextmanager
async def _lifespan(_app: Starlette) -> AsyncIterator[None]:
    # more threads would only wait for a connection
    anyio.to_thread.current_default_thread_limiter().total_tokens = CONNECTIONS
    yield


def check_training_phase(store: Store) -> None:
    """Raise ValueError if a store has fewer simulated tasks than admission takes: nobody would ever be admitted."""
    admission, count = store.settings.admission, store.counts().get((Purpose.TRAINING, Status.OPEN), 0)
    if admission is not None and count < admission.questions:
        expected = f"{admission.questions} or more: tagweave annotate import --as training"
        raise ValueError(f"found `admit` and {count} simulated tasks in the store, expected {expected}")


def word_list(words: str, corpus: str, guideline: str, tell: Callable[[str], None]) -> WordList:
    """Return the words of a list that occur in a text, and the index of the text, which is stored beside it."""
    concordance = kwic.build(read_lines(corpus), f"{corpus}.kwic")
    wanted = [word for word in read(words).words if 0 < len(word) <= kwic.LONGEST]
    present = tuple(word for word, count in zip(wanted, concordance.counts(wanted).tolist(), strict=True) if count)
    if not present:
        raise ValueError(f"found none of {len(wanted):,} words of {words} in {corpus}, expected some")
    tell(f"{len(present):,} of {len(wanted):,} words occur in {len(concordance):,} lines")
    return WordList(concordance, present, guideline, corpus)


def retraining_of(
    url: str, model: str, tagger: ChainPredictor, train: Sequence[str], folder: str, tell: Callable[[str], None]
) -> Retraining:
    """Return how a model is trained as it was trained before, on corpora (`train`) and the agreed answers."""
    if find_spec("fcntl") is None:
        raise ValueError("found `train` on a system without fcntl, as Windows, expected it without")
    plan = again(tagger.model.about, tagger.guideline, train, tell)
    corrects = not tagger.model.of_characters  # by which no tasks are ranked
    try:
        refuse(tagger.model)
    except PlanError as error:
        tell(f"answers wait for the next training: {error}")
        corrects = False
    return Retraining(url, PurePath(model).stem, tagger.guideline, plan, folder, corrects=corrects)


def measure(tagger: ChainPredictor) -> str:
    """Return what `retraining.accuracy` measures of a model."""
    if tagger.model.of_characters:
        return "F of words"
    return "F of spans" if codes_spans(tagger.labels) else "accuracy"


def run(
    store: Store,
    words: WordList | None,
    host: str,
    port: int,
    url: str | None,
    proxies: Sequence[str],
    tell: Callable[[str], None],
    progress: Progress | None = None,
) -> None:
    """Serve the pages of a store until interrupted; port 0 is any free one.

    Links begin with `url`, or else with the address where it listens, which `tell` is called with. X-Forwarded headers
    of `proxies` are trusted. Raises OSError if the address cannot be listened on.
    """
    logging.basicConfig(format="%(asctime)s %(message)s")
    with listening(host, port) as (opened, address):
        tell(f"{address}/")
        server(application(store, url or address, words, progress), proxies).run([opened])
