"""Words as a structure: the annotation of a sentence is its labels B, M, E, S, a line the lengths of its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.jiang_2015 import word_lines
from reproductions.jiang_2015.structure import Lines, Measure
from reproductions.lab.cache import Result
from reproductions.lab.words import segmented, word_counts
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import f_of_counts
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.training.cascades.chain_system import ChainSystem, Labels
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe


@dataclass(frozen=True)
class Words:
    """As `reproductions.jiang_2015.structure.Structure`; the recipe is of every training."""

    recipe: Recipe
    name: str = "words"
    unit: str = "characters"
    least_change: float = 0.1

    @property
    def measures(self) -> Mapping[str, Measure]:
        """F of words."""
        return {"": Measure(word_counts, f_of_counts)}

    def of_seed(self, seed: int, threads: int = 1) -> Words:
        """With this order of sentences."""
        recipe = replace(self.recipe, settings={**self.recipe.settings, "seed": seed}, threads=threads)
        return replace(self, recipe=recipe)

    def description(self) -> Result:
        """The recipe without its threads."""
        return {name: value for name, value in self.recipe.to_json().items() if name != "threads"}

    def told(self) -> Result:
        """The learner, its settings, and the kind of guide features."""
        return {"learner": self.recipe.learner, "guide features": self.recipe.guide, **self.recipe.settings}

    def fit(self, corpora: Sequence[Corpus], dev: Corpus, run: Run = SILENT) -> Fitted:
        """An ordinary segmenter."""
        return fit(corpora, self.recipe, dev, run)

    def fit_guided(self, corpus: Corpus, guide: ChainModel, dev: Corpus, run: Run = SILENT) -> Fitted:
        """A segmenter with a guide."""
        return fit_guided([corpus], guide, self.recipe, dev, run)

    def system(self, run: Run = SILENT) -> ChainSystem:
        """Chains."""
        return ChainSystem(self.recipe, run)

    def sizes(self, model: ChainModel) -> Result:
        """Labels and weights."""
        return {"labels": len(model.parameters.space), "weights": len(model.weights)}

    def save(self, model: ChainModel, path: Any) -> None:
        """As `save_model`."""
        save_model(model, path)

    def load(self, path: Any) -> ChainModel:
        """As `load_model`."""
        return load_model(path, ChainModel)

    def found(self, model: ChainModel, corpus: Corpus, threads: int = 1) -> list[str]:
        """The words of the text."""
        return segmented(model, corpus, threads)

    def decoder(self, model: ChainModel, corpus: Corpus) -> Callable[[], None]:
        """From the characters of the sentences to labels."""
        raw, tagger = [Sentence(tuple("".join(sentence.forms))) for sentence in corpus], ChainPredictor(model)

        def decode() -> None:
            for _ in tagger.tag(raw):
                pass

        return decode

    def length(self, corpus: Corpus) -> int:
        """Characters."""
        return sum(len(form) for sentence in corpus for form in sentence.forms)

    def of_corpus(self, corpus: Corpus) -> list[str]:
        """The lengths of its words."""
        return word_lines.of_words(corpus)

    def of_annotations(self, annotations: Iterable[Labels]) -> list[str]:
        """The lengths of the words that labels spell."""
        return word_lines.of_labels(annotations)

    def annotations(self, lines: Iterable[str]) -> list[Labels]:
        """The labels of the characters."""
        return word_lines.labels(lines)

    def corpus(self, text: Corpus, lines: Lines, guideline: str) -> Corpus:
        """The text in words of these lengths."""
        return word_lines.cut(text, lines, guideline)

    def kinds(self, gold: Corpus) -> list[str]:
        """The tags of the words."""
        layers = [sentence.layers.get(gold.guideline, (None,) * len(sentence)) for sentence in gold]
        return [each[0] if each else "" for each in chain.from_iterable(layers)]

    def right(self, gold: Corpus, lines: Lines) -> NDArray[np.bool_]:
        """Which words have both their ends."""
        return word_lines.right(gold, lines)
