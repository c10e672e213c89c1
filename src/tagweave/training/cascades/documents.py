"""Models whose features look at the rest of the document (Krishnan and Manning 2006), in two passes.

The first model labels the text; the second sees what most of a document says of a name. In training, the labels of the
first pass are those of models of other documents (`jackknife`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import RUNNING, are_in_documents, documents
from tagweave.features.document_columns import document_templates
from tagweave.features.templates import Templates
from tagweave.learning.run import SILENT, Run
from tagweave.models.cascades import DocumentEncoder
from tagweave.models.chain import ChainModel
from tagweave.training.cascades.jackknife import jackknifed
from tagweave.training.fit.chain_problem import prepare
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import Recipe

_FOLDS = 2  # F on dev is that of 5 (CoNLL-2003 93.1, CoNLL-2002 Spanish 79.2), in a third of the time
_FEWEST = 10  # documents


def with_documents(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None,
    first: Fitted,
    run: Run = SILENT,
    is_asked: bool = False,
    seed: int = 0,
) -> Fitted:
    """Return the better model on development data: the first one, or one that looks at documents, too.

    Args:
        first: the model of a sentence at a time.
        is_asked: whether the user asked for documents; then the second model is kept anyway.
    """
    if first.outcome.interrupted or recipe.lookups.subwords is not None:
        return first
    count = sum(1 for corpus in corpora for _ in documents(corpus))
    if not is_asked and (dev is None or not run.schedule.selects or count < _FEWEST):
        return first
    is_marked = all(map(are_in_documents, corpora))
    marks = "" if is_marked else f"; none is marked, so {RUNNING} sentences that follow one another stand for one"
    run.tell(f"a second model looks at whole documents, too{marks} (`documents=false` would not)")
    try:
        second = fit_documents(corpora, first.model, recipe, dev, run.without_checkpoint().phase("documents"), seed)
        second.outcome.check_finished()
    except KeyboardInterrupt:
        return replace(first, outcome=replace(first.outcome, interrupted=True))
    scores = first.outcome.score or 0.0, second.outcome.score or 0.0
    if dev is not None:
        run.tell(f"on the development data: each sentence by itself {scores[0]:.4f}, documents {scores[1]:.4f}")
    return second if is_asked or scores[1] > scores[0] else first


def fit_documents(
    corpora: Sequence[Corpus],
    first: ChainModel,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    seed: int = 0,
    folds: int = _FOLDS,
) -> Fitted:
    """Fit the second model, given the first one, which was trained on the same corpora."""
    labelled = jackknifed(corpora, replace(recipe, average_seeds=1), folds, seed, run, dev=dev, whole_documents=True)
    recipe = replace(recipe, templates=Templates((*recipe.chosen_templates().texts, *document_templates())))
    return fit_problem(prepare(labelled, recipe, encoder=DocumentEncoder(recipe.encoder(), first)), recipe, dev, run)
