"""The cells of the experiments: one training run each. No text of a corpus is stored, only tags."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from reproductions.lab import cell as lab
from reproductions.lab.cache import Result
from reproductions.lab.cell import costs, finished
from reproductions.li_2015.mappings import mappings
from reproductions.li_2015.methods import BASELINE, CONVERTERS, Method
from reproductions.li_2015.pair import Pair, with_layers
from tagweave.conversion import convert
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.features.templates import PRESETS, Templates
from tagweave.labels.coding import as_layer
from tagweave.labels.mapping import TagMapping
from tagweave.learning.run import Run
from tagweave.models.cascades import labels_of
from tagweave.models.chain import ChainModel
from tagweave.training.cascades.coupled import Coupling, automatic_mapping, fit_coupled, with_share
from tagweave.training.cascades.guided import fit_stages, merged
from tagweave.training.cascades.pruning import Narrowing, fit_narrowing
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe

_TEMPLATES = Templates((*PRESETS["li-2015"].texts, *PRESETS["types"].texts))
"""Those of Table 1, and types, which words share that no training text has: for every system alike."""
_BATCH = {"batch": 16}
"""Of all but coupled models, which take the usual one for their labels."""


@dataclass(frozen=True)
class Cell(lab.Cell[Pair, Method]):
    """A method on a pair.

    Its result has `score` (on dev, of the chosen iteration), `history` (of every iteration), `labels` and `weights`
    (how many), `seconds`; `dev` and `test`, the tags of every sentence as one string. That of the baseline also has
    `pairs` (tags that meet when it labels the source corpus, with counts); that of a converter `converted`, the target
    tags of the source corpus, and `confidence`, how sure they are.
    """

    def description(self) -> Result:
        """What the result depends on."""
        pair, schedule = self.data, self.data.schedule
        return {
            "pair": pair.name,
            "texts": pair.digests,
            "sample": pair.sample,
            "budget": [schedule.iterations, schedule.patience],
            "templates": _TEMPLATES.texts,
            "method": asdict(self.method),
            "seed": self.seed,
        }

    def run(self) -> Result:
        """Train, and label."""
        begin, target = time.perf_counter(), self.data.target
        fitted = finished(self._fit())
        model = fitted.model
        return {
            "score": fitted.outcome.score,
            "history": [iteration.score for iteration in fitted.outcome.history],
            **costs(fitted, time.perf_counter() - begin),
            "dev": self._labelled(model, target.dev),
            "test": self._labelled(model, target.test),
            **self._more(model),
        }

    def _more(self, model: ChainModel) -> dict[str, Any]:
        """What other cells need of this one."""
        source = self.data.source.train
        if self.method == BASELINE:
            counts = automatic_mapping(model, [source], threads=self.threads).counts
            pairs = [[a, b, count] for (a, b), count in counts.items()]
            return {"pairs": pairs}
        if self.method.name in CONVERTERS:
            text = replace(source, guideline=self.data.target.train.guideline)
            converted = self._converted(model, text)
            confidence = [np.round(sentence.confidence or (), 4).tolist() for sentence in converted]
            return {"converted": _tags(converted), "confidence": confidence}
        return {}

    def _labelled(self, model: ChainModel, corpus: Corpus) -> list[str]:
        return _tags(self._converted(model, corpus))

    def _converted(self, model: ChainModel, corpus: Corpus) -> Corpus:
        """The corpus with the tags of its guideline, given all other layers."""
        source = self.data.source.train
        return convert(model, shown(corpus, source.guideline, tags_of(source)), corpus.guideline, self.threads)

    def _fit(self) -> Fitted:
        target, source, run = self.data.target, self.data.source, Run(self.data.schedule, self.callback)
        dev, recipe = with_layers(target.dev, target.dev.guideline), self.recipe()
        both = [target.train, source.train]
        alone = replace(recipe, sample=())
        match self.method.system:
            case "baseline":
                return fit([target.train], alone, dev, run)
            case "merged":
                return fit(merged([target.train], [source.train]), recipe, dev, run)
            case "two-stage":
                source_dev = with_layers(source.dev, source.dev.guideline)
                return fit_stages([target.train], [source.train], alone, dev, run, source_dev)
            case "coupled":
                narrowing = self._narrowing(both, recipe, dev)
                fitted = fit_coupled(both, recipe, self.coupling(narrowing), dev, run, None, narrowing)
                if self.method.guided and narrowing:
                    tagger = narrowing.taggers[source.train.guideline, dev.guideline]
                    fitted, _ = with_share(fitted, tagger, recipe, dev)
                return fitted
            case "converted":
                return fit([target.train, self.converted()], recipe, dev, run)
        raise ValueError(f"unknown system {self.method.system!r}")

    def _narrowing(self, corpora: list[Corpus], recipe: Recipe, dev: Corpus) -> Narrowing | None:
        """The taggers that narrow what the corpora lack, where the method is narrowed."""
        if not self.method.narrow:
            return None
        alone = replace(recipe, settings={**recipe.settings, **_BATCH}, average_seeds=1)
        return fit_narrowing(corpora, alone, self.method.narrow, dev, Run(self.data.schedule))

    def recipe(self) -> Recipe:
        """The features, AdaGrad, and the sentences that an iteration visits."""
        sample = self.data.sample
        settings = {"seed": self.seed, "initial": 1e-8, **({} if self.method.system == "coupled" else _BATCH)}
        return Recipe(
            templates=_TEMPLATES,
            settings=settings,
            sample=sample,
            threads=self.threads,
            average_seeds=self.method.average_seeds,
        )

    def coupling(self, narrowing: Narrowing | None = None) -> Coupling:
        """The mapping function, and the kinds of weights.

        The baseline of the same seed has a part in the mapping, or the tagger that narrows the source.
        """
        names = self.data.target.train.guideline, self.data.source.train.guideline
        if narrowing:
            counted = automatic_mapping(narrowing.taggers[names[::-1]], [self.data.source.train], threads=self.threads)
        else:
            pairs = replace(self, method=BASELINE).result()["pairs"]
            counted = TagMapping(*names, {(a, b): count for a, b, count in pairs})
        return Coupling(mappings(self.method.mapping, counted), self.method.joint, self.method.separate)

    def converted(self) -> Corpus:
        """The source corpus with the tags that the converter of the same seed gives it.

        Taken for certain, tags of which that model is not sure spoil what is learned from them.
        """
        told = replace(self, method=CONVERTERS[self.method.converter]).result()
        guideline, source = self.data.target.train.guideline, self.data.source.train
        layers: Iterator[Layer] = map(as_layer, map(str.split, told["converted"]))
        sentences = [replace(each, layers={guideline: own}) for each, own in zip(source, layers, strict=True)]
        pairs = zip(sentences, told["confidence"], strict=True)
        sentences = [replace(sentence, confidence=tuple(confidence)) for sentence, confidence in pairs]
        return replace(source, sentences=tuple(sentences), guideline=guideline)


def _tags(corpus: Corpus) -> list[str]:
    """The tags of every sentence as one string."""
    return [" ".join(labels_of(sentence, corpus.guideline)) for sentence in corpus]


cells = lab.cells_of(Cell)


def shown(corpus: Corpus, layer: str, known: frozenset[str]) -> Corpus:
    """The corpus with this layer alone, in which a tag that is not known is no knowledge.

    Half of a corpus may lack a tag that occurs once in the test data.
    """

    def step(sentence: Sentence) -> Sentence:
        given = sentence.layers.get(layer, (None,) * len(sentence))
        return sentence.with_layer(layer, (c if c and known.issuperset(c) else None for c in given))

    return with_layers(corpus, layer).map(step)


def tags_of(corpus: Corpus) -> frozenset[str]:
    """The tags that a corpus has."""
    layers = (sentence.layers[corpus.guideline] for sentence in corpus)
    return frozenset(tag for layer in layers for candidates in layer for tag in candidates or ())
