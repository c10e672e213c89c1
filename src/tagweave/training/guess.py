"""The task of a training that names none: `spans` if the labels of its corpus code chunks, otherwise `tag`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from tagweave.corpus.chunk_labels import codes_chunks
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import parse_argument
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import STANDARD_STREAM
from tagweave.exchange.load import iterate
from tagweave.labels.space import collect_names
from tagweave.labels.tasks import SPANS

_SENTENCES = 500  # looked at
_SHOWN = 4
_LAYER = "tag"


def guessed_task(corpus: Corpus | str, format: str | None, tell: Callable[[str], None]) -> str:  # noqa: A002
    """The task of a corpus, or of a file by its argument; says so if it is not `tag`.

    Raises:
        CorpusError, OSError: the file cannot be read.
    """
    if isinstance(corpus, Corpus):
        names = _names(corpus.sentences, corpus.guideline) if corpus.unit == "word" else ()
        path = corpus.path or "the corpus"
    else:
        parsed = parse_argument(corpus)
        path = parsed.path
        names = () if path == STANDARD_STREAM else _names(iterate(corpus, format), parsed.layer or _LAYER)
    if not codes_chunks(names):
        return "tag"
    shown = " ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
    tell(f"the labels of {path} code spans ({shown}), so the task is spans; `task=tag` takes them as they are")
    return SPANS


def _names(sentences: Iterable[Sentence], layer: str) -> tuple[str, ...]:
    return collect_names([each.layers.get(layer, ()) for each in islice(sentences, _SENTENCES)])
