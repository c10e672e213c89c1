"""What spaCy finds by entry points: the component `tagweave` and the tokenizer `tagweave.Segmenter.v1`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.util import registry

from tagweave.pipelines.component import Component
from tagweave.pipelines.kept_model import KeptModel
from tagweave.pipelines.segmenter_tokenizer import SegmenterTokenizer

_ASSIGNS = (
    "token.tag",
    "token.pos",
    "doc.ents",
    "token.ent_iob",
    "token.ent_type",
    "token.head",
    "token.dep",
    "token.is_sent_start",
    "doc.sents",
)
_DEFAULTS = {"model": None, "attribute": None, "guideline": None, "overwrite": False, "threads": 1}


@Language.factory("tagweave", assigns=list(_ASSIGNS), default_config=_DEFAULTS)
def component(
    nlp: Language,
    name: str,
    model: str | None,
    attribute: str | None,
    guideline: str | None,
    overwrite: bool,
    threads: int,
) -> Component:
    """A model as a component. Raises as `Component.annotation`, and as `tagweave.load_model`."""
    kept = KeptModel(model, threads)
    is_open = kept.open(nlp)
    made = Component(name, kept, attribute, guideline, overwrite)
    if is_open:
        _ = made.annotation
    return made


def tokenizer(model: str | None = None, threads: int = 1) -> Callable[[Any], SegmenterTokenizer]:
    """Makes the tokenizer of a pipeline. Raises as `SegmenterTokenizer.segmenter`, and as `tagweave.load_model`."""

    def of_pipeline(nlp: Any) -> SegmenterTokenizer:
        kept = KeptModel(model, threads)
        is_open = kept.open(nlp)
        made = SegmenterTokenizer(nlp.vocab, kept)
        if is_open:
            _ = made.segmenter
        return made

    return of_pipeline


registry.tokenizers("tagweave.Segmenter.v1", func=tokenizer)
