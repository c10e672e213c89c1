"""Taggers, which label words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.front.label_model import LabelModel, as_text
from tagweave.streams.words import TaggingStage, WordLabelling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tagweave.front.file_options import LabelOptions
    from tagweave.models.ranking import Ranked


class Tagger(LabelModel):
    """A model that labels words."""

    def tag(self, data: Any) -> Any:
        """Label words.

        | argument | result |
        |---|---|
        | a list of words | a list of labels |
        | a text of words separated by blanks | a text of words with labels, `word/LABEL` |
        | a `Sentence` | the sentence with labels in the layer that the model learned, or that of its guideline |
        | a `Corpus` | the corpus, relabelled; this layer is its own |
        | a list of these | a list of their results |

        Existing labels are ignored (`complete` keeps them).

        Raises:
            TypeError: another type.
        """
        if isinstance(data, Corpus):
            layer = self.layer_in(data) or self._tagger.guideline
            return replace(data.with_sentences(self._labelled(data.sentences, layer)), guideline=layer)
        if isinstance(data, (list, tuple)) and any(isinstance(each, Corpus) for each in data):
            return [self.tag(each) for each in data]
        return _each(data, self._labelled)

    def _labelled(self, sentences: Sequence[Sentence], layer: str | None = None) -> list[Sentence]:
        """The sentences with labels in a layer, by default in the one of them that the model learned."""
        own, labelled = self._tagger.guideline, []
        for given, sentence in zip(sentences, self._tagger.tag(sentences), strict=True):
            to = layer or self._tagger.layer_in(given.layers) or own
            layers = sentence.layers if to == own else {**given.layers, to: sentence.layers[own]}
            labelled.append(sentence.with_valid_layers(layers))
        return labelled

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        tagger = self._under_guideline_of(corpus)
        bare = (replace(sentence, layers={}) for sentence in corpus)
        labelled = [replace(s, layers={corpus.guideline: s.layers[tagger.guideline]}) for s in tagger.tag(bare)]
        return replace(corpus.with_sentences(labelled), covered=None)

    def probabilities(self, words: Sequence[str] | Sentence) -> NDArray[np.floating[Any]]:
        """[L, labels]: the probability of every label (`labels` names them) at every word."""
        return self._tagger.probabilities([_sentence(words)])[0]

    def k_best(self, words: Sequence[str] | Sentence, k: int) -> list[Ranked]:
        """The k best label sequences of a sentence with their probabilities, the most probable first."""
        return self._tagger.k_best(_sentence(words), k)

    def stage(self, retag: bool = False, non_projective: bool = False) -> TaggingStage:
        """See `Model.stage`."""
        return TaggingStage(self._tagger, retag)

    def _labelling(self, input: str, options: LabelOptions) -> WordLabelling:  # noqa: A002
        tagger = self.under(options.to)
        return WordLabelling(tagger, input, options.format, options.retag, options.completes, self.tell)

    def _in_tokens(self, corpus: Corpus) -> Corpus:
        return corpus

    @property
    def _what(self) -> str:
        return "a tagger of words"


def _sentence(words: Sequence[str] | Sentence) -> Sentence:
    return words if isinstance(words, Sentence) else Sentence(tuple(words))


def _each(data: Any, label: Callable[[Sequence[Sentence]], list[Sentence]]) -> Any:
    """See `Tagger.tag`."""
    if isinstance(data, Sentence):
        return label([data])[0]
    if isinstance(data, str):
        return "\n".join(map(as_text, label([Sentence(tuple(line.split())) for line in data.splitlines()])))
    if not isinstance(data, Iterable):
        raise TypeError(f"found {type(data).__name__}, expected words, a text, a sentence, a corpus, or several")
    return _of_several(list(data), label)


def _of_several(several: list[Any], label: Callable[[Sequence[Sentence]], list[Sentence]]) -> list[Any]:
    """See `Tagger.tag`, for a list; sentences in it are labelled together."""
    if several and all(isinstance(each, str) and not re.search(r"\s", each) for each in several):
        return _labels(label([Sentence(tuple(several))])[0])
    if all(isinstance(each, (list, tuple)) for each in several):
        return [_labels(each) for each in label([Sentence(tuple(words)) for words in several])]
    if all(isinstance(each, Sentence) for each in several):
        return label(several)
    return [_each(each, label) for each in several]


def _labels(sentence: Sentence) -> list[str]:
    [layer] = sentence.layers.values()
    return [candidates[0] for candidates in layer if candidates]
