"""Retraining a segmenter of one domain with partial annotation of another (tsuboi-2008, section 5.1).

| treatment | unknown characters |
|---|---|
| `marginal` | stay unknown: marginal likelihood |
| `argmax` | get their most probable labels under the model of the source domain, given what is known |
| `pointwise` | are ignored: labels do not depend on their neighbours |

The corpus of the source domain is always part of the training data, as in the paper.
"""

from __future__ import annotations

from dataclasses import replace

from tagweave.corpus.corpus import Corpus
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe

TREATMENTS = ("marginal", "argmax", "pointwise")
"""How to treat the characters that were not annotated."""


def retrained(
    treatment: str,
    model: ChainModel,
    source: Corpus,
    annotated: Corpus,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> ChainModel:
    """A model of the source corpus and of partially annotated sentences of characters.

    Args:
        treatment: one of `TREATMENTS`.
        model: the model of the source domain; fills in labels for `argmax`, and has the lexicon that templates use.
        source: the corpus of the source domain.
        annotated: a corpus of characters under the guideline of `source`; may be empty.
        recipe: how to train.
        dev, run: as for `fit`.

    Raises:
        ValueError: an unknown treatment.
        CorpusError: as `fit`.
        KeyboardInterrupt: the user stopped the training.
    """
    if treatment not in TREATMENTS:
        raise ValueError(f"unknown treatment {treatment!r}, expected one of {', '.join(TREATMENTS)}")
    corpora = [source, *([annotated] if len(annotated) else [])]
    if treatment == "pointwise":
        recipe = replace(recipe, transitions=False, edges=False)
    elif treatment == "argmax":
        corpora = [source, *(completed(model, corpus, recipe) for corpus in corpora[1:])]
    fitted = fit(corpora, replace(recipe, lookups=_lookups(model, recipe)), dev, run)
    trained: ChainModel = fitted.finished_model()
    return trained


def _lookups(model: ChainModel, recipe: Recipe) -> Lookups:
    """The words of the model's lexicon, if the recipe has templates that use one."""
    encoder = model.encoder
    if not isinstance(encoder, TemplateEncoder) or not recipe.chosen_templates().lexicon_columns:
        return NOTHING
    return Lookups(words=encoder.lookups.words)


def completed(model: ChainModel, annotated: Corpus, recipe: Recipe) -> Corpus:
    """Partially annotated sentences of characters, completed to words by a segmenter."""
    tagger = ChainPredictor(model, recipe.threads)
    guideline = tagger.guideline
    coded = recipe.task.prepare(annotated)
    renamed = coded.map(lambda s: replace(s, layers={guideline: s.layers[coded.guideline]}))
    done = tagger.complete(replace(renamed, guideline=guideline))
    return Corpus(tuple(map(tagger.words, done)), annotated.guideline, "word")
