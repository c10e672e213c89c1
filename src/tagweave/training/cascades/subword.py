"""Structure stacking: character taggers of several guidelines, and a model of the pieces that they cut.

sun-wan-2012, sections 4.4 and 5. Each step is a function, so that experiments can combine them differently:

| step | function |
|---|---|
| a character tagger for every source guideline | `narrowing.fit_taggers` |
| labels of training text by taggers that have not seen it | `answered` |
| a model of the pieces of such a text, given all taggers | `fit_pieces` |
| source corpora relabelled by a guided model (D' of section 5) | `guided_conversion` |
| source corpora relabelled by any model, such as one of pieces (D'') | `relabelled` |
| everything; `Stacking` selects the rows of Table 5 | `fit_stack` |

The first row of Table 5 is an ordinary `fit` on the target corpora and the result of `guided_conversion`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tagweave.corpus.corpus import Corpus, by_guideline
from tagweave.errors import CorpusError
from tagweave.features.templates import PRESETS, Templates
from tagweave.labels.coding import names_of_pieces
from tagweave.labels.space import LabelSpace
from tagweave.learning.run import SILENT, Run
from tagweave.models.cascades import PieceEncoder, piece_templates
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.guided import check_guidelines, fit_guided
from tagweave.training.cascades.jackknife import jackknifed
from tagweave.training.cascades.narrowing import fit_taggers
from tagweave.training.fit.chain_problem import ChainProblem, label_space, prepare_corpora, prepare_in
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import Recipe, by_words, in_batches


@dataclass(frozen=True)
class Stacking:
    """How to stack the levels."""

    folds: int = 10  # of the jackknife, as in sun-wan-2012
    # whether to train the tagger of the target guideline also on the source corpora, relabelled by a guided model (D')
    characters: bool = False
    pieces: bool = False
    # an iteration visits this many times as many words of relabelled corpora as of the target's own; 0, or a learner
    # without batches: all of them, as in the paper. With a source fifteen times as large, sampling is better
    # and faster.
    times: float = 4.0
    seed: int = 0

    def sampling(self, recipe: Recipe, target_corpora: Sequence[Corpus], relabelled: Sequence[Corpus]) -> Recipe:
        """Return the recipe for a fit on corpora of the target guideline and relabelled ones."""
        sampled = self.times and relabelled and in_batches(recipe.learner)
        return replace(recipe, sample=by_words(target_corpora, relabelled, self.times) if sampled else ())


def fit_stack(
    target_corpora: Sequence[Corpus],
    source_corpora: Sequence[Corpus],
    recipe: Recipe,
    stacking: Stacking = Stacking(),
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """Fit the whole cascade: a model of pieces of the target guideline, which contains its taggers.

    Args:
        run: the run. Only the last fit has a checkpoint; a resumed run repeats the fits before it. The callback gets
            the iterations of all fits except the jackknife's.

    Raises:
        KeyboardInterrupt: the user stopped a fit before the last.
    """
    _check(target_corpora, source_corpora, recipe, stacking)
    recipe = replace(recipe, sample=())
    target = target_corpora[0].guideline
    first = run.without_checkpoint()
    sources = fit_taggers(source_corpora, recipe, first)
    guided: list[Corpus] = []
    if stacking.characters:
        run.tell(f"a model of {target} that looks at their labels, to relabel their corpora")
        guided = guided_conversion(target_corpora, source_corpora, sources, recipe, dev, first)
    run.tell(f"a tagger of {target}")
    targets = [*target_corpora, *guided]
    sampling = stacking.sampling(recipe, target_corpora, guided)
    taggers = [fit(targets, sampling, dev, first).finished_model(), *sources]
    labelled = answered(targets, sampling, stacking, first)
    labelled, labelled_sources = labelled[: len(target_corpora)], labelled[len(target_corpora) :]
    if stacking.pieces:
        run.tell(f"a model of pieces of {target}, to relabel the other corpora")
        pieces = fit_pieces(labelled, taggers, recipe, dev, first).finished_model()
        converted = relabelled(pieces, source_corpora, recipe)
        noisy = _of_each(source_corpora, lambda guideline_corpora: answered(guideline_corpora, recipe, stacking, first))
        rows = zip(prepare_corpora(converted, recipe), noisy, labelled_sources or noisy, strict=True)
        labelled += [_with_columns(corpus, *columns) for corpus, *columns in rows]
        recipe = stacking.sampling(recipe, target_corpora, converted)
    run.tell(f"the model of pieces of {target}")
    return fit_pieces(labelled, taggers, recipe, dev, run)


def answered(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    stacking: Stacking = Stacking(),
    run: Run = SILENT,
) -> list[Corpus]:
    """Corpora of one guideline in labels of characters, with a column of the labels of taggers of the other folds."""
    return prepare_corpora(jackknifed(corpora, recipe, stacking.folds, stacking.seed, run), recipe)


def fit_pieces(
    corpora: Sequence[Corpus],
    taggers: Sequence[ChainModel],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """Fit a model of pieces, as `prepare_pieces` makes them."""
    problem = prepare_pieces(corpora, taggers, recipe)
    return fit_problem(problem, with_pieces(recipe, taggers), dev, run)


def prepare_pieces(corpora: Sequence[Corpus], taggers: Sequence[ChainModel], recipe: Recipe) -> ChainProblem:
    """Cut corpora into pieces, encode them and lay out the weights of their model.

    The taggers must not have seen the corpora, or their labels must be in columns (`answered`): a tagger cuts its own
    training text almost without mistakes. If the annotation ends a word inside a piece, the pieces of such words are
    unknown. Cutting the piece there instead, which is impossible in use, measured 0.2 points of F worse on the
    development data of ZX and 0.2 better on its test data.
    """
    recipe = with_pieces(recipe, taggers)
    encoder = PieceEncoder(recipe.encoder(), taggers)
    guideline = corpora[0].guideline
    if guideline != encoder.guidelines[0]:
        expected = f"the guideline of the first tagger, {encoder.guidelines[0]}"
        raise CorpusError(f"a corpus of the guideline {guideline!r}", expected, corpora[0].path)
    names = label_space([sentence for corpus in corpora for sentence in corpus], guideline, corpora[0].path).names
    pieces = [
        corpus.with_sentences(
            encoder.cut_for_training(sentence, labels, guideline)
            for sentence, labels in zip(corpus, encoder.labels(corpus.sentences, recipe.threads), strict=True)
        )
        for corpus in corpora
    ]
    space = LabelSpace.plain(guideline, names_of_pieces(names, recipe.task.coding))
    return prepare_in(space, pieces, recipe, (True,), encoder)


def with_pieces(recipe: Recipe, taggers: Sequence[ChainModel]) -> Recipe:
    """Return the recipe with the templates of pieces in place of its own (sun-wan-2012, 4.4)."""
    columns = (text for tagger in taggers for text in piece_templates(ChainPredictor(tagger).guideline))
    return replace(recipe, templates=Templates((*PRESETS["sun-wan-2012-subword"].texts, *columns)))


def guided_conversion(
    target_corpora: Sequence[Corpus],
    source_corpora: Sequence[Corpus],
    taggers: Sequence[ChainModel],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> list[Corpus]:
    """The source corpora under the target guideline: D' of section 5, by a guided model for each source guideline."""
    guides = {ChainPredictor(tagger).guideline: tagger for tagger in taggers}

    def convert(guideline_corpora: Sequence[Corpus]) -> list[Corpus]:
        fitted = fit_guided(target_corpora, guides[guideline_corpora[0].guideline], recipe, dev, run)
        return relabelled(fitted.finished_model(), guideline_corpora, recipe)

    return _of_each(source_corpora, convert)


def relabelled(model: ChainModel, corpora: Sequence[Corpus], recipe: Recipe) -> list[Corpus]:
    """Convert corpora of other guidelines to corpora of words of the model's, which uses their annotation."""
    tagger = ChainPredictor(model, recipe.threads)
    prepared = prepare_corpora(corpora, recipe)
    words = [tuple(map(tagger.words, tagger.tag(corpus.sentences))) for corpus in prepared]
    return [
        Corpus(sentences, tagger.guideline, "word", None, corpus.path, corpus.weight)
        for sentences, corpus in zip(words, prepared, strict=True)
    ]


def _of_each(corpora: Sequence[Corpus], step: Callable[[Sequence[Corpus]], Sequence[Corpus]]) -> list[Corpus]:
    """Return the results of a step on the corpora of each guideline, in the order of the corpora."""
    results = {name: iter(step(guideline_corpora)) for name, guideline_corpora in by_guideline(corpora).items()}
    return [next(results[corpus.guideline]) for corpus in corpora]


def _with_columns(corpus: Corpus, *labelled: Corpus) -> Corpus:
    """Return a corpus with the columns of others over the same characters."""
    return corpus.with_sentences(
        replace(rows[0], columns={name: column for row in rows for name, column in row.columns.items()})
        for rows in zip(corpus, *labelled, strict=True)
    )


def _check(
    target_corpora: Sequence[Corpus], source_corpora: Sequence[Corpus], recipe: Recipe, stacking: Stacking
) -> None:
    """Refuse before any training what would fail after the first models."""
    if not recipe.task.of_characters:
        raise CorpusError(f"the task {recipe.task.name}", "segment or segtag, for a model of pieces")
    if not target_corpora or not source_corpora:
        raise CorpusError("no corpus", "training data of the target guideline and of another one")
    jackknifed_corpora = [*target_corpora, *(source_corpora if stacking.pieces else ())]
    for guideline, guideline_corpora in by_guideline(jackknifed_corpora).items():
        sentences = sum(map(len, guideline_corpora))
        if not 2 <= stacking.folds <= sentences:
            expected = f"2 to {sentences}, the number of sentences of {guideline}"
            raise CorpusError(f"{stacking.folds} folds", expected)
    for guideline in by_guideline(source_corpora):
        check_guidelines(target_corpora, guideline)
