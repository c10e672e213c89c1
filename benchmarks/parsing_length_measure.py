"""The cost of sentences of one length, in a process of its own: prints a JSON object on its last line.

python -m benchmarks.parsing_length_measure MODEL TREEBANK LENGTH --tokens N

Times are of the processor, of one thread.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.parsing_measure import peak_megabytes, seconds
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.models.arc_scorer import ArcBatch
from tagweave.models.batches import batch_bounds
from tagweave.models.storage import load_model
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.models.tree_objective import TreeObjective
from tagweave.structures.tree import Tree
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


def of_length(sentences: Sequence[Sentence], length: int, tokens: int) -> list[Sentence]:
    """As many sentences of a length as `tokens` make, of the running tokens of others: these are put together, or cut.

    Layers and columns are those that all have; there are no heads.
    """
    count, usable = tokens // length, [sentence for sentence in sentences if len(sentence)]
    forms = _runs((s.forms for s in usable), length, count)
    layers = {name: _runs((s.layers[name] for s in usable), length, count) for name in _common(usable, "layers")}
    columns = {name: _runs((s.columns[name] for s in usable), length, count) for name in _common(usable, "columns")}
    return [
        Sentence(own, {name: runs[at] for name, runs in layers.items()}, {name: r[at] for name, r in columns.items()})
        for at, own in enumerate(forms)
    ]


def _runs(parts: Iterator[tuple[Any, ...]], length: int, count: int) -> list[tuple[Any, ...]]:
    """The first tuples of a length of running values; from the beginning again, where there are too few."""
    values = list(chain.from_iterable(parts))
    values *= -(-length * count // len(values))
    return [tuple(values[at * length : (at + 1) * length]) for at in range(count)]


def _common(sentences: Sequence[Sentence], what: str) -> list[str]:
    return sorted(set.intersection(*(set(getattr(sentence, what)) for sentence in sentences)))


def parsing(model: TreeModel, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Seconds of parsing, from sentences to sentences, of Eisner's algorithm in it, and the memory."""
    parser = TreePredictor(model)
    whole = seconds(lambda: list(parser.parse(sentences)))
    peak = peak_megabytes()
    best = over_arcs(model, sentences, lambda scores, batch: Tree(model.single_root).best(scores, batch))
    return {"parsing": whole, "best_tree": best, "parsing_megabytes": peak}


def training(model: TreeModel, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Seconds of a pass of the default learner, of inside-outside in it, and the memory.

    The trees to learn are those that the model finds: which ones they are does not matter to the time.
    """
    trees = list(TreePredictor(model).parse(sentences))
    objective = TreeObjective(model.parameters, encode_arcs(trees, model.parameters.templates, model.guideline))
    trainer = Recipe(Task("parse")).trainer()
    state = trainer.start(objective, model.weights)
    whole = seconds(lambda: trainer.step(objective, state))
    peak = peak_megabytes()
    inside = over_arcs(model, sentences, lambda scores, batch: Tree(model.single_root).sums(scores, batch))
    return {"training": whole, "inside_outside": inside, "training_megabytes": peak}


def over_arcs(model: TreeModel, sentences: Sequence[Sentence], run: Callable[[Any, ArcBatch], object]) -> float:
    """Seconds of what is done with the scores of arcs."""
    encoded = model.encode(sentences)
    batches = [model.parameters.batch(encoded, first, last) for first, last in batch_bounds(encoded)]
    scored = [(model.scoring.scores(batch), batch) for batch in batches]
    return seconds(lambda: [run(scores, batch) for scores, batch in scored])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("length", type=int)
    parser.add_argument("--tokens", type=int, required=True, help="in all sentences together")
    options = parser.parse_args()
    model = load_model(options.model)
    sentences = of_length(load(str(options.treebank)).sentences, options.length, options.tokens)
    result = {"length": options.length, "sentences": len(sentences)}
    print(json.dumps({**result, **parsing(model, sentences), **training(model, sentences)}))


if __name__ == "__main__":
    main()
