"""Training beside the server: a model is trained again as it was trained."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_files import corpora_of, write

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.errors import PlanError
from tagweave.learning.run import Run, Silence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.training.methods.adaptation import StackedOptions
from tagweave.training.plan import Plan
from tagweave.training.retraining import again, train_again


@pytest.fixture
def evidence(corpora: Path) -> Corpus:
    """A partial corpus: one label is known."""
    forms = tuple((corpora / "dev.seg").read_text("utf-8").splitlines()[0].split())
    return Corpus((Sentence(forms, {"ctb": (("NN",), *[None] * (len(forms) - 1))}),), "ctb")


def trained_again(model: Path, train: list[object], evidence: Corpus, guideline: str | None = None) -> Any:
    """The model of the plan."""
    plan = plan_again(ChainPredictor(load_model(model), guideline=guideline), train)
    made = model.with_name("again.model")
    train_again(plan, evidence, made, Run(callback=Silence()))
    return load_model(made)


def plan_again(
    tagger: ChainPredictor, train: Sequence[object], tell: Callable[[str], None] = lambda line: None
) -> Plan:
    return again(tagger.model.about, tagger.guideline, list(map(str, train)), tell)


def trained(run: Any, folder: Path, *words: object) -> Path:
    path = folder / "first.model"
    run("train", *words, "-o", path)
    return path


def test_every_part_of_the_recipe(run: Any, tmp_path: Path, corpora: Path, evidence: Corpus) -> None:
    options = ["--template", "form[0]", "--template", "form[-1] form[0]", "--learner", "sgd", "--set", "rate=0.125"]
    options += [
        "--set",
        "batch=4",
        "--set",
        "feature_weights=observed",
        "--set",
        "minimum_count=2",
        "--set",
        "precision=float64",
    ]
    options += ["--seed", "7", "--incomplete", "posterior", "--iterations", "3"]
    model = trained(run, tmp_path, f"ctb={corpora / 'train.txt'}", *options)
    new = trained_again(model, [corpora / "train.txt"], evidence)
    old = load_model(model)
    assert new.about["recipe"] == old.about["recipe"]
    plans = [each.about["plan"] for each in (new, old)]
    for name in ("seed", "options", "method", "templates", "settings"):
        assert plans[0][name] == plans[1][name], name
    assert new.about["iterations"] == old.about["iterations"]
    assert [(each["guideline"], each["path"]) for each in corpora_of(new.about)] == [("ctb", "train.txt"), ("ctb", "")]


def test_weights_samples_and_rounds_stay(run: Any, tmp_path: Path, corpora: Path) -> None:
    both = f"ctb={corpora / 'train.txt'}", f"ctb={corpora / 'dev.txt'}"
    model = trained(run, tmp_path, *both, "--weights", "2,0.5", "--sample", "30,all", "--iterations", 1)
    plan = plan_again(ChainPredictor(load_model(model)), [both[0]])
    assert [(each.weight, each.sample) for each in plan.target] == [(2.0, 30), (0.5, "all")]
    both = f"ctb={corpora / 'train.txt'}", f"pd={corpora / 'words.txt'}"
    options = ("--method", "stacked", "--set", "rounds=2", "--iterations", 1)
    model = trained(run, tmp_path, both[0], "--source", both[1], *options)
    plan = plan_again(ChainPredictor(load_model(model)), both)
    assert (plan.method, plan.options) == ("stacked", StackedOptions(rounds=2))


def test_as_many_iterations_as_a_model_with_development_data_made(
    run: Any, tmp_path: Path, corpora: Path, evidence: Corpus
) -> None:
    words = (f"ctb={corpora / 'train.txt'}", "--dev", corpora / "dev.txt", "--set", "patience=1")
    model = trained(run, tmp_path, *words)
    new = trained_again(model, [corpora / "train.txt"], evidence)
    assert new.about["iterations"] == load_model(model).about["iterations"]
    assert new.about["dev_score"] is None


def test_files_with_both_fields_of_conllu_are_read_in_that_of_the_guideline(tagger: Path, tmp_path: Path) -> None:
    """UPOS stands beside what was annotated, and is not taken for it."""
    model = load_model(tagger)
    view = replace(model.space.views[0], guideline="xpos")
    parameters = replace(model.parameters, space=replace(model.space, views=(view,)))
    both = tmp_path / "both.conllu"
    both.write_text("1\tx\t_\tNOUN\tNN" + "\t_" * 5 + "\n\n", "utf-8")
    first, last = plan_again(ChainPredictor(replace(model, parameters=parameters)), [both]).target
    assert first.argument == f"{both}#xpos" and last.argument == "xpos="


def test_a_corpus_of_another_guideline_is_a_source(
    run: Any, tmp_path: Path, corpora: Path, evidence: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the mapping is found again
    for name in ("train.txt", "words.txt"):
        write(tmp_path / name, (corpora / name).read_text("utf-8").splitlines()[:10])
    both = f"ctb={tmp_path / 'train.txt'}", f"pd={tmp_path / 'words.txt'}"
    (tmp_path / "pairs.tsv").write_text("# mapping = ctb pd\nNN\tn\t3\nVV\tv\t2\n", "utf-8")
    options = ("--mapping", tmp_path / "pairs.tsv", "--set", "views=separate", "--iterations", 2)
    model = trained(run, tmp_path, both[0], "--source", both[1], *options)
    new = trained_again(model, [both[1], both[0]], evidence)
    old = load_model(model).about["plan"]
    assert [each["guideline"] for each in corpora_of(new.about)] == ["ctb", "ctb", "pd"]
    assert (new.about["plan"]["method"], new.about["plan"]["options"]) == ("coupled", old["options"])
    assert old["options"]["views"] == "separate"
    forms = evidence[0].forms
    under_pd = Corpus((Sentence(forms, {"pd": (("n",), *[None] * (len(forms) - 1))}),), "pd")
    new = trained_again(model, [*both], under_pd, "pd")
    assert [each["guideline"] for each in corpora_of(new.about)] == ["pd", "pd", "ctb"]


def test_options_that_a_model_of_several_guidelines_lacks_are_told(run: Any, tmp_path: Path, corpora: Path) -> None:
    both, told = (f"ctb={corpora / 'train.txt'}", f"pd={corpora / 'words.txt'}"), list[str]()
    tagger = ChainPredictor(load_model(trained(run, tmp_path, both[0], "--incomplete", "posterior", "--iterations", 1)))
    assert plan_again(tagger, both[:1], told.append).options.incomplete == "posterior" and told == []
    assert plan_again(tagger, both, told.append).options is None
    assert told == ["`incomplete=posterior` is left out: it is for a model of one guideline, and pd is another one"]


def test_a_segmenter_with_its_lexicon(run: Any, tmp_path: Path, corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by its name and digest, here or beside a corpus."""
    words = shutil.copy(corpora / "words.txt", tmp_path)
    (tmp_path / "names.txt").write_text("图书馆\n", "utf-8")
    options = ("--task", "segment", "--set", "coding=BI", "--lexicon", tmp_path / "names.txt", "--iterations", 2)
    model = trained(run, tmp_path, words, *options)
    (tmp_path / "marked.kytea").write_text("他 在|图-书-馆|看 书\n", "utf-8")
    marked = load(f"segmentation={tmp_path / 'marked.kytea'}")
    new = trained_again(model, [words], marked)
    assert (new.task, new.coding) == ("segment", "BI")
    assert new.about["plan"]["lexicons"] == load_model(model).about["plan"]["lexicons"]
    (tmp_path / "names.txt").write_text("图书\n", "utf-8")
    with pytest.raises(PlanError, match=r"found no names\.txt of sha256 .*, expected the file of the model there"):
        trained_again(model, [words], marked)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "names.txt").write_text("图书馆\n", "utf-8")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert trained_again(model, [words], marked).about["plan"] == new.about["plan"]


def test_what_cannot_be_trained_again(tagger: Path, corpora: Path) -> None:
    model = load_model(tagger)
    with pytest.raises(PlanError, match="found a model that does not tell its plan"):
        plan_again(ChainPredictor(replace(model, about={})), [corpora / "train.txt"])
    plan = {**model.about["plan"], "task": "spans", "overlap": True}
    with pytest.raises(PlanError, match="found a model of layers of spans, expected one of one layer"):
        plan_again(ChainPredictor(replace(model, about={"plan": plan})), [corpora / "train.txt"])
    plan = {**model.about["plan"], "method": "coupled", "options": {}}
    with pytest.raises(PlanError, match="found a model of the method coupled, and `train` of ctb alone"):
        plan_again(ChainPredictor(replace(model, about={"plan": plan})), [corpora / "train.txt"])


def test_a_corpus_that_is_not_there_is_told_before_anything_is_served(
    run: Any, tmp_path: Path, corpora: Path, tagger: Path
) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    options = ("--model", tagger, "--corpus", corpora / "dev.seg", "--train", tmp_path / "none.txt")
    assert "none.txt" in run("annotate", "serve", "--store", store, *options, code=2).stderr
    save_model(replace(load_model(tagger), about={}), tmp_path / "silent.model")
    options = ("--model", tmp_path / "silent.model", "--corpus", corpora / "dev.seg", "--train", corpora / "train.txt")
    assert "does not tell its plan" in run("annotate", "serve", "--store", store, *options, code=2).stderr
