"""How a server is set up: plain data, which travels to its processes."""

from __future__ import annotations

from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    Attributes:
        texts: how many texts, or lists of tokens.
        characters: of all of them together.
        bytes: of the body.
        tokens: of a sentence that is parsed, whose time grows with the cube.
        seconds: that a request waits for its answer, and that the end of the server waits for requests.
    """

    texts: int = 1_000
    characters: int = 200_000
    bytes: int = 10_000_000
    tokens: int = 256
    seconds: int = 30


@dataclass(frozen=True)
class Retraining:
    """Training on what annotation tools send.

    Attributes:
        folder: holds annotations, training data, new models and logs.
        train: corpora that a model is trained on beside them, as arguments of the command line.
        label_studio: the address of Label Studio, from which all annotations of a project are fetched; `None`: only
            those count that it sends.
        key: of its API.
    """

    folder: str
    train: tuple[str, ...] = ()
    label_studio: str | None = None
    key: str = ""


@dataclass(frozen=True)
class Settings:
    """Of a server.

    Attributes:
        models: names and files, in the order in which they are asked.
        tokens: how texts are cut into tokens (`exchange.tokens`); `None`: by the first segmenter of the models,
            without one into words.
        limits: of requests.
        token: what requests have to bring, if anything.
        hosts: the names by which the server may be called; empty: any.
        retraining: if there is to be any.
    """

    models: tuple[tuple[str, str], ...]
    tokens: str | None = None
    limits: Limits = field(default_factory=Limits)
    token: str | None = None
    hosts: tuple[str, ...] = ()
    retraining: Retraining | None = None
