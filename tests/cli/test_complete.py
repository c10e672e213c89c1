"""`tagweave complete`: everything given survives, everything open is filled, in the same format."""

from __future__ import annotations

import pytest
from model_files import write

from tagweave.corpus.candidates import Soft, parse_candidates
from tagweave.corpus.load import iterate, load, save
from tagweave.corpus.sentence import Sentence

LABELS = ("NN", "VV", "DEC", "PU")


@pytest.fixture
def partial(corpora):
    """The development corpus; of three tokens one is unknown, and one has its label as one of two candidates."""

    def step(sentence):
        layer = sentence.layers["tag"]
        return sentence.with_layer("tag", (blurred(at, candidates) for at, candidates in enumerate(layer)))

    def blurred(at, candidates):
        if at % 3 == 1:
            return None
        other = next(label for label in LABELS if label != candidates[0])
        return (other, *candidates) if at % 3 == 2 else candidates

    return load(str(corpora / "dev.txt")).map(step)


@pytest.mark.parametrize(
    ("name", "layer"),
    [("p.txt", "tag"), ("p.conllu", "upos"), ("p.conll", "tag"), ("p.crfsuite", "tag")],
)
def test_formats_go_round_and_what_is_given_stays(run, tagger, partial, tmp_path, name, layer):
    if name == "p.crfsuite":  # attributes are items, not words: a token is named by them
        partial = partial.map(lambda s: Sentence(tuple(f"w={form}" for form in s.forms), s.layers))
    given, completed = tmp_path / name, tmp_path / f"completed-{name}"
    save(partial, str(given), "tagged" if name.endswith(".txt") else None)
    run("complete", tagger, given, "-o", completed, *(["--output-format", "tagged"] if name.endswith(".txt") else []))
    before, after = list(iterate(str(given))), list(iterate(str(completed)))
    assert [s.forms for s in before] == [s.forms for s in after]
    pairs = [
        pair for s, t in zip(before, after, strict=True) for pair in zip(s.layers[layer], t.layers[layer], strict=True)
    ]
    assert all(len(new) == 1 and (old is None or new[0] in old) for old, new in pairs)
    assert sum(old is None for old, _ in pairs) > 50 < sum(old is not None and len(old) == 2 for old, _ in pairs)


def test_what_stands_around_the_labels_stays(run, tagger, tmp_path):
    rows = ["# text = 医院的", "# mine", "1-2\t医院的" + "\t_" * 8, "1\t医院\t医院\t_\tn\tA=b\t2\tdep\t_\tX=y"]
    rows += ["2\t的\t的\tDEC\tu\t_\t0\troot\t_\t_", ""]
    file = write(tmp_path / "t.conllu", rows)
    lines = run("complete", tagger, file).stdout.splitlines()
    tag = lines[3].split("\t")[3]
    assert tag != "_"
    assert lines == [row.replace("\t医院\t_\tn", f"\t医院\t{tag}\tn") for row in rows]


def test_labels_that_were_not_looked_for_are_open(run, tmp_path):
    """Where only N was looked for, O may be V; afterwards nothing is open, and the comment goes."""
    train = write(tmp_path / "train.conll", ["a\tN", "b\tV", "c\tO", ""] * 5)
    run("train", train, "-o", tmp_path / "m", "--iterations", 5)
    rows = ["a\tO", "b\tO", "c\tO", ""]
    plain = write(tmp_path / "plain.conll", rows)
    assert run("complete", tmp_path / "m", plain).stdout.splitlines() == rows
    covered = write(tmp_path / "covered.conll", ["# labels_covered = N", "# kept = 1", *rows])
    lines = run("complete", tmp_path / "m", covered).stdout.splitlines()
    assert lines == ["# kept = 1", "a\tO", "b\tV", "c\tO", ""]
    probabilities = run("tag", tmp_path / "m", covered, "--probabilities").stdout.splitlines()
    soft = parse_candidates(probabilities[1].split("\t")[1])
    assert isinstance(soft, Soft) and soft[0] == "V" and soft.numbers[0] > 0.5


def test_partial_segmentation_is_decided(run, segmenter, tmp_path):
    file = write(tmp_path / "p.part", ["春-天 一 到/v|，", "", r"\--b|\/ d"])
    lines = run("complete", segmenter, file).stdout.splitlines()
    assert lines[0].startswith("春-天") and lines[0].endswith("到/v|，") and " " not in "".join(lines)
    assert lines[1] == "" and lines[2] in (r"\--b|\/-d", r"\--b|\/|d")
    known, decided = list(iterate(str(file))), list(iterate(str(write(tmp_path / "q.part", lines))))
    for before, after in zip(known, decided, strict=True):
        assert before.forms == after.forms
        for old, new in zip(before.layers["segmentation"], after.layers["segmentation"], strict=True):
            assert len(new) == 1 and (old is None or new[0] in old)


def test_partial_segmentation_with_tags_is_decided(run, segtagger, tmp_path):
    file = write(tmp_path / "p.part", ["春-天/n|一 到/p&v|，"])
    line = run("complete", segtagger, file).stdout.strip()
    assert line.startswith("春-天/n|") and line.split("/")[-2][:1] in ("p", "v")
    (sentence,) = iterate(str(write(tmp_path / "q.part", [line])))
    assert all(len(c) == 1 for layer in sentence.layers.values() for c in layer)


def test_deeper_levels_of_tags_stay(run, segmenter, segtagger, tmp_path):
    file = write(tmp_path / "p.part", ["春 天/n/chun|到"])
    assert run("complete", segmenter, file).stdout.split("|")[-2].endswith("天/n/chun")
    assert run("complete", segtagger, file).stdout.split("|")[-2].endswith("天/n/chun")


def test_words_without_tags_are_tagged_and_words_stay(run, segtagger, segmenter):
    text = "我们/n 看着\n"
    tagged = run("complete", segtagger, "-", "--format", "tagged", stdin=text).stdout
    assert [token.split("/")[0] for token in tagged.split()] == ["我们", "看着"] and tagged.startswith("我们/n ")
    assert run("complete", segmenter, "-", "--format", "tagged", stdin=text).stdout == text


@pytest.mark.parametrize("threads", [1, 2])
def test_without_anything_given_it_is_tagging(run, tagger, segmenter, corpora, threads):
    for model, name in ((tagger, "dev.seg"), (segmenter, "dev.raw")):
        completed = run("complete", model, corpora / name, "--threads", threads).stdout
        assert completed == run("tag", model, corpora / name).stdout
