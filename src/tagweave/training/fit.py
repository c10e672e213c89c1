"""An ordinary fit: corpora of one guideline to a chain model, by marginal likelihood or by the perceptron."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoded import Encoded
from tagweave.features.evidence import allowed_sets, rejected_spans
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.features.noise import token_noise
from tagweave.kernels.blas import one_blas_thread
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace, View, collect_names, is_wildcard
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.learning.loop import Outcome, train
from tagweave.learning.run import SILENT, Run
from tagweave.learning.trainer import Trainer
from tagweave.models.chain import ChainModel
from tagweave.models.chain_assembly import AnyEncoder
from tagweave.models.layout import Layout
from tagweave.models.memory import check_labels
from tagweave.models.objective import ChainObjective
from tagweave.models.parameters import ChainParameters
from tagweave.models.rounding import rounded
from tagweave.training.consistency import check_consistent
from tagweave.training.dev_score import dev_score
from tagweave.training.problem import AnyProblem, Problem
from tagweave.training.recipe import MISTAKE_DRIVEN, Recipe

Floats = NDArray[Any]

_SHOWN = 8  # labels in a message


@dataclass(frozen=True)
class Fitted:
    """A model and how its training went."""

    model: ChainModel
    outcome: Outcome


def fit(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
    lookups: Lookups = NOTHING,
) -> Fitted:
    """Fit a model to corpora that share a guideline.

    Args:
        corpora: training data; positions may be full, ambiguous or unknown.
        recipe: how to fit.
        dev: development data: the iteration with the best score on it is kept, and training stops when the score no
            longer improves.
        run: the run, with schedule, checkpoint and callback.
        lookups: what the templates of the recipe look up; the model keeps it.

    Raises:
        TemplateError: templates that look up what is not there, or lookups without such templates.
        CorpusError: no sentence, no label, corpora of different guidelines, or contradictory evidence.
        TrainingError: the learner diverged.
    """
    problem = prepare(corpora, recipe, encoder=recipe.encoder(lookups))
    return fit_problem(problem, recipe, dev, run)


def fit_problem(
    problem: AnyProblem,
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> Fitted:
    """Fit a problem that `prepare` made of corpora with the same recipe.

    If most positions do not have exactly one label, a pointwise model is trained first on the same data, and the whole
    model is fine-tuned from its weights: the loss is not convex, and training from zero reaches lower scores
    (tsuboi-2008, 5.1 and 5.2, also begins with a model trained on less).

    Raises:
        CorpusError: development data without a position with one label.
    """
    for line in problem.summary(recipe):
        run.tell(line)
    evaluate = None if dev is None else dev_score(problem.model, recipe.task.prepare(dev), recipe.threads)
    about = {"recipe": recipe.to_json()}
    trainer = problem.trainer(recipe)
    if not problem.starts_pointwise:
        # the share of spans drifts if weights move fast: 5 points of F on dev of CoNLL-2003 with half of its names
        return learn(problem, trainer.fine_tuning() if recipe.ratio else trainer, about, run, evaluate)
    first = run.part("start").phase("start: pointwise model")
    if not run.schedule.can_resume:
        fitted = learn(problem.pointwise(), trainer, about, first, evaluate)
        if fitted.outcome.interrupted:
            return fitted
        problem = problem.with_weights(fitted.model.weights)
    fitted = learn(problem, trainer.fine_tuning(), about, run.phase("then: whole model"), evaluate)
    if not fitted.outcome.interrupted:
        first.finish()
    return fitted


def learn(
    problem: AnyProblem,
    trainer: Trainer,
    about: dict[str, Any],
    run: Run = SILENT,
    evaluate: Callable[[Floats], float] | None = None,
) -> Fitted:
    """Train the weights of a problem and round them. Scores are those of rounded weights; training uses exact ones.

    Args:
        problem: the data, and the model with all weights 0.
        trainer: the algorithm.
        about: the `about` of the model; the development score and the number of iterations are added.
        run: the run, with schedule, checkpoint and callback.
        evaluate: the development score of weights, higher is better.
    """
    model = problem.model
    score = evaluate and (lambda weights: evaluate(_kept(model, weights)))
    with one_blas_thread():
        outcome = train(trainer, problem.objective, model.weights, run, score)
    weights = _kept(model, np.asarray(outcome.weights, model.weights.dtype))
    about = {**about, "dev_score": outcome.score, "iterations": outcome.iterations}
    return Fitted(replace(model, weights=weights, about=about), outcome)


def _kept(model: ChainModel, weights: Floats) -> Floats:
    """The weights to store and measure: rounded, unless features have values.

    A value can be of any size and multiply the rounding error.
    """
    return weights if isinstance(model.encoder, AttributeEncoder) else rounded(weights)


def prepare(
    corpora: Sequence[Corpus], recipe: Recipe, names: Sequence[str] = (), encoder: AnyEncoder | None = None
) -> Problem:
    """Encode corpora and lay out the model's weights. Raises as `fit`.

    `names` are labels that the model must know even if the corpora do not name them; `encoder` is an empty encoder to
    use in place of the recipe's.
    """
    prepared = prepare_corpora(corpora, recipe)
    guideline = _one_guideline(prepared)
    sentences = [sentence for corpus in prepared for sentence in corpus.sentences]
    named = label_space(sentences, guideline, corpora[0].path).names
    space = LabelSpace.plain(guideline, recipe.task.labels(sorted({*named, *names})))
    return prepare_in(space, prepared, recipe, (True,), encoder)


def prepare_corpora(corpora: Sequence[Corpus], recipe: Recipe) -> list[Corpus]:
    """The corpora as sentences of the task's tokens. Raises CorpusError if there are none."""
    if not corpora:
        raise CorpusError("no corpus", "training data")
    prepared = [recipe.task.prepare(corpus) for corpus in corpora]
    if not any(prepared):
        raise CorpusError("no sentence", "training data", corpora[0].path)
    return prepared


def prepare_in(
    space: LabelSpace,
    corpora: Sequence[Corpus],
    recipe: Recipe,
    weighted: Sequence[bool],
    encoder: AnyEncoder | None = None,
) -> Problem:
    """Encode prepared corpora, whose layers are views of a label space, and lay out the weights of these views.

    Args:
        space: the labels.
        corpora: the result of `prepare_corpora`.
        recipe: how to fit.
        weighted: for each view, whether it has weights.
        encoder: the encoder; by default one of the recipe's templates.

    Raises:
        CorpusError: no evidence, contradictory evidence, or a sample of another number of corpora.
    """
    if recipe.sample and len(recipe.sample) != len(corpora):
        problem, expected = f"a sample of {len(recipe.sample)} corpora", f"as many numbers as corpora, {len(corpora)}"
        raise CorpusError(problem, expected)
    sentences = [weighted_sentence(sentence, corpus.weight) for corpus in corpora for sentence in corpus.sentences]
    scheme, sets = scheme_of(recipe, space, corpora[0].path), LabelSets(space, recipe.soft_labels)
    encoder = encoder or recipe.encoder()
    encoded = encoder.encode(sentences, recipe.threads)
    encoder.freeze(encoded, recipe.minimum_count)
    encoded = with_evidence(encoded, corpora, sets, scheme)
    if not encoded.allow.any():
        raise no_evidence(space, corpora[0].path)
    check_evidence(sentences, encoded, sets, scheme, recipe)
    dense = [recipe.dense(len(view.names)) for view in space.sides] + [False]  # most bundles never occur
    layouts = tuple(
        layout_of(encoder, encoded, sets, view, all_pairs) if has_weights else None
        for view, has_weights, all_pairs in zip(space.views, weighted, dense, strict=False)
    )
    parameters = ChainParameters(space, layouts, scheme, recipe.transitions, recipe.edges)
    of_corpus = np.repeat(np.arange(len(corpora), dtype=np.int32), [len(corpus) for corpus in corpora])
    return lay_out(parameters, encoder, encoded, sets, recipe, of_corpus)


def no_evidence(space: LabelSpace, path: str) -> CorpusError:
    """The error of a corpus in which every token allows every label."""
    names = " ".join(space.names[:_SHOWN])
    problem = f"no evidence: every token allows every label ({names})"
    return CorpusError(problem, "a corpus that tells labels from one another", path)


def layout_of(encoder: AnyEncoder, encoded: Encoded, sets: LabelSets, view: View, dense: bool) -> Layout:
    """Weights of every feature for every tag of a view or, if not dense, for the tags that the evidence observes."""
    if dense:
        return Layout.dense(encoder.windows, len(view.names))
    return Layout.observed(encoded, encoder.windows, sets.projected(view))


def lay_out(
    parameters: ChainParameters,
    encoder: AnyEncoder,
    encoded: Encoded,
    sets: LabelSets,
    recipe: Recipe,
    of_corpus: NDArray[np.int32] | None = None,
) -> Problem:
    """Make a problem of its parts, for any features: `encoder` is frozen, `encoded` carries its evidence."""
    model = empty_model(parameters, encoder, recipe)
    share = None if recipe.ratio is None else recipe.ratio.penalty(parameters.space.names)
    objective = ChainObjective(
        parameters,
        encoded,
        sets.masks,
        recipe.threads,
        recipe.dtype,
        of_corpus,
        recipe.sample,
        share,
        sets.posteriors,
        sets.log_scales,
    )
    return Problem(model, objective, sets)


def empty_model(parameters: ChainParameters, encoder: AnyEncoder, recipe: Recipe) -> ChainModel:
    """The model whose weights are all 0."""
    task = recipe.task
    return ChainModel(parameters, encoder, np.zeros(parameters.size, recipe.dtype), task.name, task.coding)


def with_evidence(encoded: Encoded, corpora: Sequence[Corpus], sets: LabelSets, scheme: TransitionScheme) -> Encoded:
    """The encoded sentences of all corpora with their label sets, noise and rejected spans. Raises as `evidence_of`."""
    allow, noise, rejected = evidence_of(corpora, sets, scheme)
    return replace(encoded, allow=allow, noise=noise, rejected=rejected).including_allowed(sets.masks)


def check_evidence(
    sentences: Sequence[Sentence], encoded: Encoded, sets: LabelSets, scheme: TransitionScheme, recipe: Recipe
) -> None:
    """Refuse evidence that no label sequence satisfies, or that the learner cannot use. Raises CorpusError."""
    evidence = encoded.allow, encoded.noise, sets.masks, scheme, encoded.rejected, sets.space.names
    check_consistent(sentences, *evidence)
    if recipe.learner in MISTAKE_DRIVEN and (sets.has_numbers or len(encoded.rejected)):
        place = sentences[int(encoded.rejected[0, 0])].location if len(encoded.rejected) else sentences[0].location[:1]
        found = "rejected spans" if len(encoded.rejected) else "candidates with numbers"
        raise CorpusError(f"{found} for the learner {recipe.learner}", "a learner that follows a gradient", *place)


def evidence_of(
    corpora: Sequence[Corpus], sets: LabelSets, scheme: TransitionScheme
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """int32[N], the label set of every token of all corpora, its noise as in `token_noise`, and the rejected spans.

    Evidence with confidence 0 is dropped. Raises as `allowed_sets` and `rejected_spans`.
    """
    allow = np.concatenate([allowed_sets(corpus.sentences, sets, scheme, corpus.covered) for corpus in corpora])
    sentences = [sentence for corpus in corpora for sentence in corpus.sentences]
    noise, rejected = token_noise(sentences), rejected_spans(sentences, sets.space)
    if len(noise):
        allow[noise >= 1] = ALL
        for t in np.flatnonzero((noise > 0) & sets.are_likelihoods[allow]):
            allow[t], noise[t] = sets.believed_in_part(int(allow[t]), float(noise[t])), 0
    if sets.posteriors is not None:
        _check_alone(sentences, sets.posteriors.of_set[allow] >= 0, noise, rejected)
    return allow, noise, rejected


def _check_alone(
    sentences: Sequence[Sentence],
    is_posterior: NDArray[np.bool_],
    noise: NDArray[np.float64],
    rejected: NDArray[np.int32],
) -> None:
    """Raise if a token with a posterior has a confidence too, or is in a sentence with rejected spans.

    A confidence says once more how far labels are to be believed, and rejected spans are no marginals.
    """
    of_token = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    others = {"rejected spans": np.isin(of_token, rejected[:, 0]), "a confidence in them": noise > 0}
    for what, there in others.items():
        if len(there) and (both := is_posterior & there).any():
            place = sentences[int(of_token[both.argmax()])].location
            raise CorpusError(f"probabilities of labels and {what}", "one of them", *place)


def label_space(sentences: Sequence[Sentence], guideline: str, path: str = "") -> LabelSpace:
    """The labels in the layer of a guideline.

    Raises:
        CorpusError: there are none.
    """
    layers = [sentence.layers[guideline] for sentence in sentences if guideline in sentence.layers]
    names = collect_names(layers)
    if not names:
        wild = any(is_wildcard(c) for layer in layers for candidates in layer for c in candidates or ())
        content = "only wildcards" if wild else "no label"
        raise CorpusError(f"{content} in layer {guideline!r}", "an annotated training corpus", path)
    return LabelSpace.plain(guideline, names)


def _one_guideline(corpora: Sequence[Corpus]) -> str:
    guidelines = dict.fromkeys(corpus.guideline for corpus in corpora)
    if len(guidelines) != 1:
        raise CorpusError(f"corpora of the guidelines {', '.join(guidelines)}", "one guideline for an ordinary fit")
    return next(iter(guidelines))


def weighted_sentence(sentence: Sentence, weight: float) -> Sentence:
    """The sentence, which counts so many times as often."""
    return sentence if weight == 1 else replace(sentence, weight=sentence.weight * weight)


def scheme_of(recipe: Recipe, space: LabelSpace, path: str = "") -> TransitionScheme:
    """Which labels may follow which under the coding of the task. Raises CorpusError as `check_labels`."""
    check_labels(space.names, path)
    if not recipe.task.coding:
        return TransitionScheme.free(len(space))
    schemes = [TransitionScheme.of(recipe.task.coding, view.names) for view in space.sides]
    return TransitionScheme.bundled(schemes, [view.projection for view in space.sides])
