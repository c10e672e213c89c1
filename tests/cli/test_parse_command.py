"""Parsers on the command line: train, tag, complete, evaluate, info, and the errors that users can mend."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Run
from tagweave.corpus.load import load
from tagweave.models.storage import load_model
from treebank import conllu, sentence, treebank, with_evidence


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """A folder with train.conllu, dev.conllu and parser.model."""
    folder = tmp_path_factory.mktemp("trees")
    (folder / "train.conllu").write_text(conllu(treebank(60)))
    (folder / "dev.conllu").write_text(conllu(treebank(15, seed=2)))
    train = ("train", "--task", "parse", folder / "train.conllu", "--dev", folder / "dev.conllu")
    run(*train, "-o", folder / "parser.model", "--iterations", 4, "--log", folder / "log.jsonl")
    return folder


def test_training_tells_the_score(trees: Path) -> None:
    lines = [json.loads(line) for line in (trees / "log.jsonl").read_text().splitlines()]
    assert max(line["score"] for line in lines) > 0.9
    assert not (trees / "parser.model.checkpoint").exists()


def test_a_parser_goes_on(trees: Path, run: Run, tmp_path: Path) -> None:
    new, model = tmp_path / "new.conllu", tmp_path / "newer.model"
    bare = [with_evidence(tree, None, *tree.heads["head"][1:]) for tree in treebank(20, seed=5)]
    new.write_text(conllu(bare))
    options = ("--replay", trees / "train.conllu", "--dev", trees / "dev.conllu", "-o", model)
    told = run("train", "--from", trees / "parser.model", new, *options).stderr
    assert "20 of " in told and "are not annotated: there, what the model believes is evidence" in told
    assert "sentences join, of text that is known already" in told and "dev UAS" in told
    about = load_model(model).about
    assert [source["path"] for source in about["plan"]["target"]] == ["train.conllu", "new.conllu"]
    assert about["updates"][0]["start"]["path"] == "parser.model"


def test_a_file_is_parsed_and_scored(trees: Path, run: Run) -> None:
    run("tag", trees / "parser.model", trees / "dev.conllu", "--retag", "-o", trees / "out.conllu")
    gold, out = load(f"{trees / 'dev.conllu'}#head"), load(f"{trees / 'out.conllu'}#head")
    assert [each.forms for each in gold] == [each.forms for each in out]
    result = run("evaluate", trees / "dev.conllu", trees / "out.conllu", "--layer", "head", "--json")
    scores = json.loads(result.stdout)["systems"][str(trees / "out.conllu")]
    right = [
        one == other
        for g, o in zip(gold, out, strict=True)
        for one, other in zip(g.heads["head"], o.heads["head"], strict=True)
    ]
    assert scores["las"]["value"] == pytest.approx(sum(right) / len(right))
    assert scores["uas"]["value"] > 0.9
    without = run(
        "evaluate", trees / "dev.conllu", trees / "out.conllu", "--layer", "head", "--json", "--no-punctuation"
    )
    assert json.loads(without.stdout)["systems"][str(trees / "out.conllu")]["uas"]["total"] < scores["uas"]["total"]
    assert "whole trees" in run("evaluate", f"{trees / 'dev.conllu'}#head", f"{trees / 'out.conllu'}#head").stdout


def test_two_parses_are_compared_by_their_heads(trees: Path, run: Run) -> None:
    for name, heads in (("gold", [2, 3, 0]), ("one", [3, 3, 0]), ("two", [2, 0, 2])):
        (trees / f"{name}.conllu").write_text(conllu([sentence("DNV", heads)] * 4))
    files = [trees / f"{name}.conllu" for name in ("gold", "one", "two")]
    text = run("evaluate", *files).stdout
    assert "not scored: upos: the same in all systems as in the gold standard" in text
    assert "UAS" in text
    assert "accuracy" not in text
    told = json.loads(run("evaluate", *files, "--json").stdout)
    assert told["copied"] == ["upos"]
    assert [each["metric"] for each in told["layers"]["head"]["comparisons"]] == ["UAS", "LAS"]
    options = ("--layer", "head", "--json", "--relations")
    assert "expected universal or full" in run("evaluate", *files, *options, "whole", code=2).stderr


@pytest.mark.parametrize("command", ["complete", "tag"])
def test_heads_that_are_given_stay(trees: Path, run: Run, command: str) -> None:
    (one,) = treebank(1, seed=4)
    half = with_evidence(one, *(c if at % 2 else None for at, c in enumerate(one.heads["head"])))
    (trees / "half.conllu").write_text(conllu([half]))
    run(command, trees / "parser.model", trees / "half.conllu", "-o", trees / "whole.conllu")
    (out,) = load(f"{trees / 'whole.conllu'}#head").sentences
    assert all(out.heads["head"][at] == c for at, c in enumerate(half.heads["head"]) if c is not None)
    assert None not in out.heads["head"]


def test_info_tells_of_a_parser(trees: Path, run: Run) -> None:
    text = run("info", trees / "parser.model").stdout
    assert "model, task parse" in text
    assert "labels of head: det obj punct root" in text
    assert json.loads(run("info", trees / "parser.model", "--json").stdout)["labels"]["head"]


def test_corpora_may_name_their_layers(trees: Path, run: Run) -> None:
    own = f"ud={trees / 'train.conllu'}", f"ud={trees / 'dev.conllu'}#head"
    run("train", "--task", "parse", *own, "--weights", "1,0.5", "-o", trees / "ud.model", "--iterations", 1)
    assert json.loads(run("info", trees / "ud.model", "--json").stdout)["weighted"] == ["ud"]
    run("tag", trees / "ud.model", trees / "dev.conllu", "--retag", "-o", trees / "ud.conllu")
    assert load(f"{trees / 'ud.conllu'}#head").sentences[0].heads["head"][0] is not None


def test_trees_that_cross_are_lifted_and_counted(trees: Path, run: Run) -> None:
    rows = ((1, "3"), (2, "4"), (3, "0"), (4, "3"))
    crossing = "".join(f"{m}\tword\t_\tN\t_\t_\t{h}\tdep\t_\t_\n" for m, h in rows)
    (trees / "crossing.conllu").write_text(crossing + "\n" + conllu(treebank(5)))
    train = ("train", "--task", "parse", trees / "crossing.conllu", "-o", trees / "c.model", "--iterations", 1)
    assert "1 sentences with arcs that cross: lifted" in run(*train).stderr
    assert "1 sentences with arcs that cross: learned as they are" in run(*train, "--set", "non_projective=true").stderr
    assert not load_model(trees / "c.model").projective


def test_circles_are_named(trees: Path, run: Run) -> None:
    (trees / "circle.conllu").write_text("1\ta\t_\tN\t_\t_\t2\tx\t_\t_\n2\tb\t_\tN\t_\t_\t1\tx\t_\t_\n\n")
    train = ("train", "--task", "parse", trees / "circle.conllu", "-o", trees / "c.model")
    assert f"{trees / 'circle.conllu'}:1: found heads that go round in a circle" in run(*train, code=2).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--method coupled", "unknown method 'coupled', expected one of single, auto, iterate, merged,"),
        ("--set guide=joined", "--set guide with the task parse"),
        ("--method merged", "expected --source of another guideline, for --method merged"),
        ("--set rounds=2", "found --set rounds with the method single, expected iterate or sources or stacked"),
        ("--set coding=BI", "--set coding with the task parse"),
        ("--incomplete posterior", "--incomplete with the task parse"),
        ("--learner magic", "magic"),
        ("--template form[0]", "found 'form[0]' in template"),
        ("--weights 1,2", "found 2 numbers as weights"),
    ],
)
def test_options_that_parsers_do_not_have(trees: Path, run: Run, options: str, message: str) -> None:
    result = run("train", "--task", "parse", trees / "train.conllu", "-o", trees / "no.model", *options.split(), code=2)
    assert message in result.stderr
    assert not (trees / "no.model").exists()


@pytest.mark.parametrize(
    "options", [("--probabilities",), ("--best", 2), ("--to", "head"), ("--output-format", "tagged")]
)
def test_what_a_parser_cannot_write(trees: Path, run: Run, options: tuple[object, ...]) -> None:
    result = run("tag", trees / "parser.model", trees / "dev.conllu", *options, code=2)
    assert "expected" in result.stderr


def test_raw_text_is_cut_into_words(trees: Path, run: Run) -> None:
    """Of scripts without blanks, every character is a word."""
    hello = run("tag", trees / "parser.model", stdin="Hello\n").stdout
    assert hello.startswith("# sent_id = 1\n# text = Hello\n1\tHello\t")
    chinese = run("tag", trees / "parser.model", stdin="今天早上我们看\n").stdout
    assert "".join(line.split("\t")[1] for line in chinese.splitlines() if "\t" in line) == "今天早上我们看"
    assert chinese.count("SpaceAfter=No") == 6


def test_columns_that_the_input_lacks_are_named(trees: Path, run: Run) -> None:
    (trees / "words.seg").write_text("some river holds\nsome words\n")
    result = run("tag", trees / "parser.model", trees / "words.seg")
    told = f"the input has no upos, which {trees / 'parser.model'} looks at: its trees will be worse\n"
    assert result.stderr.endswith(told)
    assert [line.split("\t")[6] for line in result.stdout.splitlines() if "\t" in line][:3] == ["2", "3", "0"]
    bare = conllu([replace(each, layers={"upos": (None,) * len(each)}) for each in treebank(2)])
    for command in ("tag", "complete"):
        assert run(command, trees / "parser.model", "-", "--format", "conllu", stdin=bare).stderr.endswith(told)
    assert "looks at" not in run("tag", trees / "parser.model", trees / "dev.conllu").stderr


@pytest.fixture(scope="module")
def tagger(trees: Path, run: Run) -> Path:
    run("train", trees / "train.conllu", "-o", trees / "tagger.model", "--iterations", 4)
    return trees / "tagger.model"


def test_a_tagger_and_a_parser_in_turn(trees: Path, run: Run, tagger: Path) -> None:
    """As one command after the other."""
    given = treebank(5, seed=9)
    (trees / "plain.seg").write_text("".join(" ".join(each.forms) + "\n" for each in given))
    result = run("tag", tagger, trees / "plain.seg", "--then", trees / "parser.model")
    run("tag", tagger, trees / "plain.seg", "-o", trees / "tagged.conllu")
    assert result.stdout == run("tag", trees / "parser.model", trees / "tagged.conllu").stdout
    assert "looks at" not in result.stderr
    assert [line.split("\t")[7] for line in result.stdout.splitlines() if "\t" in line].count("root") == 5


def test_further_models_fill_in_what_is_open(trees: Path, run: Run, tagger: Path) -> None:
    given = treebank(5, seed=9)
    text = conllu([replace(each, layers={"upos": ((("V",)), *(None,) * (len(each) - 1))}) for each in given])
    for first, then in ((tagger, trees / "parser.model"), (trees / "parser.model", tagger)):
        rows = [line.split("\t") for line in run("tag", first, "--then", then, stdin=text).stdout.splitlines() if line]
        assert "_" not in {row[3] for row in rows}
        assert [row[6] for row in rows] == [str(arcs[0].head) for each in given for arcs in each.heads["head"] if arcs]
        assert rows[0][3] == "V"
    rows = [
        line.split("\t") for line in run("tag", tagger, "--then", tagger, "--retag", stdin=text).stdout.splitlines()
    ]
    assert rows[0][3] == given[0].layers["upos"][0][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--then parser.model --best 2", "found --then with"),
        ("--then parser.model -o out.seg", "expected conllu"),
        ("--then none.model", "none.model"),
    ],
)
def test_what_cannot_be_done_in_turn(
    trees: Path, run: Run, tagger: Path, options: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trees)
    assert message in run("tag", tagger, "dev.conllu", *options.split(), code=2).stderr
