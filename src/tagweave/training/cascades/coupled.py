"""The coupled CRF of li-2015: one model for the tags of several guidelines, from corpora that each follow one.

The labels are bundles of tags (section 3), and the model is the ordinary chain model over their views: one for each
guideline (separate features) and the joint one (joint features),

    score(x, [a, b]) = sum over positions of  joint . f(x, [a, b]) + first . f(x, a) + second . f(x, b)       (eq. 2)

A tag of one guideline is evidence: the set of all its bundles (section 3.2). The loss, its gradient (eqs. 5 and 6) and
constrained decoding are the same as for any other evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from tagweave.corpus.corpus import Corpus, by_guideline
from tagweave.errors import CorpusError
from tagweave.labels import CARRYING, SPANS
from tagweave.labels.mapping import TagMapping, annotated_twice, bundle, count_pairs, over_labels
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import split_label
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.packing import rounded
from tagweave.models.pool import Pool
from tagweave.training.cascades.narrowing import Narrowing
from tagweave.training.fit.chain_problem import (
    ChainProblem,
    dev_score,
    label_space,
    prepare_corpora,
    prepare_in,
    scheme_of,
)
from tagweave.training.fit.consistency import check_consistent, evidence_of
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import Recipe

_RARE = 10_000  # tokens: the automatic mapping drops pairs that occur less than once in this many
_RATE, _BATCH = 0.07, 4  # of AdaGrad for bundles: best on ZX's dev, beside PD, of rates 0.05 to 0.2 and batches 2 to 64
_INITIAL = 1e-8  # used when those were chosen
_CELLS = 20_000  # pairs of bundles per sentence of a batch at most: an update moves them all, whatever the batch
_SHARES, _SHARE = (0.0, 0.33, 0.5), 0.33
"""The shares of a guided tagger to try, and the one without development data (docs/results/li-2015-narrowing.md)."""


@dataclass(frozen=True)
class Coupling:
    """How tags are coupled. `mappings`: the tags that may be bundled (section 3.1); without a mapping, all pairs. For
    labels of characters see `over_labels`."""

    mappings: tuple[TagMapping, ...] = ()
    joint: bool = True
    separate: bool = True

    def __post_init__(self) -> None:
        if not (self.joint or self.separate):
            raise ValueError("found a coupling without weights, expected joint ones, separate ones, or both")


def prepare_coupled(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    coupling: Coupling,
    narrowing: Narrowing | None = None,
) -> ChainProblem:
    """Encode corpora of several guidelines, and lay out the weights of a model of their bundles.

    The guideline of the first corpus is the target, which taggers output by default. A sentence may have layers of
    several of the guidelines.
    """
    prepared = prepare_corpora(corpora, recipe)
    if len(by_guideline(prepared)) == 1:
        problem = f"one guideline, {prepared[0].guideline!r}"
        raise CorpusError(problem, "corpora of two or more, to be coupled", corpora[0].path)
    space = bundles_of(prepared, recipe, coupling.mappings)
    if narrowing:
        prepared = narrowing.narrowed(prepared, space, recipe.threads)
    weighted = [coupling.separate] * len(space.sides) + [coupling.joint]
    return prepare_in(space, prepared, recipe, weighted)


def bundles_of(prepared: Sequence[Corpus], recipe: Recipe, mappings: Sequence[TagMapping]) -> LabelSpace:
    """Return the bundles of the labels that prepared corpora name."""
    sentences = [sentence for corpus in prepared for sentence in corpus.sentences]
    sides = [(name, recipe.task.labels(label_space(sentences, name).names)) for name in by_guideline(prepared)]
    if recipe.task.coding == "BMES":
        sides = _with_single_characters(sides, mappings)
    if recipe.task.name in CARRYING:
        mappings = [over_labels(mapping, dict(sides), recipe.task.name == SPANS) for mapping in mappings]
    return bundle(sides, mappings)


def _with_single_characters(
    sides: Sequence[tuple[str, tuple[str, ...]]], mappings: Sequence[TagMapping]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sides with a label of a single character for a partner of every tag that has none.

    A mapping pairs tags, whatever the letters. If all partners of a tag are of longer words only, as in little text, a
    character with that tag may have no sequence of labels under the other guideline.
    """
    labels = {name: dict.fromkeys(names) for name, names in sides}
    for mapping in mappings:
        for oriented in (mapping, mapping.swapped()):
            if not {oriented.first, oriented.second} <= labels.keys():
                continue
            tags = {split_label(label)[1] for label in labels[oriented.first]}
            other_tags = {split_label(label)[1] for label in labels[oriented.second]}
            ordered = sorted(oriented.counts, key=lambda pair: (-oriented.counts[pair], pair))
            partners: dict[str, list[str]] = {}
            for tag, partner in ordered:
                if tag in tags and partner in other_tags:
                    partners.setdefault(tag, []).append(f"S-{partner}")
            for singles in partners.values():
                if labels[oriented.second].keys().isdisjoint(singles):
                    labels[oriented.second][singles[0]] = None
    return [(name, names if len(names) == len(labels[name]) else tuple(sorted(labels[name]))) for name, names in sides]


def fit_coupled(
    corpora: Sequence[Corpus],
    recipe: Recipe,
    coupling: Coupling,
    dev: Corpus | None = None,
    run: Run = SILENT,
    narrowing: Narrowing | None = None,
) -> Fitted:
    """Fit one model of all guidelines of the corpora.

    Development data may follow any of them. Arguments and errors are as in `fit` and `prepare_coupled`.
    """
    problem = prepare_coupled(corpora, recipe, coupling, narrowing)
    return fit_problem(problem, for_bundles(recipe, len(problem.model.space)), dev, run)


def with_share(
    fitted: Fitted, tagger: ChainModel, recipe: Recipe, dev: Corpus | None, share: float | None = None
) -> tuple[Fitted, dict[float, float]]:
    """Give a tagger of the target that looks at a guide's labels a share in a coupled model (`Pool`).

    Returns the model with this share, or else with the best on `dev`, and the scores on `dev` by shares. The model of
    the share 0 is the coupled one.

    Raises:
        ValueError: the models have other labels of the target.
    """
    pool = Pool.of(fitted.model, tagger)
    scores: dict[float, float] = {}
    if dev is None:
        share = _SHARE if share is None else share
    else:
        bare = recipe.task.prepare(dev.map(lambda sentence: sentence.with_layers_of([dev.guideline])))
        score = dev_score(pool.model, bare, recipe.threads)
        scores = {
            candidate: score(rounded(pool.weights(candidate))) for candidate in (_SHARES if share is None else (share,))
        }
        share = max(scores, key=scores.__getitem__)
    if not share:
        return fitted, scores
    model = replace(
        pool.model,
        weights=rounded(pool.weights(share)),
        about={**fitted.model.about, "guided": share, "dev_score": scores.get(share)},
    )
    return replace(fitted, model=model, outcome=replace(fitted.outcome, score=scores.get(share))), scores


def refuse_contradictions(corpora: Sequence[Corpus], recipe: Recipe, mappings: Sequence[TagMapping] = ()) -> None:
    """Refuse corpora of several guidelines that some later step could not train on."""
    prepared = prepare_corpora(corpora, recipe)
    for guideline, guideline_corpora in by_guideline(prepared).items():
        named = label_space(
            [sentence for corpus in guideline_corpora for sentence in corpus], guideline, guideline_corpora[0].path
        ).names
        _refuse(LabelSpace.plain(guideline, recipe.task.labels(named)), guideline_corpora, recipe)
    if mappings:
        _refuse(bundles_of(prepared, recipe, mappings), prepared, recipe)


def _refuse(space: LabelSpace, corpora: Sequence[Corpus], recipe: Recipe) -> None:
    sets = LabelSets(space, recipe.soft_labels)
    scheme = scheme_of(recipe, space)
    allow, noise, rejected = evidence_of(corpora, sets, scheme)
    evidence = allow, noise, sets.masks, scheme, rejected, space.names
    check_consistent([sentence for corpus in corpora for sentence in corpus], *evidence)


def for_bundles(recipe: Recipe, bundles: int) -> Recipe:
    """Return the recipe with AdaGrad's defaults for this many bundles, where it does not set its own.

    The tags of the other side begin as a guess of the model, and large first steps would settle it too soon. With many
    bundles batches are larger, so that transitions are updated less often.
    """
    if recipe.learner != "adagrad":
        return recipe
    batch = max(_BATCH, bundles * bundles // _CELLS)
    return replace(recipe, settings={"rate": _RATE, "batch": batch, "initial": _INITIAL, **recipe.settings})


def automatic_mapping(model: ChainModel, corpora: Sequence[Corpus], minimum: int = 1, threads: int = 1) -> TagMapping:
    """Count the pairs of tags that occur when a tagger of one guideline labels corpora of another (section 3.1).

    For labels that carry tags (`B-NN`, `B-PER`) only the tags count, at every token of a word or span. `threads`: how
    many threads share the work.
    """
    guideline = corpora[0].guideline
    tagger = ChainPredictor(model, threads)
    sentences = (sentence.with_layers_of([guideline]) for corpus in corpora for sentence in corpus.sentences)
    counted = count_pairs(tagger.guideline, guideline, tagger.tag(sentences))
    if model.task in CARRYING:
        counts: Counter[tuple[str, str]] = Counter()
        for pair, count in counted.counts.items():
            first, second = (split_label(label)[1] or label for label in pair)
            counts[first, second] += count
        counted = replace(counted, counts=counts)
    return counted.at_least(minimum)


def fit_mappings(
    target_corpora: Sequence[Corpus],
    source_corpora: Sequence[Corpus],
    recipe: Recipe,
    dev: Corpus | None = None,
    run: Run = SILENT,
) -> tuple[TagMapping, ...]:
    """Return the automatic mappings between the target guideline and every other one, by a tagger fitted for it.

    The fit has its own checkpoint, the part `mapping` of the run, which stays, so that a resumed coupled fit has the
    same mapping. Remove it after that fit.
    """
    recipe = replace(recipe, sample=())
    fitted = fit(target_corpora, recipe, dev, run.part("mapping"))
    fitted.outcome.check_finished()
    return mappings_by(fitted.model, [*target_corpora, *source_corpora], recipe)


def mappings_by(model: ChainModel, corpora: Sequence[Corpus], recipe: Recipe) -> tuple[TagMapping, ...]:
    """Return the automatic mappings between a tagger's guideline and the others of the corpora; see `fit_mappings`."""
    target = ChainPredictor(model).guideline
    sources = by_guideline(recipe.task.prepare(corpus) for corpus in corpora if corpus.guideline != target)
    counted = [automatic_mapping(model, source_corpora, threads=recipe.threads) for source_corpora in sources.values()]
    return tuple(with_attested(often(mapping), corpora) for mapping in counted)


def mappings_by_narrowing(narrowing: Narrowing, corpora: Sequence[Corpus], recipe: Recipe) -> tuple[TagMapping, ...]:
    """Return the automatic mappings by the taggers of a narrowing, whose first guideline is the target.

    Two sources have a mapping as well, or each would multiply the bundles by its tags: the pairs that meet where the
    tagger of the second labels the first, and those that meet through a tag of the target.
    """
    corpora_of = by_guideline(corpora)
    target, *sources = corpora_of

    def mapping(first: str, second: str) -> TagMapping:
        return mappings_by(narrowing.taggers[first, second], corpora_of[first], recipe)[0]

    target_mappings = {name: mapping(name, target) for name in sources}
    pairs = [(first, second) for first, second in combinations(sources, 2) if (first, second) in narrowing.taggers]
    source_mappings = (
        mapping(first, second).swapped().including(_through(target_mappings[first], target_mappings[second]))
        for first, second in pairs
    )
    return (*target_mappings.values(), *source_mappings)


def _through(first: TagMapping, second: TagMapping) -> dict[tuple[str, str], int]:
    """The pairs of two sources' tags that leave every tag a bundle: the most frequent partners of one target tag."""
    partners = [_partners(mapping) for mapping in (first, second)]
    back = [_partners(mapping.swapped()) for mapping in (first, second)]
    pairs = [(partners[0].get(tag), partners[1].get(tag)) for tag in partners[0]]
    pairs += [(tag, partners[1].get(partner)) for tag, partner in back[0].items()]
    pairs += [(partners[0].get(partner), tag) for tag, partner in back[1].items()]
    return {(a, b): 1 for a, b in pairs if a is not None and b is not None}


def _partners(mapping: TagMapping) -> dict[str, str]:
    """Return the most frequent partner of every tag of the first side, as `TagMapping.at_least` keeps it."""
    ordered = sorted(mapping.counts, key=lambda pair: (-mapping.counts[pair], pair), reverse=True)
    return dict(ordered)


def with_attested(mapping: TagMapping, corpora: Sequence[Corpus]) -> TagMapping:
    """Return the mapping with the pairs of tags that the corpora have at one token: these are certainly possible.

    For a token with several candidates these are all its pairs, unless the mapping has one of them already.
    """
    sentences = [sentence for corpus in corpora for sentence in corpus]
    tokens = annotated_twice(mapping.first, mapping.second, sentences)
    certain = {(a[0], b[0]): count for (a, b), count in tokens.items() if len(a) == len(b) == 1}
    mapping = mapping.including(certain)
    for (first, second), count in tokens.items():
        pairs = dict.fromkeys(product(first, second), count)
        if not pairs.keys() & mapping.pairs:
            mapping = mapping.including(pairs)
    return mapping


def often(counted: TagMapping) -> TagMapping:
    """Return the pairs of tags that occurred once in 10,000 tokens or more, and the most frequent pair of each tag."""
    return counted.at_least(sum(counted.counts.values()) / _RARE)
