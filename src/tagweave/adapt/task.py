"""Tasks: what the tokens and the labels of a corpus are for a model.

| task | tokens | labels |
|---|---|---|
| `tag` | the words of the corpus | the tags of its layer |
| `segment` | characters | the words, in a word coding |
| `segtag` | characters | the words and their tags, in a word coding |
"""

from __future__ import annotations

from dataclasses import dataclass

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.labels.coding import CODINGS, SEGMENTATION, recode, to_characters

TASKS = ("tag", "segment", "segtag")
TAGS = "tag"
"""The layer of a corpus of characters that gives the tags of its words."""


@dataclass(frozen=True)
class Task:
    """A task and, for characters, the word coding.

    Raises:
        ValueError: an unknown task or coding.
    """

    name: str = "tag"
    coding: str = "BMES"

    def __post_init__(self) -> None:
        if self.name not in TASKS:
            raise ValueError(f"unknown task {self.name!r}, expected one of {', '.join(TASKS)}")
        if self.coding not in CODINGS:
            raise ValueError(f"unknown coding {self.coding!r}, expected one of {', '.join(CODINGS)}")

    @property
    def of_characters(self) -> bool:
        """Whether tokens are characters."""
        return self.name != "tag"

    def prepare(self, corpus: Corpus) -> Corpus:
        """The corpus as sentences of the task's tokens, with its labels in the layer of its guideline.

        Raises:
            CorpusError: a corpus of characters where words are needed, or of words without tags.
        """
        if not self.of_characters:
            if corpus.unit == "character":
                raise CorpusError("a corpus of characters", "words, for the task tag", corpus.path)
            return corpus
        convert = self._from_characters if corpus.unit == "character" else self._from_words
        sentences = tuple(convert(sentence, corpus.guideline) for sentence in corpus.sentences)
        return Corpus(sentences, corpus.guideline, "character", None, corpus.path, corpus.weight)

    def _from_words(self, sentence: Sentence, guideline: str) -> Sentence:
        if self.name == "segment":
            return to_characters(sentence, guideline, self.coding)
        if guideline not in sentence.layers:
            raise CorpusError("words without tags", f"a layer {guideline!r}, for the task segtag", *sentence.place)
        return to_characters(sentence, guideline, self.coding, guideline)

    def _from_characters(self, sentence: Sentence, guideline: str) -> Sentence:
        if not sentence.layers:
            return sentence.with_layer(guideline, (None,) * len(sentence))
        segmentation = guideline if guideline in sentence.layers else SEGMENTATION
        source = sentence.with_layer(SEGMENTATION, sentence.layers[segmentation])
        coded = recode(source, guideline, self.coding, TAGS if self.name == "segtag" else None)
        return Sentence(coded.forms, {guideline: coded.layers[guideline]}, weight=coded.weight, place=coded.place)
