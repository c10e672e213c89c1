"""Batches: requests of many connections are computed together; and metrics.

While a batch is computed, further requests wait; those that ask the same of the same model are the next batch. So
nobody waits for company, and under load the fixed cost of a call is paid once for many requests.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from tagweave.errors import RequestError
from tagweave.front.options import message
from tagweave.serve.requests import Item, LabelResponse, Level
from tagweave.serve.served_models import Parsing, ServedModels
from tagweave.serve.settings import Limits

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of the folder in which several processes count."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The numbers that Prometheus reads; several processes count together."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "tagweave_requests", "Requests, by path and status", ["path", "status"], registry=registry
        )
        self._seconds = Histogram(
            "tagweave_request_seconds", "Until the answer", ["path"], buckets=_SECONDS, registry=registry
        )
        self._tokens = Counter("tagweave_tokens", "Tokens of answers, by operation", ["operation"], registry=registry)
        self._batches = Histogram(
            "tagweave_batch_requests", "Requests that were computed together", buckets=_REQUESTS, registry=registry
        )

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request. Paths are patterns of routes, so there are few."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def tokens(self, operation: str, count: int) -> None:
        """Count tokens."""
        self._tokens.labels(operation).inc(count)

    def batch(self, requests: int) -> None:
        """Count a batch."""
        self._batches.observe(requests)

    def text(self) -> bytes:
        """Return all numbers, of all processes."""
        registry = self._registry
        if FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


LOG = logging.getLogger("tagweave.serve")
_ITEMS = 500  # texts of a batch of several requests
_WAITING = 20  # requests of the greatest size may wait

Key = tuple[str, str, bool | str, Level]
"""The operation, the name of the model, the probabilities and the level that are wanted: what a batch has in common."""


@dataclass(eq=False)
class _Work:
    """A request that waits."""

    key: Key
    items: Sequence[Item]
    characters: int
    answer: asyncio.Future[LabelResponse] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


_Outcomes = list[LabelResponse | Exception]


class Batches:
    """Computes requests with some models, one batch after the other, in a thread."""

    def __init__(self, models: ServedModels, limits: Limits, metrics: Metrics) -> None:
        self._models, self._limits, self._metrics = models, limits, metrics
        self._waiting: list[_Work] = []
        self._computing: asyncio.Task[None] | None = None
        self._batches: SimpleQueue[tuple[Sequence[_Work], Future[_Outcomes]] | None] = SimpleQueue()
        Thread(target=self._work, name="compute", daemon=True).start()

    async def response(self, key: Key, items: Sequence[Item], characters: int) -> LabelResponse:
        """Answer a request."""
        if sum(work.characters for work in self._waiting) > _WAITING * self._limits.characters:
            raise RequestError("found more requests than can be computed, expected fewer; try again later", 503)
        work = _Work(key, items, characters)
        self._waiting.append(work)
        if self._computing is None:
            self._computing = asyncio.create_task(self._compute())
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await work.answer
        except TimeoutError:
            raise RequestError(
                f"found no time for this request in {self._limits.seconds} seconds, expected it; try again later", 503
            ) from None
        finally:
            if work in self._waiting:
                self._waiting.remove(work)

    def close(self) -> None:
        """End the thread, after the batch that it computes; the end of the process does not wait for it."""
        self._batches.put(None)

    async def _compute(self) -> None:
        """Compute until nothing waits."""
        try:
            while self._waiting:
                batch = self._next()
                outcomes = Future[_Outcomes]()
                self._batches.put((batch, outcomes))
                computed: _Outcomes = await asyncio.wrap_future(outcomes)
                for work, outcome in zip(batch, computed, strict=True):
                    if work.answer.done():
                        continue
                    if isinstance(outcome, Exception):
                        work.answer.set_exception(outcome)
                    else:
                        work.answer.set_result(outcome)
        finally:
            self._computing = None

    def _next(self) -> list[_Work]:
        """Take what waits longest, and what can be computed with it: together no more than one request may ask for."""
        batch: list[_Work] = []
        items = characters = 0
        for work in self._waiting:
            fits = items + len(work.items) <= _ITEMS and characters + work.characters <= self._limits.characters
            if not batch or (work.key == batch[0].key and fits):
                batch.append(work)
                items, characters = items + len(work.items), characters + work.characters
        taken = {*batch}
        self._waiting = [work for work in self._waiting if work not in taken]
        return batch

    def _work(self) -> None:
        """Compute batches, in a thread."""
        while (taken := self._batches.get()) is not None:
            batch, outcomes = taken
            if outcomes.set_running_or_notify_cancel():  # somebody still waits for it
                outcomes.set_result(self._outcomes(batch))

    def _outcomes(self, batch: Sequence[_Work]) -> _Outcomes:
        """Return an answer or an error per request; one bad request does not affect the others."""
        try:
            self._models.refresh()
        except Exception:  # a version that cannot be read; the one before goes on
            LOG.exception("a new version of a model cannot be read")
        self._metrics.batch(len(batch))
        try:
            return list(self._responses(batch))
        except Exception as error:
            if len(batch) == 1:  # tell an error that the client can mend as a refusal, any other as it is
                reason = None if isinstance(error, RequestError) else message(error)
                return [error if reason is None else RequestError(reason)]
        return [outcome for work in batch for outcome in self._outcomes([work])]

    def _responses(self, batch: Sequence[_Work]) -> list[LabelResponse]:
        operation, name, probabilities, level = batch[0].key
        served = self._models.that_can(operation, name)
        run = served.operations[operation]
        results = run.results([item for work in batch for item in work.items], probabilities, level)
        self._metrics.tokens(operation, sum(len(result.tokens) for result in results))
        responses = []
        at = 0
        guideline = served.model.guidelines[0] if served.model.guidelines else None
        for work in batch:
            text_results = results[at : at + len(work.items)]
            at += len(work.items)
            columns = {name for result in text_results for name in result.columns or ()}
            missing = run.missing(columns) if isinstance(run, Parsing) else []
            responses.append(LabelResponse(served.name, served.version, text_results, guideline, missing or None))
        return responses
