"""`tagweave train --lexicon`: words as features, kept with the model, of which it tells."""

from __future__ import annotations

import json

import pytest
from model_files import contents, write

from tagweave.corpus.describe import digest
from tagweave.corpus.load import load
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import describe_model, load_model
from tagweave.training.fit import fit
from tagweave.training.incomplete import treated
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

RUN = ("--task", "segment", "--iterations", 2)
SCHEDULE = Schedule(2)


@pytest.fixture(scope="module")
def lexicons(tmp_path_factory):
    """Two files, with words of both in the sample."""
    folder = tmp_path_factory.mktemp("lexicons")
    return write(folder / "a.txt", ["我们", "昨天\tt", "的"]), write(folder / "b.txt", ["图书馆 7 n", "我们"])


@pytest.fixture(scope="module")
def model(run, corpora, lexicons, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    run("train", corpora / "words.txt", *RUN, "--lexicon", lexicons[0], "--lexicon", lexicons[1], "-o", path)
    return path


def test_it_is_the_fit_with_these_words(model, corpora):
    corpus = load(str(corpora / "words.txt"), None, "segmentation")
    recipe = Recipe(Task("segment"), PRESETS["characters-lexicon"], settings={"seed": 0})
    fitted = fit([corpus], recipe, run=Run(SCHEDULE), lookups=Lookups(words=("我们", "昨天", "图书馆"))).model
    loaded = load_model(model)
    assert loaded.encoder.lexicon.words == ("图书馆", "我们", "昨天")
    assert loaded.encoder.templates == PRESETS["characters-lexicon"]
    assert (loaded.weights == fitted.weights).all()


def test_the_model_tells_of_its_lexicons(run, model, lexicons):
    told = describe_model(model)["about"]["plan"]["lexicons"]
    expected = [(file.name, digest(str(file)), size) for file, size in zip(lexicons, (3, 2), strict=True)]
    assert [(each["path"], each["sha256"], each["size"]) for each in told] == expected
    assert json.loads(run("info", model, "--json").stdout)["about"]["plan"]["lexicons"] == told
    shown = run("info", model).stdout
    assert f"with {lexicons[1].name}: 2 words, sha256 {told[1]['sha256'][:12]}" in shown
    assert "31 templates" in shown


def test_a_model_without_one_tells_of_none(segmenter):
    assert not describe_model(segmenter)["about"]["plan"]["lexicons"]
    assert load_model(segmenter).encoder.lexicon.words == ()


def test_tagging_needs_no_lexicon(run, model, corpora, tmp_path):
    """Raw text, which no tables hold for this model, goes the general way."""
    lines = (corpora / "dev.raw").read_text("utf-8").splitlines()
    moved = tmp_path / "elsewhere.model"
    moved.write_bytes(model.read_bytes())
    tagger = ChainPredictor(load_model(model))
    sentences = load(str(corpora / "dev.seg"), None, "segmentation")
    tagged = tagger.tag(Task("segment").prepare(sentences).map(lambda s: type(s)(s.forms)))
    expected = [" ".join(tagger.words(sentence).forms) for sentence in tagged]
    assert run("tag", moved, write(tmp_path / "in.raw", lines)).stdout.splitlines() == expected
    blank = run("tag", moved, stdin="我们 昨天\n\n图书\u3000馆\n").stdout.splitlines()
    assert [line.replace(" ", "") for line in blank] == ["我们昨天", "", "图书馆"]
    assert blank[2].startswith("图书 ") or blank[2].startswith("图 书 ")


def test_templates_of_ones_own(run, corpora, lexicons, tmp_path):
    texts = ("lexicon_begins[1]", "lexicon_ends[0] form[0]")
    options = [part for text in texts for part in ("--template", text)]
    run("train", corpora / "words.txt", *RUN, "--lexicon", lexicons[0], *options, "-o", tmp_path / "m")
    assert load_model(tmp_path / "m").encoder.templates.texts == texts


def test_words_and_their_tags(run, corpora, lexicons, tmp_path):
    model = tmp_path / "m"
    run("train", corpora / "words.txt", "--task", "segtag", "--iterations", 2, "--lexicon", lexicons[0], "-o", model)
    assert load_model(model).encoder.templates == PRESETS["characters-lexicon"]
    assert "/" in run("tag", model, stdin="我们昨天看书。\n").stdout


def test_the_first_model_has_the_same_features(run, corpora, lexicons, tmp_path):
    partial = write(tmp_path / "p.kytea", ["我-们|昨-天 看 书", "图-书-馆 在 这 里", "我-们|看|书"])
    arguments = (f"g={corpora / 'words.txt'}", "--source", f"g={partial}", "--lexicon", lexicons[0])
    run("train", *arguments, *RUN, "--incomplete", "posterior", "-o", tmp_path / "m")
    both = [load(f"g={file}", None, "segmentation") for file in (corpora / "words.txt", partial)]
    recipe = Recipe(Task("segment"), PRESETS["characters-lexicon"], settings={"seed": 0})
    lookups, run_ = Lookups(words=("我们", "昨天")), Run(SCHEDULE)
    fitted = fit(*treated("posterior", both, recipe, run=run_, lookups=lookups), run=run_, lookups=lookups).model
    loaded = load_model(tmp_path / "m")
    assert loaded.encoder.lexicon.words == ("我们", "昨天")
    assert (loaded.weights == fitted.weights).all()


def test_merged_corpora(run, corpora, lexicons, tmp_path):
    arguments = (f"pd={corpora / 'words.txt'}", "--source", f"ctb={corpora / 'train.txt'}", "--method", "merged")
    run("train", *arguments, *RUN, "--lexicon", lexicons[0], "-o", tmp_path / "m")
    assert load_model(tmp_path / "m").encoder.lexicon.words == ("我们", "昨天")


def test_a_run_is_resumed_with_the_same_lexicon_only(run, corpora, lexicons, tmp_path, interrupted):
    arguments = ("train", corpora / "words.txt", "--task", "segment", "--iterations", 3, "-o", tmp_path / "m")
    whole = ("train", corpora / "words.txt", "--task", "segment", "--iterations", 3, "-o", tmp_path / "whole")
    run(*whole, "--lexicon", lexicons[0])
    with interrupted(1):
        run(*arguments, "--lexicon", lexicons[0], code=130)
    refused = run(*arguments, "--lexicon", lexicons[1], "--resume", code=2)
    assert "checkpoint" in refused.stderr
    run(*arguments, "--lexicon", lexicons[0], "--resume")
    assert contents(tmp_path / "m") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--preset", "liu-2014-lexicon"),
            "found templates over lexicon_begins, lexicon_inside, lexicon_ends, expected",
        ),
        (("--template", "lexicon_ends[0]"), "found templates over lexicon_ends, expected a lexicon with words of two"),
        (("--preset", "liu-2014", "--lexicon", "{}"), "found a lexicon, expected templates that look at it, over"),
        (("--task", "tag", "--lexicon", "{}"), "found --lexicon with the task tag, expected segment or segtag"),
        (("--lexicon", "-"), "found standard input as a lexicon, expected a file"),
        (("--lexicon", "{}.none"), "No such file"),
        (
            ("--lexicon", "{}.one"),
            "found templates over lexicon_begins, lexicon_inside, lexicon_ends, expected a lexicon",
        ),
        (("--lexicon", "{}.bad"), ":1: found the fields 'a b c'"),
    ],
)
def test_options_that_do_not_fit(run, corpora, lexicons, tmp_path, options, message):
    write(lexicons[0].with_name("a.txt.one"), ["的"])
    write(lexicons[0].with_name("a.txt.bad"), ["a b c"])
    given = [option.format(lexicons[0]) for option in options]
    task = () if "--task" in given else ("--task", "segment")
    result = run("train", corpora / "words.txt", *task, *given, "-o", tmp_path / "m", code=2)
    assert message in result.stderr.splitlines()[-1]
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("method", ["coupled", "stacked"])
def test_methods_without_lexicons(run, corpora, lexicons, tmp_path, method):
    arguments = (f"pd={corpora / 'words.txt'}", "--source", f"ctb={corpora / 'train.txt'}", "--task", "segtag")
    options = ("--method", method, "--lexicon", lexicons[0], "-o", tmp_path / "m")
    result = run("train", *arguments, *options, code=2)
    assert (
        result.stderr == f"tagweave: found --lexicon with the method {method}, expected single or merged or sources\n"
    )
