"""spaCy's blank English pipeline with a tagger: trained on the sentences that tagweave's is trained on, and served.

`python -m benchmarks.serve_spacy TRAIN TEST MODEL EPOCHS` trains, and prints JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from starlette.applications import Starlette

from tagweave.corpus.load import load
from tagweave.serve.app import application_of
from tagweave.serve.batches import Batches, Metrics
from tagweave.serve.requests import Item, TextResult
from tagweave.serve.settings import ServerSettings
from tagweave.serve.site import ServerSite

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

    def results(self, items: Sequence[Item], _probabilities: bool | str = False) -> list[TextResult]:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("train", "test", "model"):
        parser.add_argument(name)
    parser.add_argument("epochs", type=int)
    options = parser.parse_args()
    print(json.dumps(train(options.train, options.test, options.model, options.epochs)))


if __name__ == "__main__":
    main()
