"""Corpora: how much of every layer is known, and the first sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tagweave.display.colours import heat
from tagweave.display.markup import Html, element, joined
from tagweave.display.sentence import sentence_picture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.describe import LayerDescription

_SENTENCES = 3


def corpus_picture(
    corpus: Corpus, layers: Mapping[str, LayerDescription], heads: Mapping[str, LayerDescription]
) -> Html:
    """A corpus, with the descriptions of its layers of labels and of heads."""
    title = element("b", Path(corpus.path).name or "a corpus", title=corpus.path)
    sizes = f": {len(corpus):,} sentences, {corpus.tokens():,} {corpus.unit}s, guideline {corpus.guideline}"
    kinds = (*layers.items(), *((f"{name} (heads)", layer) for name, layer in heads.items()))
    rest = len(corpus) - _SENTENCES
    return joined(
        [
            element("div", title, sizes),
            element("table", _HEAD, joined(_row(name, layer) for name, layer in kinds), class_="map")
            if kinds
            else Html(),
            *map(sentence_picture, corpus.sentences[:_SENTENCES]),
            element("div", f"... {rest:,} more sentences", class_="quiet") if rest > 0 else Html(),
        ]
    )


_HEAD = element("tr", *(element("th", name, scope="col") for name in ("layer", "one label", "several", "unknown")))


def _row(name: str, layer: LayerDescription) -> Html:
    return element("tr", element("th", name, scope="row"), *_counts(layer))


def _counts(layer: LayerDescription) -> Iterator[Html]:
    for count in (layer.full, layer.ambiguous, layer.unknown):
        part = layer.share(count)
        yield element("td", f"{count:,} ({100 * part:.0f} %)", class_="number", style=f"background:{heat(part)}")
