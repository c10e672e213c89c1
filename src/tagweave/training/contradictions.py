"""Finds contradictory evidence before any training, since some methods train several models one after another."""

from __future__ import annotations

from collections.abc import Sequence

from tagweave.corpus.corpus import Corpus
from tagweave.labels.mapping import TagMapping
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.training.consistency import check_consistent
from tagweave.training.coupled import bundles_of
from tagweave.training.fit import evidence_of, label_space, prepare_corpora, scheme_of
from tagweave.training.pruning import guidelines_of
from tagweave.training.recipe import Recipe


def refuse_contradictions(corpora: Sequence[Corpus], recipe: Recipe, mappings: Sequence[TagMapping] = ()) -> None:
    """Refuse corpora of several guidelines that some later step could not train on.

    Args:
        corpora: the corpora; the labels of each guideline are checked separately.
        recipe: the recipe, for its task.
        mappings: tags that may be bundled; if there are any, tokens with labels of several guidelines are checked too.

    Raises:
        CorpusError: no sentence, a guideline without labels, or contradictory evidence, by file and line.
        MappingError: as `bundle`.
    """
    prepared = prepare_corpora(corpora, recipe)
    for guideline in guidelines_of(prepared):
        own = [corpus for corpus in prepared if corpus.guideline == guideline]
        named = label_space([sentence for corpus in own for sentence in corpus], guideline, own[0].path).names
        _check(LabelSpace.plain(guideline, recipe.task.labels(named)), own, recipe)
    if mappings:
        _check(bundles_of(prepared, recipe, mappings), prepared, recipe)


def _check(space: LabelSpace, corpora: Sequence[Corpus], recipe: Recipe) -> None:
    sets, scheme = LabelSets(space, recipe.soft_labels), scheme_of(recipe, space)
    allow, noise, rejected = evidence_of(corpora, sets, scheme)
    evidence = allow, noise, sets.masks, scheme, rejected, space.names
    check_consistent([sentence for corpus in corpora for sentence in corpus], *evidence)
