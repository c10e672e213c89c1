"""The operations of segmenters: `segment`, and `tag` where their words have tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tagweave.corpus.sentence import Sentence
from tagweave.front.tokenised import Tokenised, of_texts
from tagweave.serve.documents import Item, by_words
from tagweave.serve.errors import RefusedError
from tagweave.serve.messages import TextResult
from tagweave.serve.tagging import result
from tagweave.streams.characters import raw_evidence

if TYPE_CHECKING:
    from tagweave.front.segmenter import Segmenter

_DIGITS = 6


class Segmenting:
    """A segmenter that cuts texts into words.

    Args:
        model: the segmenter.
        tags: whether to say the tags of words, which needs the general, slower way.
    """

    def __init__(self, model: Segmenter, tags: bool = False) -> None:
        self._model, self._tags = model, tags
        self._tagger = model.under()
        self.name = "tag" if tags else "segment"
        self.cut = by_words(lambda lines: list(model.cut_all(lines)))

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """The results of texts.

        Raises:
            RefusedError: tokens in place of texts; probabilities of a model of pieces, or all.
        """
        texts = [each for each in items if isinstance(each, str)]
        if len(texts) < len(items):
            raise RefusedError("found tokens, expected text or texts for a model that segments")
        if probabilities == "all":
            raise RefusedError('found "all", expected true or false for a model that segments')
        if not self._tags and not probabilities:
            return [result(each) for each in of_texts(texts, self.cut)]
        words: list[Sentence] = []
        numbers: list[list[float]] = []
        documents = of_texts(texts, by_words(lambda lines: self._labelled(lines, words, numbers, bool(probabilities))))
        own, shown = iter(words), iter(numbers) if probabilities else None
        return [self._result(each, own, shown) for each in documents]

    def _labelled(
        self, lines: Sequence[str], words: list[Sentence], numbers: list[list[float]], probabilities: bool
    ) -> list[tuple[str, ...]]:
        """The words of lines, which are added to `words` with their tags, and to `numbers` with probabilities."""
        if not lines:
            return []
        evidence = raw_evidence(self._tagger, [Sentence(tuple(line)) for line in lines])
        found = [self._tagger.words(each) for each in self._tagger.complete(evidence)]
        words.extend(found)
        if probabilities:
            try:
                numbers.extend(self._tagger.word_probabilities(evidence.sentences, found, evidence.guideline))
            except ValueError as error:
                raise RefusedError(str(error)) from error
        return [each.forms for each in found]

    def _result(
        self, document: Tokenised, words: Iterator[Sentence], shown: Iterator[list[float]] | None
    ) -> TextResult:
        own = len(document.sentences)
        layers = [each.layers.get(self._tagger.guideline, ()) for each in islice(words, own)]
        return result(
            document,
            labels=[candidates[0] for layer in layers for candidates in layer if candidates] if self._tags else None,
            probabilities=None
            if shown is None
            else [round(number, _DIGITS) for each in islice(shown, own) for number in each],
        )
