"""Trees as a structure: the annotation of a sentence is its arcs, a line their heads and relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.jiang_2015 import tree_lines
from reproductions.jiang_2015.structure import Lines, Measure
from reproductions.lab.cache import Result
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import share_of_counts
from tagweave.learning.run import SILENT, Run
from tagweave.models.storage import load_model, save_model
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.training.cascades import tree_system as systems
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.cascades.tree_system import Tree
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.tree_problem import tag_layers


@dataclass(frozen=True)
class Trees:
    """As `reproductions.jiang_2015.structure.Structure`; the recipe, with templates, is of every training."""

    recipe: Recipe
    name: str = "trees"
    unit: str = "words"
    least_change: float = 0.5

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Unlabelled attachment over all tokens."""
        return {"": Measure(tree_lines.counts, share_of_counts)}

    def of_seed(self, seed: int, threads: int = 1) -> Trees:
        """With this order of sentences."""
        recipe = replace(self.recipe, settings={**self.recipe.settings, "seed": seed}, threads=threads)
        return replace(self, recipe=recipe)

    def description(self) -> Result:
        """The recipe without its threads."""
        return {name: value for name, value in self.recipe.to_json().items() if name != "threads"}

    def told(self) -> Result:
        """The learner, its settings, and the size of the table of weights."""
        return {"learner": self.recipe.learner, "rows of weights": 1 << self.recipe.bits, **self.recipe.settings}

    def fit(self, corpora: Sequence[Corpus], dev: Corpus, run: Run = SILENT) -> Fitted:
        """An ordinary parser."""
        return fit(corpora, self.recipe, dev, run)

    def fit_guided(self, corpus: Corpus, guide: TreeModel, dev: Corpus, run: Run = SILENT) -> Fitted:
        """A parser with a guide."""
        return fit_guided([corpus], guide, self.recipe, dev, run)

    def system(self, run: Run = SILENT) -> systems.TreeSystem:
        """Parsers."""
        return systems.TreeSystem(self.recipe, run)

    def sizes(self, model: TreeModel) -> Result:
        """Relations and weights."""
        labels = 0 if model.labels is None else len(model.labels.names)
        return {"labels": labels, "weights": len(model.weights)}

    def save(self, model: TreeModel, path: Any) -> None:
        """As `save_model`."""
        save_model(model, path)

    def load(self, path: Any) -> TreeModel:
        """As `load_model`."""
        return load_model(path, TreeModel)

    def found(self, model: TreeModel, corpus: Corpus, threads: int = 1) -> list[str]:
        """The trees of the text."""
        parsed = TreePredictor(model, threads).parse(_raw(corpus))
        return tree_lines.of_corpus(Corpus(tuple(parsed), model.guideline))

    def decoder(self, model: TreeModel, corpus: Corpus) -> Callable[[], None]:
        """From tagged sentences to trees."""
        raw, parser = _raw(corpus), TreePredictor(model)

        def decode() -> None:
            for _ in parser.parse(raw):
                pass

        return decode

    def length(self, corpus: Corpus) -> int:
        """Tokens."""
        return corpus.tokens()

    def of_corpus(self, corpus: Corpus) -> list[str]:
        """Its trees."""
        return tree_lines.of_corpus(corpus)

    def of_annotations(self, annotations: Iterable[Tree]) -> list[str]:
        """The lines of trees."""
        return tree_lines.of_trees(annotations)

    def annotations(self, lines: Iterable[str]) -> list[Tree]:
        """The trees of lines."""
        return tree_lines.trees(lines)

    def corpus(self, text: Corpus, lines: Lines, guideline: str) -> Corpus:
        """The text with the trees of lines."""
        return tree_lines.with_trees(text, lines, guideline)

    def kinds(self, gold: Corpus) -> list[str]:
        """The tags of both ends of the arcs."""
        return tree_lines.tag_pairs(gold, tag_layers(gold.sentences)[0])

    def right(self, gold: Corpus, lines: Lines) -> NDArray[np.bool_]:
        """Which tokens have their head."""
        return tree_lines.right(gold, lines)


def _raw(corpus: Corpus) -> list[Sentence]:
    """The sentences without their trees."""
    return [replace(sentence, heads={}) for sentence in corpus]
