"""What a labelling function is, and the labels that it finds as a layer.

A function says something of some tokens and abstains on all others: these are unknown. Only a function that is declared
with `outside` says `O` of every token in none of its spans.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from tagweave import __version__
from tagweave.corpus.describe import digest
from tagweave.corpus.errors import InputError
from tagweave.corpus.sentence import Layer, Sentence


class FunctionError(InputError):
    """A labelling function that cannot be read or applied, or gives what is no labels."""


class LabellingFunction(Protocol):
    """A source of labels that is computed.

    Attributes:
        name: the name of its layer.
    """

    @property
    def name(self) -> str:
        """The name of its layer."""
        ...

    def digest(self) -> str | None:
        """A digest of all that determines its answers; `None`: nobody knows, and nothing can be kept.

        Raises:
            OSError: a file that it needs cannot be read.
        """
        ...

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise if the function does not fit the text as a whole."""
        ...

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """What it says of each sentence. Sentences have forms and columns, and no labels."""
        ...


def digest_of(function: Any, *paths: str) -> str:
    """The digest of a declared function: its class and fields but the name, and the bytes of files.

    Raises:
        OSError: a file cannot be read.
    """
    own = {each.name: getattr(function, each.name) for each in fields(function) if each.name != "name"}
    text = json.dumps([__version__, type(function).__name__, own], sort_keys=True, ensure_ascii=False)
    contents = [digest(path) for path in paths]
    return hashlib.sha256("\n".join([text, *contents]).encode()).hexdigest()


def stamp(path: str) -> tuple[int, int]:
    """What changes when a file does: its time of change and its size. Raises OSError without the file."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size
