"""Context-aware pruning of a coupled model (Li, Chao and Zhang 2016) by taggers of each side.

It changes the objective: the sum over all bundles becomes one over the candidate labels of each token. A tagger knows
its own training text too well, so a tagger of the other half labels each half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.labels.space import LabelSpace
from tagweave.learning.run import SILENT, Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.proposal import ProposingEncoder, proposal_column, proposals
from tagweave.training.fit import fit
from tagweave.training.jackknife import in_characters, jackknifed
from tagweave.training.recipe import Recipe

_SHORT = Schedule(4)  # enough for a tagger that only needs high recall
_FOLDS = 2


@dataclass(frozen=True)
class Pruning:
    """The taggers of all sides, and the threshold of candidate labels.

    Attributes:
        models: a tagger of each guideline, in the order of the corpora's guidelines.
        threshold: the marginal probability from which a tag of a side is a candidate.
    """

    models: tuple[ChainModel, ...]
    threshold: float

    def encoder(self, recipe: Recipe, space: LabelSpace) -> ProposingEncoder:
        """An empty encoder of the recipe's templates over a space of bundles."""
        return ProposingEncoder(recipe.encoder(), space, self.models, self.threshold)


def guidelines_of(corpora: Sequence[Corpus]) -> list[str]:
    """The guidelines of the corpora in order, without repeats."""
    return list(dict.fromkeys(corpus.guideline for corpus in corpora))


def fit_pruning(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    threshold: float,
    run: Run = SILENT,
) -> Pruning:
    """Fit taggers of all guidelines of the corpora.

    Args:
        corpora, recipe: those of the model to prune.
        threshold: see `Pruning`.
        run: the run; each tagger has a short schedule of its own.

    Raises:
        CorpusError: as `fit`.
        KeyboardInterrupt: the user stopped one of the fits.
    """
    recipe = replace(recipe, sample=())
    models = []
    for guideline in guidelines_of(corpora):
        run.tell(f"a tagger of {guideline}")
        own = [corpus for corpus in corpora if corpus.guideline == guideline]
        fitted = fit(own, recipe, run=replace(run, schedule=_SHORT))
        fitted.outcome.check_finished()
        models.append(fitted.model)
    return Pruning(tuple(models), threshold)


@dataclass(frozen=True)
class _Proposer:
    """The labels that a model proposes for every token, as a column."""

    threshold: float

    def __call__(self, model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
        return proposals(model, sentences, self.threshold, threads)


def with_proposals(corpora: Sequence[Corpus], recipe: Recipe, pruning: Pruning, run: Run = SILENT) -> list[Corpus]:
    """The corpora with columns `proposed:GUIDELINE` of all guidelines, by taggers that were not trained on the text.

    Raises:
        CorpusError: as `fit`, for half of the corpora of one guideline.
        KeyboardInterrupt: the user stopped one of the fits.
    """
    recipe = replace(recipe, sample=())
    tokens = [in_characters(corpus) for corpus in corpora] if recipe.task.of_characters else list(corpora)
    propose = _Proposer(pruning.threshold)
    for guideline, model in zip(guidelines_of(corpora), pruning.models, strict=True):
        column = proposal_column(guideline)
        own = [at for at, corpus in enumerate(tokens) if corpus.guideline == guideline]
        run.tell(f"labels of {guideline} that come into question, the own text by taggers of its other half")
        known = jackknifed(
            [tokens[at] for at in own], recipe, _FOLDS, run=run.aside(_SHORT), column=column, answers=propose
        )
        for at, corpus in zip(own, known, strict=True):
            tokens[at] = corpus
        for at in set(range(len(tokens))) - set(own):
            labels = propose(model, tokens[at].sentences, recipe.threads)
            pairs = zip(tokens[at], labels, strict=True)
            tokens[at] = tokens[at].with_sentences(sentence.with_column(column, each) for sentence, each in pairs)
    return tokens
