"""A pipeline of spaCy as a labelling function; spaCy is imported only here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import Any

from tagweave.corpus.found_spans import FoundSpan, layer_of
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.sources.functions.function import FunctionError, digest_of


@dataclass(frozen=True)
class SpacyModel:
    """Finds entities by a pipeline of spaCy, on the tokens of the corpus.

    Attributes:
        name: the name of its layer.
        model: the name of an installed pipeline (`en_core_web_sm`), or its folder.
        labels: the types of spaCy under other names, as `{"GPE": "LOC"}`; all others are left out. `None`: all as they
            are.
        outside: whether a token in no entity is in no span.
        task: `spans`; or `tags` for the parts of speech, `pos_`.
    """

    name: str
    model: str
    labels: Mapping[str, str] | None = None
    outside: bool = False
    task: str = "spans"

    def digest(self) -> str:
        """See `LabellingFunction.digest`."""
        parts = (digest_of(self).encode(), metadata.version("spacy").encode(), _pipeline(self.model).to_bytes())
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless the pipeline is there."""
        _pipeline(self.model)

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """See `LabellingFunction.layers`."""
        from spacy.tokens import Doc

        pipeline = _pipeline(self.model)
        docs = pipeline.pipe(Doc(pipeline.vocab, words=list(each.forms)) for each in sentences)
        return [layer_of(self._found(doc), len(doc), self.outside, self.task) for doc in docs]

    def _found(self, doc: Any) -> Iterator[FoundSpan]:
        spans = ((each.start, each.end, each.label_) for each in doc.ents)
        for start, stop, kind in ((t.i, t.i + 1, t.pos_) for t in doc) if self.task == "tags" else spans:
            if self.labels is None or kind in self.labels:
                yield FoundSpan(start, stop, (self.labels[kind] if self.labels else kind,))


@lru_cache(maxsize=2)
def _pipeline(name: str) -> Any:
    try:
        import spacy
    except ImportError:
        raise FunctionError(
            f"found the spaCy model {name}, expected the extra spacy: pip install '.[spacy]' in a checkout of tagweave"
        ) from None
    try:
        return spacy.load(name)
    except OSError as error:
        raise FunctionError(f"found no spaCy model {name}, expected an installed one: {error}") from None
