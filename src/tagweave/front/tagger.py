"""Taggers, which label words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.exchange.tokens import tokenizer
from tagweave.front.corpora import corpus_of
from tagweave.front.inputs import Given, read, sentence_of
from tagweave.front.label_model import LabelModel, as_text
from tagweave.front.spans import in_text, labelled_spans
from tagweave.front.tokenised import cut_by
from tagweave.labels.transition_scheme import codes_spans
from tagweave.streams.words import TaggingStage, WordLabelling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tagweave.front.file_options import LabelOptions
    from tagweave.models.ranking import Ranked


class Tagger(LabelModel):
    """A model that labels words."""

    def tag(self, data: Any, tokens: str = "words") -> Any:
        """Label words.

        | argument | result |
        |---|---|
        | a list of words | a list of labels |
        | a text | a text of words with labels, `word/LABEL`: a line for each of its lines |
        | a `Sentence` | the sentence with labels in the layer that the model learned, or that of its guideline |
        | a `Corpus` | the corpus, relabelled; this layer is its own |
        | a pair (tokens, labels) | a list of labels |
        | a data frame with the columns `sentence` and `token` | a list of labels, one for each row |
        | several of these: a list, an iterator | a list of their results |

        Existing labels are ignored (`complete` keeps them).

        Args:
            data: as above.
            tokens: how a text is cut, as in `tagweave serve`: at `blanks`, into `words` (punctuation stands alone),
                `characters`, or by `spacy:LANGUAGE`.

        Raises:
            TypeError: another type.
            ExchangeError: another way to cut.
        """
        given, are_several = read(data, cut_by(tokens))
        labelled = self._tagger.tag(sentence for each in given for sentence in each.sentences)
        answers = [self._answer(each, list(islice(labelled, len(each.sentences)))) for each in given]
        return answers if are_several else answers[0]

    def spans(self, data: Any, tokens: str = "words") -> Any:
        """Find spans, such as entities, with their probabilities, as `tagweave serve` does.

        Args:
            data: as for `tag`; spans of a text have offsets of characters, too.
            tokens: as for `tag`.

        Returns:
            a list of `LabelledSpan`; for several things a list of lists.

        Raises:
            TypeError: the labels of the model code no spans, or another type.
            ExchangeError: another way to cut.
        """
        if not codes_spans(self._tagger.labels):
            raise TypeError(f"found {self.name}, whose labels code no spans, expected a model of the task spans")
        given, are_several = read(data, cut_by(tokens))
        labelled = list(self._tagger.tag(sentence for each in given for sentence in each.sentences))
        found = iter(labelled_spans(self._tagger, labelled, probable=True))
        answers = [in_text(each.text, list(islice(found, len(each.sentences)))) for each in given]
        return answers if are_several else answers[0]

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        corpus = corpus_of(corpus)
        tagger = self._under_guideline_of(corpus)
        bare = (replace(sentence, layers={}) for sentence in corpus)
        labelled = [replace(s, layers={corpus.guideline: s.layers[tagger.guideline]}) for s in tagger.tag(bare)]
        return replace(corpus.with_sentences(labelled), covered=None)

    def probabilities(self, words: str | Sequence[str] | Sentence) -> NDArray[np.floating[Any]]:
        """[L, labels]: the probability of every label (`labels` names them) at every word."""
        return self._tagger.probabilities([self._sentence(words)])[0]

    def k_best(self, words: str | Sequence[str] | Sentence, k: int) -> list[Ranked]:
        """The k best label sequences of a sentence with their probabilities, the most probable first."""
        return self._tagger.k_best(self._sentence(words), index(k))

    def stage(self, retag: bool = False, non_projective: bool = False) -> TaggingStage:
        """See `Model.stage`."""
        return TaggingStage(self._tagger, retag)

    def _labelling(self, input: str, options: LabelOptions) -> WordLabelling:  # noqa: A002
        tagger = self.under(options.to)
        cut = tokenizer(options.tokens) if options.tokens else None
        return WordLabelling(tagger, input, options.format, options.retag, options.completes, self.tell, cut)

    def _answer(self, given: Given, labelled: list[Sentence]) -> Any:
        """Return labels in the form of what was given: see `tag`."""
        own = self._tagger.guideline
        if given.corpus is not None:
            layer = self.layer_in(given.corpus) or own
            written = (self._in_layer(layer, *each) for each in zip(given.sentences, labelled, strict=True))
            return replace(given.corpus.with_sentences(written), guideline=layer)
        if given.kind == "sentence":
            return self._in_layer(
                self._tagger.layer_in(given.sentences[0].layers) or own, given.sentences[0], labelled[0]
            )
        if given.kind == "text":
            return "\n".join(map(as_text, labelled))
        return [candidates[0] for sentence in labelled for candidates in sentence.layers[own] or () if candidates]

    def _in_layer(self, layer: str, given: Sentence, labelled: Sentence) -> Sentence:
        """Return a sentence with labels in a layer, and its other layers as they were."""
        own = self._tagger.guideline
        return labelled.with_valid_layers({**given.layers, layer: labelled.layers[own]})

    def _sentence(self, data: Any) -> Sentence:
        return sentence_of(data, cut_by("words"))

    def _in_tokens(self, corpus: Corpus) -> Corpus:
        return corpus

    @property
    def _what(self) -> str:
        return "a tagger of words"
