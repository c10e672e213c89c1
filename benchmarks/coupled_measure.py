"""One measurement of coupled training in a process of its own: prints a JSON object on its last line.

python -m benchmarks.coupled_measure pairs FILE [--tokens N]            write the pairs of tags that meet
python -m benchmarks.coupled_measure plain|BUNDLES FILE [options]       time passes; 0 bundles: all pairs of tags
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import replace
from typing import Any

from benchmarks.characters import corpora_folder
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.features.templates import PRESETS
from tagweave.labels.mapping import TagMapping, read_mapping, write_mapping
from tagweave.learning.online import AdaGrad
from tagweave.learning.run import Run, Schedule
from tagweave.training.coupled import Coupling, automatic_mapping, for_bundles, prepare_coupled
from tagweave.training.fit import Problem, fit, prepare
from tagweave.training.pruning import fit_pruning
from tagweave.training.recipe import Recipe

PLAIN = "plain"
_LABELLED = 200_000  # tokens of the source that are labelled to count pairs


def training(guideline: str, tokens: int) -> Corpus:
    """Sentences of a corpus with all its tags: the first with each tag, then the first ones, up to about `tokens`."""
    name = {"ctb": "zx", "pd": "pd199801"}[guideline]
    return with_all_tags(load(f"{guideline}={corpora_folder() / 'zh' / name / 'train.txt'}"), tokens)


def with_all_tags(corpus: Corpus, tokens: int) -> Corpus:
    """As `training`, of any corpus."""
    seen: set[str] = set()
    first = []
    for number, sentence in enumerate(corpus):
        tags = {tag for candidates in sentence.layers[corpus.guideline] for tag in candidates or ()}
        if not tags <= seen:
            first.append(number)
            seen |= tags
    order = [*first, *sorted(set(range(len(corpus))) - set(first))]
    taken, count = [], 0
    for number in order:
        if count >= tokens and len(taken) >= len(first):
            break
        taken.append(number)
        count += len(corpus[number])
    return corpus.with_sentences(corpus[number] for number in sorted(taken))


def count_pairs(tokens: int) -> TagMapping:
    """The pairs of tags that meet when a tagger of the target labels text of the source."""
    model = fit([training("ctb", tokens)], Recipe(templates=PRESETS["li-2015"]), None, Run(Schedule(5))).model
    return automatic_mapping(model, [training("pd", _LABELLED)])


def most_frequent(counted: TagMapping, size: int) -> TagMapping:
    """So many pairs, the most frequent ones; those that are the most frequent of one of their tags come first.

    So every tag has a partner, and there are as many bundles as pairs.
    """
    best = counted.tight(1e-9).counts
    order = sorted(counted.counts, key=lambda pair: (pair not in best, -counted.counts[pair], pair))
    kept = order[: max(size, len(best))]
    return TagMapping(counted.first, counted.second, {pair: counted.counts[pair] for pair in kept})


def problem(size: str, pairs: str, tokens: int, threads: int, prune: float | None = None) -> Problem:
    """The training data of one measurement, made ready."""
    recipe = Recipe(templates=PRESETS["li-2015"], threads=threads)
    if size == PLAIN:
        return prepare([training("pd", tokens)], recipe)
    coupling = Coupling((most_frequent(read_mapping(pairs), int(size)),) if int(size) else ())
    corpora = [training(name, tokens // 2) for name in ("ctb", "pd")]
    if prune is None:
        return prepare_coupled(corpora, recipe, coupling)
    pruning = fit_pruning([held_out(corpus) for corpus in corpora], recipe, prune)
    return prepare_coupled(corpora, recipe, coupling, pruning)


def held_out(corpus: Corpus) -> Corpus:
    """Other sentences of the same guideline, for a tagger that is to say what is likely in these."""
    known = {sentence.forms for sentence in corpus}
    return training(corpus.guideline, _LABELLED).map(lambda s: s if s.forms not in known else replace(s, layers={}))


def passes(made: Problem, count: int) -> dict[str, Any]:
    """The fastest of some passes over the training data, after one that compiles and makes room."""
    labels = len(made.model.space)
    recipe = for_bundles(Recipe(), labels) if len(made.model.space.views) > 1 else Recipe()
    trainer, times, candidates = recipe.trainer(), [], made.objective.encoded.evidence.candidates
    state = trainer.start(made.objective, made.model.weights)
    for _ in range(1 + count):
        begin = time.perf_counter()
        trainer.step(made.objective, state)
        times.append(time.perf_counter() - begin)
    tokens = int(made.objective.encoded.sentence_ptr[-1])
    return {
        "labels": labels,
        "batch": recipe.settings.get("batch", AdaGrad.batch),
        "in_scope": labels if candidates is None else len(candidates.labels) / tokens,
        "weights": made.objective.size,
        "tokens": tokens,
        "seconds": times[1:],
        "tokens_per_second": tokens / min(times[1:]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size")
    parser.add_argument("pairs")
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--prune", type=float)
    options = parser.parse_args()
    if options.size == "pairs":
        write_mapping(count_pairs(options.tokens), options.pairs)
        result: dict[str, Any] = {}
    else:
        made = problem(options.size, options.pairs, options.tokens, options.threads, options.prune)
        result = passes(made, options.passes)
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main()
