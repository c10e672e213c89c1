"""The operation `parse`: trees, of sentences whose tags are given or found by taggers that are served, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.features.given_columns import lacking, with_columns
from tagweave.front.tokenised import Cut, Tokenised
from tagweave.models.tree_predictor import TreePredictor
from tagweave.serve.documents import Item, in_tokens
from tagweave.serve.errors import RefusedError
from tagweave.serve.messages import TextResult
from tagweave.serve.tagging import result

if TYPE_CHECKING:
    from tagweave.front.parser import Parser
    from tagweave.models.chain_predictor import ChainPredictor

_DIGITS = 6
_USER = "user:"


class Parsing:
    """A parser.

    Args:
        model: the parser.
        cut: cuts texts into its words.
        taggers: their tags are columns that the parser looks at, where nobody gave them.
        longest: tokens of a sentence.
    """

    name = "parse"

    def __init__(self, model: Parser, cut: Cut, taggers: Callable[[], Iterable[ChainPredictor]], longest: int) -> None:
        self._parser, self._cut, self._longest = TreePredictor(model.trained), cut, longest
        self._inputs = model.trained.inputs
        self._taggers = taggers

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """The results of items.

        Raises:
            RefusedError: a sentence is too long; the probabilities of all heads.
            CorpusError: as `TreePredictor.parse`.
        """
        if probabilities == "all":
            raise RefusedError('found "all", expected true or false for a parser')
        documents = in_tokens(items, self._cut)
        given = [sentence for each in documents for sentence in each.sentences]
        for each in given:
            if len(each) > self._longest:
                expected = f"at most {self._longest:,} in a sentence that is parsed; a line is a sentence"
                raise RefusedError(f"found {len(each):,} tokens, expected {expected}", 413)
        seen = [with_columns(each, self._inputs) for each in self._tagged(given)]
        parsed = list(self._parser.parse(seen))
        shown = self._probabilities(seen, parsed) if probabilities else None
        own, tables = iter(parsed), None if shown is None else iter(shown)
        return [self._result(each, list(islice(own, len(each.sentences))), tables) for each in documents]

    def missing(self, result_columns: Iterable[str]) -> list[str]:
        """The columns that the parser looks at, and that are not among these."""
        return sorted({name.removeprefix(_USER) for name in self._inputs} - {*result_columns})

    def _tagged(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The sentences with the tags that taggers can give and that they lack."""
        own = list(sentences)
        for tagger in self._taggers():
            name = tagger.guideline
            lacks = [at for at, each in enumerate(own) if lacking([each], [name])] if name in self._inputs else []
            if lacks:
                bare = [replace(own[at], layers={}) for at in lacks]
                for at, tagged in zip(lacks, tagger.tag(bare), strict=True):
                    own[at] = replace(own[at], layers={**own[at].layers, name: tagged.layers[name]})
        return own

    def _probabilities(self, seen: Sequence[Sentence], parsed: Sequence[Sentence]) -> list[list[float]]:
        """For each word the probability of its head."""
        tables = zip(parsed, self._parser.probabilities(seen), strict=True)
        own = (([arc.head or 0 for arc in self._arcs(sentence)], table) for sentence, table in tables)
        return [[round(float(table[head, at]), _DIGITS) for at, head in enumerate(heads, 1)] for heads, table in own]

    def _result(self, document: Tokenised, parsed: Sequence[Sentence], shown: object) -> TextResult:
        heads: list[int | None] = []
        relations: list[str | None] = []
        for sentence in parsed:
            before = len(heads)
            for arc in self._arcs(sentence):
                heads.append(before + arc.head - 1 if arc.head else None)
                relations.append(arc.relation)
        numbers = None if shown is None else [n for each in islice(shown, len(parsed)) for n in each]  # type: ignore[call-overload]
        return result(
            document,
            heads=heads,
            relations=relations if any(relations) else None,
            columns=self._columns(parsed) or None,
            probabilities=numbers,
        )

    def _columns(self, parsed: Sequence[Sentence]) -> dict[str, list[str | None]]:
        """What the parser looked at."""
        found = {}
        for name in self._inputs:
            short = name.removeprefix(_USER)
            if name.startswith(_USER):
                rows = [each.columns.get(short, ()) for each in parsed]
                values: list[str | None] = [None if value == "_" else value for row in rows for value in row]
            else:
                layers = [each.layers.get(name, ()) for each in parsed]
                values = [None if candidates is None else candidates[0] for layer in layers for candidates in layer]
            if any(value is not None for value in values):
                found[short] = values
        return found

    def _arcs(self, sentence: Sentence) -> list[Arc]:
        layer = sentence.heads[self._parser.model.guideline]
        return [candidates[0] if candidates else Arc(None, None) for candidates in layer]
