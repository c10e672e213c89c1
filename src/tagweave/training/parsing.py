"""Fits parsers: corpora with head layers to a tree model, heads first, then relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.features.arc_evidence import SEVERAL
from tagweave.features.arc_noise import head_noise, with_noise, without_disbelieved
from tagweave.features.arc_templates import ArcTemplates, arc_preset
from tagweave.features.arcs import EncodedArcs, encode_arcs
from tagweave.features.given_columns import given_columns, with_copies
from tagweave.features.relation_templates import RelationTemplates, relation_preset
from tagweave.features.sentence_length import check_lengths
from tagweave.labels.sets import Reading, reading
from tagweave.learning.loop import Outcome, train
from tagweave.learning.online import AdaGrad
from tagweave.learning.run import SILENT, Run, Schedule
from tagweave.learning.trainer import Trainer
from tagweave.models.arc_features import ArcFeatures
from tagweave.models.arc_labels import ArcLabels, LabelObjective, arc_rows
from tagweave.models.memory import check_labels
from tagweave.models.relation_evidence import allowed_labels, are_probabilities
from tagweave.models.rounding import rounded
from tagweave.models.tree import TreeModel
from tagweave.models.tree_objective import TreeObjective
from tagweave.training.projectivity import crossing, projectivised
from tagweave.training.recipe import LEARNERS, MISTAKE_DRIVEN, check_average_seeds, trainer_of

_LAYERS = ("xpos", "upos")
_ADAGRAD: dict[str, Any] = {"rate": 0.05, "batch": 16, "initial": 1.0}
"""Test UAS of zh/udc: 81.2 after six epochs; with the learner's usual settings, made for chains, 78.1 after three."""
_LABEL_ROWS = 1 << 17
_RELATION_BYTES = 24  # in training, for each row of a relation
_LABEL_EPOCHS = 6
_LABEL_BATCH = 64


@dataclass(frozen=True)
class ParserRecipe:
    """How to fit a parser.

    Attributes:
        templates: features of arcs and of pairs of siblings; by default those of `usual_templates`.
        learner, settings: the name and the settings of the learner of heads.
        bits: features are hashed into 2^bits rows of weights (test UAS of zh/udc with 17 to 21, without 18: 80.0, 81.7,
            82.0, 82.3).
        precision: `float32` or `float64`.
        threads: how many threads share a full epoch.
        drop_columns: the share of sentences that training also sees in a copy without tags and columns.
        projective: whether trees are projective, and others are made so for training; else arcs may cross.
        soft_labels: what the numbers of candidates are: `posterior`, P(head, relation | what was said), or
            `likelihood`, P(what was said | head, relation).
        average_seeds: how many seeds the weights of arcs are the average of.
    """

    templates: ArcTemplates | None = None
    learner: str = "adagrad"
    settings: dict[str, Any] = field(default_factory=dict)
    bits: int = 20
    precision: str = "float32"
    threads: int = 1
    drop_columns: float = 0.0
    projective: bool = True
    soft_labels: Reading = "posterior"
    average_seeds: int = 1

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"unknown learner {self.learner!r}, expected one of {', '.join(LEARNERS)}")
        if not 4 <= self.bits <= 26:
            raise ValueError(f"found bits={self.bits}, expected 4 to 26")
        if not 0 <= self.drop_columns <= 1:
            raise ValueError(f"found drop_columns={self.drop_columns}, expected 0 to 1")
        if self.precision not in ("float32", "float64"):
            raise ValueError(f"unknown precision {self.precision!r}, expected 'float32' or 'float64'")
        if self.templates and self.templates.has_siblings and not self.projective:
            raise ValueError("found templates of siblings for trees whose arcs may cross, expected projective trees")
        reading(self.soft_labels)
        check_average_seeds(self.learner, self.average_seeds)

    def trainer(self) -> Trainer:
        """The learner with its settings; AdaGrad has defaults that suit arcs."""
        usual = _ADAGRAD if self.learner == "adagrad" else {}
        return trainer_of(self.learner, {**usual, **self.settings}, self.average_seeds)

    def to_json(self) -> dict[str, Any]:
        """A plain description, for the model's metadata."""
        return {**asdict(self), "templates": list(self.templates.texts) if self.templates else None}


@dataclass(frozen=True)
class FittedParser:
    """A parser, the outcome of its training, and counts of the training data.

    Attributes:
        model: the parser.
        outcome: the outcome of the training of heads.
        crossing: sentences with arcs that cross; a projective parser learns from trees that were made projective.
        unused: sentences left out because no tree of the parser agrees with their evidence.
        tokens: tokens of the training data.
        known, several, uncertain: tokens with one head, with several candidates, with a confidence below 1.
    """

    model: TreeModel
    outcome: Outcome
    crossing: int
    unused: int
    tokens: int = 0
    known: int = 0
    several: int = 0
    uncertain: int = 0

    def notes(self) -> list[str]:
        """Notes for the user on the training data."""
        open_ones = self.known < self.tokens
        known = f"heads: {self.known:,} of {self.tokens:,} known, {self.several:,} with several candidates"
        uncertain = f"{self.uncertain:,} heads with a confidence below 1: an uncertain head excludes others in part"
        crossing = f"{self.crossing} sentences with arcs that cross: " + (
            "lifted, for the training of heads (`non_projective` learns from them as they are)"
            if self.model.projective
            else "learned as they are, since all trees are possible"
        )
        tree = "projective tree" if self.model.projective else "tree"
        unused = f"{self.unused} sentences left out: no {tree} agrees with their annotation"
        lines = ((known, open_ones), (uncertain, self.uncertain), (crossing, self.crossing), (unused, self.unused))
        return [line for line, count in lines if count]


def fit_parser(
    corpora: Sequence[Corpus],
    recipe: ParserRecipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> FittedParser:
    """Fit a parser to corpora whose guideline is a head layer; heads may be full, ambiguous, unknown or uncertain.

    In the loss, an excluded head or relation keeps 1 - confidence of its potential (`Sentence.confidence`). The
    perceptron, which knows only right and wrong, ignores arcs with confidence 0 and believes all others.

    Raises:
        CorpusError: no sentence, no known head, no tags; too many relations for the memory of this machine; development
            data without a known head; numbers of heads for the perceptron; as `check_lengths` and `allowed_arcs`.
        TrainingError: the learner diverged.
    """
    layer = corpora[0].guideline if corpora else "head"
    run.tell(evidence_line(corpora))
    sentences = [_weighted(s, corpus.weight) for corpus in corpora for s in corpus.sentences]
    check_lengths(sentences)
    path = corpora[0].path if corpora else ""
    check_labels(relation_names(sentences, layer), path, _LABEL_ROWS * _RELATION_BYTES)
    sentences = without_disbelieved(sentences, layer)
    templates = recipe.templates or usual_templates(sentences, siblings=recipe.projective)
    features = ArcFeatures(templates, 1 << recipe.bits)
    trees, crosses = projectivised(sentences, layer) if recipe.projective else (sentences, crossing(sentences, layer))
    tags, given = next(iter(tag_layers(sentences)), "form"), len(sentences)
    sentences, trees = (
        with_copies(each, given_columns(templates.columns), recipe.drop_columns) for each in (sentences, trees)
    )
    encoded = with_noise(encode_arcs(trees, templates, layer, reading=recipe.soft_labels), trees, layer)
    if recipe.learner in MISTAKE_DRIVEN and encoded.allowed.dtype != np.uint8:
        expected = "a learner that follows a gradient"
        raise CorpusError(f"heads with numbers for the learner {recipe.learner}", expected, corpora[0].path)
    dtype = np.float32 if recipe.precision == "float32" else np.float64
    zeros, single_root = np.zeros(features.size, dtype), _single_root(encoded)
    model = TreeModel(features, zeros, None, single_root, layer, projective=recipe.projective)
    fits = model.best(encoded, True) >= 0
    usable = np.logical_and.reduceat(np.append(fits, True), encoded.token_ptr[:-1])
    fit_for_use = encoded.take(np.flatnonzero(usable))
    objective = TreeObjective(features, fit_for_use, single_root, recipe.threads, dtype, recipe.projective)
    if not len(objective):
        raise CorpusError("no head that is known", "trees, or parts of trees", path)
    score = None if dev is None else DevScore(model, dev, recipe.threads)
    evaluate = score and (lambda weights: score(rounded(weights)))
    outcome = train(recipe.trainer(), objective, model.weights, run, evaluate)
    model = replace(model, weights=rounded(np.asarray(outcome.weights, dtype)))
    relations = relation_preset(templates, tags)
    if outcome.iterations:
        rest = SILENT if outcome.interrupted else run  # relations are quick, so an interrupted parser has them too
        heads = model.best(encoded, True)
        labels, is_stopped = fit_labels(sentences, layer, relations, heads, rest, recipe.soft_labels)
        model, outcome.interrupted = replace(model, labels=labels), outcome.interrupted or is_stopped
    about = {
        "recipe": {**recipe.to_json(), "templates": list(templates.texts)},
        "dev_score": outcome.score,
        "iterations": outcome.iterations,
    }
    own = encoded.take(np.arange(given))
    heads = own.token_heads
    counts = len(heads), int((heads >= 0).sum()), int((heads == SEVERAL).sum()), int((own.noise > 0).sum())
    return FittedParser(replace(model, about=about), outcome, crosses, int((~usable[:given]).sum()), *counts)


def evidence_line(corpora: Sequence[Corpus]) -> str:
    """A line on the amount of evidence in the corpora."""
    layers = [s.heads.get(corpus.guideline, ()) for corpus in corpora for s in corpus]
    evidence = [layer for layer in layers if any(layer)]
    tokens, known = sum(map(len, evidence)), sum(sum(map(bool, layer)) for layer in evidence)
    return f"{len(evidence):,} sentences with evidence, {tokens:,} tokens ({known:,} with evidence)"


def usual_templates(*parts: Sequence[Sentence], siblings: bool = True) -> ArcTemplates:
    """`arc_preset` over the finest tags that every sentence has, with coarser tags and `feats` if present.

    Args:
        parts: groups of sentences; `feats` are used if every group has some. The models of an adaptation need the same
            templates, so all corpora of both guidelines are groups.
        siblings: whether pairs of siblings have scores, as only those of projective trees can.

    Raises:
        CorpusError: sentences without tags.
    """
    sentences = [sentence for part in parts for sentence in part]
    known = tag_layers(sentences)
    if not known:
        raise CorpusError(
            "sentences without tags", "a layer upos or xpos", *(sentences[0].location if sentences else ())
        )
    return arc_preset(known[0], known[1] if len(known) > 1 else None, all(map(_have_feats, parts)), siblings)


def _have_feats(sentences: Sequence[Sentence]) -> bool:
    """Whether all sentences have the column, and it is not empty in all of them."""
    return all("feats" in s.columns for s in sentences) and any(set(s.columns["feats"]) - {"_"} for s in sentences)


def tag_layers(sentences: Sequence[Sentence]) -> list[str]:
    """The tag layers that every sentence has, the finest first."""
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
) -> tuple[ArcLabels | None, bool]:
    """Fit a classifier of relations.

    Args:
        sentences: N tokens.
        layer: the head layer.
        templates: templates of relations.
        heads: int32[N], predicted trees under the evidence, for unknown heads; -1 for none.
        run: may be cancelled; its schedule and callback are not used.
        reading: what numbers of candidates are.

    Returns:
        the classifier, `None` if there are no relations or the evidence excludes none of several; and whether the user
        stopped the training, which is repeated when that of heads is resumed.
    """
    names = relation_names(sentences, layer)
    if not names:
        return None, False
    encoded = encode_arcs(sentences, ArcTemplates(()), layer, templates.columns)
    known = encoded.token_heads
    heads = np.where(known >= 0, known, heads)
    labels = ArcLabels(templates, tuple(names), np.zeros((_LABEL_ROWS, len(names)), np.float32))
    allowed = allowed_labels(sentences, layer, heads, names, reading)
    allowed[heads < 0] = True
    rows = arc_rows(templates, encoded, heads, _LABEL_ROWS)
    weights = np.repeat(encoded.weights, encoded.lengths)
    noise, posterior = head_noise(sentences, layer), are_probabilities(allowed, reading)
    objective = LabelObjective(rows, allowed, weights, _LABEL_ROWS, noise, posterior)
    if not len(objective):  # there is only one relation, or no arc distinguishes them
        return (labels if len(names) == 1 else None), False
    trainer = AdaGrad(**{**_ADAGRAD, "batch": _LABEL_BATCH})
    outcome = train(trainer, objective, labels.weights.reshape(-1), run.aside(Schedule(_LABEL_EPOCHS)))
    return replace(labels, weights=rounded(outcome.weights).reshape(labels.weights.shape)), outcome.interrupted


def attachment(heads: NDArray[np.int32], encoded: EncodedArcs) -> float:
    """The share of correct heads among tokens with one known head; 0 without such tokens."""
    known = encoded.token_heads
    scored = known >= 0
    return float((heads == known)[scored].mean()) if scored.any() else 0.0


class DevScore:
    """UAS of weights on development data, over all tokens with one known head."""

    def __init__(self, model: TreeModel, dev: Corpus, threads: int) -> None:
        self._model, self._threads = model, threads
        check_lengths(dev)
        self._encoded = encode_arcs(dev.sentences, model.features.templates, dev.guideline)
        if (self._encoded.heads < 0).sum() == len(self._encoded.heads):
            raise CorpusError("no head that is known", "development data with trees", dev.path)

    def __call__(self, weights: NDArray[Any]) -> float:
        """The score, from 0 to 1."""
        heads = replace(self._model, weights=weights).best(self._encoded, threads=self._threads)
        return attachment(heads, self._encoded)


def _weighted(sentence: Sentence, weight: float) -> Sentence:
    return sentence if weight == 1 else replace(sentence, weight=sentence.weight * weight)


def _single_root(encoded: EncodedArcs) -> bool:
    """Whether no sentence has several dependents of the root."""
    of_root = np.concatenate([[0], np.cumsum(encoded.heads == 0)])
    return bool((of_root[encoded.position_ptr[1:]] - of_root[encoded.position_ptr[:-1]] <= 1).all())
