"""Models of the levels of a stack, from sentences whose columns have what the levels below say of them.

Since all these answers are in columns, no model below is asked, and none is needed: in its place stands a `silent`
tagger, which has been trained on nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reproductions.lab.cache import Result
from reproductions.lab.cell import costs, finished
from reproductions.lab.tagged_words import Labels, answer
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run
from tagweave.models.cascades import guide_column
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.cascades.jackknife import in_characters
from tagweave.training.cascades.subword import fit_pieces
from tagweave.training.fit.chain_problem import prepare, prepare_corpora
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe

Columns = Mapping[str, Labels]
"""By the name of a guideline, the labels of the characters of a corpus."""
Shown = Mapping[str, tuple[Corpus, Columns]]
"""By a name, texts as corpora of words, and what a model is shown of each beside its characters."""


@dataclass(frozen=True)
class Trainer:
    """How models are fitted: arguments of `tagweave.training.fit.fit`."""

    recipe: Recipe
    run: Run

    def characters(self, corpora: Sequence[Corpus]) -> Fitted:
        """A tagger of characters (4.2), from corpora of words."""
        return fit(corpora, self.recipe, None, self.run)

    def guided(self, target: Corpus, columns: Columns) -> Fitted:
        """Feature stacking (4.3): one column, of the source guideline."""
        (source,) = columns
        shown = with_columns(target, columns)
        return fit_guided([shown], self._silent(target, source), self.recipe, None, self.run)

    def pieces(self, corpora: Sequence[tuple[Corpus, Columns]]) -> Fitted:
        """Sub-word tagging (4.4): columns of the target guideline and, after it, of the source."""
        shown = prepare_corpora([with_columns(corpus, columns) for corpus, columns in corpora], self.recipe)
        example, columns = corpora[0]
        taggers = [self._silent(example, guideline) for guideline in columns]
        return fit_pieces(shown, taggers, self.recipe, None, self.run)

    def _silent(self, corpus: Corpus, guideline: str) -> ChainModel:
        """A model of a guideline that is never asked; the labels that it knows do not matter."""
        (first,) = corpus.sentences[:1]
        renamed = Sentence(first.forms, {guideline: first.layers[corpus.guideline]})
        return prepare([Corpus((renamed,), guideline)], self.recipe).model


def trained(train: Callable[[], Fitted], shown: Callable[[], Shown], threads: int = 1) -> Result:
    """Train a model, and keep what it says of texts in its place.

    Returns:
        `labels` and `weights` (how many), `history` (the loss of every iteration), `seconds` (of training and of
        labelling); by the name of every text, what `answers` gives.

    Raises:
        KeyboardInterrupt: the user stopped the training.
    """
    fitted = finished(train())
    model, begin = fitted.model, time.perf_counter()
    found = {name: answers(model, text, columns, threads) for name, (text, columns) in shown().items()}
    seconds = fitted.outcome.history[-1].seconds + time.perf_counter() - begin
    return {
        "history": [iteration.loss for iteration in fitted.outcome.history],
        **costs(fitted, seconds),
        **found,
    }


def with_columns(words: Corpus, columns: Columns) -> Corpus:
    """A corpus of words as one of characters that has columns of labels."""
    characters = in_characters(words)
    for guideline, labels in columns.items():
        pairs = zip(characters, labels, strict=True)
        characters = characters.with_sentences(each.with_column(guide_column(guideline), own) for each, own in pairs)
    return characters


def answers(model: ChainModel, text: Corpus, columns: Columns, threads: int = 1) -> list[str]:
    """The words and tags that a model finds in the text of a corpus of words, given the columns alone."""
    tagger = ChainPredictor(model, threads)
    shown = [Sentence(each.forms, columns=each.columns) for each in with_columns(text, columns)]
    return [answer(tagger.words(sentence), tagger.guideline) for sentence in tagger.tag(shown)]
