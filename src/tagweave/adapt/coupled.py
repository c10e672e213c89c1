"""The coupled CRF of li-2015: one model of the tags of two guidelines or more, from corpora of which each has one.

The labels are bundles of tags (section 3), and the model is the ordinary chain model over their views: one for each
guideline (separate features) and the joint one (joint features),

    score(x, [a, b]) = sum over positions of  joint . f(x, [a, b]) + first . f(x, a) + second . f(x, b)       (eq. 2)

A tag of one guideline is evidence: the set of all its bundles (section 3.2). Nothing else is new: the loss, its
gradient (eqs. 5 and 6) and the constrained decoding are those of any other evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tagweave.adapt.fit import Fitted, Problem, fit_problem, label_space, prepare_corpora, prepare_in
from tagweave.adapt.recipe import Recipe
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.labels.bundles import bundle
from tagweave.labels.mapping import TagMapping, count_pairs
from tagweave.learning.loop import Schedule, Watcher
from tagweave.models.chain import ChainModel
from tagweave.models.tagger import Tagger


@dataclass(frozen=True)
class Coupling:
    """What is coupled, and how tightly.

    Attributes:
        mappings: the tags that may be bundled (section 3.1); without one, all pairs.
        joint: whether bundles have weights of their own.
        separate: whether the tags of each guideline have.

    Raises:
        ValueError: neither has.
    """

    mappings: tuple[TagMapping, ...] = ()
    joint: bool = True
    separate: bool = True

    def __post_init__(self) -> None:
        if not (self.joint or self.separate):
            raise ValueError("found a coupling without weights, expected joint ones, separate ones, or both")


def prepare_coupled(corpora: Sequence[Corpus], recipe: Recipe, coupling: Coupling) -> Problem:
    """Encode corpora of several guidelines, and lay out the weights of a model of their bundles.

    The guideline of the first corpus is the target: what a tagger gives unless another is asked for. A sentence may
    have layers of several of the guidelines.

    Raises:
        CorpusError: corpora of one guideline only, layers that exclude one another; and as `fit`.
    """
    prepared = prepare_corpora(corpora, recipe)
    guidelines = list(dict.fromkeys(corpus.guideline for corpus in prepared))
    if len(guidelines) == 1:
        raise CorpusError(f"one guideline, {guidelines[0]!r}", "corpora of two or more, to be coupled", corpora[0].path)
    sentences = [sentence for corpus in prepared for sentence in corpus.sentences]
    sides = [(name, recipe.task.labels(label_space(sentences, name).names)) for name in guidelines]
    space = bundle(sides, coupling.mappings)
    weighted = [coupling.separate] * len(sides) + [coupling.joint]
    return prepare_in(space, prepared, recipe, weighted)


def fit_coupled(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    coupling: Coupling,
    dev: Corpus | None = None,
    schedule: Schedule | None = None,
    watcher: Watcher | None = None,
) -> Fitted:
    """Fit one model of all guidelines of the corpora.

    Development data may be of any of them. Arguments and errors are those of `fit` and `prepare_coupled`.
    """
    return fit_problem(prepare_coupled(corpora, recipe, coupling), recipe, dev, schedule, watcher)


def automatic_mapping(model: ChainModel, corpora: Sequence[Corpus], minimum: int = 1, threads: int = 1) -> TagMapping:
    """The tags that meet when a tagger of one guideline labels corpora of another (section 3.1), counted.

    Args:
        model: of the one guideline.
        corpora: of the other.
        minimum: pairs that meet less often are left out.
        threads: how many threads share the work.
    """
    guideline = corpora[0].guideline
    tagger = Tagger(model, threads)
    own = (_only(sentence, guideline) for corpus in corpora for sentence in corpus.sentences)
    return count_pairs(tagger.guideline, guideline, tagger.tag(own)).at_least(minimum)


def _only(sentence: Sentence, guideline: str) -> Sentence:
    layers = {name: layer for name, layer in sentence.layers.items() if name == guideline}
    return replace(sentence, layers=layers)
