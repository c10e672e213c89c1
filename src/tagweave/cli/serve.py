"""`tagweave serve`: models behind HTTP."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import PurePath
from typing import Annotated

import typer

from tagweave.cli.errors import OptionError
from tagweave.cli.printing import say

_NEEDED = ("starlette", "uvicorn", "httptools", "prometheus_client")
_NAME = re.compile(r"[\w.-]{1,100}")


def serve(
    models: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]MODEL", help="Taggers, segmenters, parsers; the name is that of the file."),
    ],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Listen here; other machines cannot reach a loopback address.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="P", help="The port; 0 for any free one.")] = 8766,
    workers: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="How many processes answer.")] = 1,
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="blanks|words|characters|spacy:LANGUAGE",
            help="How texts are cut for models of words. Default: by the first segmenter that is served; without one"
            " at blanks and around punctuation.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="The environment variable with the token that requests have to bring."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name by which requests may call the server (repeatable). Default: on a loopback address its own"
            " names, elsewhere any.",
        ),
    ] = None,
    most_texts: Annotated[int, typer.Option(min=1, metavar="N", help="Texts of a request.")] = 1_000,
    most_characters: Annotated[
        int, typer.Option(min=1, metavar="N", help="Characters of all texts of a request.")
    ] = 200_000,
    most_bytes: Annotated[int, typer.Option(min=1, metavar="N", help="Bytes of a request.")] = 10_000_000,
    most_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of a sentence that is parsed.")] = 256,
    most_seconds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Seconds until a request is answered, or refused.")
    ] = 30,
) -> None:
    """Serve models as JSON over HTTP: POST /tag, /segment, /parse. Ctrl-C ends it, after requests that have begun.

    GET / describes the endpoints, /health and /metrics are for those who run it.
    """
    named = tuple(map(_named, models))
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise OptionError(f"found no {missing[0]}, expected the extra serve: pip install 'tagweave[serve]'")
    from tagweave.serve.serving import hosts, run
    from tagweave.serve.settings import Limits, Settings

    limits = Limits(most_texts, most_characters, most_bytes, most_tokens, most_seconds)
    settings = Settings(named, tokens, limits, _token(token), hosts(host, tuple(allow_host or ())))
    run(settings, host, port, workers, say)


def _named(argument: str) -> tuple[str, str]:
    """The name and the file of a model."""
    name, separator, path = argument.partition("=")
    if not separator:
        name, path = PurePath(argument).stem, argument
    if not _NAME.fullmatch(name) or not path:
        raise OptionError(f"found the model {argument!r}, expected NAME=FILE, with a name of letters, digits and .-_")
    return name, path


def _token(variable: str | None) -> str | None:
    """The token that a variable of the environment holds."""
    if variable is not None and not os.environ.get(variable):
        raise OptionError(f"found nothing in the environment variable {variable} of --token, expected a token")
    return None if variable is None else os.environ[variable]
