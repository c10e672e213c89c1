"""A lexicon or gazetteer as a labelling function: its phrases, from left to right the longest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tagweave.corpus.found_spans import TAGS
from tagweave.corpus.gazetteer import read
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.harvest.phrases import PhraseHarvest, PhraseMatcher
from tagweave.sources.functions.function import FunctionError, digest_of, stamp

_LAYER = "found"


@dataclass(frozen=True)
class Lexicon:
    """Finds the phrases of a file: one a line, with its type or types before a tab, or without.

    Attributes:
        name: the name of its layer.
        file: the phrases (`tagweave.corpus.gazetteer`).
        label: the type of phrases that have none.
        fold: whether upper and lower case are alike, and all digits.
        stop: phrases that are not looked for.
        outside: whether a token in no phrase is in no span.
        task: `spans` or `tags`.
    """

    name: str
    file: str
    label: str | None = None
    fold: bool = False
    stop: tuple[str, ...] = ()
    outside: bool = False
    task: str = "spans"

    def digest(self) -> str:
        """See `LabellingFunction.digest`."""
        return digest_of(self, self.file)

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless every phrase has a type. Raises also CorpusError as `tagweave.corpus.gazetteer.read`."""
        if self.label is None and None in read(self.file).types:
            raise FunctionError(f"{self.name}: found phrases without a type in {self.file}, expected label")

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """See `LabellingFunction.layers`."""
        harvest = PhraseHarvest(_matcher(self, stamp(self.file)), everything=True, layer=_LAYER)
        found = iter(harvest.of(sentences))
        layers = [next(found).layers[_LAYER] if len(each) else () for each in sentences]
        return [tuple(map(_tag, layer)) for layer in layers] if self.task == TAGS else layers


@lru_cache(maxsize=16)
def _matcher(function: Lexicon, _stamp: object) -> PhraseMatcher:
    gazetteer = read(function.file)
    if function.label is not None:
        types = tuple((function.label,) if each is None else each for each in gazetteer.types)
        gazetteer = replace(gazetteer, types=types)
    return PhraseMatcher(gazetteer, function.stop, function.fold, "O" if function.outside else "unknown")


@lru_cache(maxsize=1 << 12)
def _tag(candidates: Candidates) -> Candidates:
    """The types of labels in IOB2."""
    return candidates and tuple(name if name == "O" else name[2:] for name in candidates)
