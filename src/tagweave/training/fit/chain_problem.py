"""Problems of chains: corpora of labels encoded, with the weights of their model laid out, and how large they are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count as count_from
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.chunk_schemes import ends_only
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.errors import CorpusError
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import Encoder
from tagweave.labels import CARRYING, SPANS
from tagweave.labels.coding import Spread, WordCounter
from tagweave.labels.mapping import over_labels
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, View, collect_names, is_wildcard
from tagweave.labels.spans import SpanCounter
from tagweave.labels.transition_scheme import TransitionScheme, split_label
from tagweave.learning.staying_near import Before
from tagweave.models.cascades import of_pieces, piece_lengths
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout, pair_codes
from tagweave.models.memory import check_labels
from tagweave.models.network import NetworkParameters
from tagweave.models.objective import BLOCK, ChainObjective
from tagweave.models.occurrences import in_bytes
from tagweave.models.scorer import ScorerParameters
from tagweave.training.fit.consistency import check_evidence, no_evidence, with_evidence
from tagweave.training.fit.problem import Floats, Problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import without_outside

if TYPE_CHECKING:
    from tagweave.labels.mapping import TagMapping


_SQUARES = 6  # tables of labels x labels shared by all threads; each thread has two more
_BUFFERS = 8  # tables of tokens x labels
_TOGETHER = 64  # sentences per thread at a time for learners without batches
_MOSTLY = 0.5  # share of positions with one label below which training begins pointwise


class ProblemSize(NamedTuple):
    """The size of a problem."""

    sentences: int
    tokens: int
    evidence: int
    single: int

    @classmethod
    def of(cls, encoded: Encoded, sets: LabelSets) -> ProblemSize:
        """Count sentences, tokens, tokens with evidence, and those with one label or probabilities of labels."""
        allow = encoded.evidence.sets
        return cls(len(encoded), len(allow), int(np.count_nonzero(allow)), count_known(sets, allow))


@dataclass(frozen=True)
class ChainProblem(Problem):
    """A problem of labels."""

    model: ChainModel
    objective: ChainObjective
    sets: LabelSets

    @cached_property
    def size(self) -> ProblemSize:
        return ProblemSize.of(self.objective.encoded, self.sets)

    @property
    def beginning(self) -> ChainProblem | None:
        """The pointwise problem if few positions have one label: the loss is not convex, and training from zero reaches
        lower scores (tsuboi-2008, 5.1 and 5.2, also begins with a model trained on less). Not for spans: a token by
        itself does not tell what lies outside."""
        if self.before is not None:
            return None
        has_few = self.size.tokens > 0 and self.size.single / self.size.tokens < _MOSTLY
        starts_pointwise = has_few and self.model.task != SPANS and self.model.parameters.transitions
        return self.pointwise() if starts_pointwise else None

    def pointwise(self) -> ChainProblem | None:
        """Return the same problem without the weights of transitions and edges, which stay as they are."""
        parameters = self.model.parameters.pointwise()
        if parameters is None:
            return None
        model = replace(self.model, parameters=parameters)
        return replace(self, model=model, objective=self.objective.with_parameters(parameters))

    def kept(self, weights: Floats) -> Floats:
        """Return the weights to store and measure: rounded, unless features have values, which multiply the error."""
        return self._merged(weights) if self.model.encoder.has_values else super().kept(weights)

    def dev_score(self, dev: Corpus, recipe: Recipe) -> Callable[[Floats], float]:
        return dev_score(self.model, recipe.task.prepare(dev), recipe.threads)

    def summary(self, recipe: Recipe) -> list[str]:
        """Return lines that tell the size: sentences, tokens, labels, features, weights and memory."""
        size, model, space = self.size, self.model, self.model.space
        features = len(model.encoder.windows)
        parameters = model.parameters
        labels = f"{len(space):,} labels"
        by_view = ""
        if len(space.views) > 1:
            sides = " and ".join(f"{len(view.names):,} of {view.guideline}" for view in space.sides)
            labels = f"{len(space):,} bundles of labels ({sides})"
            by_view = f" ({', '.join(f'{name} {count:,}' for name, count in parameters.weights_by_view.items())})"
        lines = [
            f"{size.sentences:,} sentences with evidence, {size.tokens:,} tokens ({size.evidence:,} with evidence)",
            f"{labels}, {features:,} features, {parameters.size:,} weights{by_view}",
        ]
        needed, peak = estimated_bytes(self, recipe), peak_bytes()
        in_all = f", {_readable(peak + needed)} in all" if peak else ""
        return [*lines, f"about {_readable(needed)} of memory for training{in_all}"]


def prepare(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    names: Sequence[str] = (),
    encoder: Encoder | None = None,
) -> ChainProblem:
    """Encode corpora and lay out the model's weights.

    `names` are labels that the model must know even if the corpora do not name them; `encoder` is an empty encoder to
    use in place of the recipe's.
    """
    return prepare_coded(prepare_corpora(corpora, recipe), recipe, names, encoder)


def prepare_coded(
    prepared: Sequence[Corpus],
    recipe: Recipe,
    names: Sequence[str] = (),
    encoder: Encoder | None = None,
    start: ChainModel | None = None,
) -> ChainProblem:
    """As `prepare`, of corpora that `prepare_corpora` has made.

    `start` is a model to go on from: its features and labels come first, and its weights are those that training
    starts from.
    """
    guidelines = dict.fromkeys(corpus.guideline for corpus in prepared)
    if len(guidelines) != 1:
        raise CorpusError(f"corpora of the guidelines {', '.join(guidelines)}", "one guideline for an ordinary fit")
    guideline = prepared[0].guideline
    sentences = [sentence for corpus in prepared for sentence in corpus.sentences]
    start_labels = () if start is None else start.space.names
    named = label_space(sentences, guideline, prepared[0].path).names
    space = LabelSpace.plain(guideline, recipe.task.labels(sorted({*named, *names, *start_labels})))
    return prepare_in(space, prepared, recipe, (True,), encoder, start)


def prepare_corpora(corpora: Sequence[Corpus], recipe: Recipe) -> list[Corpus]:
    """Return the corpora as sentences of the task's tokens. Raises CorpusError if there are none."""
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
    encoder: Encoder | None = None,
    start: ChainModel | None = None,
) -> ChainProblem:
    """Encode prepared corpora, whose layers are views of a label space, and lay out the weights of these views.

    `start`: as in `prepare_coded`.
    """
    if recipe.sample and len(recipe.sample) != len(corpora):
        problem, expected = f"a sample of {len(recipe.sample)} corpora", f"as many numbers as corpora, {len(corpora)}"
        raise CorpusError(problem, expected)
    sentences = [weighted_sentence(sentence, corpus.weight) for corpus in corpora for sentence in corpus.sentences]
    scheme = scheme_of(recipe, space, corpora[0].path)
    sets = LabelSets(space, recipe.soft_labels)
    if start is not None:
        encoder = start.encoder.growing(np.maximum(start.features.counts, recipe.minimum_count))
    encoder = encoder or recipe.encoder()
    encoded = encoder.encode(sentences, recipe.threads)
    counts = encoder.freeze(encoded, recipe.minimum_count)
    encoded = with_evidence(encoded, corpora, sets, scheme)
    if not encoded.evidence.sets.any():
        raise no_evidence(space, corpora[0].path)
    check_evidence(sentences, encoded, sets, scheme, recipe)
    dense = [recipe.dense(len(view.names)) for view in space.sides] + [False]  # most bundles never occur
    if start is not None:
        dense = [layout.is_dense for _, layout in start.features.weighted]
    layouts = tuple(
        layout_of(encoder, encoded, sets, view, all_pairs) if has_weights else None
        for view, has_weights, all_pairs in zip(space.views, weighted, dense, strict=False)
    )
    if start is not None:
        layouts = tuple(map(partial(with_pairs_of, start.features), count_from(), space.views, layouts))
    parameters = ChainParameters(space, layouts, scheme, recipe.transitions, recipe.edges, occurrences=in_bytes(counts))
    corpus_numbers = np.repeat(np.arange(len(corpora), dtype=np.int32), [len(corpus) for corpus in corpora])
    return lay_out(parameters, encoder, encoded, sets, recipe, corpus_numbers, start)


def with_pairs_of(before: ChainParameters, number: int, view: View, layout: Layout | None) -> Layout | None:
    """Return the layout of a view with the pairs of features and labels that an earlier model has, too."""
    if layout is None or layout.is_dense:
        return layout
    old_features = np.arange(len(before.weighted[number][1].ptr) - 1)
    codes = pair_codes(*layout.pairs()), pair_codes(*before.carried_pairs(number, view, old_features))
    return Layout.of_codes(np.union1d(*codes), len(layout.ptr) - 1)


def layout_of(encoder: Encoder, encoded: Encoded, sets: LabelSets, view: View, dense: bool) -> Layout:
    """Weights of every feature for every tag of a view or, if not dense, for the tags that the evidence observes."""
    if dense:
        return Layout.dense(encoder.windows, len(view.names))
    return Layout.observed(encoded, encoder.windows, sets.projected(view))


def lay_out(
    parameters: ScorerParameters,
    encoder: Encoder,
    encoded: Encoded,
    sets: LabelSets,
    recipe: Recipe,
    of_corpus: NDArray[np.int32] | None = None,
    start: ChainModel | None = None,
) -> ChainProblem:
    """Make a problem of its parts, for any features: `encoder` is frozen, `encoded` carries its evidence.

    `start`: as in `prepare_coded`; its features come first.
    """
    if encoder.subwords is not None:
        assert isinstance(parameters, ChainParameters)  # noqa: S101 - a network is beside features
        if start is not None and isinstance(start.parameters, NetworkParameters):
            parameters = replace(start.parameters, linear=parameters, device=recipe.device)
        else:
            parameters = NetworkParameters(parameters, encoder.subwords, recipe.pooling, recipe.device)
    model = empty_model(parameters, encoder, recipe, start)
    share = None if recipe.ratio is None else recipe.ratio.penalty(parameters.space.names)
    objective = ChainObjective(parameters, encoded, recipe.threads, recipe.dtype, of_corpus, recipe.sample, share)
    return ChainProblem(model, objective, sets, before=None if start is None else kept_of(start, model))


def kept_of(start: ChainModel, model: ChainModel) -> Before:
    """Return what is kept of a model by a new one, whose features begin with its own.

    If each feature has a weight for every label, earlier text concerns those of new labels, too.
    """
    parameters, before = model.features, start.features
    counts, all_counts = before.counts.astype(np.float64), parameters.counts.astype(np.float64)
    features = np.arange(len(counts))
    of_features = np.zeros(len(all_counts))
    of_features[features] = counts
    occurrences = parameters.spread(of_features, counts.max(initial=0))
    of_transitions = counts.max(initial=0) / all_counts.max(initial=1)
    ratio = before.spread(counts / np.maximum(all_counts[features], 1), of_transitions)
    ratio = before.carried(ratio, parameters, features)
    if not parameters.weighted[0][1].is_dense:
        occurrences *= ratio > 0
    return Before.of(model.weights, occurrences, ratio, model.space.names != start.space.names)


def empty_model(
    parameters: ScorerParameters, encoder: Encoder, recipe: Recipe, start: ChainModel | None = None
) -> ChainModel:
    """Return the model with the weights that training starts from: those of `start`, whose features come first."""
    task = recipe.task
    if start is None:
        weights = parameters.initial(recipe.dtype)
    else:
        before: Any = start.parameters
        weights = before.carried(start.weights, parameters, np.arange(len(start.features.counts)))
    return ChainModel(parameters, encoder, weights.astype(recipe.dtype), task.name, task.coding)


def label_space(sentences: Sequence[Sentence], guideline: str, path: str = "") -> LabelSpace:
    """Return the labels in the layer of a guideline."""
    layers = [sentence.layers[guideline] for sentence in sentences if guideline in sentence.layers]
    names = collect_names(layers)
    if not names:
        wild = any(is_wildcard(c) for layer in layers for candidates in layer for c in candidates or ())
        content = "only wildcards" if wild else "no label"
        raise CorpusError(f"{content} in layer {guideline!r}", "an annotated training corpus", path)
    return LabelSpace.plain(guideline, names)


def weighted_sentence(sentence: Sentence, weight: float) -> Sentence:
    """Return the sentence, which counts so many times as often."""
    return sentence if weight == 1 else replace(sentence, weight=sentence.weight * weight)


def scheme_of(recipe: Recipe, space: LabelSpace, path: str = "") -> TransitionScheme:
    """Return which labels may follow which under the coding of the task."""
    check_labels(space.names, path)
    if not recipe.task.coding:
        return TransitionScheme.free(len(space))
    schemes = [TransitionScheme.of(recipe.task.coding, view.names) for view in space.sides]
    return TransitionScheme.bundled(schemes, [view.projection for view in space.sides])


def count_known(sets: LabelSets, allow: NDArray[np.int32]) -> int:
    """Count the tokens that have one label under some guideline, or probabilities of labels."""
    is_single = np.any([sets.projected(view).sum(axis=1) == 1 for view in sets.space.sides], axis=0)
    if sets.posteriors is not None:
        is_single |= sets.posteriors.of_set >= 0
    return int(np.count_nonzero(is_single[allow]))


def mapping_lines(problem: ChainProblem, mappings: Sequence[TagMapping]) -> Iterator[str]:
    """Yield lines about the tags that mappings do not name, which are possible with every tag."""
    sides = {view.guideline: view.names for view in problem.model.space.sides}
    task = problem.model.task
    is_tag = task not in CARRYING
    for mapping in mappings:
        names = (mapping.first, mapping.second)
        labels = mapping if is_tag else over_labels(mapping, sides, task == SPANS)
        lacking = labels.unnamed(*(sides[name] for name in names))
        if len(lacking[0]) == len(sides[mapping.first]):
            yield f"warning: the mapping of {' and '.join(names)} names no tag of these corpora: every pair is possible"
            continue
        for name, other, missing in zip(names, reversed(names), lacking, strict=True):
            if missing:
                tags = missing if is_tag else dict.fromkeys(split_label(label)[1] for label in missing)
                yield f"not in the mapping, so possible with every tag of {other}: {' '.join(tags)} of {name}"


def sample_line(corpora: Sequence[Corpus], sample: Sequence[int]) -> str:
    """Return how many sentences of each corpus an iteration visits; all without a sample."""
    sizes = sample or [len(corpus) for corpus in corpora]
    parts = [f"{size:,} of {len(corpus):,} in {corpus.name}" for corpus, size in zip(corpora, sizes, strict=True)]
    return f"an iteration visits sentences: {', '.join(parts)}"


def estimated_bytes(problem: ChainProblem, recipe: Recipe) -> int:
    """Return an upper bound on the memory that training adds to the program and its corpora, in bytes.

    It consists of the learner's vectors, each as long as the weights; the scores, potentials and counts of transitions,
    labels x labels; the buffers of the largest batch of sentences, tokens x labels; and the encoded sentences, with the
    block that a learner has shuffled.
    """
    objective = problem.objective
    Y = len(problem.model.space)
    itemsize = np.dtype(objective.dtype).itemsize
    arrays = [value for value in vars(objective.encoded).values() if isinstance(value, np.ndarray)]
    trainer = recipe.trainer()
    history = 2 * getattr(trainer, "memory", 0) * objective.size * 4  # of L-BFGS
    vectors = trainer.vectors * objective.size * itemsize + history
    tables = (_SQUARES + 2 * recipe.threads) * Y * Y * itemsize
    together = getattr(trainer, "batch", _TOGETHER * recipe.threads)
    longest = int(np.sort(objective.encoded.lengths)[::-1][:together].sum())  # tokens, of as many as threads may hold
    buffers = _BUFFERS * longest * Y * itemsize
    encoded = sum(array.nbytes for array in arrays) * (1 + min(1, BLOCK / max(1, objective.encoded.tokens)))
    return vectors + tables + buffers + int(encoded)


def peak_bytes() -> int:
    """Return the peak memory of this process so far, in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _readable(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


_STRANGE = 0.9  # with a larger share of unknown labels, development data follow another guideline
_SHOWN = 8  # labels in a message


def dev_score(model: ChainModel, dev: Corpus, threads: int = 1) -> Callable[[Floats], float]:
    """Return a function from weights to the score on development data.

    The score is the F measure of spans for the task spans, the F measure of words if every character of `dev` has one
    label, otherwise the accuracy on positions with one label. A label that the model does not know counts as wrong. A
    wildcard is not one label, nor is `O` if the corpus covers only some labels.
    """
    visible = (without_outside(sentence, dev.guideline, dev.covered_in(sentence)) for sentence in dev)
    layers = [sentence.layers.get(dev.guideline, (None,) * len(sentence)) for sentence in visible]
    sides = [view.guideline for view in model.space.sides]
    if dev.guideline not in sides:
        problem = f"development data of the guideline {dev.guideline!r}"
        raise CorpusError(problem, f"{' or '.join(map(repr, sides))}, of the model", dev.path)
    _check_known(layers, model.space.view(dev.guideline), dev.path)
    tokens = model.encoder.tokens(dev.sentences, threads)
    pieces = piece_lengths(tokens) if of_pieces(model) else None
    return scorer(model, model.encoder.encode(tokens, threads), layers, dev.guideline, threads, dev.path, pieces)


def _check_known(layers: Sequence[Layer], view: View, path: str) -> None:
    """Refuse development data whose labels are nearly all unknown to a view of the model."""
    named = (name for layer in layers for candidates in layer for name in candidates or ())
    counts = Counter(name for name in named if not is_wildcard(name))
    unknown = [name for name in counts if name not in view.number]
    share = sum(counts[name] for name in unknown) / max(1, counts.total())
    if share > _STRANGE:
        names = " ".join(unknown[:_SHOWN])
        problem = f"labels that the model does not know at {100 * share:.1f} % of the positions ({names})"
        raise CorpusError(problem, f"development data of {view.guideline}: {' '.join(view.names[:_SHOWN])}", path)


def scorer(
    model: ChainModel,
    encoded: Encoded,
    layers: Sequence[Layer],
    guideline: str,
    threads: int = 1,
    path: str = "",
    pieces: NDArray[np.int64] | None = None,
) -> Callable[[Floats], float]:
    """Like `dev_score`, for encoded sentences and their layers of a guideline.

    If `pieces` gives the characters of each token, layers are of characters, and every character is scored.
    """
    view = model.space.view(guideline)
    numbers = dict(view.number)  # of the labels of the model, then of those it lacks
    gold = np.array([_one_label(candidates, numbers) for layer in layers for candidates in layer], np.int32)
    has_one_label = gold >= 0
    if not has_one_label.any():
        raise CorpusError("no position with one label", "development data to measure by", path)
    spread = None if pieces is None else Spread(view.names, model.coding, numbers, pieces)
    ptr = encoded.sentence_ptr if spread is None else spread.begins[encoded.sentence_ptr]
    counter: SpanCounter | WordCounter | None = None  # if the score is the F measure of spans or words
    if model.task == SPANS:
        counter = SpanCounter(tuple(numbers), ptr)
    elif model.coding and has_one_label.all():
        counter = WordCounter(tuple(numbers), ptr)

    def score(weights: Floats) -> float:
        weighted = replace(model, weights=np.asarray(weights, model.weights.dtype))
        system = view.projection[weighted.best(encoded, threads=threads)]
        system = system if spread is None else spread.characters(system)
        return counter.f_score(gold, system) if counter else float((system == gold)[has_one_label].mean())

    return score


def _one_label(candidates: Candidates, numbers: dict[str, int]) -> int:
    """Return the number of the only label of a position, a new one for a new label; -1: it has none, or ends a
    span, -2: it has several."""
    if candidates is None or ends_only(candidates):
        return -1
    if len(candidates) > 1 or (candidates[0] not in numbers and is_wildcard(candidates[0])):
        return -2
    return numbers.setdefault(candidates[0], len(numbers))
