"""Files of a format as text, read and written in memory."""

from __future__ import annotations

import io
from typing import Any

from tagweave.corpus.sentence import Sentence


def read(form: Any, text: str, **options: Any) -> list[Sentence]:
    """The sentences that a format reads in a text."""
    return list(form.read(text.removesuffix("\n").split("\n"), "made-up", **options))


def written(form: Any, *sentences: Sentence, **options: Any) -> str:
    """What a format writes of sentences."""
    stream = io.StringIO()
    form.write(sentences, stream, **options)
    return stream.getvalue()
