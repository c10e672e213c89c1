"""Context-aware pruning of a coupled model (Li, Chao and Zhang 2016): taggers of each side say what is likely.

It changes what is optimised: the sum over all bundles becomes one over those that come into question. A tagger knows
its own training text too well to be asked about it, so that text is labelled by taggers of its other half.
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

_SHORT = Schedule(4)  # of a tagger that only has to leave nothing out
_FOLDS = 2


@dataclass(frozen=True)
class Pruning:
    """What the taggers of all sides hold possible.

    Attributes:
        models: a tagger of each guideline, in the order of the corpora's guidelines.
        threshold: the marginal probability from which a tag of either side comes into question.
    """

    models: tuple[ChainModel, ...]
    threshold: float

    def encoder(self, recipe: Recipe, space: LabelSpace) -> ProposingEncoder:
        """An encoder that has seen nothing yet, of the recipe's templates over a space of bundles."""
        return ProposingEncoder(recipe.encoder(), space, self.models, self.threshold)


def guidelines_of(corpora: Sequence[Corpus]) -> list[str]:
    """The guidelines of the corpora, each once, in their order."""
    return list(dict.fromkeys(corpus.guideline for corpus in corpora))


def fit_pruning(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    threshold: float,
    run: Run = SILENT,
) -> Pruning:
    """Taggers of all guidelines of the corpora.

    Args:
        corpora, recipe: as of the model that is to be pruned.
        threshold: see `Pruning`.
        run: who is told; each tagger has a short schedule of its own.

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
        if fitted.outcome.interrupted:
            raise KeyboardInterrupt
        models.append(fitted.model)
    return Pruning(tuple(models), threshold)


def with_proposals(corpora: Sequence[Corpus], recipe: Recipe, pruning: Pruning, run: Run = SILENT) -> list[Corpus]:
    """The corpora with the columns `proposed:GUIDELINE` of all guidelines, each by taggers that were not trained on it;
    the run is told of every guideline.

    Raises:
        CorpusError: as `fit`, of half of the corpora of one guideline.
        KeyboardInterrupt: the user stopped one of the fits.
    """
    recipe = replace(recipe, sample=())
    tokens = [in_characters(corpus) for corpus in corpora] if recipe.task.of_characters else list(corpora)

    def tell(model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
        return proposals(model, sentences, pruning.threshold, threads)

    for guideline, model in zip(guidelines_of(corpora), pruning.models, strict=True):
        column = proposal_column(guideline)
        own = [at for at, corpus in enumerate(tokens) if corpus.guideline == guideline]
        run.tell(f"labels of {guideline} that come into question, the own text by taggers of its other half")
        known = jackknifed([tokens[at] for at in own], recipe, _FOLDS, run=run.aside(_SHORT), column=column, told=tell)
        for at, corpus in zip(own, known, strict=True):
            tokens[at] = corpus
        for at in set(range(len(tokens))) - set(own):
            told = tell(model, tokens[at].sentences, recipe.threads)
            pairs = zip(tokens[at], told, strict=True)
            tokens[at] = tokens[at].with_sentences(sentence.with_column(column, each) for sentence, each in pairs)
    return tokens
