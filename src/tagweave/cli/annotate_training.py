"""Training beside the annotation server as the served model was trained: the words of `tagweave train`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave.cli.errors import OptionError, as_option_error

if TYPE_CHECKING:
    from tagweave.adapt.recipe import Recipe
    from tagweave.models.tagger import Tagger

_RUN = ("-c", "from tagweave.cli.main import main; main()")
_OF_METHODS = "mapping", "mapping-minimum", "views", "prune", "folds"
"""Options of methods for several guidelines, by whose names (but `minimum`) a model keeps what it was given."""


def command(tagger: Tagger, corpora: Sequence[str], annotated: str, model: str) -> tuple[str, ...]:
    """Trains by the recipe of a tagger's model, on corpora and what was annotated.

    It makes as many iterations as that model did; no development data choose among them.

    Args:
        tagger: of the guideline that was annotated.
        corpora: arguments; those that name no guideline are of the tagger's.
        annotated: the file of the partial corpus.
        model: the file of the new model.

    Raises:
        OptionError: a model that does not tell how it was trained, or was by a method that cannot be repeated with
            these corpora.
        CorpusError, OSError: a corpus that cannot be read.
    """
    from tagweave.adapt.retrain import recipe_of

    with as_option_error():
        recipe = recipe_of(tagger.model)
    own, others = _told_apart(corpora, tagger.guideline)
    words = ["train", *own, _exported(tagger, annotated), *_each("source", others)]
    words += [*_method(tagger, bool(others)), *_of_recipe(recipe), *_of_model(tagger.model.about)]
    return (sys.executable, *_RUN, *words, "--output", model)


def _exported(tagger: Tagger, annotated: str) -> str:
    """The corpus of what was annotated: words have their labels in XPOS, but under a guideline of UPOS."""
    from tagweave.corpus.formats.conllu import UPOS, XPOS

    field = "" if tagger.model.coding else f"#{UPOS if tagger.guideline == UPOS else XPOS}"
    return f"{tagger.guideline}={annotated}{field}"


def _told_apart(corpora: Sequence[str], guideline: str) -> tuple[list[str], list[str]]:
    """The corpora of a guideline, under its name, and those of others."""
    from tagweave.corpus.formats.conllu import XPOS
    from tagweave.corpus.load import load, parse_argument

    own, others = [], []
    for argument in corpora:
        corpus, told = load(argument, unnamed=guideline), parse_argument(argument)
        if corpus.guideline != guideline:
            others.append(argument)
        elif told.layer is None and corpus.layer == guideline == XPOS:  # not the usual layer of its format
            own.append(f"{argument}#{XPOS}")
        else:
            own.append(argument if told.guideline else f"{guideline}={argument}")
    return own, others


def _method(tagger: Tagger, has_others: bool) -> Iterator[str]:
    from tagweave.cli.guidelines import ITERATE, ORDINARY

    about = tagger.model.about
    method = about.get("method", ORDINARY)
    if method == ITERATE:
        raise OptionError(f"found a model of the method {ITERATE}, expected one that --train can train again")
    if method != ORDINARY and not has_others:
        found = f"found a model of the method {method}, and --train of {tagger.guideline} alone"
        raise OptionError(f"{found}, expected a corpus of another guideline, too: G=FILE")
    if method == ORDINARY:
        return  # with another guideline's corpus it is the usual method for several
    yield from ("--method", method)
    given = {**about, "mapping-minimum": about.get("minimum")}
    for name in _OF_METHODS:
        values = given.get(name)
        yield from _each(name, values if isinstance(values, list) else [] if values is None else [values])
    yield from _each("rounds", [about["round"]] if "round" in about else [])
    yield from ["--mapping-tight"] if about.get("tight") else []
    yield from ["--retrain"] if about.get("pieces") else []


def _of_recipe(recipe: Recipe) -> Iterator[str]:
    yield from ("--task", recipe.task.name, "--learner", recipe.learner, "--precision", recipe.precision)
    yield from ("--min-count", str(recipe.minimum_count))
    yield from ("--coding", recipe.task.coding) if recipe.task.of_characters else ()
    yield from _each("template", recipe.chosen_templates().texts)
    settings = {name: value for name, value in recipe.settings.items() if name != "seed"}
    yield from _each("set", (f"{name}={value!r}" for name, value in settings.items()))
    yield from _each("features", [recipe.features] if recipe.features else [])
    yield from _each("guide", [recipe.guide] if recipe.guide else [])


def _of_model(about: dict[str, Any]) -> Iterator[str]:
    yield from _each("iterations", [about["iterations"]] if about.get("iterations") else [])
    yield from _each("seed", [about["seed"]] if "seed" in about else [])
    yield from _each("incomplete", [about["incomplete"]] if "incomplete" in about else [])
    for lexicon in about.get("lexicons", ()):
        if not Path(lexicon["path"]).exists():
            raise OptionError(f"found no {lexicon['path']}, expected the lexicon of the model, to train again with")
        yield from ("--lexicon", lexicon["path"])


def _each(option: str, values: Any) -> Iterator[str]:
    """The option with each of its values."""
    for value in values:
        yield from (f"--{option}", str(value))
