"""The task of a training that names none: `spans` if the labels of its corpus code chunks, otherwise `tag`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from tagweave.corpus.chunk_labels import codes_chunks
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import assembled, parse_argument
from tagweave.corpus.text_file import STANDARD_STREAM
from tagweave.exchange.load import stream
from tagweave.labels.space import collect_names
from tagweave.labels.tasks import SPANS

_SENTENCES = 500  # looked at
_SHOWN = 4


def guessed_task(corpus: Corpus | str, format: str | None, tell: Callable[[str], None]) -> str:  # noqa: A002
    """The task of a corpus, or of a file by its argument; says so if it is not `tag`.

    Raises:
        CorpusError, OSError: the file cannot be read.
    """
    if not isinstance(corpus, Corpus):
        corpus = _beginning(corpus, format)
    if corpus.unit != "word":
        return "tag"
    names = collect_names([each.layers.get(corpus.guideline, ()) for each in corpus.sentences[:_SENTENCES]])
    if not codes_chunks(names):
        return "tag"
    shown = " ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
    path = corpus.path or "the corpus"
    tell(f"the labels of {path} code spans ({shown}), so the task is spans; `task=tag` takes them as they are")
    return SPANS


def _beginning(argument: str, format: str | None) -> Corpus:  # noqa: A002
    """Return the first sentences of a file, with the layer that training will take; none of standard input."""
    if parse_argument(argument).path == STANDARD_STREAM:
        return Corpus(())
    form, sentences, _ = stream(argument, format)
    return assembled(argument, form, islice((each for each in sentences if each.forms), _SENTENCES))
