"""Problems of trees: corpora of heads encoded for a parser, which learns heads first, then relations.

A projective parser learns from trees whose crossing arcs are lifted (Nivre & Nilsson 2005). A parser that goes on from
another one has its templates and rows of weights, in which features of new text have their places already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import (
    ANY,
    SEVERAL,
    RelationEvidence,
    allowed_labels,
    are_probabilities,
    head_noise,
    only_head,
    without_disbelieved,
)
from tagweave.features.arc_templates import (
    ArcTemplates,
    RelationTemplates,
    arc_preset,
    check_lengths,
    given_columns,
    relation_preset,
    with_copies,
)
from tagweave.features.encoded_arcs import EncodedArcs, encode_arcs
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.kernels.projective import has_cycle, is_projective, projectivise
from tagweave.labels.sets import Reading
from tagweave.learning.learners.adagrad import AdaGrad
from tagweave.learning.loop import FitOutcome, train
from tagweave.learning.run import SILENT, Run, Schedule
from tagweave.learning.staying_near import Before, StayingNear
from tagweave.learning.trainer import Trainer
from tagweave.models.arc_scorer import ArcFeatures, ArcLabels, LabelObjective, arc_rows
from tagweave.models.memory import check_labels
from tagweave.models.occurrences import in_bytes, of_bytes
from tagweave.models.packing import rounded
from tagweave.models.tree import TreeModel
from tagweave.models.tree_objective import TreeObjective
from tagweave.training.fit.chain_problem import weighted_sentence
from tagweave.training.fit.problem import Fitted, Floats, Problem
from tagweave.training.fit.recipe import ARC_SETTINGS, Recipe

_LAYERS = ("xpos", "upos")
_LABEL_ROWS = 1 << 17
_RELATION_BYTES = 24  # in training, for each row of a relation
_LABEL_EPOCHS = 6
_LABEL_BATCH = 64


@dataclass(frozen=True)
class TreebankCounts:
    """Counts of training trees. `known` and `several` and `uncertain`: tokens with one head, with several candidates,
    with a confidence below 1."""

    crossing: int
    unused: int
    tokens: int = 0
    known: int = 0
    several: int = 0
    uncertain: int = 0
    projective: bool = True

    def notes(self) -> tuple[str, ...]:
        """Return notes for the user on the training data."""
        has_unknown = self.known < self.tokens
        heads = f"heads: {self.known:,} of {self.tokens:,} known, {self.several:,} with several candidates"
        uncertain = f"{self.uncertain:,} heads with a confidence below 1: an uncertain head excludes others in part"
        crossing = f"{self.crossing} sentences with arcs that cross: " + (
            "lifted, for the training of heads (`non_projective` learns from them as they are)"
            if self.projective
            else "learned as they are, since all trees are possible"
        )
        tree = "projective tree" if self.projective else "tree"
        unused = f"{self.unused} sentences left out: no {tree} agrees with their annotation"
        lines = ((heads, has_unknown), (uncertain, self.uncertain), (crossing, self.crossing), (unused, self.unused))
        return tuple(line for line, count in lines if count)


@dataclass(frozen=True)
class TreeProblem(Problem):
    """A problem of trees: its objective is the loss of heads, and relations are fitted to the best heads afterwards."""

    model: TreeModel
    objective: TreeObjective
    encoded: EncodedArcs
    sentences: Sequence[Sentence]
    relations: RelationTemplates
    counts: TreebankCounts
    evidence: str
    reading: Reading

    def about(self, recipe: Recipe) -> dict[str, Any]:
        """Return the recipe with the templates that it left open."""
        return {"recipe": {**recipe.to_json(), "templates": list(self.model.parameters.templates.texts)}}

    def summary(self, recipe: Recipe) -> list[str]:
        return [self.evidence]

    def dev_score(self, dev: Corpus, recipe: Recipe) -> Callable[[Floats], float]:
        return dev_score(self.model, dev, recipe.threads)

    def finished(self, model: TreeModel, outcome: FitOutcome, run: Run = SILENT) -> Fitted:
        """Return the parser with its relations; they are quick, so an interrupted parser has them too."""
        if outcome.iterations:
            relation_run = replace(SILENT, cancel=lambda: False) if outcome.interrupted else run
            heads = model.best(self.encoded, True)
            labels, is_stopped = fit_labels(
                self.sentences,
                model.guideline,
                self.relations,
                heads,
                relation_run,
                self.reading,
                model.lookups,
                model.labels,
            )
            model, outcome.interrupted = replace(model, labels=labels), outcome.interrupted or is_stopped
        return Fitted(model, outcome, self.counts.notes())


def prepare(corpora: Sequence[Corpus], recipe: Recipe, start: TreeModel | None = None) -> TreeProblem:
    """Encode corpora whose guideline is a head layer; heads may be full, ambiguous, unknown or uncertain.

    `start` is a parser to go on from, with the templates and rows of the new one.

    In the loss, an excluded head or relation keeps 1 - confidence of its potential (`Sentence.confidence`). The
    perceptron, which knows only right and wrong, ignores arcs with confidence 0 and believes all others.
    """
    layer, path = (corpora[0].guideline, corpora[0].path) if corpora else ("head", "")
    sentences = [weighted_sentence(s, corpus.weight) for corpus in corpora for s in corpus.sentences]
    check_lengths(sentences)
    check_labels(relation_names(sentences, layer), path, _LABEL_ROWS * _RELATION_BYTES)
    sentences = without_disbelieved(sentences, layer)
    model = start or _new_model(sentences, layer, recipe)
    templates = model.parameters.templates
    trees, crosses = projectivised(sentences, layer) if recipe.projective else (sentences, crossing(sentences, layer))
    if model.labels is None:
        relations = relation_preset(templates, next(iter(tag_layers(sentences)), "form"))
    else:
        relations = model.labels.templates
    original_count = len(sentences)
    sentences, trees = (
        with_copies(group, given_columns(templates.columns), recipe.drop_columns) for group in (sentences, trees)
    )
    encoded = _encoded(trees, templates, layer, recipe, path)
    single_root = model.single_root and _has_single_roots(encoded)
    model = replace(model, single_root=single_root, weights=np.array(model.weights, recipe.dtype))
    best = model.best(encoded, True)
    fits = best >= 0
    usable = np.logical_and.reduceat(np.append(fits, True), encoded.token_ptr[:-1])
    useful = encoded.take(np.flatnonzero(usable))
    features = model.parameters
    objective = TreeObjective(features, useful, single_root, recipe.threads, recipe.dtype, recipe.projective)
    if not len(objective):
        raise CorpusError("no head that is known", "trees, or parts of trees", path)
    evidence = encoded.evidence.take(np.arange(original_count))
    heads = evidence.token_heads
    numbers = len(heads), int((heads >= 0).sum()), int((heads == SEVERAL).sum()), int((evidence.noise > 0).sum())
    counts = TreebankCounts(crosses, int((~usable[:original_count]).sum()), *numbers, recipe.projective)
    line = _evidence_line(corpora)
    new_counts = features.count(encoded, best, fits & (encoded.evidence.token_heads >= 0))
    before = None if start is None else kept_of(model.weights, start.occurrences, new_counts)
    model = replace(model, occurrences=occurrences_of(model.occurrences, new_counts))
    return TreeProblem(model, objective, encoded, sentences, relations, counts, line, recipe.soft_labels, before=before)


def _new_model(sentences: Sequence[Sentence], layer: str, recipe: Recipe) -> TreeModel:
    """Return a parser of which nothing is trained."""
    assert recipe.templates is None or isinstance(recipe.templates, ArcTemplates)  # noqa: S101 - the task is `parse`
    clusters = recipe.lookups.has_clusters
    templates = recipe.templates or usual_templates(sentences, siblings=recipe.projective, clusters=clusters)
    features = ArcFeatures(templates, 1 << recipe.bits)
    weights = features.initial(recipe.dtype)
    return TreeModel(features, weights, guideline=layer, projective=recipe.projective, lookups=recipe.lookups)


def occurrences_of(before: NDArray[np.uint8], new_counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return `TreeModel.occurrences` after more text, in which rows occurred so often."""
    return in_bytes(_counts(before, len(new_counts)) + new_counts)


def _counts(occurrences: NDArray[np.uint8], rows: int) -> NDArray[np.int64]:
    """Return about how often each row occurred, int64[R]."""
    return of_bytes(occurrences) if len(occurrences) else np.zeros(rows, np.int64)


def kept_of(
    weights: Floats, occurrences: NDArray[np.uint8], new_counts: NDArray[np.int64], has_new_labels: bool = False
) -> Before:
    """Return what is kept of weights in R rows, flat, given `TreeModel.occurrences` and counts of new text."""
    counts = _counts(occurrences, len(new_counts)).astype(weights.dtype)
    ratio = counts / np.maximum(counts + new_counts, 1)
    columns = len(weights) // len(counts)
    return Before.of(weights, np.repeat(counts, columns), np.repeat(ratio, columns), has_new_labels)


def _encoded(trees: Sequence[Sentence], templates: ArcTemplates, layer: str, recipe: Recipe, path: str) -> EncodedArcs:
    """Encode trees with their evidence. Raises CorpusError if the learner cannot use it."""
    encoded = encode_arcs(trees, templates, layer, (), recipe.soft_labels, recipe.lookups)
    encoded = replace(encoded, evidence=encoded.evidence.with_noise(trees, layer))
    if recipe.mistake_driven and encoded.evidence.allowed.dtype != np.uint8:
        raise CorpusError(
            f"heads with numbers for the learner {recipe.learner}", "a learner that follows a gradient", path
        )
    return encoded


def _has_single_roots(encoded: EncodedArcs) -> bool:
    """Return whether no sentence has several tokens that are known to hang on the root."""
    root_counts = np.append(0, np.cumsum(encoded.evidence.heads == 0))
    return bool((root_counts[encoded.position_ptr[1:]] - root_counts[encoded.position_ptr[:-1]] <= 1).all())


def _evidence_line(corpora: Sequence[Corpus]) -> str:
    layers = [layer for corpus in corpora for s in corpus if any(layer := s.heads.get(corpus.guideline, ()))]
    tokens, annotated = sum(map(len, layers)), sum(sum(map(bool, layer)) for layer in layers)
    return f"{len(layers):,} sentences with evidence, {tokens:,} tokens ({annotated:,} with evidence)"


def usual_templates(*groups: Sequence[Sentence], siblings: bool = True, clusters: bool = False) -> ArcTemplates:
    """`arc_preset` over the finest tags that every sentence has, with coarser tags and `feats` if present. `parts`:
    groups of sentences; `feats` are used if every group has some. The models of an adaptation need the same templates,
    so all corpora of both guidelines are groups."""
    sentences = [sentence for group in groups for sentence in group]
    layers = tag_layers(sentences)
    if not layers:
        raise CorpusError(
            "sentences without tags", "a layer upos or xpos", *(sentences[0].location if sentences else ())
        )
    have_feats = all(
        all("feats" in s.columns for s in group) and any(set(s.columns["feats"]) - {"_"} for s in group)
        for group in groups
    )
    return arc_preset(layers[0], layers[1] if len(layers) > 1 else None, have_feats, siblings, clusters)


def tag_layers(sentences: Sequence[Sentence]) -> list[str]:
    """Return the tag layers that every sentence has, the finest first."""
    return [name for name in _LAYERS if all(any(s.layers.get(name, ())) for s in sentences if len(s))]


def relation_names(sentences: Sequence[Sentence], layer: str) -> list[str]:
    """Return the relations of a head layer."""
    return sorted({a.relation for s in sentences for c in s.heads.get(layer, ()) for a in c or () if a.relation})


def fit_labels(
    sentences: Sequence[Sentence],
    layer: str,
    templates: RelationTemplates,
    heads: NDArray[np.int32],
    run: Run = SILENT,
    reading: Reading = "posterior",
    lookups: Lookups = NOTHING,
    start: ArcLabels | None = None,
) -> tuple[ArcLabels | None, bool]:
    """Fit a classifier of relations, or go on from one, which others may join.

    Args:
        heads: int32[N], predicted trees under the evidence, for unknown heads; -1 for none.

    Returns:
        the classifier, `None` if there are no relations or the evidence excludes none of several; and whether the user
        stopped the training, which is repeated when the training of heads is resumed.
    """
    named = relation_names(sentences, layer)
    if not named:
        return start, False
    names = sorted({*named, *(() if start is None else start.names)})
    encoded = encode_arcs(sentences, ArcTemplates(()), layer, templates.columns, lookups=lookups)
    annotated = encoded.evidence.token_heads
    heads = np.where(annotated >= 0, annotated, heads)
    row_count = _LABEL_ROWS if start is None else len(start.weights)
    labels = ArcLabels(templates, tuple(names), np.zeros((row_count, len(names)), np.float32))
    if start is not None:
        labels.weights[:, np.searchsorted(names, start.names)] = start.weights
        labels = replace(labels, occurrences=start.occurrences)
    allowed = allowed_labels(sentences, layer, heads, names, reading)
    allowed[heads < 0] = True
    rows = arc_rows(templates, encoded, heads, row_count)
    weights = np.repeat(encoded.evidence.weights, encoded.lengths)
    noise = head_noise(sentences, layer)
    posterior = are_probabilities(allowed, reading)
    noise = noise if len(noise) else np.zeros(len(weights))
    objective = LabelObjective(rows, RelationEvidence(allowed, noise, weights, posterior), row_count)
    if not len(objective):  # there is only one relation, or no arc distinguishes them
        return start or (labels if len(names) == 1 else None), False
    counts = np.bincount(rows[annotated >= 0].reshape(-1), minlength=row_count)
    begun = labels.weights.reshape(-1)
    trainer: Trainer = AdaGrad(**{**ARC_SETTINGS, "batch": _LABEL_BATCH})
    schedule, before = Schedule(_LABEL_EPOCHS), None
    if start is not None:
        before = kept_of(begun, start.occurrences, counts, labels.names != start.names)
        trainer, schedule = StayingNear(trainer, before.occurrences), Schedule()
    outcome = train(trainer, objective, begun, run.aside(schedule))
    fitted = outcome.weights if before is None else before.merged(outcome.weights)
    fitted = rounded(fitted).reshape(labels.weights.shape)
    return replace(labels, weights=fitted, occurrences=occurrences_of(labels.occurrences, counts)), outcome.interrupted


def dev_score(model: TreeModel, dev: Corpus, threads: int = 1) -> Callable[[Floats], float]:
    """Return a function from weights to UAS on development data, over all tokens with one known head."""
    encoded = model.encode(dev.sentences, dev.guideline)
    if (encoded.evidence.heads < 0).all():
        raise CorpusError("no head that is known", "development data with trees", dev.path)
    gold = encoded.evidence.token_heads

    def score(weights: Floats) -> float:
        heads = replace(model, weights=weights).best(encoded, threads=threads)
        scored = gold >= 0
        return float((heads == gold)[scored].mean()) if scored.any() else 0.0

    return score


def projectivised(sentences: Sequence[Sentence], layer: str) -> tuple[list[Sentence], int]:
    """The sentences with arcs lifted until none cross (Nivre & Nilsson 2005), and the number of changed sentences.

    A lifted arc loses its relation. Unknown heads stay unknown; if lifting an arc would need one, its head becomes
    unknown. A sentence with several candidates for a head does not change.
    """
    results, changed = [], 0
    for sentence in sentences:
        layer_arcs = sentence.heads.get(layer)
        old = [] if layer_arcs is None else list(map(only_head, layer_arcs))
        if layer_arcs is None or SEVERAL in old:
            results.append(sentence)
            continue
        new = np.array(old, np.int32)
        lifts = projectivise(new)
        if lifts < 0:
            raise _circle(sentence)
        changed += lifts > 0
        if lifts:
            kept = (
                (candidates, head, only_head(candidates))
                for candidates, head in zip(layer_arcs, new.tolist(), strict=True)
            )
            arcs = (
                candidates if head == old_head else None if head < 0 else (Arc(head, None),)
                for candidates, head, old_head in kept
            )
            results.append(replace(sentence, heads={**sentence.heads, layer: tuple(arcs)}))
        else:
            results.append(sentence)
    return results, changed


def crossing(sentences: Sequence[Sentence], layer: str) -> int:
    """Count the sentences in which known arcs cross."""
    count = 0
    for sentence in sentences:
        heads = np.array([max(only_head(candidates), ANY) for candidates in sentence.heads.get(layer, ())], np.int32)
        if has_cycle(heads):
            raise _circle(sentence)
        count += not is_projective(heads)
    return count


def _circle(sentence: Sentence) -> CorpusError:
    return CorpusError("heads that go round in a circle", "a tree", *sentence.location)
