"""`tagweave serve`: models behind HTTP."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

from tagweave.cli.console import OptionError
from tagweave.cli.options import Int8, argument, flag
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.serve.settings import Retraining

_NEEDED = ("starlette", "uvicorn", "httptools", "jinja2", "prometheus_client", "sqlalchemy")
_NAME = re.compile(r"[\w.-]{1,100}")


def serve(
    models: Annotated[
        list[str], argument("[NAME=]MODEL", "Taggers, segmenters, parsers; the name is that of the file.")
    ],
    host: Annotated[str, flag("ADDRESS", "Listen here; other machines cannot reach a loopback address.")] = "127.0.0.1",
    port: Annotated[int, flag("P", "The port; 0 for any free one.", least=0, most=65535)] = 8766,
    workers: Annotated[int, flag("N", "How many processes answer.", least=1, most=256)] = 1,
    tokens: Annotated[
        str | None,
        flag(
            "blanks|words|characters|spacy:LANGUAGE",
            "How texts are cut for models of words. Default: by the first segmenter that is served; without one"
            " at blanks and around punctuation.",
        ),
    ] = None,
    token: Annotated[
        str | None, flag("VARIABLE", "The environment variable with the token that requests have to bring.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        flag(
            "NAME",
            "A name by which requests may call the server (repeatable). Default: on a loopback address its own"
            " names, elsewhere any.",
        ),
    ] = None,
    most_texts: Annotated[int, flag("N", "Texts of a request.", least=1)] = 1_000,
    most_characters: Annotated[int, flag("N", "Characters of all texts of a request.", least=1)] = 200_000,
    most_bytes: Annotated[int, flag("N", "Bytes of a request.", least=1)] = 10_000_000,
    most_tokens: Annotated[int, flag("N", "Tokens of a sentence that is parsed.", least=1)] = 256,
    most_seconds: Annotated[int, flag("N", "Seconds until a request is answered, or refused.", least=1)] = 30,
    models_folder: Annotated[
        str | None,
        flag(
            "FOLDER",
            "Correct and retrain taggers by what annotation tools send; annotations and new models are kept here.",
            "--models",
        ),
    ] = None,
    store: Annotated[
        str | None,
        flag("URL", "With --models, keep annotations there: sqlite:///FILE or postgresql://... Default: in FOLDER."),
    ] = None,
    train: Annotated[list[str] | None, flag("[G=]TRAIN", "With --models, train on this, too (repeatable).")] = None,
    label_studio: Annotated[
        str | None,
        flag(
            "URL",
            "With --models, fetch all annotations of a project from this Label Studio before training; the key is"
            " in the environment variable LABEL_STUDIO_API_KEY.",
        ),
    ] = None,
    int8: Int8 = False,
) -> None:
    """Serve models as JSON over HTTP: POST /tag, /segment, /parse. Ctrl-C ends it, after requests that have begun.

    GET / describes the endpoints, /health and /metrics are for those who run it.
    """
    named_models = tuple(map(_named, models))
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise OptionError(
            f"found no {missing[0]}, expected the extra serve: pip install '.[serve]' in a checkout of tagweave"
        )
    for _, path in named_models if models_folder is None else ():
        if not path.startswith("hf:") and not Path(path).exists():
            raise FileNotFoundError(f"{path}: no such model file")
    from tagweave.serve.serving import run
    from tagweave.serve.settings import Limits, ServerSettings, hosts

    limits = Limits(most_texts, most_characters, most_bytes, most_tokens, most_seconds)
    retraining = _retraining(models_folder, store, train or (), label_studio)
    settings = ServerSettings(
        named_models, tokens, limits, _token(token), hosts(host, tuple(allow_host or ())), retraining, int8
    )
    run(settings, host, port, workers, say)


def _named(argument: str) -> tuple[str, str]:
    name, separator, path = argument.partition("=")
    if not separator:
        name, path = PurePath(argument).stem, argument
    if not _NAME.fullmatch(name) or not path:
        raise OptionError(f"found the model {argument!r}, expected NAME=FILE, with a name of letters, digits and .-_")
    return name, path


def _retraining(
    folder: str | None, store: str | None, train: Sequence[str], label_studio: str | None
) -> Retraining | None:
    from tagweave.serve.settings import Retraining

    if folder is None:
        for name, value in (("--store", store), ("--train", train), ("--label-studio", label_studio)):
            if value:
                raise OptionError(f"found {name}, expected --models FOLDER with it")
        return None
    key = os.environ.get("LABEL_STUDIO_API_KEY", "")
    if label_studio is not None and not (re.fullmatch(r"https?://[^?#@\s]+", label_studio) and key):
        expected = "https:// and a host, and its key in the environment variable LABEL_STUDIO_API_KEY"
        raise OptionError(f"found --label-studio {label_studio}, expected {expected}")
    return Retraining(folder, store, tuple(train), label_studio and label_studio.rstrip("/"), key)


def _token(variable: str | None) -> str | None:
    if variable is not None and not os.environ.get(variable):
        raise OptionError(f"found nothing in the environment variable {variable} of --token, expected a token")
    return None if variable is None else os.environ[variable]
