"""What the server counts, as Prometheus reads it; several processes count together."""

from __future__ import annotations

import os

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of the folder in which several processes count."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The numbers of a server."""

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
        """Count a request. Paths are those of routes, so there are few."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def tokens(self, operation: str, count: int) -> None:
        """Count tokens."""
        self._tokens.labels(operation).inc(count)

    def batch(self, requests: int) -> None:
        """Count a batch."""
        self._batches.observe(requests)

    def text(self) -> bytes:
        """All numbers, of all processes."""
        registry = self._registry
        if FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
