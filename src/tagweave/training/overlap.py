"""Warns if a source shares few labels or words with TRAIN, since little can be learned from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tagweave.labels.tasks import OF_WORDS
from tagweave.training.corpora import PARSE
from tagweave.training.data import TrainingData
from tagweave.training.methods import COUPLED
from tagweave.training.methods.merged import METHOD as MERGED
from tagweave.training.parsing import tag_layers

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence

_FEW = 0.5  # warn below this share of TRAIN's tokens


def overlap_lines(data: TrainingData, task: str) -> Iterator[str]:
    """A line for each source that shares less than half of TRAIN's tokens.

    Parsers compare the tags that they use, segmenters words, and `merged` taggers labels.
    """
    for source in data.sources:
        if task == PARSE:
            shared = tag_layers([sentence for corpus in data.corpora for sentence in corpus])
            for layer in shared:
                parts = _layer(data.targets, layer), _layer([source], layer)
                yield from _line(parts, source, f"tags of {layer}", "its trees come with tags that TRAIN does not have")
        elif task == "segment" and source.unit == "word":
            words = [corpus for corpus in data.targets if corpus.unit == "word"]
            yield from _line((_forms(words), _forms([source])), source, "words", "it is segmented in another style")
        elif data.method == MERGED.name and task in OF_WORDS:
            labels = _layer(data.targets, data.target), _layer([source], source.guideline)
            yield from _line(labels, source, "labels", f"`method={COUPLED}` tells them apart")


def _line(parts: tuple[list[str], list[str]], source: Corpus, what: str, why: str) -> Iterator[str]:
    (own, other) = parts
    known = set(other)
    share = sum(each in known for each in own) / max(1, len(own))
    if own and other and share < _FEW:
        yield f"{source.path} shares few {what} with TRAIN, {100 * share:.0f} % of its tokens': {why}"


def _layer(corpora: Iterable[Corpus], layer: str) -> list[str]:
    return [
        label for sentence in _sentences(corpora) for each in sentence.layers.get(layer, ()) for label in each or ()
    ]


def _forms(corpora: Iterable[Corpus]) -> list[str]:
    return [form for sentence in _sentences(corpora) for form in sentence.forms]


def _sentences(corpora: Iterable[Corpus]) -> Iterator[Sentence]:
    for corpus in corpora:
        yield from corpus
