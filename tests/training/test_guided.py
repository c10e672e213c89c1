"""The two-stage CRF from the sample corpora to a tagger and back from its file, its checkpoints; and plain merging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open
from tagged import Impatient, tagged

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.models.cascades import GuidedEncoder, guide_templates
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.training.cascades.guided import fit_guided, fit_stages, merged, prepare_guided, with_guide
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

SHORT = Schedule(iterations=3)
RECIPE = Recipe()


def corpus(*texts: str, guideline: str = "g") -> Corpus:
    return tagged(guideline, *texts)


TARGET = corpus("ab/N cde/V f/O", "ab/V|N f/N", "cde/O ab/? cde/V", "f/V ab/N", "f/O cde/N|V")
DEV = corpus("ab/N f/V cde/O", "f/N ab/V")
SOURCE_TEXTS = ("ab/n cde/v", "f/n ab/vn cde/v", "cde/n f/v|vn", "ab/? f/n")
SOURCE = corpus(*SOURCE_TEXTS, guideline="h")
SPARSE = corpus("ab/n cde/? f/?", "f/? ab/? cde/v", "cde/? f/? ab/?", "ab/? f/n cde/? f/?", guideline="h")


@cache
def of_sample(name: str) -> Corpus:
    """The sample: `ctb` and `pd` have their guideline, `both` has both, and is of the guideline `ctb`."""
    if name == "both":
        return load(f"{sample.path('both.tsv')}#ctb")
    return load(f"{name}={sample.path(f'{name}.txt')}")


@cache
def two_stages() -> ChainModel:
    return fit_stages([of_sample("ctb")], [of_sample("pd")], RECIPE, run=Run(Schedule(15))).model


def layer_of(model: ChainModel, corpus: Corpus, keep: Sequence[str] = ()) -> list[Any]:
    """The tags of all tokens, by a model that sees only the layers `keep`."""
    shown = [replace(s, layers={name: s.layers[name] for name in keep}) for s in corpus]
    tagger = ChainPredictor(model)
    return list(chain(*(sentence.layers[tagger.guideline] for sentence in tagger.tag(shown))))


def accuracy(model: ChainModel, keep: Sequence[str] = ()) -> float:
    both = of_sample("both")
    gold = list(chain(*(sentence.layers["ctb"] for sentence in both)))
    return sum(a == b for a, b in zip(layer_of(model, both, keep), gold, strict=True)) / len(gold)


def assert_same(one: Fitted, other: Fitted) -> None:
    assert one.model.weights.any()
    assert (one.model.weights == other.model.weights).all()
    assert [each.score for each in one.outcome.history] == [each.score for each in other.outcome.history]


# Both stages


def test_both_stages_are_a_fit_and_a_guided_fit() -> None:
    source = fit([SOURCE], RECIPE, run=Run(SHORT)).model
    stages = fit_stages([TARGET], [SOURCE], RECIPE, DEV, Run(SHORT))
    assert_same(fit_guided([TARGET], source, RECIPE, DEV, Run(SHORT)), stages)
    assert isinstance(stages.model.encoder, GuidedEncoder)
    assert (stages.model.encoder.guide.weights == source.weights).all()
    recipe = with_guide(RECIPE, "h")
    assert_same(fit_problem(prepare_guided([TARGET], source, RECIPE), recipe, DEV, Run(SHORT)), stages)
    assert stages.model.about["recipe"]["templates"] == [*PRESETS["words"].texts, *guide_templates("h")]


@pytest.mark.parametrize(("learner", "guide"), [("adagrad", "joined"), ("perceptron", None), ("perceptron", "window")])
def test_what_is_seen_of_the_guide_is_a_choice(learner: str, guide: str | None) -> None:
    recipe = Recipe(learner=learner, guide=guide)
    texts = fit_stages([TARGET], [SOURCE], recipe, run=Run(SHORT)).model.about["recipe"]["templates"]
    own = PRESETS["words"]
    assert texts == [*own.texts, *guide_templates("h", None if guide == "window" else own)]


def test_known_labels_of_the_source_guideline_convert_a_corpus_better() -> None:
    """li-2015, 5.4: gold tags of the other side in place of the guide's."""
    guessed, gold = accuracy(two_stages()), accuracy(two_stages(), ["pd"])
    assert gold > guessed + 0.03
    assert accuracy(two_stages(), ["ctb"]) == guessed  # the answer is no feature


def test_string_columns_of_a_file_are_no_gold_labels() -> None:
    assert "pd" in of_sample("both")[0].columns
    bare = of_sample("both").map(lambda sentence: Sentence(sentence.forms))
    assert layer_of(two_stages(), bare) == layer_of(two_stages(), of_sample("both"))


@pytest.mark.parametrize("keep", [[], ["pd"]])
def test_a_saved_model_gives_the_same_tags(keep: list[str], tmp_path: Path) -> None:
    save_model(two_stages(), tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert layer_of(loaded, of_sample("both"), keep) == layer_of(two_stages(), of_sample("both"), keep)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_damaged_guide_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    model = fit_stages([TARGET], [SOURCE], RECIPE, run=Run(SHORT)).model
    save_model(model, path)
    whole = path.read_bytes()
    with safe_open(path, "numpy") as file:
        (packed,) = (file.get_tensor(name) for name in file.keys() if name == "guide.weights")  # noqa: SIM118
    at = whole.find(packed.tobytes()) + packed.nbytes // 2
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(ModelFileError, match=r"damaged|do not fit"):
        load_model(path)


# What the guide is, and what it may see


def test_training_never_sees_gold_labels_of_the_source() -> None:
    """Neither in training nor in development data: the guide's labels are what there will be."""
    guide = fit([of_sample("pd")], RECIPE, run=Run(SHORT)).model
    both = of_sample("both")
    bare = both.map(lambda s: Sentence(s.forms, {"ctb": s.layers["ctb"]}))
    halves = [
        (each.with_sentences(each.sentences[:40]), each.with_sentences(each.sentences[40:])) for each in (both, bare)
    ]
    told, untold = (fit_guided([train], guide, RECIPE, dev, Run(SHORT)) for train, dev in halves)
    assert_same(told, untold)


@pytest.mark.parametrize("source", [TARGET, replace(SOURCE, guideline="g")])
def test_a_guide_of_the_target_guideline_would_tell_the_answer(source: Corpus) -> None:
    heard: list[Iteration] = []

    class Callback:
        def iteration(self, iteration: Iteration, limit: int) -> None:
            heard.append(iteration)

    with pytest.raises(CorpusError, match="g: found a target corpus of the guideline 'g', expected another guideline"):
        fit_stages([SOURCE, TARGET], [source], RECIPE, run=Run(SHORT, Callback()))
    assert not heard
    with pytest.raises(CorpusError, match="found a target corpus of the guideline 'g'"):
        fit_guided([TARGET], fit([TARGET], RECIPE, run=Run(SHORT)).model, RECIPE)


def test_a_guide_over_other_tokens() -> None:
    words, characters = (fit([SOURCE], Recipe(Task(task)), run=Run(SHORT)).model for task in ("tag", "segment"))
    with pytest.raises(CorpusError, match="found a guide of words, expected one of characters, for the task segtag"):
        prepare_guided([TARGET], words, Recipe(Task("segtag")))
    with pytest.raises(CorpusError, match="found a guide of characters, expected one of words, for the task tag"):
        prepare_guided([TARGET], characters, RECIPE)


@pytest.mark.parametrize("lacking", [([], [SOURCE]), ([TARGET], []), ([], [])])
def test_corpora_that_are_not_there(lacking: Any) -> None:
    with pytest.raises(CorpusError, match="found no corpus, expected training data"):
        fit_stages(*lacking, RECIPE)


@pytest.mark.parametrize("guides", ["segment", "segtag"])
@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_characters(task: str, guides: str, tmp_path: Path) -> None:
    guide = fit([of_sample("pd")], Recipe(Task(guides)), run=Run(Schedule(5))).model
    train = of_sample("ctb").with_sentences(of_sample("ctb").sentences[:60])
    fitted = fit_guided([train], guide, Recipe(Task(task)), run=Run(Schedule(5)))
    encoder = fitted.model.encoder
    assert isinstance(encoder, GuidedEncoder)
    text = [Sentence(tuple("".join(s.forms))) for s in of_sample("both")]
    known = {label for s in encoder.filled(text) for label in s.columns["guide:pd"]}
    assert known <= set(guide.space.names)
    assert len(known) >= 4
    save_model(fitted.model, tmp_path / "model")
    tagger = ChainPredictor(load_model(tmp_path / "model"))
    words = [tagger.words(sentence) for sentence in tagger.tag(text)]
    assert ["".join(s.forms) for s in words] == ["".join(s.forms) for s in text]
    shared = sum(len(set(a.forms) & set(b.forms)) for a, b in zip(words, of_sample("both"), strict=True))
    assert shared > 0.6 * sum(len(set(s.forms)) for s in of_sample("both"))


def test_the_sample_is_of_the_target_corpora() -> None:
    recipe = replace(RECIPE, sample=(2, 1))
    corpora = [TARGET, corpus("cde/V ab/O")]
    stages = fit_stages(corpora, [SOURCE], recipe, run=Run(SHORT))
    source = fit([SOURCE], RECIPE, run=Run(SHORT)).model
    assert_same(fit_guided(corpora, source, recipe, run=Run(SHORT)), stages)


# Stopped and resumed


class Stop(Exception):  # noqa: N818 - it stands for a signal that nobody can catch
    pass


@pytest.mark.parametrize(
    ("learner", "source", "parts", "how"),
    [("adagrad", SPARSE, 3, KeyboardInterrupt), ("lbfgs", SOURCE, 2, Stop)],
    ids=["pointwise start", "plain"],
)
def test_killed_and_resumed(learner: str, source: Corpus, parts: int, how: type[BaseException], tmp_path: Path) -> None:
    recipe = Recipe(learner=learner)
    whole = fit_stages([TARGET], [source], recipe, DEV, Run(SHORT))
    for stop in range(1, 3 * parts + 1):
        schedule = replace(SHORT, checkpoint=tmp_path / f"{stop}", identity="run")
        try:
            stopped = fit_stages([TARGET], [source], recipe, DEV, Run(schedule, Impatient(stop, how)))
            assert stopped.outcome.interrupted
            assert stop > 3 * (parts - 1)
        except (Stop, KeyboardInterrupt):
            assert how is Stop or stop <= 3 * (parts - 1)
        resumed = fit_stages([TARGET], [source], recipe, DEV, Run(replace(schedule, resume=True)))
        assert (resumed.model.weights == whole.model.weights).all()
        assert resumed.outcome.score == whole.outcome.score
    assert sorted(path.name for path in tmp_path.iterdir()) == [str(stop) for stop in range(1, 3 * parts + 1)]


def test_each_stage_has_its_development_data() -> None:
    recipe, dev = RECIPE, corpus("ab/n f/v", guideline="h")
    stages = fit_stages([TARGET], [SOURCE], recipe, DEV, Run(SHORT), source_dev=dev)
    source = fit([SOURCE], recipe, dev, Run(SHORT))
    assert isinstance(stages.model.encoder, GuidedEncoder)
    assert (stages.model.encoder.guide.weights == source.model.weights).all()
    assert stages.model.encoder.guide.about["dev_score"] == source.outcome.score


# Merging


def test_merged_corpora_are_of_one_guideline() -> None:
    done = merged([TARGET, DEV], [SOURCE, SPARSE])
    assert done[:2] == [TARGET, DEV]
    assert [each.guideline for each in done] == ["g"] * 4
    assert [s.layers for s in done[2]] == [{"g": s.layers["h"]} for s in SOURCE]
    assert fit(done, RECIPE, run=Run(SHORT)).model.space.names == ("N", "O", "V", "n", "v", "vn")


def test_what_else_a_source_corpus_has_stays() -> None:
    sentence = Sentence(("ab",), {"h": (("n",),), "g": (("N",),), "k": (None,)}, {"c": ("x",)}, weight=2.0)
    source = Corpus((sentence, Sentence(("f",))), "h", covered=("n",), path="p", weight=0.5)
    (_, done) = merged([TARGET], [source])
    assert done[0] == replace(sentence, layers={"k": (None,), "g": (("n",),)})
    assert done[1] == source[1]
    assert done == replace(source, sentences=done.sentences, guideline="g")


def test_merging_into_nothing() -> None:
    with pytest.raises(CorpusError, match="found no corpus, expected training data of the target guideline"):
        merged([], [SOURCE])
