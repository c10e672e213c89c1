"""Ways to train on incomplete annotation other than marginal likelihood, applied before a fit.

`marginal` (tsuboi-2008) changes nothing: `fit.fit_problem` sums over the labels that the annotation allows.
`posterior` replaces open positions by probabilities under a model of the complete sentences: one step of expectation
maximisation, so open labels do not drift away from what the complete sentences teach.
`outside` and `folds` are for spans: `O` where nothing is known; or labels from models that have not seen the sentence
(Jie et al. 2019, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tagweave.corpus.candidates import Soft, with_probabilities
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import digest
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError, PlanError
from tagweave.exchange.load import load
from tagweave.labels import SPANS
from tagweave.labels.coding import SEGMENTATION, letters_of
from tagweave.labels.space import collect_names, is_wildcard
from tagweave.learning.run import SILENT, Run
from tagweave.models.cascades import labels_of
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor, Floats
from tagweave.training.cascades.jackknife import jackknifed
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import fit_problem
from tagweave.training.fit.recipe import EntityRatio, Recipe
from tagweave.training.fit.task import Task
from tagweave.training.plan import FileReference

_COLUMN = "completion"


@dataclass(frozen=True)
class FoldCompletion:
    """How to complete annotation."""

    folds: int = 2
    rounds: int = 2
    soft: bool = False
    seed: int = 0


def completed(
    corpora: Sequence[Corpus], recipe: Recipe, how: FoldCompletion, dev: Corpus | None = None, run: Run = SILENT
) -> list[Corpus]:
    """Return the corpora with labels for all that their annotation leaves open."""
    current = list(corpora) if recipe.ratio else [outside_elsewhere(corpus) for corpus in corpora]
    answers = best_with_probabilities if how.soft else best
    for number in range(how.rounds):
        run.stop_if_cancelled()
        round_recipe = recipe if number == 0 else replace(recipe, ratio=None)
        answered = jackknifed(
            current, round_recipe, how.folds, how.seed + number, run, _COLUMN, answers, questions=corpora, dev=dev
        )
        pairs = zip(corpora, answered, strict=True)
        current = [_relabelled(corpus, [sentence.columns[_COLUMN] for sentence in labels]) for corpus, labels in pairs]
    return current


def best(model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
    """Return the labels of the best sequence that the annotation of each sentence allows."""
    tagger = ChainPredictor(model, threads)
    completed_sentences = tagger.complete(Corpus(tuple(sentences), tagger.guideline))
    return [labels_of(sentence, tagger.guideline) for sentence in completed_sentences]


def best_with_probabilities(model: ChainModel, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
    """As `best`, each label followed by its probability under the annotation."""
    tagger = ChainPredictor(model, threads)
    tables = tagger.probabilities(sentences, tagger.guideline)
    number = {name: at for at, name in enumerate(tagger.labels)}
    answers = []
    for labels, table in zip(best(model, sentences, threads), tables, strict=True):
        probabilities = table[np.arange(len(table)), [number[label] for label in labels]]
        answers.append(
            tuple(f"{label} {p:.4f}" for label, p in zip(labels, np.minimum(probabilities, 1).tolist(), strict=True))
        )
    return answers


def _relabelled(corpus: Corpus, answers: Sequence[tuple[str, ...]]) -> Corpus:
    sentences = []
    for sentence, answer in zip(corpus, answers, strict=True):
        pairs = [label_text.partition(" ") for label_text in answer]
        labelled = replace(sentence, covered=None).with_layer(corpus.guideline, [(label,) for label, _, _ in pairs])
        if any(p for _, _, p in pairs):
            labelled = replace(labelled, confidence=tuple(float(p) for _, _, p in pairs))
        sentences.append(labelled)
    return replace(corpus, sentences=tuple(sentences), covered=None)


_ENOUGH = 0.1  # of all sentences
_ENOUGH_TOKENS = 500  # with a list found in 2,000 raw sentences, 25 complete ones are a better first model than all


def treated(
    strategy: str,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    outside_confidence: float = 1.0,
    completion: FoldCompletion | None = None,
) -> tuple[Sequence[Corpus], Recipe]:
    """Return the corpora and the recipe for an ordinary `fit` after applying a strategy.

    Arguments are as in the fit; `outside_confidence` is for `outside`, and `completion` for `folds`.
    """
    if strategy in ("outside", "folds") and recipe.task.name != SPANS:
        raise PlanError(f"found `incomplete={strategy}` with the task {recipe.task.name}, expected the task spans")
    if strategy == "posterior":
        if recipe.task.name == "segtag":
            raise PlanError("found `incomplete=posterior` with the task segtag, expected another task, or marginal")
        if recipe.soft_labels != "posterior":
            problem = f"found `incomplete=posterior` with `soft_labels={recipe.soft_labels}`"
            raise PlanError(f"{problem}, expected posterior")
        tagger = first_model(corpora, recipe, dev, run)
        corpora = [_probable(tagger, recipe.task.prepare(corpus)) for corpus in corpora]
    elif strategy == "outside":
        corpora = [outside_elsewhere(corpus, outside_confidence) for corpus in corpora]
    elif strategy == "folds":
        corpora = completed(corpora, recipe, completion or FoldCompletion(), dev, run)
        recipe = replace(recipe, ratio=None)
    elif strategy != "marginal":
        raise ValueError(f"unknown strategy {strategy!r}, expected marginal, posterior, outside or folds")
    return corpora, recipe


def is_complete(sentence: Sentence, guideline: str, covered: Sequence[str] | None = None) -> bool:
    """Return whether every position of the layer allows exactly one label; `covered` as in `Corpus`."""
    layer = sentence.layers.get(guideline)
    if layer is None or any(
        candidates is None or len(candidates) > 1 or is_wildcard(candidates[0]) for candidates in set(layer)
    ):
        return False
    return covered is None or all(candidates[0] != OUTSIDE for candidates in layer if candidates)


def discard(corpus: Corpus, task: Task | None = None) -> Corpus:
    """Return the sentences whose annotation is complete, in the labels of the task if there is one."""
    coded = corpus if task is None else task.prepare(corpus)
    pairs = zip(corpus.sentences, coded.sentences, strict=True)
    return corpus.with_sentences(
        sentence for sentence, labels in pairs if is_complete(labels, coded.guideline, coded.covered_in(labels))
    )


def first_model(corpora: Sequence[Corpus], recipe: Recipe, dev: Corpus | None, run: Run = SILENT) -> ChainPredictor:
    """Train a model of the complete sentences or, if they are few, a pointwise one of all."""
    coded = [recipe.task.prepare(corpus) for corpus in corpora]
    full = [discard(corpus, recipe.task) for corpus in corpora]
    enough = sum(map(len, full)) >= max(1, _ENOUGH * sum(map(len, corpora)))
    if enough or sum(corpus.tokens() for corpus in full) >= _ENOUGH_TOKENS:
        names = collect_names([sentence.layers.get(corpus.guideline, ()) for corpus in coded for sentence in corpus])
        problem = prepare([corpus for corpus in full if len(corpus)], recipe, names)
    else:
        recipe = replace(recipe, transitions=False, edges=False)
        problem = prepare(corpora, recipe)
    first = fit_problem(problem, recipe, dev, run.aside())
    first.outcome.check_finished()
    return ChainPredictor(first.model, recipe.threads)


def _probable(tagger: ChainPredictor, coded: Corpus) -> Corpus:
    """Every position with the probabilities of its labels, given the annotation."""
    tables = tagger.probabilities(coded.sentences, coded.guideline, coded.covered)
    return with_tables(coded, tagger.labels, tables, tagger.model.coding if tagger.model.of_characters else "")


def with_tables(coded: Corpus, labels: Sequence[str], tables: Iterable[Floats], letters: str = "") -> Corpus:
    """Return a corpus with the probabilities [L, labels] of each sentence in place of its labels.

    `letters`: the coding of words in characters if the labels are of one, which are spelled in BMES then.
    """

    def candidates(row: Floats) -> Candidates:
        soft = with_probabilities(labels, row.tolist())
        spelled = letters_of(soft, letters) if letters else soft
        return tuple(spelled) if len(spelled.numbers) == 1 else spelled

    remaining = iter(tables)
    name = SEGMENTATION if letters else coded.guideline

    def step(sentence: Sentence) -> Sentence:
        return replace(sentence, layers={name: tuple(map(candidates, next(remaining)))}, covered=None)

    return replace(coded.map(step), covered=None)


def believed(corpora: Sequence[Corpus], spans: float, outside: float) -> Sequence[Corpus]:
    """Return the corpora with a confidence in labels of spans, and one in `O`, each times the sentence's own."""
    if spans == outside == 1:
        return corpora

    def step(guideline: str, sentence: Sentence) -> Sentence:
        confidence = sentence.confidence or (1.0,) * len(sentence)
        labels = sentence.layers.get(guideline, (None,) * len(sentence))
        trusts = (
            1.0 if candidates is None else outside if candidates == (OUTSIDE,) else spans for candidates in labels
        )
        return replace(
            sentence, confidence=tuple(certainty * trust for certainty, trust in zip(confidence, trusts, strict=True))
        )

    return [corpus.map(partial(step, corpus.guideline)) for corpus in corpora]


def outside_elsewhere(corpus: Corpus, confidence: float = 1.0) -> Corpus:
    """Return the corpus with `O` at unknown positions, believed with a confidence."""

    def step(sentence: Sentence) -> Sentence:
        layer = sentence.layers.get(corpus.guideline, (None,) * len(sentence))
        filled = sentence.with_layer(
            corpus.guideline, [(OUTSIDE,) if candidates is None else candidates for candidates in layer]
        )
        if confidence == 1:
            return filled
        certainties = sentence.confidence or (1.0,) * len(sentence)
        pairs = zip(certainties, layer, strict=True)
        return replace(
            filled, confidence=tuple(confidence if candidates is None else certainty for certainty, candidates in pairs)
        )

    return corpus.map(step)


def ratio_from(
    value: float | str | None, margin: float, weight: float, tell: Callable[[str], None] = lambda line: None
) -> EntityRatio | None:
    """Return the ratio that an option gives: a number, or a corpus to count it in; `None` without the option."""
    if value is None:
        return None
    target = _number(value)
    if target is None:
        target = ratio_of(load(str(value)))
        tell(f"{value}: {100 * target:.1f} % of the tokens are inside spans: the share that the model is to expect")
    return EntityRatio(target, margin, weight)


def corpus_of(value: float | str | None) -> FileReference | None:
    """Return the corpus that an option names, with its digest; `None` for a number."""
    if value is None or _number(value) is not None:
        return None
    corpus = load(str(value))
    return FileReference(corpus.path, digest(corpus.path), len(corpus))


def _number(value: float | str) -> float | None:
    """Return the share that an option gives; `None` for a corpus."""
    wrong = PlanError(f"found `entity_ratio={value}`, expected a share from 0 to 1, or a corpus")
    try:
        share = float(value)
    except ValueError:
        if str(value).endswith("%"):
            raise wrong from None
        return None
    if not 0 <= share <= 1:
        raise wrong
    return share


def leaves_out_spans(corpora: Iterable[tuple[Iterable[Sentence], str]]) -> bool:
    """Return whether the incomplete sentences of layers have spans, and no token that is known to be outside spans.

    Nothing keeps a model of such sentences from finding spans everywhere, but the share of tokens inside spans.
    """
    has_spans = False
    for sentences, layer in corpora:
        for sentence in sentences:
            labels = sentence.layers.get(layer, ())
            if None not in labels:
                continue
            for candidates in set(labels) - {None}:
                if candidates == (OUTSIDE,) or (isinstance(candidates, Soft) and OUTSIDE in candidates):
                    return False
                has_spans = True
    return has_spans


def ratio_of_data(corpora: Sequence[Corpus], dev: Corpus | None, tell: Callable[[str], None]) -> float:
    """Return the share of tokens inside spans in development data, or in the complete sentences of the corpora.

    Raises:
        PlanError: development data are missing or incomplete, and no sentence of the corpora is complete.
    """
    expected = "the share that the model is to expect; `entity_ratio` would give another"
    if dev is not None and all(is_complete(sentence, dev.guideline, dev.covered_in(sentence)) for sentence in dev):
        share = ratio_of(dev)
        source = dev.path or "the development data"
    else:
        share, count = ratio_of_complete(corpora)
        if not count:
            problem = "spans in TRAIN, and no token beside them that is known to be outside spans"
            wanted = "complete development data (`dev`), some complete sentences in TRAIN"
            raise PlanError(f"found {problem}, expected {wanted}, or the share of tokens inside spans (`entity_ratio`)")
        source = f"the {count:,} complete sentences of TRAIN with an O"
    tell(f"{source}: {100 * share:.1f} % of the tokens are inside spans: {expected}")
    return share


def ratio_of_complete(corpora: Sequence[Corpus]) -> tuple[float, int]:
    """Return the share of tokens inside spans in the complete sentences of corpora, and the number of these."""
    complete = [corpus.with_sentences(filter(partial(_is_known, corpus), corpus)) for corpus in corpora]
    inside = sum(ratio_of(corpus) * corpus.tokens() for corpus in complete if len(corpus))
    return inside / max(1, sum(corpus.tokens() for corpus in complete)), sum(map(len, complete))


def _is_known(corpus: Corpus, sentence: Sentence) -> bool:
    """Return whether a sentence is complete, and not only because spans fill it."""
    complete = is_complete(sentence, corpus.guideline, corpus.covered_in(sentence))
    return complete and (OUTSIDE,) in sentence.layers[corpus.guideline]


def ratio_of(corpus: Corpus) -> float:
    """Return the share of tokens inside spans in a completely annotated corpus."""
    inside = total = 0
    for sentence in corpus.sentences:
        for candidates in sentence.layers.get(corpus.guideline, (None,) * len(sentence)):
            is_open = candidates == (OUTSIDE,) and corpus.covered_in(sentence) is not None
            if candidates is None or len(candidates) > 1 or is_open:
                problem = "a token without one label"
                raise CorpusError(problem, "complete annotation, to count the share of spans", *sentence.location)
            inside += candidates[0] != OUTSIDE
            total += 1
    if not total:
        raise CorpusError("no token", "sentences, to count the share of spans", corpus.path)
    return inside / total
