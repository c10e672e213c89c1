"""Options to plans, and arguments to training corpora."""

from __future__ import annotations

from dataclasses import make_dataclass

import pytest
from model_files import write

from loaded_sources import loaded_file
from tagweave.cli.options import pairs
from tagweave.corpus.load import load
from tagweave.errors import PlanError
from tagweave.features.templates import PRESETS
from tagweave.training.corpora import run_identity
from tagweave.training.fit.recipe import LEARNERS, Recipe, learner_settings, template_texts


def test_settings_have_the_types_of_the_learner():
    assert learner_settings("adagrad", pairs("set", ["rate=1", "batch=4"])) == {"rate": 1.0, "batch": 4}
    assert isinstance(learner_settings("adagrad", pairs("set", ["rate=1"]))["rate"], float)
    assert learner_settings("sgd", pairs("set", ["rate=0.5", "c2=2"])) == {"rate": 0.5, "c2": 2.0}
    assert learner_settings("lbfgs", pairs("set", ["memory=3"])) == {"memory": 3}


def test_a_learner_of_a_module_whose_annotations_are_no_text_has_types_too(monkeypatch):
    learner = make_dataclass("Plain", [("steps", int, 1), ("fast", bool, True), ("rate", float, 1)])
    monkeypatch.setitem(LEARNERS, "plain", learner)
    settings = learner_settings("plain", pairs("set", ["steps=2", "fast=false", "rate=3"]))
    assert [type(each) for each in settings.values()] == [int, bool, float]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_setting_of_every_learner_can_be_set(learner):
    with pytest.raises(PlanError) as error:
        learner_settings(learner, pairs("set", ["?=1"]))
    names = str(error.value).partition("one of ")[2].split(", ")
    settings = learner_settings(learner, pairs("set", [f"{name}=1" for name in names]))
    trainer = Recipe(learner=learner, settings=settings).trainer()
    assert all(getattr(trainer, name) == 1 for name in names)


def test_presets_and_templates_add_up_each_once():
    assert template_texts("tag", [], []) == ()
    assert template_texts("tag", ["liu-2014"], []) == PRESETS["liu-2014"].texts
    texts = template_texts("tag", ["jiang-2015", "liu-2014"], ["form[0]", "form[3]"])
    assert len(set(texts)) == len(texts) and texts[-1] == "form[3]"
    assert set(texts) == {*PRESETS["jiang-2015"].texts, *PRESETS["liu-2014"].texts, "form[3]"}


def test_the_identity_of_a_run(tmp_path):
    """It changes with whatever changes the weights, and with nothing else."""
    one, two = (write(tmp_path / name, [line]) for name, line in (("one", "a/N b/V"), ("two", "a/N b/N")))
    copy = write(tmp_path / "copy", ["a/N b/V"])

    def identity(file, argument="{}", weight=1.0, dev=None, recipe=None, seed=0):
        corpus = loaded_file(argument.format(file), "tag", weight=weight)
        development = loaded_file(str(dev), "tag") if dev else None
        return run_identity([corpus], development, (recipe or Recipe()).to_json(), "marginal", seed)

    assert identity(one) == identity(one) == identity(copy)
    others = [
        identity(two),
        identity(one, "g={}"),
        identity(one, weight=2.0),
        identity(one, dev=two),
        identity(one, recipe=Recipe(threads=2)),
        identity(one, recipe=Recipe(settings={"rate": 0.2})),
        identity(one, seed=1),
    ]
    assert len({identity(one), *others}) == len(others) + 1


def test_a_corpus_that_names_no_guideline_gets_the_one_that_is_offered(tmp_path):
    tagged = write(tmp_path / "t", ["a/N b/V"])
    named = write(tmp_path / "n.conllu", ["# guideline = mine", "1\ta\t_\tN" + "\t_" * 6, ""])
    conllu = write(tmp_path / "c.conllu", ["1\ta\t_\tN" + "\t_" * 6, ""])
    header = write(tmp_path / "h.tsv", ["# columns = form ctb pd", "a\tN\tn", ""])
    plain = write(tmp_path / "p.tsv", ["a\tN", "b\tV", ""])
    kytea = write(tmp_path / "k.kytea", ["a|b"])

    def name(argument):
        corpus = load(str(argument), unnamed="offered")
        assert all(corpus.guideline in sentence.layers for sentence in corpus)
        return corpus.guideline

    assert [name(file) for file in (tagged, conllu, plain, kytea)] == ["offered"] * 4
    assert name(f"given={tagged}") == "given"
    assert name(named) == "mine"
    assert name(header) == "pd" and name(f"{header}#ctb") == "ctb"
    assert load(str(tagged)).guideline == "tag"
