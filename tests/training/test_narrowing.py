"""Narrowing: which tags of another guideline come into question at a token, and what becomes of the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.labels.mapping import TagMapping
from tagweave.learning.run import Run, Schedule
from tagweave.models.cascades import GuidedEncoder, likely_tags
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.coupled import Coupling, bundles_of, fit_coupled, mappings_by_narrowing, prepare_coupled
from tagweave.training.cascades.narrowing import Narrowing, fit_narrowing
from tagweave.training.fit.recipe import Recipe

RECIPE = Recipe(precision="float64", sample=(40, 30))
THRESHOLD = 0.05


@pytest.fixture(scope="module")
def corpora() -> list[Corpus]:
    loaded = [load(f"{name}={sample.path(f'{name}.txt')}") for name in ("ctb", "pd")]
    return [corpus.with_sentences(corpus.sentences[:40]) for corpus in loaded]


@pytest.fixture(scope="module")
def narrowing(corpora: list[Corpus]) -> Narrowing:
    return fit_narrowing(corpora, RECIPE, THRESHOLD, run=Run(Schedule(4)))


def test_the_tagger_of_the_target_looks_at_given_tags(narrowing: Narrowing, corpora: list[Corpus]) -> None:
    to_target, to_source = narrowing.taggers["pd", "ctb"], narrowing.taggers["ctb", "pd"]
    assert [ChainPredictor(model).guideline for model in (to_target, to_source)] == ["ctb", "pd"]
    assert isinstance(to_target.encoder, GuidedEncoder)
    sentences = [sentence.with_layer("pd", [("v",)] * len(sentence)) for sentence in corpora[1]]
    bare = [replace(sentence, layers={}) for sentence in sentences]
    assert likely_tags(to_target, sentences, THRESHOLD) != likely_tags(to_target, bare, THRESHOLD)


def test_a_source_with_one_tag_has_no_tagger(corpora: list[Corpus]) -> None:
    target, source = corpora
    alone = source.with_sentences([s.with_layer("pd", [("n",)] * len(s)) for s in source.sentences[:5]])
    found = fit_narrowing([target, alone], RECIPE, THRESHOLD, run=Run(Schedule(1)))
    assert [*found.taggers] == [("pd", "ctb")]
    space = bundles_of([target, alone], RECIPE, ())
    own, others = found.narrowed([target, alone], space)
    assert "pd" not in own.sentences[0].layers
    assert any(len(candidates or ()) < 5 for candidates in others.sentences[0].layers["ctb"])


def test_candidates_are_the_likely_tags_that_meet_the_token_s_own(narrowing: Narrowing, corpora: list[Corpus]) -> None:
    space = bundles_of(corpora, RECIPE, ())
    for corpus, narrowed in zip(corpora, narrowing.narrowed(corpora, space), strict=True):
        (other,) = {"ctb", "pd"} - {corpus.guideline}
        likely = likely_tags(narrowing.taggers[corpus.guideline, other], corpus.sentences, THRESHOLD)
        layers = [sentence.layers[other] for sentence in narrowed]
        assert layers == [tuple(tuple(tags.split(" ")) for tags in row) for row in likely]
        assert [s.layers[corpus.guideline] for s in narrowed] == [s.layers[corpus.guideline] for s in corpus]


def test_what_meets_no_candidate_or_has_no_tag_stays_open_and_given_tags_stay(
    narrowing: Narrowing, corpora: list[Corpus]
) -> None:
    first = corpora[1].sentences[0]
    own = (None, *first.layers["pd"][1:])
    given = (None, ("VV",), *[None] * (len(first) - 2))
    source = corpora[1].with_sentences([replace(first, layers={"pd": own, "ctb": given})])
    of_ctb, of_pd = (ChainPredictor(narrowing.taggers[pair]).labels for pair in (("pd", "ctb"), ("ctb", "pd")))
    everything = {(tag, of_pd[0]): 1 for tag in of_ctb} | {(of_ctb[0], tag): 1 for tag in of_pd}
    rare = TagMapping("ctb", "pd", everything)
    space = bundles_of(corpora, RECIPE, (rare,))
    (narrowed,) = narrowing.narrowed([source], space)
    view = space.view("ctb")
    for mine, before, after in zip(own, given, narrowed[0].layers["ctb"], strict=True):
        if mine is None or before is not None:
            assert after == before
        elif after is not None:
            allowed = {view.names[tag] for tag in view.projection[space.allow("pd", mine)]}
            assert set(after) <= allowed
    assert None in narrowed[0].layers["ctb"][2:]


def test_a_threshold_of_0_narrows_nothing(narrowing: Narrowing, corpora: list[Corpus]) -> None:
    every = replace(narrowing, threshold=0)
    run = Run(Schedule(2))
    narrowed = fit_coupled(corpora, RECIPE, Coupling(), None, run, narrowing=every)
    plain = fit_coupled(corpora, RECIPE, Coupling(), None, run)
    np.testing.assert_allclose(narrowed.model.weights, plain.model.weights, atol=1e-9)


def test_narrowing_leaves_new_text_alone(narrowing: Narrowing, corpora: list[Corpus]) -> None:
    problem = prepare_coupled(corpora, RECIPE, Coupling(), narrowing=narrowing)
    encoded, sizes = problem.objective.encoded, (problem.sets.masks > 0).sum(axis=1)
    alone = prepare_coupled(corpora, RECIPE, Coupling())
    everything = (alone.sets.masks > 0).sum(axis=1)[alone.objective.encoded.evidence.sets]
    assert sizes[encoded.evidence.sets].mean() < 0.5 * everything.mean()


@pytest.fixture(scope="module")
def three(corpora: list[Corpus]) -> list[Corpus]:
    """And the first letters of PD's tags as a guideline of their own, for the other half of the sentences."""
    layers = ((s, tuple(tags and (tags[0][0].upper(),) for tags in s.layers["pd"])) for s in corpora[1])
    third = [replace(sentence, layers={"ud": layer}) for sentence, layer in layers]
    return [
        corpora[0],
        corpora[1].with_sentences(corpora[1].sentences[:20]),
        replace(corpora[1].with_sentences(third[20:]), guideline="ud"),
    ]


def test_of_three_guidelines_every_tag_has_a_bundle_and_every_token_a_label(three: list[Corpus]) -> None:
    """Also where only the most frequent pair of each tag is kept, and where taggers narrow two sides of a token."""
    recipe = replace(RECIPE, sample=())
    found = fit_narrowing(three, recipe, THRESHOLD, run=Run(Schedule(3)))
    mappings = mappings_by_narrowing(found, three, recipe)
    assert [(each.first, each.second) for each in mappings] == [("ctb", "pd"), ("ctb", "ud"), ("pd", "ud")]
    problem = prepare_coupled(three, recipe, Coupling(mappings), narrowing=found)  # raises where either is missing
    assert len(problem.model.space) < len(bundles_of(three, recipe, mappings[:2]))
