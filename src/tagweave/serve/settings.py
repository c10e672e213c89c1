"""How a server is set up: plain data, which travels to its processes."""

from __future__ import annotations

from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """Limits on a request."""

    texts: int = 1_000  # or lists of tokens
    characters: int = 200_000  # of all texts together
    bytes: int = 10_000_000  # of the body
    tokens: int = 256  # of a sentence to parse; parsing takes time in proportion to its cube
    seconds: int = 30  # until a request is answered, and for which the server waits for requests when it ends


@dataclass(frozen=True)
class Retraining:
    """Training on documents that annotation tools send.

    With the address of Label Studio, all annotations of a project are fetched there; without it, training uses those
    that it has sent.
    """

    folder: str  # for new models and logs
    store: str | None = None  # where annotations are: sqlite:///FILE or postgresql://...; None: a file in the folder
    train: tuple[str, ...] = ()  # corpora to train on as well, as arguments of the command line
    label_studio: str | None = None
    key: str = ""  # of its API


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server."""

    models: tuple[tuple[str, str], ...]  # names and files, in the order in which they are asked
    tokens: str | None = (
        None  # a tokenizer (`exchange.tokens`); None: the first segmenter served, or else as each model learned
    )
    limits: Limits = field(default_factory=Limits)
    token: str | None = None  # that requests must bring
    hosts: tuple[str, ...] = ()  # host names that requests may use; empty: any
    retraining: Retraining | None = None
    int8: bool = False  # whether networks run in int8


def hosts(host: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the host names that requests may use, which blocks DNS rebinding.

    On a loopback address these are the server's own names; elsewhere any, unless some are given.
    """
    loopback_names = ("127.0.0.1", "localhost", "[::1]")
    return (*loopback_names, *allowed) if host in LOOPBACK or allowed else ()
