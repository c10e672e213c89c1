"""The coupled CRF: several guidelines in one model (li-2015, sections 3 and 4)."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tagged import Impatient, tagged

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.labels.mapping import TagMapping, over_labels
from tagweave.labels.transition_scheme import split_label
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.coupled import (
    Coupling,
    automatic_mapping,
    fit_coupled,
    fit_mappings,
    for_bundles,
    prepare_coupled,
    with_attested,
)
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

FEW = {"rate": 0.07, "batch": 4, "initial": 1e-8}  # what bundles take
RECIPE = Recipe(precision="float64", settings={"batch": 1})


CTB = tagged("ctb", "ab/N cde/V f/D", "ab/V f/N", "cde/V|N ab/? cde/V")
PD = tagged("pd", "ab/n cde/v f/d", "f/v|n", "cde/? ab/v", "g/n ab/n")
UD = tagged("ud", "ab/NOUN cde/VERB", "f/ADV g/NOUN")
ONE_TO_ONE = TagMapping("ctb", "pd", {("N", "n"): 1, ("V", "v"): 1, ("D", "d"): 1})


def renamed(source: Corpus, names: dict[str, str], guideline: str) -> Corpus:
    def rename(sentence: Sentence) -> Sentence:
        (layer,) = sentence.layers.values()
        own = tuple(None if tags is None else tuple(names[tag] for tag in tags) for tags in layer)
        return replace(sentence, layers={guideline: own})

    return replace(source.map(rename), guideline=guideline)


def test_a_single_character_has_a_label_of_a_partner_that_is_always_longer() -> None:
    words = tagged("ctb", "ab/N f/D"), tagged("pd", "ab/n cde/d")
    recipe = replace(RECIPE, task=Task("segtag"))
    space = prepare_coupled(words, recipe, Coupling((ONE_TO_ONE,))).model.space
    assert "S-D&S-d" in space.names


# What it is


@pytest.mark.parametrize("learner", ["adagrad", "lbfgs", "perceptron"])
def test_a_one_to_one_mapping_gives_the_plain_model(learner: str) -> None:
    recipe = replace(RECIPE, learner=learner, settings=FEW if learner == "adagrad" else {})
    recipe = replace(recipe, features="observed")
    if learner == "perceptron":  # whose steps are whole numbers
        recipe = replace(recipe, precision="float32")
    coupling = Coupling((ONE_TO_ONE,), separate=False)
    merged = [CTB, renamed(PD, {"n": "N", "v": "V", "d": "D"}, "ctb")]
    schedule = Schedule(4)
    coupled, plain = (
        fit_coupled([CTB, PD], recipe, coupling, None, Run(schedule)),
        fit(merged, recipe, None, Run(schedule)),
    )
    assert coupled.model.space.names == ("D&d", "N&n", "V&v")
    np.testing.assert_allclose(coupled.model.weights, plain.model.weights, atol=1e-12)
    assert [i.loss for i in coupled.outcome.history] == pytest.approx([i.loss for i in plain.outcome.history])


@pytest.mark.parametrize(("joint", "separate", "views"), [(True, True, 3), (True, False, 1), (False, True, 2)])
def test_joint_and_separate_weights(joint: bool, separate: bool, views: int) -> None:
    structure = prepare_coupled([CTB, PD], RECIPE, Coupling((), joint, separate)).model.parameters
    assert len(structure.weighted) == views
    assert len(structure.space.views) == 3
    fitted = fit_coupled([CTB, PD], RECIPE, Coupling((), joint, separate), CTB, Run(Schedule(8)))
    assert fitted.outcome.score == 1


@pytest.mark.parametrize("features", [None, "observed"])
def test_joint_weights_are_those_that_evidence_observes(features: str | None) -> None:
    recipe = replace(RECIPE, features=features)
    structure = prepare_coupled([CTB, PD], recipe, Coupling((ONE_TO_ONE,))).model.parameters
    (_, side), _, (_, joint) = structure.weighted
    assert (len(side.cell) == 0) == (features is None)
    assert 0 < joint.size <= side.size


def test_adagrad_takes_smaller_steps_unless_it_is_told() -> None:
    assert for_bundles(Recipe(), 200).settings == {"rate": 0.07, "batch": 4, "initial": 1e-8}
    assert for_bundles(Recipe(settings={"batch": 3}), 200).settings == {"rate": 0.07, "batch": 3, "initial": 1e-8}
    for recipe in (Recipe(settings={"rate": 0.3, "batch": 16, "initial": 0.1}), Recipe(learner="lbfgs")):
        assert for_bundles(recipe, 200) == recipe


def test_the_batch_grows_with_the_bundles_whose_transitions_it_moves() -> None:
    batches = [for_bundles(Recipe(), bundles).settings["batch"] for bundles in (4, 400, 1408, 2816)]
    assert batches == [4, 8, 99, 396]


def test_three_guidelines() -> None:
    fitted = fit_coupled([CTB, PD, UD], RECIPE, Coupling((ONE_TO_ONE,)), UD, Run(Schedule(40, 40)))
    space = fitted.model.space
    assert space.guidelines == ("ctb", "pd", "ud", "ctb&pd&ud")
    assert fitted.outcome.score == 1
    best = fitted.model.best(fitted.model.encoder.encode(UD.sentences))
    assert [space.views[2].names[tag] for tag in space.views[2].projection[best]] == ["NOUN", "VERB", "ADV", "NOUN"]


def test_sentences_with_both_layers() -> None:
    both = CTB.map(lambda s: replace(s, layers={**s.layers, "pd": (("v",),) + (None,) * (len(s) - 1)}))
    problem = prepare_coupled([both, PD], RECIPE, Coupling())
    names, sets = problem.model.space.names, problem.sets
    first = problem.objective.encoded.evidence.sets[0]
    assert [names[label] for label in sets.labels(int(first))] == ["N&v"]


@pytest.mark.parametrize("name", ["segment", "segtag"])
def test_words_of_two_guidelines(name: str) -> None:
    """Each side keeps to its coding: the two may cut a sentence differently."""
    recipe = replace(RECIPE, task=Task(name, "BMES"))
    fitted = fit_coupled([CTB, PD], recipe, Coupling(), CTB, Run(Schedule(15)))
    assert fitted.outcome.score == 1
    scheme = fitted.model.parameters.scheme
    assert not scheme.is_free
    space = fitted.model.space
    for side in space.sides:
        names = [side.names[tag] for tag in side.projection]
        begins = np.array([label.startswith("B") for label in names])
        assert not scheme.transition[np.ix_(begins, begins)].any()


# How it is trained


def test_an_iteration_visits_so_many_sentences_of_each_corpus() -> None:
    problem = prepare_coupled([CTB, PD], replace(RECIPE, sample=(1, 2)), Coupling())
    for iteration in range(5):
        order = problem.objective.order(0, iteration, 4)
        assert (order < len(CTB)).sum() == 1
        assert len(order) == 3
    assert len(problem.pointwise().objective.order(0, 0, 4)) == 3


def test_a_sample_has_a_number_for_every_corpus() -> None:
    with pytest.raises(CorpusError, match="a sample of 1 corpora"):
        prepare_coupled([CTB, PD], replace(RECIPE, sample=(1,)), Coupling())


def test_the_same_seed_and_threads_give_the_same_model() -> None:
    wide = [tagged(name, *(f"{chr(97 + i)}/{name}{i}" for i in range(13))) for name in ("a", "b")]  # 169 bundles
    for threads in (1, 2):
        recipe = replace(RECIPE, threads=threads, precision="float32")
        fits = [fit_coupled(wide, recipe, Coupling(), None, Run(Schedule(3))) for _ in range(2)]
        assert (fits[0].model.weights == fits[1].model.weights).all()


# Mapping functions


def test_the_automatic_mapping_counts_what_meets() -> None:
    ctb, pd = load(f"ctb={sample.path('ctb.txt')}"), load(f"pd={sample.path('pd.txt')}")
    model = fit([ctb], Recipe(), None, Run(Schedule(5))).model
    mapping = automatic_mapping(model, [pd])
    assert (mapping.first, mapping.second) == ("ctb", "pd")
    assert sum(mapping.counts.values()) == pd.tokens()
    assert mapping.counts["NN", "n"] > 50
    often = automatic_mapping(model, [pd], minimum=5)
    assert often == mapping.at_least(5)
    assert len(often.counts) < len(mapping.counts)
    (tagged, *_) = ChainPredictor(model).tag(pd.sentences[:1])
    assert all(mapping.counts[pair] for pair in zip(*(_tags(tagged, name) for name in ("ctb", "pd")), strict=True))


def _tags(sentence: Sentence, layer: str) -> list[str]:
    return [candidates[0] for candidates in sentence.layers[layer] if candidates]


def test_the_automatic_mapping_of_tagged_words_is_one_of_tags() -> None:
    task = Task("segtag")
    model = fit([CTB], Recipe(task), None, Run(Schedule(5))).model
    mapping = automatic_mapping(model, [task.prepare(PD)])
    assert {tag for pair in mapping.counts for tag in pair} <= {"N", "V", "D", "n", "v", "d"}
    known = sum(len(c or ()) == 1 for s in task.prepare(PD) for c in s.layers["pd"])
    assert sum(mapping.counts.values()) == known - len("cde")  # of which the tag is unknown: a wildcard


def test_a_mapping_of_tags_serves_labels_that_carry_them_whatever_their_letters() -> None:
    recipe = replace(RECIPE, task=Task("segtag"))
    space = prepare_coupled([CTB, PD], recipe, Coupling((ONE_TO_ONE,))).model.space
    pairs = {tuple(name.split("&")) for name in space.names}
    first, second = (view.names for view in space.sides)
    tags = {pair: tuple(split_label(label)[1] for label in pair) for pair in ((a, b) for a in first for b in second)}
    assert pairs == {pair for pair, named in tags.items() if named in ONE_TO_ONE.pairs}
    assert ("B-N", "S-n") in pairs


def test_tags_of_words_are_never_taken_apart() -> None:
    """`fw-N` is a tag of its own, not the tag N after a letter."""
    first = tagged("ctb", "ab/N cde/fw-N")
    space = prepare_coupled([first, PD], RECIPE, Coupling((ONE_TO_ONE,))).model.space
    assert {name for name in space.names if name.startswith("fw-N")} == {"fw-N&d", "fw-N&n", "fw-N&v"}


def test_a_mapping_of_labels_or_of_other_tags_stays_as_it_is() -> None:
    sides = {"ctb": ("B-N", "E-N", "S-N"), "pd": ("S-n", "S-v")}
    of_labels = TagMapping("ctb", "pd", {("B-N", "S-v"): 3})
    assert over_labels(of_labels, sides) == of_labels
    foreign = TagMapping("ctb", "pd", {("X", "x"): 1})
    assert over_labels(foreign, sides) == foreign
    elsewhere = TagMapping("ctb", "ud", {("N", "n"): 1})
    assert over_labels(elsewhere, sides) == elsewhere
    both = over_labels(TagMapping("pd", "ctb", {("n", "N"): 2, ("S-v", "E-N"): 1}), sides)
    assert both.allowed(sides["pd"], sides["ctb"]).tolist() == [[True, True, True], [False, True, False]]


def test_spans_of_two_guidelines_agree_where_they_meet_or_stand_alone() -> None:
    """A person may be a singer, a place is no singer, and whatever one guideline marks may be outside in the other."""
    mapping = TagMapping("few", "many", {("PER", "singer"): 2, ("PER", "writer"): 1, ("LOC", "land"): 1})
    sides = {
        "few": ("B-LOC", "I-LOC", "B-PER", "I-PER", "O"),
        "many": ("B-singer", "I-singer", "B-land", "I-land", "O"),
    }
    pairs = over_labels(mapping, sides, of_spans=True).allowed(*sides.values())
    found = {
        (a, b)
        for a, row in zip(sides["few"], pairs, strict=True)
        for b, ok in zip(sides["many"], row, strict=True)
        if ok
    }
    together = {(f"{letter}-{a}", f"{letter}-{b}") for letter in "BI" for a, b in (("PER", "singer"), ("LOC", "land"))}
    assert found == {*together, *((a, "O") for a in sides["few"]), *(("O", b) for b in sides["many"])}


def test_spans_of_two_guidelines_train_by_the_automatic_mapping() -> None:
    """Whatever types a tagger of one finds in the other, no sentence contradicts the bundles."""
    few = tagged("few", "ab/B-PER cde/I-PER f/O", "f/O ab/B-LOC")
    many = tagged("many", "ab/B-singer f/B-land cde/I-land", "cde/B-song f/O")
    recipe = replace(RECIPE, task=Task("spans"))
    (mapping,) = fit_mappings([few], [many], recipe, run=Run(Schedule(2)))
    assert {first for first, _ in mapping.counts} <= {"PER", "LOC", "O"}
    problem = prepare_coupled([few, many], recipe, Coupling((mapping,)))
    assert all(("O" in name.split("&")) or name[0] == name.split("&")[1][0] for name in problem.model.space.names)


# The automatic mapping, from the corpora alone


def test_mappings_are_those_of_a_tagger_of_the_target() -> None:
    schedule, told = Schedule(4), []
    recipe = replace(RECIPE, sample=(1, 1, 1))
    mappings = fit_mappings([CTB], [PD, UD, PD], recipe, run=Run(schedule, tell=told.append))
    model = fit([CTB], RECIPE, None, Run(schedule)).model
    assert mappings == (automatic_mapping(model, [PD, PD]), automatic_mapping(model, [UD]))
    assert told[0].startswith(f"{len(CTB)} sentences with evidence")


def test_pairs_that_stand_at_one_token_are_in_every_mapping() -> None:
    """However rare they are, and on whichever side; of several candidates all pairs are possible, if none is known."""
    layers = {"ctb": (("N",), ("V",), ("V", "D"), ("D",)), "pd": (("x",), ("n", "v"), ("y",), None)}
    both = Sentence(("ab", "cde", "f", "g"), layers)
    (mapping,) = fit_mappings([CTB], [PD.with_sentences([*PD, both])], RECIPE, run=Run(Schedule(4)))
    assert ("N", "x") in mapping.pairs and {("V", "y"), ("D", "y")} & mapping.pairs
    few = with_attested(replace(mapping, counts={("N", "n"): 1}), [CTB, PD.with_sentences([both])])
    assert few.pairs == {("N", "n"), ("N", "x"), ("V", "y"), ("D", "y"), ("V", "n"), ("V", "v")}
    prepare_coupled([CTB, PD.with_sentences([*PD, both])], RECIPE, Coupling((mapping,)))


def test_the_tagger_of_the_mapping_is_stopped_and_resumed(tmp_path: Path) -> None:
    schedule = Schedule(5, checkpoint=tmp_path / "c", identity="run")
    with pytest.raises(KeyboardInterrupt):
        fit_mappings([CTB], [PD], RECIPE, run=Run(schedule, Impatient(2)))
    assert [file.name for file in tmp_path.iterdir()] == ["c.mapping"]
    resumed = fit_mappings([CTB], [PD], RECIPE, run=Run(replace(schedule, resume=True)))
    assert resumed == fit_mappings([CTB], [PD], RECIPE, run=Run(Schedule(5)))
    again = Impatient(2)
    assert fit_mappings([CTB], [PD], RECIPE, run=Run(replace(schedule, resume=True), again)) == resumed
    assert again.told == 0


# What it refuses


def test_one_guideline_is_nothing_to_couple() -> None:
    with pytest.raises(CorpusError, match="one guideline, 'ctb'"):
        prepare_coupled([CTB, CTB], RECIPE, Coupling())


def test_layers_that_no_bundle_satisfies() -> None:
    both = CTB.map(lambda s: replace(s, layers={**s.layers, "pd": (("d",),) * len(s)}))
    with pytest.raises(CorpusError, match="exclude one another"):
        prepare_coupled([both, PD], RECIPE, Coupling((ONE_TO_ONE,)))
