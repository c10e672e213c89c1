"""Libraries whose files have tokens: they are read as sentences, without a way over offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Layer, Sentence


@dataclass(frozen=True, slots=True)
class TokenTool:
    """How a library's files of tokens are read and written.

    Attributes:
        name: on the command line.
        read: the sentences of a file, by its path; the second argument counts what is left out.
        write: writes sentences, with these layers of labels, to a stream; the last argument is the name of the file,
            whose extension may say in which form.
        extensions: of its files, the usual one first.
    """

    name: str
    read: Callable[[str, Callable[[str], None]], Iterator[Sentence]]
    write: Callable[[Sequence[Sentence], IO[bytes], Sequence[str], str], None]
    extensions: tuple[str, ...]


def single(layer: Layer, sentence: Sentence, tool: str) -> list[str | None]:
    """The labels of a layer of which every position is known or unknown. Raises CorpusError for several candidates."""
    return [_single(candidates, sentence, tool) for candidates in layer]


def _single(candidates: Candidates, sentence: Sentence, tool: str) -> str | None:
    if candidates is None:
        return None
    if len(candidates) > 1:
        expected = f"one label or none, as {tool} has them"
        raise CorpusError(f"the candidates {' '.join(candidates)}", expected, *sentence.location)
    return candidates[0]
