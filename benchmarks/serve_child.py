"""What `benchmarks.serve` runs in processes of their own: a server, and the training of spaCy's tagger.

`python -m benchmarks.serve_child tagweave|spacy MODEL WORKERS [--alone]` is a server, which prints its address on
standard error; `python -m benchmarks.serve_child train TRAIN TEST MODEL EPOCHS` trains, and prints JSON. spaCy's blank
English pipeline stands behind the same application as tagweave's models: the same batches over connections, the same
JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from starlette.applications import Starlette

from tagweave.corpus.load import load
from tagweave.serve import batches
from tagweave.serve.app import application_of
from tagweave.serve.batches import Batches, Metrics
from tagweave.serve.requests import NO_LEVEL, Item, Level, TextResult
from tagweave.serve.serving import run
from tagweave.serve.settings import Limits, ServerSettings
from tagweave.serve.site import ServerSite
from tagweave.web import listening, processes, server

_BATCH = 1_000  # texts at a time in `nlp.pipe`


class SpacyModels:
    """A pipeline in the place of tagweave's models."""

    def __init__(self, path: str) -> None:
        import spacy

        self.nlp = spacy.load(path)
        self.name = self.version = "spacy"
        self.model = SimpleNamespace(guidelines=("upos",))
        self.operations = {"tag": self}
        self.results(["Warm."])

    def that_can(self, _operation: str, _name: str | None = None) -> SpacyModels:
        return self

    def refresh(self) -> None:
        pass

    def results(
        self, items: Sequence[Item], _probabilities: bool | str = False, _level: Level = NO_LEVEL
    ) -> list[TextResult]:
        texts = [each for each in items if isinstance(each, str)]
        return [_result(doc) for doc in self.nlp.pipe(texts, batch_size=_BATCH)]


def _result(doc: Any) -> TextResult:
    tokens = [each for each in doc if not each.is_space]
    return TextResult(
        tokens=[each.text for each in tokens],
        sentences=[(0, len(tokens))],
        offsets=[(each.idx, each.idx + len(each)) for each in tokens],
        labels=[each.tag_ for each in tokens],
    )


def application(path: str) -> Starlette:
    """The application of tagweave's server, with a pipeline behind it."""
    models: Any = SpacyModels(path)
    settings, metrics = ServerSettings((("spacy", path),)), Metrics()
    return application_of(ServerSite(settings, models, Batches(models, settings.limits, metrics), metrics))


def train(corpus: str, test: str, path: str, epochs: int) -> dict[str, float]:
    """Train a tagger, and save its pipeline; its accuracy on tokens as they are given, and seconds."""
    import spacy
    from spacy.training import Example
    from spacy.util import minibatch

    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("tagger")

    def examples(name: str) -> list[Any]:
        return [
            Example.from_dict(
                _doc(nlp, each.forms), {"tags": [tags[0] if tags else "" for tags in each.layers["upos"]]}
            )
            for each in load(f"{name}#upos").sentences
        ]

    given, begin, random_order = examples(corpus), time.perf_counter(), random.Random(0)
    nlp.initialize(lambda: given)
    for _ in range(epochs):
        random_order.shuffle(given)
        for batch in minibatch(given, size=64):
            nlp.update(batch)
    seconds = time.perf_counter() - begin
    nlp.to_disk(path)
    right = total = 0
    for each in examples(test):
        found = tagger(_doc(nlp, [token.text for token in each.reference]))
        right += sum(one.tag_ == other.tag_ for one, other in zip(found, each.reference, strict=True))
        total += len(found)
    return {"accuracy": right / total, "training": seconds}


def _doc(nlp: Any, forms: Sequence[str]) -> Any:
    from spacy.tokens import Doc

    return Doc(nlp.vocab, words=list(forms))


def serve(program: str, model: str, workers: int, alone: bool) -> None:
    """Serve a model; `alone` computes every request for itself, of one worker."""

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if alone:
        batches._ITEMS = 0
    if program == "tagweave":
        run(ServerSettings((("model", model),)), "127.0.0.1", 0, workers, tell)
        return
    make = partial(application, model)
    with listening("127.0.0.1", 0) as (opened, address):
        tell(address)
        if workers == 1:
            server(make(), patience=Limits().seconds).run([opened])
        else:
            processes(make, workers, [opened], Limits().seconds).run()


def main() -> None:
    what, *words = sys.argv[1:]
    if what == "train":
        corpus, test, model, epochs = words
        print(json.dumps(train(corpus, test, model, int(epochs))))
    else:
        model, workers, *more = words
        serve(what, model, int(workers), "--alone" in more)


if __name__ == "__main__":
    main()
