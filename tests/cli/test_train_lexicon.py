"""`tagweave train --lexicon`: words as features, kept with the model, of which it tells."""

from __future__ import annotations

import json

import pytest
from model_files import write

from tagweave.corpus.files import digest
from tagweave.corpus.load import load
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import describe_model, load_model
from tagweave.training.fit.task import Task

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


def test_the_model_tells_of_its_lexicons(run, model, lexicons):
    told = describe_model(model)["about"]["plan"]["lexicons"]
    expected = [(file.name, digest(str(file)), size) for file, size in zip(lexicons, (3, 2), strict=True)]
    assert [(each["path"], each["sha256"], each["size"]) for each in told] == expected
    assert json.loads(run("info", model, "--json").stdout)["about"]["plan"]["lexicons"] == told
    shown = run("info", model).stdout
    assert f"with {lexicons[1].name}: 2 words, sha256 {told[1]['sha256'][:12]}" in shown
    assert "31 templates" in shown
    encoder = load_model(model).encoder
    assert encoder.lexicon.words == ("图书馆", "我们", "昨天") and encoder.templates == PRESETS["characters-lexicon"]


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


@pytest.mark.parametrize(
    "options",
    [
        ("--task", "segtag"),
        ("--task", "segment", "--source", "g={t}/p.kytea", "--incomplete", "posterior"),
        ("--task", "segment", "--source", "ctb={c}/train.txt", "--method", "merged"),
    ],
)
def test_every_way_of_training_keeps_the_words(run, corpora, lexicons, tmp_path, options):
    write(tmp_path / "p.kytea", ["我-们|昨-天 看 书", "图-书-馆 在 这 里", "我-们|看|书"])
    words = [option.format(t=tmp_path, c=corpora) for option in options]
    files = (f"g={corpora / 'words.txt'}", "--lexicon", lexicons[0])
    run("train", *files, *words, "--iterations", 2, "-o", tmp_path / "m")
    encoder = load_model(tmp_path / "m").encoder
    assert encoder.lexicon.words == ("我们", "昨天") and encoder.templates == PRESETS["characters-lexicon"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--preset liu-2014-lexicon", "found templates over lexicon_begins, lexicon_inside, lexicon_ends, expected"),
        ("--template lexicon_ends[0]", "found templates over lexicon_ends, expected a lexicon with words of two"),
        ("--preset liu-2014 --lexicon {}", "found a lexicon, expected templates that look at it, over"),
        ("--task tag --lexicon {}", "found --lexicon with the task tag, expected segment or segtag"),
        ("--lexicon -", "found standard input as a lexicon, expected a file"),
        ("--lexicon {}.none", "No such file"),
        ("--lexicon {}.one", "found templates over lexicon_begins, lexicon_inside, lexicon_ends, expected a lexicon"),
        ("--lexicon {}.bad", ":1: found the fields 'a b C'"),
    ],
)
def test_options_that_do_not_fit(run, corpora, lexicons, tmp_path, options, message):
    write(lexicons[0].with_name("a.txt.one"), ["的"])
    write(lexicons[0].with_name("a.txt.bad"), ["a b C"])
    given = options.format(lexicons[0]).split()
    task = () if "--task" in given else ("--task", "segment")
    result = run("train", corpora / "words.txt", *task, *given, "-o", tmp_path / "m", code=2)
    assert message in result.stderr.splitlines()[-1]
    assert not (tmp_path / "m").exists()
