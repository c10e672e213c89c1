"""A segmenter of one domain trained again, with partial annotation of another (tsuboi-2008, section 5.1).

| treatment | what is unknown |
|---|---|
| `marginal` | stays unknown: marginal likelihood |
| `argmax` | gets its most probable labels under the model of the source domain, given what is known |
| `pointwise` | is ignored: labels do not depend on their neighbours |

The corpus of the source domain is always part of the training data, as in the paper.
"""

from __future__ import annotations

from dataclasses import replace

from tagweave.corpus.corpus import Corpus
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.tagger import Tagger
from tagweave.training.fit import fit
from tagweave.training.incomplete import treated
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

TREATMENTS = ("marginal", "argmax", "pointwise")
"""What may be done about the characters that were not annotated."""


def recipe_of(model: ChainModel, seed: int | None = None, threads: int = 1) -> Recipe:
    """The recipe by which a model was trained, on all sentences; with another seed, if its learner has one.

    Raises:
        ValueError: the model does not tell.
    """
    told = model.about.get("recipe")
    if not isinstance(told, dict):
        raise ValueError("found a model that does not tell its recipe, expected one of `tagweave train`")
    try:
        recipe = Recipe(**{**told, "task": Task(**told["task"]), "templates": Templates(tuple(told["templates"]))})
    except (KeyError, TypeError) as error:
        raise ValueError(f"found a recipe that cannot be read ({error}), expected one of `tagweave train`") from error
    settings = recipe.settings if seed is None or "seed" not in recipe.settings else {**recipe.settings, "seed": seed}
    return replace(recipe, settings=settings, threads=threads, sample=())


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
        model: of the source domain; it fills in what `argmax` needs, and has the words that templates look for.
        source: the corpus of the source domain.
        annotated: of characters, under the guideline of `source`; may be empty.
        recipe: how.
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
        _, recipe = treated("pointwise", corpora, recipe)
    elif treatment == "argmax":
        corpora = [source, *(completed(model, corpus, recipe) for corpus in corpora[1:])]
    fitted = fit(corpora, recipe, dev, run, _words(model, recipe))
    if fitted.outcome.interrupted:
        raise KeyboardInterrupt
    return fitted.model


def _words(model: ChainModel, recipe: Recipe) -> tuple[str, ...]:
    """The words of the model's lexicon, if the recipe has templates that look for some."""
    encoder = model.encoder
    if not isinstance(encoder, TemplateEncoder) or not recipe.chosen_templates().lexicon_columns:
        return ()
    return encoder.lexicon.words


def completed(model: ChainModel, annotated: Corpus, recipe: Recipe) -> Corpus:
    """Partially annotated sentences of characters as whole words, those most probable under a model that segments."""
    tagger = Tagger(model, recipe.threads)
    guideline = tagger.guideline
    coded = recipe.task.prepare(annotated)
    renamed = coded.map(lambda s: replace(s, layers={guideline: s.layers[coded.guideline]}))
    done = tagger.complete(replace(renamed, guideline=guideline))
    return Corpus(tuple(map(tagger.words, done)), annotated.guideline, "word")
