"""Structure stacking: the steps of the cascade, what each model has seen, and the rows of sun-wan-2012, Table 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tagged import Impatient

from tagweave.annotate.selection import most_uncertain
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sample import path
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.report import evaluate
from tagweave.learning.run import Run, Schedule
from tagweave.models.cascades import PieceEncoder, guide_column, of_pieces
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades import subword
from tagweave.training.cascades.jackknife import labelled, members
from tagweave.training.cascades.narrowing import fit_taggers
from tagweave.training.cascades.subword import (
    Stacking,
    answered,
    fit_pieces,
    fit_stack,
    guided_conversion,
    prepare_pieces,
)
from tagweave.training.fit.chain_problem import dev_score
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe, by_words
from tagweave.training.fit.task import Task

RECIPE = Recipe(Task("segtag"), learner="perceptron")
SHORT = Schedule(2)
TWO = Stacking(folds=2)


def sample(name: str, start: int, end: int) -> Corpus:
    corpus = load(f"{name}={path(f'{name}.txt')}")
    return corpus.with_sentences(corpus.sentences[start:end])


CTB, DEV, PD = sample("ctb", 0, 30), sample("ctb", 90, 110), sample("pd", 0, 40)


@pytest.fixture(scope="module")
def taggers() -> list[ChainModel]:
    own = fit([CTB], RECIPE, run=Run(SHORT)).model
    return [own, *fit_taggers([PD], RECIPE, Run(SHORT))]


@pytest.fixture(scope="module")
def known() -> list[Corpus]:
    return answered([CTB], RECIPE, TWO, Run(SHORT))


@pytest.fixture(scope="module")
def stack() -> Fitted:
    return fit_stack([CTB], [PD], RECIPE, TWO, DEV, Run(SHORT))


def encoder_of(model: ChainModel) -> PieceEncoder:
    assert isinstance(model.encoder, PieceEncoder)
    return model.encoder


def text(sentences: Sequence[Sentence]) -> list[str]:
    return ["".join(sentence.forms) for sentence in sentences]


# Steps


def test_the_target_tagger_has_not_seen_the_text_that_it_cuts(known: list[Corpus]) -> None:
    coded = RECIPE.task.prepare(CTB)
    first, second = members([CTB], 2, 0)
    without = fit([CTB.with_sentences(CTB[at.sentence] for at in second)], RECIPE, run=Run(SHORT)).model
    expected = labelled(without, [coded[at.sentence] for at in first])
    column = guide_column("ctb")
    assert [known[0][at.sentence].columns[column] for at in first] == expected
    assert [each.layers for each in known[0]] == [each.layers for each in coded]


def test_the_source_tagger_answers_as_it_will_in_use(known: list[Corpus], taggers: list[ChainModel]) -> None:
    problem = prepare_pieces(known, taggers, RECIPE)
    encoder = encoder_of(problem.model)
    found = encoder.labels(known[0].sentences)
    assert [labels[1] for labels in found] == labelled(taggers[1], known[0].sentences)
    assert [labels[0] for labels in found] == [sentence.columns["guide:ctb"] for sentence in known[0]]


def test_training_text_is_cut_by_the_answers_alone(known: list[Corpus], taggers: list[ChainModel]) -> None:
    problem = prepare_pieces(known, taggers, RECIPE)
    encoder = encoder_of(problem.model)
    bare = [replace(sentence, layers={}) for sentence in known[0]]
    assert problem.objective.encoded.tokens == sum(map(len, encoder.tokens(bare)))
    assert problem.objective.encoded.tokens < sum(map(len, bare))


def test_every_letter_may_have_every_tag(known: list[Corpus], taggers: list[ChainModel]) -> None:
    names = prepare_pieces(known, taggers, RECIPE).model.space.names
    assert {name[0] for name in names} == set("BMES")
    assert len(names) == 4 * len({name[2:] for name in names})


def test_all_of_it_is_its_steps(stack: Fitted, known: list[Corpus]) -> None:
    source = fit_taggers([PD], RECIPE, Run(SHORT))
    own = fit([CTB], RECIPE, DEV, Run(SHORT)).model
    fitted = fit_pieces(known, [own, *source], RECIPE, DEV, Run(SHORT))
    assert fitted.model.weights.any()
    assert np.array_equal(fitted.model.weights, stack.model.weights)
    assert encoder_of(stack.model).guidelines == ("ctb", "pd")
    assert stack.model.space.guidelines == ("ctb",)


def test_sources_of_two_guidelines_give_two_taggers() -> None:
    ud = replace(PD.map(lambda s: replace(s, layers={"ud": s.layers["pd"]})), guideline="ud")
    model = fit_stack([CTB], [PD, ud], RECIPE, TWO, None, Run(Schedule(1))).model
    assert encoder_of(model).guidelines == ("ctb", "pd", "ud")
    assert list(ChainPredictor(model).tag([Sentence(tuple("他在看书"))]))


@pytest.mark.parametrize("task", ["segment", "segtag"])
@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
def test_every_task_of_characters_and_coding(task: str, coding: str) -> None:
    recipe = Recipe(Task(task, coding), learner="perceptron")
    model = fit_stack([CTB], [PD], recipe, TWO, DEV, Run(Schedule(1))).model
    tagger = ChainPredictor(model)
    words = [tagger.words(each) for each in tagger.tag(recipe.task.prepare(DEV).sentences)]
    assert text(words) == text(DEV.sentences)
    assert all(("ctb" in sentence.layers) == (task == "segtag") for sentence in words)


# Scores


def test_the_development_score_is_that_of_words(stack: Fitted) -> None:
    tagger = ChainPredictor(stack.model)
    words = tuple(tagger.words(each) for each in tagger.tag(RECIPE.task.prepare(DEV).sentences))
    report = evaluate(DEV, {"pieces": Corpus(words, "ctb")}).to_json()
    score = stack.outcome.score
    assert score is not None and 0.1 < score < 1
    assert _f_of_words_and_tags(DEV, words) == pytest.approx(score)
    assert report


def _f_of_words_and_tags(gold: Corpus, words: Sequence[Sentence]) -> float:
    def spans(sentences: Sequence[Sentence]) -> set[tuple[int, int, int, Any]]:
        found = set()
        for number, sentence in enumerate(sentences):
            at = 0
            for form, tag in zip(sentence.forms, sentence.layers["ctb"], strict=True):
                found.add((number, at, at + len(form), tag))
                at += len(form)
        return found

    one, other = spans(gold.sentences), spans(words)
    return 2 * len(one & other) / (len(one) + len(other))


def test_partly_known_development_data_is_scored_by_its_characters(stack: Fitted) -> None:
    coded = RECIPE.task.prepare(DEV)
    half = coded.map(lambda s: s.with_layer("ctb", [e if i % 2 else None for i, e in enumerate(s.layers["ctb"])]))
    found = dev_score(stack.model, half)(stack.model.weights)
    assert 0.1 < found < 1
    right = total = 0
    for sentence, tagged in zip(half, ChainPredictor(stack.model).tag(coded.sentences), strict=True):
        words = ChainPredictor(stack.model).words(tagged)
        (system,) = RECIPE.task.prepare(Corpus((words,), "ctb"))
        for gold, own in zip(sentence.layers["ctb"], system.layers["ctb"], strict=True):
            total += gold is not None
            right += gold is not None and gold == own
    assert found == pytest.approx(right / total)


# Conversion and training again


def test_conversion_heeds_the_labels_of_the_source(stack: Fitted) -> None:
    """A piece of a converted corpus lies within a word of the source, gold and not guessed."""
    coded = RECIPE.task.prepare(PD)
    gold = [sentence.forms for sentence in PD]
    for cut, words in zip(encoder_of(stack.model).tokens(coded.sentences), gold, strict=True):
        assert set(np.cumsum([len(w) for w in words])) <= set(np.cumsum([len(p) for p in cut.forms]))


def test_a_guided_model_converts_each_source_by_its_own_guide(taggers: list[ChainModel]) -> None:
    (converted,) = guided_conversion([CTB], [PD], taggers[1:], RECIPE, None, Run(SHORT))
    assert converted.guideline == "ctb"
    assert text(converted.sentences) == text(PD.sentences)


@pytest.mark.parametrize(
    ("characters", "pieces"), [(False, False), (True, False), (False, True), (True, True)], ids=["D", "2", "3", "4"]
)
def test_rows_of_table_5(characters: bool, pieces: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which text the tagger of the target and the model of pieces are trained on."""
    seen: dict[str, list[list[str]]] = {"tagger": [], "pieces": []}
    samples: dict[str, list[tuple[int, ...]]] = {"tagger": [], "pieces": []}
    plain_fit, plain_prepare = subword.fit, subword.prepare_pieces

    def watched_fit(corpora: Sequence[Corpus], recipe: Recipe, *rest: Any) -> Fitted:
        if corpora[0].guideline == "ctb":
            seen["tagger"].append([each for corpus in corpora for each in text(corpus.sentences)])
            samples["tagger"].append(recipe.sample)
        return plain_fit(corpora, recipe, *rest)

    def watched_prepare(corpora: Sequence[Corpus], taggers: Any, recipe: Recipe) -> Any:
        seen["pieces"].append([each for corpus in corpora for each in text(corpus.sentences)])
        samples["pieces"].append(recipe.sample)
        for corpus in corpora[1:]:  # what is said of source text is said by taggers that have not seen it
            assert all("guide:pd" in sentence.columns for sentence in corpus)
            assert all(("guide:ctb" in sentence.columns) == characters for sentence in corpus)
        return plain_prepare(corpora, taggers, recipe)

    monkeypatch.setattr(subword, "fit", watched_fit)
    monkeypatch.setattr(subword, "prepare_pieces", watched_prepare)
    stacking = replace(TWO, characters=characters, pieces=pieces, times=0.5)
    fitted = fit_stack([CTB], [PD], RECIPE, stacking, None, Run(Schedule(1)))
    own, other = text(CTB.sentences), text(PD.sentences)
    assert seen["tagger"] == [own + other if characters else own]
    assert seen["pieces"] == ([own, own + other] if pieces else [own])
    half = sum(map(len, CTB)) / 2
    assert all(sample == () or sample[0] == len(CTB) for each in samples.values() for sample in each)
    for name, again in (("tagger", characters), ("pieces", pieces)):
        assert bool(samples[name][-1]) == again
        if again:
            words = samples[name][-1][1] * sum(map(len, PD)) / len(PD)
            assert 0.8 * half <= words < 1.2 * half
    assert of_pieces(fitted.model)
    assert list(ChainPredictor(fitted.model).tag([Sentence(tuple("他在看书"))]))


def test_relabelled_corpora_are_sampled_where_sentences_are_taken_a_few_at_a_time() -> None:
    relabelled = [PD.with_sentences(PD.sentences * 20)]
    found = Stacking(times=1).sampling(RECIPE, [CTB], relabelled).sample
    assert found == by_words([CTB], relabelled) and found[1] < len(PD) * 20
    assert Stacking(times=0).sampling(RECIPE, [CTB], relabelled).sample == ()
    assert Stacking().sampling(replace(RECIPE, learner="lbfgs"), [CTB], relabelled).sample == ()
    assert Stacking().sampling(RECIPE, [CTB], []).sample == ()


# Errors


@pytest.mark.parametrize(
    ("targets", "sources", "recipe", "message"),
    [
        ([CTB], [PD], Recipe(), "the task tag, expected segment or segtag"),
        ([CTB], [], RECIPE, "no corpus"),
        ([], [PD], RECIPE, "no corpus"),
        ([CTB], [CTB], RECIPE, "a target corpus of the guideline 'ctb'"),
    ],
)
def test_what_cannot_be_stacked(targets: Any, sources: Any, recipe: Recipe, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        fit_stack(targets, sources, recipe)


def test_corpora_of_another_guideline_than_the_first_tagger(taggers: list[ChainModel]) -> None:
    with pytest.raises(CorpusError, match="expected the guideline of the first tagger, ctb"):
        prepare_pieces([RECIPE.task.prepare(PD)], taggers, RECIPE)


def test_nothing_annotated(taggers: list[ChainModel]) -> None:
    bare = Corpus((Sentence(tuple("他在")),), "ctb", "character", path="bare.txt")
    with pytest.raises(CorpusError, match=r"bare.txt.*no label in layer 'ctb'"):
        prepare_pieces([bare], taggers, RECIPE)


@pytest.mark.parametrize("folds", [0, 1, 4])
def test_fewer_folds_than_two_or_more_than_sentences(folds: int) -> None:
    few, told = CTB.with_sentences(CTB.sentences[:3]), []
    with pytest.raises(CorpusError, match=f"found {folds} folds, expected 2 to 3, the number of sentences of ctb"):
        fit_stack([few], [PD], RECIPE, Stacking(folds=folds), run=Run(tell=told.append))
    few = PD.with_sentences(PD.sentences[:3])
    with pytest.raises(CorpusError, match=f"found {folds} folds, expected 2 to .*, the number of sentences of"):
        fit_stack([CTB], [few], RECIPE, Stacking(folds=folds, pieces=True), run=Run(tell=told.append))
    assert not told


@pytest.mark.parametrize("at", [1, 2])
def test_an_interrupted_tagger_ends_the_cascade(at: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit_stack([CTB], [PD], RECIPE, TWO, None, Run(Schedule(1), Impatient(at)))


def test_of_the_last_model_something_is_left() -> None:
    fitted = fit_stack([CTB], [PD], RECIPE, TWO, None, Run(Schedule(1), Impatient(3)))
    assert fitted.outcome.interrupted
    assert fitted.model.weights.any()


def test_what_to_annotate_is_not_asked_of_pieces(stack: Fitted) -> None:
    with pytest.raises(ValueError, match="found a model of pieces, expected one of characters"):
        most_uncertain(stack.model, [Sentence(tuple("他在看书"))], ["在"])
