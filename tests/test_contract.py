"""The contract: what is unknown never becomes a label, whatever learns, whatever is learnt, wherever it came from.

Every learner, task, preset, kind of features, strategy and format meets every kind of evidence, in samples where every
two of them meet. A new learner, preset, task, strategy or format comes into the suite by being in its register.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairwise import pairwise
from tagweave.corpus.candidates import parse_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import FORMATS
from tagweave.corpus.gazetteer import parse
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS
from tagweave.kernels.mistakes import StepRule
from tagweave.labels.mapping import TagMapping, bundle
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.objective import ChainObjective
from tagweave.training.cascades.chain_system import ChainSystem
from tagweave.training.cascades.coupled import Coupling, prepare_coupled
from tagweave.training.cascades.incomplete import treated
from tagweave.training.cascades.subword import fit_pieces, prepare_pieces
from tagweave.training.cascades.transform import fit_transformed
from tagweave.training.fit.fit import fit, prepare
from tagweave.training.fit.problem import Fitted, Problem, fit_problem
from tagweave.training.fit.recipe import FEATURE_LEARNERS, Recipe
from tagweave.training.fit.task import Task

FEATURES = ("all", "observed")
MISTAKE_DRIVEN = [name for name, learner in FEATURE_LEARNERS.items() if learner.mistake_driven]
SHORT = Schedule(iterations=3)
EXACT = ("adagrad", "sgd", *MISTAKE_DRIVEN)  # learners without sums over all weights, whose order may change


# Evidence of every kind


def line(text: str, number: int) -> Sentence:
    """`form/TAG`s: `?` is unknown, `N|V` a choice."""
    pairs = [token.rsplit("/", 1) for token in text.split()]
    layer: Layer = tuple(None if tag == "?" else parse_candidates(tag) for _, tag in pairs)
    return Sentence(tuple(form for form, _ in pairs), {"g": layer}, location=Location("train", number))


def words(*lines: str, covered: tuple[str, ...] | None = None) -> Corpus:
    return Corpus(tuple(line(text, n) for n, text in enumerate(lines, 1)), "g", covered=covered, path="train")


FULL = ("ab/N cde/V f/O", "ab/V f/N", "cde/O ab/N cde/V", "f/V", "f/O cde/N")
EVIDENCE: dict[str, Corpus] = {
    "full": words(*FULL),
    "partial": words("ab/N cde/? f/O", "ab/? f/?", "cde/O ab/? cde/V", "f/?", "f/O cde/N"),
    "ambiguous": words("ab/N|V cde/V f/O|N", "ab/V f/N", "cde/O|N ab/V|N cde/V", "f/V|O|N", "f/O cde/N"),
    "unknown": words(*FULL, "ab/? cde/?", "f/?"),
    "wildcard": words("ab/N cde/!N f/O", "ab/!O f/N", "cde/!V ab/? cde/V"),
    "soft": words("ab/N:0.9|V:0.1 cde/V f/O:0.6|N:0.4", "ab/V f/?", "cde/O:0.7|N:0.2|V:0.1 ab/?", "f/O cde/V"),
    "covered": words(*FULL, covered=("N",)),
}


def characters(corpus: Corpus) -> Corpus:
    """The words as characters with sets over B, M, E, S, some boundaries unknown, and tags where the word is known."""
    coded = []
    for n, sentence in enumerate(Task("segment").prepare(corpus)):
        tags = [tag for form, tag in zip(corpus[n].forms, corpus[n].layers["g"], strict=True) for _ in form]
        layer = list(sentence.layers["g"])
        if n % 2 and len(layer) > 1:
            layer[-2:] = [tuple({"B": "BS", "S": "BS", "M": "ME", "E": "ME"}[layer[-2][0]]), ("E", "S")]  # type: ignore[index]
            tags[-2:] = [None, None]
        elif n == 2:
            layer, tags = [None] * len(layer), [None] * len(layer)
        coded.append(replace(sentence, layers={"segmentation": tuple(layer), "tag": tuple(tags)}))
    return Corpus(tuple(coded), "g", "character", path="train")


def corpora_of(task: str, kind: str) -> list[Corpus]:
    corpus = EVIDENCE[kind]
    if task == "tag" or kind == "soft":  # characters have no numbers
        return [corpus]
    return [corpus, characters(corpus)] if kind != "wildcard" else [words(*(t for t in FULL)), _unknown_tags(corpus)]


def _unknown_tags(corpus: Corpus) -> Corpus:
    """Words without a tag: their labels are wildcards, `B-*`."""
    return corpus.map(lambda sentence: sentence.with_layer("g", (None,) * len(sentence)))


def unknown(task: str, sentences: Iterable[Sentence]) -> Corpus:
    """The same text, of which nothing is known."""
    if task == "tag":
        bare = [Sentence(sentence.forms, {"g": (None,) * len(sentence)}) for sentence in sentences]
        return Corpus((*bare, Sentence(bare[0].forms)), "g")
    return Corpus(tuple(Sentence(tuple("".join(sentence.forms))) for sentence in sentences), "g", "character")


def recipe_of(task: str, learner: str = "adagrad", features: str = "all", **more: Any) -> Recipe:
    settings = {"rate": 0.1} if learner == "sgd" else {}
    return Recipe(Task(task), learner=learner, settings=settings, features=features, **more)


def assert_same(one: Fitted, other: Fitted) -> None:
    assert one.model.weights.any()
    assert (one.model.weights == other.model.weights).all()
    told = [[(each.number, each.loss) for each in fitted.outcome.history] for fitted in (one, other)]
    assert told[0] == told[1]


TASKS = ("tag", "segment", "segtag")  # for spans: tests/training/test_span_task.py
ALL_TASKS = [*product(TASKS, EVIDENCE)]


# A sentence of which nothing is known


@pytest.mark.parametrize(("task", "kind", "features"), pairwise(TASKS, EVIDENCE, FEATURES))
def test_it_has_no_loss_no_gradient_and_makes_no_mistake(task: str, kind: str, features: str) -> None:
    known = corpora_of(task, kind)
    count = sum(map(len, known))
    problem = prepare([*known, unknown(task, known[0])], recipe_of(task, features=features))
    recipe, sets = recipe_of(task), problem.sets
    nothing = problem.model.encoder.encode(recipe.task.prepare(unknown(task, known[0])).sentences)
    objective = ChainObjective(problem.model.parameters, nothing.under(sets.rows), dtype=np.float32)
    weights = np.random.default_rng(0).normal(size=objective.size).astype(np.float32)
    loss, gradient = objective.loss_and_gradient(weights)
    assert loss == 0.0
    assert not gradient.any()
    objective.encoded = nothing.under(sets.rows.in_precision(np.float32))  # also if it were not left out
    before, sums = weights.copy(), np.zeros(objective.size)
    assert objective.correct(weights, sums, 0, len(nothing), 1, 1, StepRule()) == 0
    assert (weights == before).all()
    assert not sums.any()
    assert 0 < len(problem.objective) <= count


@pytest.mark.parametrize(("learner", "kind", "task", "features"), pairwise(FEATURE_LEARNERS, EVIDENCE, TASKS, FEATURES))
def test_it_changes_nothing_bit_for_bit(task: str, kind: str, features: str, learner: str) -> None:
    known = corpora_of(task, kind)
    recipe = recipe_of(task, learner, features)
    if learner in MISTAKE_DRIVEN and kind == "soft" and task != "segment":
        with pytest.raises(CorpusError, match="a learner that follows a gradient"):
            fit(known, recipe)
        return
    assert_same(fit(known, recipe, run=Run(SHORT)), fit([*known, unknown(task, known[0])], recipe, run=Run(SHORT)))


@pytest.mark.parametrize(
    ("preset", "task"),
    [(preset, "segment" if "lexicon" in preset else task) for preset, task in zip(PRESETS, cycle(TASKS), strict=False)],
)
def test_it_changes_nothing_whatever_features_see(task: str, preset: str) -> None:
    known = corpora_of(task, "partial")
    recipe = recipe_of(task, templates=PRESETS[preset])
    words = ("ab", "cde") if "lexicon" in preset else ()
    lookups = Lookups(
        words=words,
        gazetteer=parse(["X\tab", "cde"] if preset == "gazetteer" else []),
        clusters={"a": "010", "b": "1"} if preset.endswith("clusters") else {},
    )
    alone, more = (
        fit(corpora, replace(recipe, lookups=lookups), run=Run(SHORT))
        for corpora in (known, [*known, unknown(task, known[0])])
    )
    assert_same(alone, more)


@pytest.mark.parametrize(("learner", "features", "task"), pairwise(FEATURE_LEARNERS, FEATURES, TASKS))
def test_its_own_features_weigh_nothing(task: str, features: str, learner: str) -> None:
    """New words in unknown sentences: their weights are 0 or do not exist, and no other weight changes."""
    known, recipe = corpora_of(task, "partial"), recipe_of(task, learner, features)
    new = [Sentence(("xyz", "ab", "w"), location=Location("new", 1)), Sentence(("z", "cde"))]
    alone, transitions = weights_by_feature(fit(known, recipe, run=Run(SHORT)))
    more, more_transitions = weights_by_feature(fit([*known, unknown(task, new)], recipe, run=Run(SHORT)))
    tolerance = 0.0 if learner in EXACT else 1e-4
    np.testing.assert_allclose(more_transitions, transitions, rtol=tolerance, atol=tolerance)
    assert alone.keys() < more.keys()
    for code, weights in more.items():
        if code in alone:
            np.testing.assert_allclose(weights, alone[code], rtol=tolerance, atol=tolerance)
        else:
            assert not weights.any()
            assert features == "all" or not len(weights)


def weights_by_feature(fitted: Fitted) -> tuple[dict[int, Any], Any]:
    """The emission weights of every feature, by its code, and the other weights."""
    model = fitted.model
    assert isinstance(model.encoder, TemplateEncoder)
    layout, codes = model.parameters.layouts[0], model.encoder.index.codes().tolist()
    parts = {code: model.weights[layout.ptr[i] : layout.ptr[i + 1]] for i, code in enumerate(codes)}
    return parts, model.weights[layout.size :]


# Evidence is never left


@pytest.mark.parametrize(
    ("learner", "kind", "task"), pairwise(FEATURE_LEARNERS, [kind for kind in EVIDENCE if kind != "soft"], TASKS)
)
def test_decoding_stays_within_the_evidence(task: str, kind: str, learner: str) -> None:
    corpora, recipe = corpora_of(task, kind), recipe_of(task, learner)
    fitted = fit(corpora, recipe, run=Run(SHORT))
    rng = np.random.default_rng(0)
    for weights in (fitted.model.weights, rng.normal(scale=3, size=len(fitted.model.weights)).astype(np.float32)):
        tagger = ChainPredictor(replace(fitted.model, weights=weights))
        for corpus in corpora:
            prepared = recipe.task.prepare(corpus)
            done = tagger.complete(prepared)
            assert done.covered is None
            sets = LabelSets(fitted.model.space)
            before = allowed_sets(prepared.sentences, sets, fitted.model.parameters.scheme, prepared.covered)
            after = [tagger.labels.index(layer[0]) for sentence in done for layer in sentence.layers["g"]]  # type: ignore[index]
            assert sets.masks[before, after].all()
            assert all(len(each or ()) == 1 for sentence in done for each in sentence.layers["g"])
            for sentence, table in zip(
                prepared, tagger.probabilities(prepared.sentences, "g", prepared.covered), strict=True
            ):
                allowed = sets.masks[allowed_sets([sentence], sets, fitted.model.parameters.scheme, prepared.covered)]
                assert not table[allowed == 0].any()
                np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-4)


# What is unknown stays unknown on its way to the objective


def assert_named(task: str, names: tuple[str, ...]) -> None:
    """Only labels that are named are labels."""
    assert names == tuple(sorted(set(names)))
    if task == "tag":
        assert set(names) == {"N", "V", "O"}
    elif task == "segment":
        assert set(names) == set("BMES")
    else:
        assert {name[0] for name in names} == set("BMES")
        assert {name[2:] for name in names} <= {"N", "V", "O"}


@pytest.mark.parametrize(("task", "kind"), ALL_TASKS)
def test_evidence_reaches_the_objective_as_it_was(task: str, kind: str) -> None:
    corpora = corpora_of(task, kind)
    problem = prepare(corpora, recipe_of(task))
    labels = problem.model.space.names
    assert_named(task, labels)
    expected = [
        allowed for corpus in corpora for sentence in corpus for allowed in _allowed(task, corpus, sentence, labels)
    ]
    prepared = [Task(task).prepare(corpus) for corpus in corpora]
    sets = problem.sets
    found = [
        {labels[i] for i in sets.labels(number)}
        for corpus in prepared
        for number in allowed_sets(corpus.sentences, sets, None, corpus.covered)
    ]
    assert found == expected
    assert len(sets) > 1


def _allowed(task: str, corpus: Corpus, sentence: Sentence, labels: tuple[str, ...]) -> list[set[str]]:
    """By the definition of each kind of evidence, character by character or word by word."""
    if task == "tag":
        return [_tags(each, set(labels), corpus.covered) for each in sentence.layers["g"]]
    if corpus.unit == "character":
        letters, tags = sentence.layers["segmentation"], sentence.layers["tag"]
        pairs = [(set(a or "BMES"), b) for a, b in zip(letters, tags, strict=True)]
    else:
        shapes = {1: "S", 2: "BE", 3: "BME"}
        words = zip(sentence.forms, sentence.layers["g"], strict=True)
        pairs = [({letter}, tag) for form, tag in words for letter in shapes[len(form)]]
    if task == "segment":
        return [letters for letters, _ in pairs]
    kinds = {label[2:] for label in labels}
    if corpus.covered is not None:  # an O that covers nothing says nothing of the tag
        pairs = [(letters, None if tag and "O" in tag else tag) for letters, tag in pairs]
    wanted = [{f"{a}-{b}" for a in letters for b in _tags(tag, kinds, None)} for letters, tag in pairs]
    return [each & set(labels) for each in wanted]


def _tags(candidates: Any, names: set[str], covered: Any) -> set[str]:
    if candidates is None:
        return names
    allowed: set[str] = set()
    for each in candidates:
        allowed |= names - {each[1:]} if each.startswith("!") else {each}
    return allowed | (names - set(covered) if covered is not None and "O" in candidates else set())


# Nobody sees which candidate is first


def backwards(corpus: Corpus) -> Corpus:
    def step(sentence: Sentence) -> Sentence:
        layers = {name: tuple(each and each[::-1] for each in layer) for name, layer in sentence.layers.items()}
        return replace(sentence, layers=layers)

    return corpus.map(step)


@pytest.mark.parametrize(("learner", "features", "task"), pairwise(FEATURE_LEARNERS, FEATURES, TASKS))
def test_the_order_of_candidates_changes_nothing(task: str, features: str, learner: str) -> None:
    corpora, recipe = corpora_of(task, "ambiguous"), recipe_of(task, learner, features)
    assert_same(fit(corpora, recipe, run=Run(SHORT)), fit([*map(backwards, corpora)], recipe, run=Run(SHORT)))


@pytest.mark.parametrize("task", ["tag", "segment"])
def test_the_order_of_candidates_does_not_change_the_posterior(task: str) -> None:
    corpora, recipe = corpora_of(task, "ambiguous"), recipe_of(task)
    some, other = (
        treated("posterior", each, recipe, run=Run(SHORT))[0] for each in (corpora, [*map(backwards, corpora)])
    )
    for one, two in zip(some, other, strict=True):
        for sentence, twin in zip(one, two, strict=True):
            assert {name: [each and set(each) for each in layer] for name, layer in sentence.layers.items()} == {
                name: [each and set(each) for each in layer] for name, layer in twin.layers.items()
            }


@pytest.mark.parametrize(
    ("task", "kind"),
    [each for each in ALL_TASKS if each[0] != "segtag" and each[1] in ("partial", "ambiguous", "full")],
)
def test_the_posterior_does_not_contradict_the_evidence(task: str, kind: str) -> None:
    corpora, recipe = corpora_of(task, kind), recipe_of(task)
    names = prepare(corpora, recipe).model.space.names
    sets = LabelSets(LabelSpace.plain("g", names))
    after, _ = treated("posterior", corpora, recipe, run=Run(SHORT))
    for old, new in zip(corpora, after, strict=True):
        masks = [_masks(recipe.task.prepare(corpus), sets) for corpus in (old, new)]
        assert (masks[1] <= masks[0]).all()


def _masks(corpus: Corpus, sets: LabelSets, of_characters: bool = False) -> Any:
    scheme = TransitionScheme.of("BMES", sets.space.names) if of_characters else None
    numbers = allowed_sets(corpus.sentences, sets, scheme, corpus.covered)  # the table grows
    return sets.masks[numbers]


# Formats

KINDS = {"full", "partial", "ambiguous", "wildcard", "covered"}
EXPRESSES: dict[str, set[str]] = {
    "tagged": KINDS - {"covered"},
    "tagged-underscore": KINDS - {"covered"},
    "segmented": set(),
    "raw": set(),
    "kytea": KINDS,  # the boundaries of corpora that are cut from these
    "conllu": KINDS,
    "columns": KINDS,
    "attributes": KINDS - {"covered"},
    "csv": KINDS - {"covered"},
}
"""The kinds of evidence that a format can hold; the others it must refuse, not change."""


def for_format(name: str, kind: str) -> Corpus:
    corpus = EVIDENCE[kind]
    if name == "attributes":
        return corpus.map(lambda s: s.with_column("attributes", [f"form={form}" for form in s.forms]))
    if name in ("kytea", "raw"):
        coded = characters(replace(corpus, covered=None))
        return coded.map(lambda s: replace(s, layers={"g": s.layers["segmentation"]}))
    return corpus


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_keeps_evidence_or_refuses_it(name: str, kind: str, tmp_path: Path) -> None:
    corpus, path = for_format(name, kind), str(tmp_path / "corpus")
    if kind not in EXPRESSES[name]:
        with pytest.raises(CorpusError, match="found labels"):
            save(corpus, path, name)
        assert not Path(path).exists()
        return
    save(corpus, path, name)
    found = load(f"g={path}", name)
    assert found.guideline == "g"
    task = Task("segment" if corpus.unit == "character" else "tag")
    sets = LabelSets(prepare([corpus], Recipe(task)).model.space)
    # the edges of a sentence are known to be boundaries, whether a format says so or not
    before, after = (_masks(task.prepare(each), sets, of_characters=task.of_characters) for each in (corpus, found))
    assert (before == after).all()
    assert not before.all()


@pytest.mark.parametrize("name", ["segmented", "raw"])
def test_a_format_without_labels_gives_none(name: str, tmp_path: Path) -> None:
    corpus = EVIDENCE["full"].map(lambda sentence: replace(sentence, layers={}))
    bare = corpus if name == "segmented" else Task("segment").prepare(corpus).map(lambda s: replace(s, layers={}))
    save(bare, str(tmp_path / "corpus"), name)
    found = load(f"g={tmp_path / 'corpus'}", name)
    with pytest.raises(CorpusError, match=r"found no label|words without tags|a corpus of characters"):
        prepare([found], Recipe(Task("tag")))
    sets = LabelSets(prepare([EVIDENCE["full"]], Recipe(Task("segment"))).model.space)
    masks = _masks(Task("segment").prepare(found), sets, of_characters=True)
    assert masks.all() == (name == "raw")
    assert (masks.sum(axis=1) == 1).mean() > 0.9 or name == "raw"  # a sentence of one character is S in any case


# Another guideline

PAIRS = (("N", "n"), ("N", "vn"), ("V", "v"), ("V", "vn"), ("D", "d"))
MAPPING = TagMapping("ctb", "pd", dict.fromkeys(PAIRS, 1))
SIDES = {
    "ctb": ("ab/N cde/V f/D", "ab/V f/N", "cde/V|N ab/? cde/V"),
    "pd": ("ab/n cde/vn f/d", "f/vn|v", "cde/? ab/vn"),
}


def side(guideline: str) -> Corpus:
    sentences = words(*SIDES[guideline]).sentences
    return Corpus(tuple(Sentence(s.forms, {guideline: s.layers["g"]}) for s in sentences), guideline)


def coupled(corpora: list[Corpus], features: str, learner: str) -> tuple[Problem, Recipe]:
    recipe = recipe_of("tag", learner, features)
    return prepare_coupled(corpora, recipe, Coupling((MAPPING,))), recipe


@pytest.mark.parametrize(("learner", "features"), list(zip(FEATURE_LEARNERS, cycle(FEATURES), strict=False)))
def test_another_guideline_is_evidence_too(features: str, learner: str) -> None:
    known = [side("ctb"), side("pd")]
    bare = Corpus(tuple(Sentence(s.forms) for corpus in known for s in corpus), "ctb")
    fits = []
    for corpora in (known, [*known, bare]):
        problem, recipe = coupled(corpora, features, learner)
        fits.append(fit_problem(problem, recipe, run=Run(SHORT), trainer=recipe.trainer()))
    assert_same(*fits)
    tagger = ChainPredictor(fits[0].model)
    for corpus in known:
        done = tagger.complete(corpus)
        for before, after in zip(corpus, done, strict=True):
            for given, chosen in zip(before.layers[corpus.guideline], after.layers[corpus.guideline], strict=True):
                assert chosen is not None
                assert given is None or chosen[0] in given
                assert chosen[0] in {pair[corpus.guideline == "pd"] for pair in PAIRS}


def test_a_tag_of_one_side_allows_every_bundle_with_it() -> None:
    sets = LabelSets(bundle([("ctb", ("D", "N", "V")), ("pd", ("d", "n", "v", "vn"))], [MAPPING]))
    numbers = allowed_sets([*side("ctb"), *side("pd")], sets)
    allowed = [{sets.space.names[i] for i in sets.labels(number)} for number in numbers]
    assert allowed[0] == {"N&n", "N&vn"}
    assert allowed[6] == set(sets.space.names)
    assert numbers[6] == ALL
    assert {"N&vn", "V&vn"} in allowed
    both = Sentence(("ab",), {"ctb": (("V",),), "pd": (("vn",),)})
    assert {sets.space.names[i] for i in sets.labels(allowed_sets([both], sets)[0])} == {"V&vn"}


# Pieces, which taggers of two guidelines cut

PIECES = [*product(("segment", "segtag"), EVIDENCE)]
_TAGGERS: dict[str, list[ChainModel]] = {}


def taggers(task: str) -> list[ChainModel]:
    """Of the guideline of the evidence, and of one whose words are longer."""
    if task not in _TAGGERS:
        other = Corpus(tuple(Sentence(("abcde", "f"), {"h": (("x",), ("y",))}) for _ in range(2)), "h")
        models = [fit([corpus], recipe_of(task), run=Run(SHORT)).model for corpus in (EVIDENCE["full"], other)]
        _TAGGERS[task] = models
    return _TAGGERS[task]


def prepared(task: str, corpora: Iterable[Corpus]) -> list[Corpus]:
    return [Task(task).prepare(corpus) for corpus in corpora]


@pytest.mark.parametrize(("task", "kind"), PIECES)
def test_unknown_sentences_of_pieces_have_no_loss_and_change_nothing(task: str, kind: str) -> None:
    known = corpora_of(task, kind)
    more = [*known, unknown(task, known[0])]
    problem = prepare_pieces(prepared(task, more), taggers(task), recipe_of(task))
    nothing = problem.model.encoder.encode(prepared(task, more[-1:])[0].sentences)
    objective = ChainObjective(problem.model.parameters, nothing.under(problem.sets.rows), dtype=np.float32)
    weights = np.random.default_rng(0).normal(size=objective.size).astype(np.float32)
    loss, gradient = objective.loss_and_gradient(weights)
    assert loss == 0.0
    assert not gradient.any()
    assert_same(
        *(fit_pieces(prepared(task, each), taggers(task), recipe_of(task), run=Run(SHORT)) for each in (known, more))
    )


@pytest.mark.parametrize(("task", "kind"), PIECES)
def test_words_of_pieces_stay_within_the_evidence_of_their_characters(task: str, kind: str) -> None:
    corpora = prepared(task, corpora_of(task, kind))
    fitted = fit_pieces(corpora, taggers(task), recipe_of(task), run=Run(SHORT))
    rng = np.random.default_rng(0)
    for weights in (fitted.model.weights, rng.normal(scale=3, size=len(fitted.model.weights)).astype(np.float32)):
        tagger = ChainPredictor(replace(fitted.model, weights=weights))
        for corpus in corpora:
            sets = LabelSets(fitted.model.space)
            before = allowed_sets(corpus.sentences, sets, fitted.model.parameters.scheme)
            words = tuple(map(tagger.words, tagger.complete(corpus)))
            coded = Task(task).prepare(Corpus(words, "g"))
            after = [tagger.labels.index(layer[0]) for sentence in coded for layer in sentence.layers["g"]]  # type: ignore[index]
            assert sets.masks[before, after].all()


def renamed(corpus: Corpus, guideline: str) -> Corpus:
    def step(sentence: Sentence) -> Sentence:
        return replace(
            sentence, layers={guideline if name == "g" else name: each for name, each in sentence.layers.items()}
        )

    return replace(corpus.map(step), guideline=guideline)


@pytest.mark.parametrize(("task", "kind"), ALL_TASKS)
def test_a_source_that_is_relabelled_tells_nothing_where_it_knows_nothing(task: str, kind: str) -> None:
    """And the target neither, whatever evidence both have."""
    system, known = ChainSystem(recipe_of(task), Run(SHORT)), corpora_of(task, kind)
    sources, nothing = [renamed(corpus, "h") for corpus in known], unknown(task, known[0])
    one = fit_transformed(system, known, sources)
    assert_same(one, fit_transformed(system, [*known, nothing], [*sources, renamed(nothing, "h")]))
