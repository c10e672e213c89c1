"""Treebanks of two guidelines on the command line: their steps, conversion, interrupts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from model_files import contents

from tagweave.corpus.load import load
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.features import arc_templates
from tagweave.models.storage import load_model
from tagweave.training import guidelines
from tagweave.training.fit.recipe import Recipe
from treebank import conllu, treebank, with_evidence

if TYPE_CHECKING:
    from conftest import Run

BITS = 10
Train = Callable[..., Any]
Interrupted = Callable[..., AbstractContextManager[None]]


def flipped(given: Sentence) -> Sentence:
    """Under the other guideline: a determiner is the head of its noun."""
    tags = [candidates[0] if candidates else "" for candidates in given.layers["upos"]]
    heads = [arcs[0].head if arcs and arcs[0].head is not None else 0 for arcs in given.heads["head"]]
    found = list(heads)
    for at, tag in enumerate(tags):
        if tag == "D":
            noun = heads[at] - 1
            found[at], found[noun] = heads[noun], at + 1
    return with_evidence(given, *((Arc(head, tag.lower()),) for head, tag in zip(found, tags, strict=True)))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Treebanks of two guidelines, and one text under both."""
    folder = tmp_path_factory.mktemp("guidelines")
    (folder / "mine.conllu").write_text(conllu(treebank(12)))
    (folder / "theirs.conllu").write_text(conllu([flipped(each) for each in treebank(30, seed=1)]))
    (folder / "dev.conllu").write_text(conllu(treebank(12, seed=2)))
    (folder / "gold.conllu").write_text(conllu(treebank(10, seed=3)))
    (folder / "given.conllu").write_text(conllu([flipped(each) for each in treebank(10, seed=3)]))
    return folder


@pytest.fixture(autouse=True, scope="module")
def _small_models() -> Iterator[None]:
    of_plan = Recipe.of_plan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recipe, "of_plan", lambda *given: replace(of_plan(*given), bits=BITS))
        yield


def trained(run: Run, files: Path, model: Path, *options: object, code: int = 0, dev: bool = True) -> list[str]:
    """What was said, line by line, by a training of two iterations a step."""
    of_dev = ("--dev", files / "dev.conllu") if dev else ()
    corpora = (files / "mine.conllu", "--source", f"ud={files / 'theirs.conllu'}", *of_dev)
    common = ("train", "--task", "parse", *corpora, "-o", model, "--iterations", 2)
    return list(run(*common, *options, code=code).stderr.splitlines())


@pytest.fixture
def train(run: Run, files: Path, tmp_path: Path) -> Train:
    """Trains; gives the model and what was said."""

    def call(*options: object, code: int = 0, dev: bool = True) -> Any:
        lines = trained(run, files, tmp_path / "m", *options, code=code, dev=dev)
        return lines if code else (load_model(tmp_path / "m"), lines)

    return call


@pytest.fixture(scope="module")
def stacked(run: Run, files: Path) -> Path:
    """A parser of head that looks at trees of ud."""
    trained(run, files, files / "stacked", "--method", "stacked", "--iterations", 3)
    return files / "stacked"


@pytest.fixture(scope="module")
def plain(run: Run, files: Path) -> Path:
    """A parser of head."""
    run("train", "--task", "parse", files / "mine.conllu", "-o", files / "plain", "--iterations", 1)
    return files / "plain"


def steps(lines: list[str]) -> list[str]:
    return [re.sub(r" \(after \d+ s\)$", "", line) for line in lines if re.match(r"\d+/\d+ ", line)]


def test_a_guide_comes_first_and_is_part_of_the_model(train: Train, tmp_path: Path, run: Run) -> None:
    _, lines = train("--method", "stacked")
    assert "first a parser of ud, then one of head that looks at its trees" in lines
    of_plain, *others = [line.split(" sentences")[0] for line in lines if "with evidence" in line]
    assert (of_plain, others) == ("12", ["30", "12"])
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert "guided by a model of ud, which is part of it" in run("info", tmp_path / "m").stdout
    assert json.loads(run("info", "--json", tmp_path / "m").stdout)["guide"] == "ud"


@pytest.mark.parametrize(
    ("options", "expected", "shown"),
    [
        (
            "",
            "target model of head; source model of ud; round 1: transfer model, head to ud;"
            " round 2: transfer model, ud to head; final model of head",
            "method transform",
        ),
        (
            "--method stacked --set rounds=2",
            "source model of ud; target model of head; round 1: transfer model, head to ud;"
            " round 2: guided model of head",
            ", method stacked, 2 rounds",
        ),
        (
            "--method iterate --set rounds=1 --set predict_self=0,0.5",
            "target model of head; source model of ud; round 1: transfer model, ud to head",
            "  round 1, predict-self 0.5: dev score",
        ),
    ],
)
def test_steps_are_told(train: Train, run: Run, tmp_path: Path, options: str, expected: str, shown: str) -> None:
    model, lines = train(*options.split())
    found, wanted = steps(lines), expected.split("; ")
    assert found[: len(wanted)] == [f"{at}/{len(found)} {step}" for at, step in enumerate(wanted, 1)]
    assert len(found) == len(wanted) or "iterate" in options
    assert model.guideline == "head" and {*model.labels.names} == {"det", "obj", "punct", "root"}
    assert (model.guide is None) == ("stacked" not in options)
    assert shown in run("info", tmp_path / "m").stdout
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_merged_learns_from_both(train: Train, files: Path) -> None:
    model, lines = train("--method", "merged")
    assert model.guide is None
    assert any(line.startswith("42 sentences with evidence") for line in lines)
    assert {"det", "d"} <= set(model.labels.names)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        pytest.param("--method transform", ".step-2", marks=pytest.mark.slow),
        ("--method stacked", ".source"),
        ("--method stacked --set rounds=2", ".step-3"),
    ],
)
def test_an_interrupted_cascade_is_resumed(
    train: Train, tmp_path: Path, interrupted: Interrupted, options: str, part: str
) -> None:
    train(*options.split())
    straight = contents(tmp_path / "m")
    (tmp_path / "m").unlink()
    with interrupted(1, part):
        lines = train(*options.split(), code=130)
    assert lines[-1] == "interrupted before the model itself: the same command with --resume goes on"
    assert not (tmp_path / "m").exists()
    _, lines = train(*options.split(), "--resume")
    assert next(line.split()[1] for line in lines if line.startswith("iteration ")) == "2/2"
    assert contents(tmp_path / "m") == straight
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


# In use


def uas(run: Run, gold: Path, system: Path) -> float:
    scores = json.loads(run("evaluate", gold, system, "--layer", "head", "--json").stdout)
    return float(scores["systems"][str(system)]["uas"]["value"])


def test_tag_runs_the_cascade_and_convert_takes_the_trees_that_are_there(
    stacked: Path, run: Run, files: Path, tmp_path: Path
) -> None:
    run("tag", "--retag", stacked, files / "gold.conllu", "-o", tmp_path / "tagged.conllu")
    assert uas(run, files / "gold.conllu", tmp_path / "tagged.conllu") > 0.8
    said = run("convert", stacked, f"ud={files / 'given.conllu'}", "-o", tmp_path / "converted.conllu").stderr
    assert said == ""
    assert uas(run, files / "gold.conllu", tmp_path / "converted.conllu") > 0.8
    (one, *_), (given, *_) = (load(f"{each}#head") for each in (tmp_path / "converted.conllu", files / "given.conllu"))
    assert one.forms == given.forms
    unnamed = run("convert", stacked, files / "given.conllu", "-o", tmp_path / "again.conllu").stderr
    assert unnamed == f"the trees of {files / 'given.conllu'} are taken as ud\n"
    assert (tmp_path / "again.conllu").read_text() == (tmp_path / "converted.conllu").read_text()


def test_confidence_and_review(stacked: Path, run: Run, files: Path, tmp_path: Path) -> None:
    arguments = (stacked, f"ud={files / 'given.conllu'}", "--confidence", "--review", 3)
    result = run("convert", *arguments, "-o", tmp_path / "out.conllu")
    found = load(f"{tmp_path / 'out.conllu'}#head")
    confidence = sorted(each for sentence in found for each in sentence.confidence or ())
    assert len(confidence) == found.tokens()
    assert all(0 < each <= 1 for each in confidence)
    header, *rows = result.stderr.splitlines()
    assert header.split("\t")[:4] == ["probability", "word", "given", "chosen"]
    assert [float(row.split("\t")[0]) for row in rows] == pytest.approx(confidence[:3], abs=1e-4)
    assert all(re.fullmatch(r"\d+:\w+", cell) for row in rows for cell in row.split("\t")[2:4])


def test_a_comment_names_the_guideline_of_the_input(stacked: Path, run: Run, files: Path, tmp_path: Path) -> None:
    text = f"# guideline = ud\n# text = any\n{(files / 'given.conllu').read_text()}"
    out = run("convert", stacked, "-", "--format", "conllu", stdin=text)
    assert out.stderr == ""
    assert out.stdout.splitlines()[0] == "# text = any"


def test_a_parser_without_a_guide_says_that_trees_do_not_guide_it(
    run: Run, files: Path, plain: Path, tmp_path: Path
) -> None:
    said = run("convert", plain, f"ud={files / 'given.conllu'}", "-o", tmp_path / "out.conllu").stderr
    assert said == f"{plain} knows the guideline head only: the trees of 'ud' do not guide it\n"
    assert load(f"{tmp_path / 'out.conllu'}#head").sentences[0].heads["head"][0] is not None


UNCONVERTED = [
    ("ud={f}/given.conllu --to sud", "found --to sud, expected head, the guideline of {m}"),
    ("ud={f}/given.conllu --best 2", "found --best with a parser, expected it without"),
    ("ud={f}/given.conllu -o {t}/x.conll", "found trees and the format columns, expected conllu"),
    ("ud={f}/given.conllu --output-format tagged", "found trees and the format tagged"),
    ("sud={f}/given.conllu", "found a corpus of the guideline 'sud', expected ud, guidelines of {m}"),
    ("head={f}/given.conllu", "found a corpus of the guideline head and --to head, expected two guidelines"),
    ("ud={t}/words.seg", "found no heads, expected trees to convert"),
]


def test_what_cannot_be_converted(stacked: Path, run: Run, files: Path, tmp_path: Path) -> None:
    (tmp_path / "words.seg").write_text("some words\n")
    names = {"f": files, "t": tmp_path, "m": stacked}
    for options, expected in UNCONVERTED:
        result = run("convert", stacked, *options.format(**names).split(), code=2)
        assert expected.format(**names) in result.stderr
    assert not (tmp_path / "x.conll").exists()


# Options and files


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--method coupled", "unknown method 'coupled', expected one of single, auto, iterate, merged,"),
        ("--method subword", "unknown method 'subword'"),
        (
            "--method merged --set rounds=2",
            "found --set rounds with the method merged, expected iterate or sources or",
        ),
        ("--method iterate --set predict_self=0.1 --set filter=true", "expected one of them"),
        ("--method stacked --sample 5,5", "found --sample with the task parse"),
        ("--weights 1", "expected 2, one for each corpus"),
        ("--method single", "found the guideline 'ud', expected 'head'"),
    ],
)
def test_what_cannot_be_meant_is_refused(train: Train, tmp_path: Path, options: str, expected: str) -> None:
    assert expected in "\n".join(train(*options.split(), code=2))
    assert not (tmp_path / "m").exists()


def test_rounds_are_judged_by_development_data(train: Train) -> None:
    assert "found no --dev with the method iterate" in "\n".join(train("--method", "iterate", dev=False, code=2))


def test_sources_that_nobody_names_follow_the_method(run: Run, files: Path, tmp_path: Path) -> None:
    common = ("train", "--task", "parse", files / "mine.conllu", "--iterations", 1, "--source")
    one = run(*common, files / "gold.conllu", "-o", tmp_path / "one")
    assert f"{files / 'gold.conllu'} is taken as of the guideline of {files / 'mine.conllu'}" in one.stderr
    assert load_model(tmp_path / "one").about["plan"]["method"] == "single"
    run(*common, files / "theirs.conllu", "-o", tmp_path / "two", "--method", "stacked")
    two = load_model(tmp_path / "two")
    assert two.guide is not None
    assert (two.guideline, two.guide.guideline) == ("target", "source")
    run("tag", tmp_path / "two", files / "gold.conllu", "--retag", "-o", tmp_path / "out.conllu")
    assert load(f"{tmp_path / 'out.conllu'}#head").sentences[0].heads["head"][0] is not None


@pytest.mark.parametrize("method", ["merged", "stacked", "transform"])
def test_sentences_that_are_too_long_are_left_out(
    train: Train, files: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(arc_templates, "LONGEST", 5)
    monkeypatch.setattr(guidelines, "LONGEST", 5)
    _, lines = train("--method", method)
    counts = [sum(len(s) > 5 for s in load(f"{files / name}.conllu#head")) for name in ("mine", "theirs", "dev")]
    assert all(counts)
    for name, count in zip(("mine", "theirs", "dev"), counts, strict=True):
        assert f"{files / name}.conllu: {count} sentences left out: they have more than 5 tokens" in lines


# Arcs that cross


def test_arcs_may_cross_where_they_are_allowed_to(run: Run, plain: Path, tmp_path: Path) -> None:
    rows = ((1, "3"), (2, "4"), (3, "0"), (4, "_"))
    crossing = "".join(f"{m}\triver\t_\tN\t_\t_\t{h}\t_\t_\t_\n" for m, h in rows)
    (tmp_path / "crossing.conllu").write_text(f"{crossing}\n")
    for command in ("tag", "complete"):
        refused = run(command, plain, tmp_path / "crossing.conllu", code=2).stderr
        assert "found heads that exclude one another, expected a projective tree that they allow" in refused
        out = run(command, plain, tmp_path / "crossing.conllu", "--non-projective").stdout
        assert [line.split("\t")[6] for line in out.splitlines() if line][:3] == ["3", "4", "0"]


def test_models_of_labels_have_no_trees(run: Run, tagger: Path, corpora: Path) -> None:
    for command in ("tag", "complete"):
        result = run(command, tagger, corpora / "train.txt", "--non-projective", code=2)
        assert "found a model of labels and --non-projective" in result.stderr
