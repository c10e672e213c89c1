"""An epoch of a network beside a plain loop of PyTorch: `python -m benchmarks.networks`.

The network is that of `pretrained`, in build/minilm. Both train it alone, without features, on the same batches of
CoNLL-2003, with one thread: tagweave with the loss of a CRF, the loop with cross-entropy. Each is a process of its own,
`python -m benchmarks.networks tagweave|loop`, which prints a JSON object on its last line.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.pretrained import NETWORK
from benchmarks.processes import measured
from tagweave.features.lookups import Lookups
from tagweave.features.subwords import Subwords
from tagweave.features.templates import Templates
from tagweave.models.network import read
from tagweave.models.objective import ChainObjective
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

SENTENCES, EPOCHS = 400, 3
PROGRAMS = ("tagweave", "loop")


def epoch_of_tagweave(recipe: Recipe, objective: ChainObjective, weights: Any) -> Callable[[int], None]:
    """Return a function that trains the network for an epoch."""
    trainer = recipe.trainer()
    state = trainer.start(objective, weights)
    return lambda _: trainer.step(objective, state)


def epoch_of_a_loop(recipe: Recipe, objective: ChainObjective) -> Callable[[int], None]:
    """Return a function that trains the network for an epoch as examples of PyTorch do."""
    import torch
    from transformers import AutoModel

    torch.set_num_threads(1)
    subwords, batch = recipe.lookups.subwords, recipe.trainer().batch
    network = AutoModel.from_pretrained(str(NETWORK)).train()
    network.embeddings.word_embeddings.requires_grad_(False)
    head = torch.nn.Linear(network.config.hidden_size, len(objective.parameters.space))
    parameters = [weight for weight in (*network.parameters(), *head.parameters()) if weight.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4)

    def epoch(number: int) -> None:
        encoded = objective.shuffled(objective.order(0, number, batch)).encoded
        for first in range(0, len(encoded), batch):
            last = min(len(encoded), first + batch)
            reading = read(encoded, first, last, subwords)
            mask = torch.from_numpy(reading.mask.astype(np.int64))
            states = network(input_ids=torch.from_numpy(reading.pieces), attention_mask=mask).last_hidden_state
            scores = head(states.flatten(0, 1)[torch.from_numpy(reading.first_piece)])
            sets = encoded.evidence.sets[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
            gold = encoded.evidence.rows.masks.argmax(axis=1)[sets]
            torch.nn.functional.cross_entropy(scores, torch.from_numpy(gold)).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()

    return epoch


def run(program: str) -> dict[str, float]:
    """Return seconds of the fastest epoch after the first, and the peak of memory in MB."""
    corpus = tw.load(str(corpora_folder() / "en" / "conll2003" / "train.txt"))
    recipe = Recipe(Task("spans"), Templates(()), "adamw", lookups=Lookups(subwords=Subwords.of_folder(str(NETWORK))))
    problem = prepare([corpus.with_sentences(corpus.sentences[:SENTENCES])], recipe)
    is_ours = program == "tagweave"
    objective = problem.objective
    epoch = (
        epoch_of_tagweave(recipe, objective, problem.model.weights) if is_ours else epoch_of_a_loop(recipe, objective)
    )
    seconds = []
    for number in range(EPOCHS):
        begin = time.process_time()
        epoch(number)
        seconds.append(time.process_time() - begin)
    return {"seconds": min(seconds[1:]), "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    programs = list(sys.argv[1:] if words is None else words)
    if programs:
        print(json.dumps(run(programs[0])))
        return
    for name in (*PROGRAMS, *PROGRAMS):
        print(name, measured("networks", name))


if __name__ == "__main__":
    main()
