"""Training beside the server: a model is trained again as it was trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tagweave.adapt.recipe import Recipe
from tagweave.adapt.retrain import recipe_of
from tagweave.cli.annotate_training import command
from tagweave.cli.errors import OptionError
from tagweave.models.storage import load_model, save_model
from tagweave.models.tagger import Tagger

Run = Any


@pytest.fixture
def annotated(tmp_path: Path, corpora: Path) -> Path:
    """A partial corpus as it is exported: one label is known."""
    first = (corpora / "dev.seg").read_text("utf-8").splitlines()[0].split()
    rows = [f"{n}\t{form}\t_\t_\t{'NN' if n == 1 else '_'}\t_\t_\t_\t_\t_" for n, form in enumerate(first, 1)]
    path = tmp_path / "annotated.conllu"
    path.write_text("# guideline = ctb\n" + "\n".join(rows) + "\n\n", "utf-8")
    return path


def again(run: Run, model: Path, train: list[object], annotated: Path, guideline: str | None = None) -> Any:
    """The model that the command trains, as a description of itself."""
    made = annotated.with_name("again.model")
    tagger = Tagger(load_model(model), guideline=guideline)
    words = command(tagger, [*map(str, train)], str(annotated), str(made))
    run(*words[words.index("train") :])
    return load_model(made)


def trained(run: Run, folder: Path, *words: object) -> Path:
    path = folder / "first.model"
    run("train", *words, "-o", path)
    return path


def test_every_part_of_the_recipe(run: Run, tmp_path: Path, corpora: Path, annotated: Path) -> None:
    options = ["--template", "form[0]", "--template", "form[-1] form[0]", "--learner", "sgd", "--set", "rate=0.125"]
    options += ["--set", "batch=4", "--features", "observed", "--min-count", "2", "--precision", "float64"]
    options += ["--seed", "7", "--incomplete", "pointwise", "--iterations", "3"]
    model = trained(run, tmp_path, f"ctb={corpora / 'train.txt'}", *options)
    new = again(run, model, [corpora / "train.txt"], annotated)
    old = load_model(model)
    assert recipe_of(new) == recipe_of(old)
    assert recipe_of(new) != Recipe()
    for name in ("iterations", "seed", "incomplete", "method"):
        assert new.about[name] == old.about[name], name
    assert [each["guideline"] for each in new.about["corpora"]] == ["ctb", "ctb"]


def test_the_words_of_a_guided_model_of_two_rounds(run: Run, corpora: Path, tagger: Path) -> None:
    model = load_model(tagger)
    guided = replace(model, about={**model.about, "method": "guided", "round": 2})
    words = command(Tagger(guided), [f"ctb={corpora / 'train.txt'}", f"pd={corpora / 'words.txt'}"], "x.conllu", "m")
    assert words[words.index("--method") + 1 : words.index("--method") + 4] == ("guided", "--rounds", "2")


def test_as_many_iterations_as_a_model_with_development_data_made(
    run: Run, tmp_path: Path, corpora: Path, annotated: Path
) -> None:
    words = (f"ctb={corpora / 'train.txt'}", "--dev", corpora / "dev.txt", "--patience", "1")
    model = trained(run, tmp_path, *words)
    new = again(run, model, [corpora / "train.txt"], annotated)
    assert new.about["iterations"] == load_model(model).about["iterations"]
    assert new.about["dev_score"] is None


def test_files_with_both_fields_of_conllu_are_read_in_that_of_the_guideline(tagger: Path, annotated: Path) -> None:
    """UPOS stands beside what was annotated, and is not taken for it."""
    model = load_model(tagger)
    words = command(Tagger(model), [], str(annotated), "m")
    assert f"ctb={annotated}#xpos" in words
    view = replace(model.structure.space.views[0], guideline="xpos")
    structure = replace(model.structure, space=replace(model.structure.space, views=(view,)))
    both = annotated.with_name("both.conllu")
    both.write_text("1\tx\t_\tNOUN\tNN" + "\t_" * 5 + "\n\n", "utf-8")
    words = command(Tagger(replace(model, structure=structure)), [str(both)], str(annotated), "m")
    assert words[words.index("train") + 1 :][:2] == (f"{both}#xpos", f"xpos={annotated}#xpos")


def test_a_corpus_of_another_guideline_is_a_source(run: Run, tmp_path: Path, corpora: Path, annotated: Path) -> None:
    both = f"ctb={corpora / 'train.txt'}", f"pd={corpora / 'words.txt'}"
    (tmp_path / "pairs.tsv").write_text("# mapping = ctb pd\nNN\tn\t3\nVV\tv\t2\n", "utf-8")
    options = ("--mapping", tmp_path / "pairs.tsv", "--views", "separate", "--iterations", 2)
    model = trained(run, tmp_path, both[0], "--source", both[1], *options)
    new = again(run, model, [both[1], both[0]], annotated)
    old = load_model(model).about
    assert [each["guideline"] for each in new.about["corpora"]] == ["ctb", "ctb", "pd"]
    assert {name: new.about[name] for name in ("method", "mapping", "views")} == {
        "method": "coupled",
        "mapping": old["mapping"],
        "views": "separate",
    }
    under_pd = annotated.with_name("pd.conllu")
    under_pd.write_text(annotated.read_text("utf-8").replace("= ctb", "= pd").replace("NN", "n"), "utf-8")
    new = again(run, model, [*both], under_pd, "pd")
    assert [each["guideline"] for each in new.about["corpora"]] == ["pd", "pd", "ctb"]


def test_a_segmenter_with_its_lexicon(run: Run, tmp_path: Path, corpora: Path) -> None:
    (tmp_path / "names.txt").write_text("图书馆\n", "utf-8")
    options = ("--task", "segment", "--coding", "BI", "--lexicon", tmp_path / "names.txt", "--iterations", 2)
    model = trained(run, tmp_path, corpora / "words.txt", *options)
    marked = tmp_path / "marked.kytea"
    marked.write_text("他 在|图-书-馆|看 书\n", "utf-8")
    new = again(run, model, [corpora / "words.txt"], marked)
    assert (new.task, new.coding) == ("segment", "BI")
    assert new.about["lexicons"] == load_model(model).about["lexicons"]
    (tmp_path / "names.txt").unlink()
    with pytest.raises(OptionError, match=r"found no .*names\.txt, expected the lexicon of the model"):
        again(run, model, [corpora / "words.txt"], marked)


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({}, "found a model that does not tell its recipe"),
        ({"method": "iterate"}, "found a model of the method iterate"),
        ({"method": "coupled"}, "found a model of the method coupled, and --train of ctb alone"),
    ],
)
def test_what_cannot_be_trained_again(tagger: Path, corpora: Path, about: dict[str, str], told: str) -> None:
    model = load_model(tagger)
    changed = replace(model, about={**({"recipe": model.about["recipe"]} if about else {}), **about})
    with pytest.raises(OptionError, match=told):
        command(Tagger(changed), [str(corpora / "train.txt")], "a", "m")


def test_a_corpus_that_is_not_there_is_told_before_anything_is_served(
    run: Run, tmp_path: Path, corpora: Path, tagger: Path
) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    options = ("--model", tagger, "--corpus", corpora / "dev.seg", "--train", tmp_path / "none.txt")
    assert "none.txt" in run("annotate", "serve", "--store", store, *options, code=2).stderr
    save_model(replace(load_model(tagger), about={}), tmp_path / "silent.model")
    options = ("--model", tmp_path / "silent.model", "--corpus", corpora / "dev.seg", "--train", corpora / "train.txt")
    assert "does not tell its recipe" in run("annotate", "serve", "--store", store, *options, code=2).stderr
