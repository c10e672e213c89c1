"""`tagweave tag`: what is given stays, lines in are lines out, and probabilities are those of the evidence."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest
from model_files import write

from tagweave.corpus.candidates import Soft, parse_candidates
from tagweave.corpus.load import iterate, load
from tagweave.corpus.sentence import Sentence
from tagweave.harvest import runs
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model

TEXT = "医院 的 墙 是 白 的 。"


def test_words_of_any_format_become_tagged_text(run, tagger, corpora):
    from_segmented = run("tag", tagger, corpora / "dev.seg", "--output-format", "tagged").stdout
    from_tagged = run("tag", tagger, corpora / "dev.txt", "--retag", "--output-format", "tagged").stdout
    assert from_segmented == from_tagged
    assert len(from_segmented.splitlines()) == 20
    expected = list(ChainPredictor(load_model(tagger)).tag(load(str(corpora / "dev.seg"))))
    lines = [" ".join(f"{f}/{c[0]}" for f, c in zip(s.forms, s.layers["ctb"], strict=True)) for s in expected]
    assert from_segmented.splitlines() == lines


PLAIN = [
    "he/she said and/or 3/4 km/h",
    "user_name file_name max_value",
    "a\tb\tc",
    "on off",
    "",
    "up down",
    "up out",
    "x/NN_y",
]


@pytest.mark.parametrize("retag", [[], ["--retag"]])
@pytest.mark.parametrize("lines", [*([line] for line in PLAIN), PLAIN, [f"{line} x/NN" for line in PLAIN]], ids=str)
def test_plain_text_loses_nothing(run, tagger, retag, lines):
    """What is behind a slash, an underscore, a tab or a blank is no label if the model knows none of that name."""
    text = "".join(f"{line}\n" for line in lines)
    rows = run("tag", tagger, *retag, "--output-format", "columns", stdin=text).stdout.splitlines()
    words = [row.split("\t")[0] for row in rows if row and not row.startswith("# columns")]
    lost = {"x"} if lines[0].endswith("x/NN") and not retag else set()
    given = [word.removesuffix("/NN") if lost and word == "x/NN" else word for word in text.split()]
    assert words == given


def test_labels_are_told_from_slashes_by_the_model(run, tagger):
    def read(text, *options):
        result = run("tag", tagger, *options, "--output-format", "columns", stdin=text)
        rows = [row for row in result.stdout.splitlines() if row and not row.startswith("# columns")]
        return [row.split("\t")[0] for row in rows], result.stderr

    words, told = read("医院/NN and/or 的/DEC 我/PN\n")
    assert words == ["医院", "and/or", "的", "我"]
    kept = "1 of 4 words with a / keep it, since no label of the model is behind it"
    assert told == f"standard input is read with labels: {kept}\n"
    words, told = read("医院/NN a/b c/d 看\n")
    assert words == ["医院/NN", "a/b", "c/d", "看"]
    assert told.startswith("standard input is read as words: 3 of its first 4 have a / in them, and what is behind")
    assert read("医院/NN 看 的 我\n", "--retag", "--format", "tagged") == (["医院", "看", "的", "我"], "")


def test_a_label_that_the_model_lacks_is_an_error_where_the_format_is_named(run, tagger):
    told = run("tag", tagger, "--format", "tagged", stdin="and/or\n", code=2).stderr
    assert "label 'or' is not one of" in told and "--retag puts the labels of the input aside" in told


@pytest.mark.parametrize("text", ["Hello\n", "Hello\n\nworld\n", "医院\n的\n", "well-known\n", "a|b\n"])
def test_one_word_a_line(run, tagger, text):
    tagged = run("tag", tagger, stdin=text).stdout
    assert [line.rpartition("/")[0] for line in tagged.splitlines()] == text.splitlines()


def test_text_in_a_script_without_blanks_is_no_word(run, tagger):
    assert (
        "found raw text, characters, expected words" in run("tag", tagger, stdin="今天早上我们看着他\n", code=2).stderr
    )


def test_without_retag_given_tags_stay_and_candidates_are_chosen_from(run, tagger):
    text = "医院/VV 的 墙/PU|CD 是 白 的 。\n"
    kept = run("tag", tagger, stdin=text).stdout.split()
    assert kept[0] == "医院/VV" and kept[2] in ("墙/PU", "墙/CD") and all("/" in token for token in kept)
    anew = run("tag", tagger, "--retag", stdin=text).stdout
    assert anew == run("tag", tagger, stdin=TEXT + "\n").stdout
    assert anew.split()[0] != "医院/VV"


@pytest.mark.parametrize("threads", [1, 2])
def test_standard_streams_files_and_threads_give_the_same(run, tagger, corpora, tmp_path, threads):
    text = (corpora / "dev.seg").read_text("utf-8")
    run("tag", tagger, corpora / "dev.seg", "-o", tmp_path / "out", "--threads", threads)
    assert (tmp_path / "out").read_text("utf-8") == run("tag", tagger, "-", stdin=text).stdout
    run("tag", tagger, corpora / "dev.seg", "-o", tmp_path / "out.gz")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == (tmp_path / "out").read_text("utf-8")


def test_empty_lines_and_empty_input(run, tagger, segmenter, segtagger):
    assert run("tag", tagger, stdin="").stdout == ""
    lines = run("tag", tagger, stdin=f"\n{TEXT}\n\n").stdout.split("\n")
    assert [bool(line) for line in lines] == [False, True, False, False]
    for model in (segmenter, segtagger):
        assert run("tag", model, stdin="").stdout == ""
        assert run("tag", model, stdin="\n\n").stdout == "\n\n"
        lines = run("tag", model, stdin="他说\n\n \n我们\n").stdout.split("\n")
        assert [bool(line) for line in lines] == [True, False, False, True, False]


def test_the_output_has_the_format_of_the_extension_or_the_option(run, tagger, corpora, tmp_path):
    run("tag", tagger, corpora / "dev.seg", "-o", tmp_path / "out.conllu")
    assert {s.layers["upos"][0] for s in iterate(str(tmp_path / "out.conllu"))} > {("NN",)}
    text = run("tag", tagger, stdin="医院/NN\n", code=0).stdout
    assert text == "医院/NN\n"
    columns = run("tag", tagger, "--format", "segmented", "--output-format", "columns", stdin="医院 的\n").stdout
    assert columns.splitlines()[0] == "# columns = form ctb" and columns.splitlines()[1].startswith("医院\t")


def test_the_guideline_that_is_asked_for(run, tagger):
    assert run("tag", tagger, "--to", "ctb", stdin=TEXT).stdout == run("tag", tagger, stdin=TEXT).stdout
    result = run("tag", tagger, "--to", "pd", stdin=TEXT, code=2)
    assert result.stderr == f"tagweave: found --to pd, expected ctb, the guideline of {tagger}\n"


def test_the_layer_that_is_asked_for(run, tagger, tmp_path):
    file = write(tmp_path / "t.tsv", ["# columns = form ctb mine", "医院\tNN\tVV", "的\t_\tDEC", ""])
    plain = run("tag", tagger, file, "--output-format", "tagged").stdout
    assert plain.startswith("医院/NN ")
    mine = run("tag", tagger, f"{file}#mine", "--output-format", "tagged").stdout
    assert mine == "医院/VV 的/DEC\n"
    every = run("tag", tagger, f"{file}#mine").stdout.splitlines()
    assert every[0] == "# columns = form ctb mine" and every[1] == "医院\tNN\tVV" and every[2] == "的\t_\tDEC"
    result = run("tag", tagger, f"{file}#other", code=2)
    assert result.stderr == f"tagweave: {file}: found the layers ctb, mine, expected a layer 'other'\n"


def test_raw_text_becomes_words(run, segmenter, segtagger, corpora):
    raw = (corpora / "dev.raw").read_text("utf-8")
    words = run("tag", segmenter, corpora / "dev.raw").stdout
    assert words.replace(" ", "") == raw and words.count(" ") > 100
    tagged = run("tag", segtagger, stdin=raw).stdout
    sentences = tagged.splitlines()
    assert ["".join(token.rpartition("/")[0] for token in line.split()) for line in sentences] == raw.splitlines()
    assert run("tag", segtagger, "--output-format", "segmented", stdin=raw).stdout.splitlines() == [
        " ".join(token.rpartition("/")[0] for token in line.split()) for line in sentences
    ]


def test_blanks_in_raw_text_are_boundaries(run, segmenter):
    for blank in (" ", "\t", "\u3000", "  "):
        line = run("tag", segmenter, stdin=f"图{blank}书馆\n").stdout
        assert line.split()[0] == "图" and line.replace(" ", "") == "图书馆\n"


def test_blanks_are_evidence():
    sentence = runs.without_blanks(Sentence(tuple(" 今天 c ")))
    assert sentence.forms == ("今", "天", "c")
    assert sentence.layers == {"segmentation": (("B", "S"), ("E", "S"), ("S",))}
    assert runs.without_blanks(Sentence((" ",))).forms == ()


def test_runs_are_evidence_unless_told_otherwise():
    sentence = Sentence(tuple("a1 23b"))
    layer = runs.without_blanks(sentence).layers["segmentation"]
    assert layer == (("B", "S"), ("E", "S"), ("B",), ("M", "E"), ("E", "S"))
    sides = runs.without_blanks(sentence, whole_runs=False).layers["segmentation"]
    assert sides == (("B", "S"), ("E", "S"), ("B", "S"), None, ("E", "S"))


@pytest.mark.parametrize("run_of_text", ["http://www.example.org/a?b=c", "a.b@c.cn", "１，２３４", "1,234.5%", "don't"])
def test_runs_of_raw_text_stay_whole(run, segmenter, segtagger, run_of_text):
    text = f"我们看{run_of_text}着\n"
    whole = run_of_text if "，" not in run_of_text else "２３４"
    for model in (segmenter, segtagger):
        for command in ("tag", "complete"):
            arguments = (command, model, "-", "--format", "raw", "--output-format", "segmented")
            words = run(*arguments, stdin=text).stdout
            assert words.replace(" ", "") == text and any(whole in word for word in words.split())
            assert run(*arguments, "--split-runs", stdin=text).stdout.replace(" ", "") == text
    rows = run("tag", segmenter, "--probabilities", stdin="看1998年\n").stdout.splitlines()
    assert [row.split("\t")[1][0] in "ME" for row in rows[2:5]] == [True] * 3
    sequences = [json.loads(line) for line in run("tag", segmenter, "--best", 99, stdin="1998年\n").stdout.splitlines()]
    assert sorted(" ".join(each["tokens"]) for each in sequences) == ["1998 年", "1998年"]


def test_words_are_segmented_anew_only_if_asked(run, segmenter, segtagger):
    text = "我们看 着\n"
    assert run("tag", segmenter, "--format", "segmented", stdin=text).stdout == text
    anew = run("tag", segmenter, "--format", "segmented", "--retag", stdin=text).stdout
    assert anew == run("tag", segmenter, stdin="我们看着\n").stdout
    tagged = run("tag", segtagger, "--format", "segmented", "--output-format", "tagged", stdin=text).stdout
    assert [token.split("/")[0] for token in tagged.split()] == ["我们看", "着"]


def test_probabilities_are_marginals_of_the_best_labels(run, tagger, segmenter, segtagger):
    rows = run(
        "tag", tagger, "--probabilities", "--output-format", "columns", stdin=f"{TEXT}\n\n{TEXT}\n"
    ).stdout.split("\n")
    assert rows[7:9] == ["", ""] and rows[:7] == rows[9:16] and rows[16:] == ["", ""]
    model = ChainPredictor(load_model(tagger))
    sentence = Sentence(tuple(TEXT.split()))
    (table,), (labelled,) = model.probabilities([sentence]), list(model.tag([sentence]))
    for row, form, candidates, values in zip(rows[:7], sentence.forms, labelled.layers["ctb"], table, strict=True):
        told, field = row.split("\t")
        soft = parse_candidates(field)
        assert isinstance(soft, Soft) and (told, soft[0]) == (form, candidates[0])
        for label, probability in zip(soft, soft.numbers, strict=True):
            assert probability == pytest.approx(values[model.labels.index(label)], abs=6e-5)
    for model, tokens in ((segmenter, ["我", "们", "看"]), (segtagger, ["我们", "看"])):  # a pipeline has words
        rows = run("tag", model, "--probabilities", stdin="我们 看\n").stdout.split("\n")
        assert [row.split("\t")[0] for row in rows] == [*tokens, "", ""]


def test_probabilities_heed_what_is_given(run, tagger):
    rows = run("tag", tagger, "--probabilities", stdin="医院/VV 的 墙/PU|CD\n").stdout.splitlines()
    assert rows[0] == "医院\tVV:1.0"
    soft = parse_candidates(rows[2].split("\t")[1])
    assert isinstance(soft, Soft) and {*soft} == {"PU", "CD"} and sum(soft.numbers) == pytest.approx(1, abs=1e-3)


def test_probabilities_are_soft_labels_to_train_on(run, tagger, tmp_path):
    file = write(tmp_path / "soft.conll", run("tag", tagger, "--probabilities", stdin=f"{TEXT}\n").stdout.splitlines())
    assert run("train", file, "-o", tmp_path / "m", "--iterations", 3).exit_code == 0


def best(run, *arguments, stdin):
    return [json.loads(line) for line in run("tag", *arguments, stdin=stdin).stdout.splitlines()]


def test_the_best_sequences(run, tagger):
    found = best(run, tagger, "--best", 3, stdin=f"{TEXT}\n医院\n")
    assert [(each["sentence"], each["rank"]) for each in found] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert found[0]["tokens"] == TEXT.split()
    tagged = run("tag", tagger, stdin=TEXT).stdout.split()
    assert tagged == [f"{token}/{label}" for token, label in zip(TEXT.split(), found[0]["labels"], strict=True)]
    assert found[0]["probability"] >= found[1]["probability"] >= found[2]["probability"] > 0


def test_the_best_segmentations(run, segmenter, segtagger):
    found = best(run, segmenter, "--best", 8, stdin="我们看\n")
    assert len({tuple(each["tokens"]) for each in found}) == len(found) == 4
    assert all("".join(each["tokens"]) == "我们看" and "labels" not in each for each in found)
    assert sum(each["probability"] for each in found) == pytest.approx(1, abs=1e-4)
    for each in best(run, segtagger, "--best", 2, stdin="我们看\n"):
        assert len(each["tokens"]) == len(each["labels"])


def test_a_reader_that_has_gone_is_no_error(run, tagger, corpora, tmp_path):
    run("tag", tagger, corpora / "dev.seg")  # what it needs is compiled from here on, which would be told
    lines = (corpora / "dev.seg").read_text("utf-8").splitlines() * 400
    text = write(tmp_path / "long.seg", lines)
    command = [sys.executable, "-m", "tagweave", "tag", str(tagger), str(text)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_pipe_gets_every_line_before_the_next_one(tagger):
    command = [sys.executable, "-m", "tagweave", "tag", str(tagger), "-", "--probabilities"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for _ in range(2):
            process.stdin.write(f"{TEXT}\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith("医院")
            while process.stdout.readline() != "\n":
                pass
        process.stdin.close()
