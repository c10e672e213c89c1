"""`tagweave convert`: the labels of a corpus under another guideline, in the format in which they came."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from model_files import write
from rich.console import Console

from tagweave.cli.terminal import counted
from tagweave.conversion import convert, review
from tagweave.corpus.formats import FORMATS
from tagweave.corpus.load import iterate, load
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model
from tagweave.streams import inputs
from tagweave.streams.conversion import ReviewList

ROWS = ["# columns = form pd", "他\tr", "昨天\tt", "借\tv", "了\tu", "书\tn|vn", "。\tw", "", "下雨\tv", "了\t_", ""]


@pytest.fixture
def columns(tmp_path):
    return write(tmp_path / "pd.tsv", ROWS)


def tags(corpus):
    return [tuple(c[0] for c in sentence.layers[corpus.guideline]) for sentence in corpus]


# What comes out


def test_tagged_text_gets_the_new_tags(run, coupled, corpora):
    result = run("convert", coupled, f"pd={corpora / 'words.txt'}", "--to", "ctb")
    assert result.stderr == ""
    expected = convert(load_model(coupled), load(f"pd={corpora / 'words.txt'}"), "ctb")
    lines = [
        " ".join(f"{f}/{t}" for f, t in zip(s.forms, own, strict=True))
        for s, own in zip(expected, tags(expected), strict=True)
    ]
    assert result.stdout.splitlines() == lines
    assert run("convert", coupled, f"pd={corpora / 'words.txt'}").stdout == result.stdout


def test_columns_get_a_further_column_the_last_one(run, coupled, columns, tmp_path):
    lines = run("convert", coupled, columns).stdout.splitlines()
    assert lines[0] == "# columns = form pd ctb"
    assert [line.split("\t")[:2] for line in lines[1:]] == [row.split("\t") for row in ROWS[1:]]
    back = load(str(write(tmp_path / "back.tsv", lines)))
    assert back.guideline == "ctb"
    given = replace(load(str(columns)), covered=None)
    assert tags(back) == tags(convert(load_model(coupled), given, "ctb"))


def test_conllu_gets_the_field_that_is_empty(run, coupled, corpora, tmp_path):
    rows = [
        "# text = 下雨了",
        "1-2\t下雨了" + "\t_" * 8,
        "1\t下雨\t下雨\tv\t_\tA=b\t0\troot\t_\tX=y",
        "2\t了\t了\ty\t_\t_\t1\tdep\t_\t_",
        "",
    ]
    lines = run("convert", coupled, write(tmp_path / "u.conllu", rows), "--to", "ctb").stdout.splitlines()
    tag = [line.split("\t")[4] for line in lines[2:4]]
    assert "_" not in tag
    assert lines == [
        rows[0],
        rows[1],
        rows[2].replace("v\t_\tA", f"v\t{tag[0]}\tA"),
        rows[3].replace("y\t_\t_", f"y\t{tag[1]}\t_"),
        "",
    ]
    other = [row.replace("\tv\t_\t", "\t_\tv\t").replace("\ty\t_\t_\t1", "\t_\ty\t_\t1") for row in rows]
    lines = run("convert", coupled, f"{write(tmp_path / 'x.conllu', other)}#xpos", "--to", "ctb").stdout.splitlines()
    assert [line.split("\t")[3:5] for line in lines[2:4]] == [[tag[0], "v"], [tag[1], "y"]]


def test_what_the_corpus_has_under_the_new_guideline_stays(run, coupled, tmp_path):
    file = write(tmp_path / "both.tsv", ["# columns = form ctb pd", "书\tVV\t_", "下雨\t_\tv", ""])
    lines = run("convert", coupled, f"{file}#pd", "--to", "ctb").stdout.splitlines()
    assert lines[0] == "# columns = form pd ctb"
    assert lines[1] == "书\t_\tVV" and lines[2].startswith("下雨\tv\t")


def test_labels_that_never_go_together_leave_those_of_the_new_guideline(run, coupled, tmp_path):
    file = write(tmp_path / "apart.tsv", ["# columns = form ctb pd", "书\tNN\tw", "下雨\t_\tv", ""])
    result = run("convert", coupled, f"{file}#pd", "--to", "ctb")
    assert result.stdout.splitlines()[1] == "书\tw\tNN"
    said = "1 labels of pd do not go together with those that the text has of ctb, which stay (--retag puts them aside)"
    assert result.stderr == f"{said}\n"
    best = run("convert", coupled, f"{file}#pd", "--to", "ctb", "--best", 1)
    assert json.loads(best.stdout)["labels"][0] == "NN" and best.stderr == f"{said}\n"


def test_retag_gives_what_text_without_the_new_labels_gets(run, coupled, tmp_path):
    file = write(tmp_path / "both.tsv", ["# columns = form ctb pd", "书\tstrange\tw", "下雨\t_\tv", ""])
    alone = write(tmp_path / "one.tsv", ["# columns = form pd", "书\tw", "下雨\tv", ""])
    again = run("convert", coupled, f"{file}#pd", "--to", "ctb", "--retag")
    assert again.stderr == "" and again.stdout == run("convert", coupled, alone, "--to", "ctb").stdout


def test_retag_writes_the_field_of_conllu_that_is_not_converted(run, coupled, tmp_path):
    file = write(tmp_path / "two.conllu", ["1\t书\t_\tn\tn" + "\t_" * 5, ""])
    for layer, field in (("upos", 4), ("xpos", 3)):
        lines = run("convert", coupled, f"pd={file}#{layer}", "--to", "ctb", "--retag").stdout.splitlines()
        assert lines[0].split("\t")[field] == "NN" and lines[0].split("\t")[7 - field] == "n"


def test_a_comment_that_names_the_guideline_counts_and_goes(run, coupled, tmp_path):
    file = write(tmp_path / "g.conll", ["# guideline = pd", "# kept = 1", "书\tn", ""])
    result = run("convert", coupled, file)
    assert result.stdout.splitlines() == ["# columns = form tag ctb", "# kept = 1", "书\tn\tNN", ""]
    assert result.stderr == ""


# Which guideline it is


def test_a_name_that_the_model_does_not_know_is_the_other_side(run, coupled, corpora):
    named = run("convert", coupled, f"pd={corpora / 'words.txt'}", "--to", "ctb")
    unnamed = run("convert", coupled, corpora / "words.txt", "--to", "ctb")
    assert unnamed.stdout == named.stdout
    assert unnamed.stderr == "the labels of 'tag' are taken as pd\n"


def test_a_model_of_one_guideline_says_that_it_ignores_the_other(run, tagger, corpora):
    result = run("convert", tagger, f"pd={corpora / 'words.txt'}")
    assert result.stderr == f"{tagger} knows the guideline ctb only: the labels of 'pd' do not guide it\n"
    assert result.stdout == run("tag", tagger, corpora / "words.txt", "--retag").stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("{m} {c}/words.txt", "{m}: found a corpus of the guideline 'tag', expected --to ctb or --to pd"),
        ("{m} pd={c}/words.txt --to ud", "found --to ud, expected one of ctb, pd, ctb&pd, the guidelines of {m}"),
        ("{m} ud={c}/words.txt --to ctb", "found a corpus of the guideline 'ud', expected pd, guidelines of {m}"),
        ("{m} ctb={c}/dev.txt --to ctb", "found a corpus of the guideline ctb and --to ctb, expected two guidelines"),
        ("{p} ctb={c}/dev.txt", "{p}: found a corpus of the guideline 'ctb', expected a model of another guideline,"),
        ("{m} pd={c}/dev.txt", "{c}/dev.txt:1: found label '{tag}' is not one of the {n} of pd: {names} ...,"),
        ("{m} {c}/dev.seg --to ctb", "{c}/dev.seg: found no labels, expected labels to convert (tagweave tag gives"),
        ("{m} {c}/dev.raw --to ctb", "{c}/dev.raw: found raw text, characters, expected words with labels to convert"),
        ("{m} {c}/words.txt#x --to ctb", "{c}/words.txt: found the layers tag, expected a layer 'x'"),
        ("{s} pd={c}/words.txt", "{s}: found a model of characters, expected a model of words to convert tags with"),
        ("{m} pd={c}/words.txt --confidence", "found --confidence and the format tagged, expected columns or conllu"),
        ("{m} pd={c}/words.txt --output-format segmented", "found segmented as the format of the output, expected a"),
        ("{m} pd={c}/words.txt --best 2 --review 3", "found --best with --confidence, --soft, --review or"),
        ("{m} {t}/two.conllu --to ctb", "{t}/two.conllu:1: found labels in UPOS and in XPOS, expected one of them"),
        ("{m} {c}/none.txt", "{c}/none.txt: No such file or directory"),
    ],
)
def test_one_clear_line_and_nothing_is_written(run, coupled, tagger, segmenter, corpora, tmp_path, words, line):
    write(tmp_path / "two.conllu", ["1\t书\t_\tn\tn" + "\t_" * 5, ""])
    names = {"c": corpora, "t": tmp_path, "m": coupled, "p": tagger, "s": segmenter}
    view = load_model(coupled).space.view("pd")
    first = next(iterate(str(corpora / "dev.txt"))).layers["tag"][0][0]
    names |= {"tag": first, "n": len(view.names), "names": " ".join(view.names[:12])}
    before = sorted(tmp_path.iterdir())
    result = run("convert", *words.format(**names).split(), "-o", tmp_path / "out", code=2)
    assert result.stderr.splitlines()[-1].startswith(f"tagweave: {line.format(**names)}")
    assert result.stdout == ""
    assert sorted(tmp_path.iterdir()) == before


# How sure it is


def test_confidence_is_a_column(run, coupled, columns):
    lines = run("convert", coupled, columns, "--confidence").stdout.splitlines()
    assert lines[0] == "# columns = form confidence pd ctb"
    expected = convert(load_model(coupled), load(str(columns)), "ctb")
    numbers = [line.split("\t")[1] for line in lines[1:] if line]
    assert numbers == [f"{c:.6f}" for sentence in expected for c in sentence.confidence]


def test_confidence_is_a_key_in_misc(run, coupled, tmp_path):
    rows = ["1\t下雨\t_\tv" + "\t_" * 5 + "\tX=y|Confidence=2|Z", "2\t了\t_\ty" + "\t_" * 6, ""]
    lines = run(
        "convert", coupled, write(tmp_path / "u.conllu", rows), "--to", "ctb", "--confidence"
    ).stdout.splitlines()
    first, second = (line.split("\t")[9] for line in lines[:2])
    assert first.startswith("X=y|Z|Confidence=") and 0 < float(first.rpartition("=")[2]) <= 1
    assert second.startswith("Confidence=")


def test_the_best_conversions(run, coupled, corpora):
    lines = run("convert", coupled, f"pd={corpora / 'words.txt'}", "--best", 2).stdout.splitlines()
    found, source = [json.loads(line) for line in lines], load(f"pd={corpora / 'words.txt'}")
    tagger = ChainPredictor(load_model(coupled), guideline="ctb")
    expected = [list(ranked.labels) for sentence in source for ranked in tagger.k_best(sentence, 2, "ctb")]
    assert [each["labels"] for each in found] == expected
    assert found[0]["tokens"] == list(source[0].forms) and [each["rank"] for each in found[:3]] == [1, 2, 1]


def test_the_least_certain_tokens_are_listed(run, coupled, corpora, tmp_path, monkeypatch):
    source, model = load(f"pd={corpora / 'words.txt'}"), load_model(coupled)
    words = ("convert", coupled, f"pd={corpora / 'words.txt'}", "--review", 5)
    result = run(*words)
    assert result.stdout == run(*words[:3]).stdout
    expected = ReviewList(5, review(model, source, convert(model, source, "ctb"), 5))
    assert result.stderr.splitlines() == list(expected.lines())
    monkeypatch.setattr(inputs, "_BLOCK", 7)
    listed = run(*words, "-o", tmp_path / "o").stderr.splitlines()
    assert [row.split("\t")[5:] for row in listed] == [row.split("\t")[5:] for row in expected.lines()]
    assert (tmp_path / "o").read_text("utf-8") == result.stdout


# Several guidelines at once, by `tagweave tag`


def test_tags_of_both_guidelines_belong_together(run, coupled, corpora, tmp_path):
    arguments = ("tag", coupled, corpora / "dev.seg", "--to", "pd", "--to", "ctb")
    lines = run(*arguments, "--output-format", "columns").stdout.splitlines()
    assert lines[0] == "# columns = form ctb pd"
    together = [f"{ctb}&{pd}" for _, ctb, pd in (line.split("\t") for line in lines[1:] if line)]
    joint = run("tag", coupled, corpora / "dev.seg", "--to", "ctb&pd", "--output-format", "tagged").stdout
    assert together == [token.rpartition("/")[2] for token in joint.split()]
    run(*arguments, "-o", tmp_path / "both.conllu")
    pairs = [
        f"{b[0]}&{a[0]}"
        for sentence in iterate(str(tmp_path / "both.conllu"))
        for a, b in zip(sentence.layers["upos"], sentence.layers["xpos"], strict=True)
    ]
    assert pairs == together


def test_one_guideline_of_a_model_of_two(run, coupled, corpora):
    text = run("tag", coupled, corpora / "dev.seg", "--to", "pd", "--output-format", "tagged").stdout
    expected = ChainPredictor(load_model(coupled), guideline="pd").tag(iterate(str(corpora / "dev.seg")))
    assert text.split() == [f"{f}/{c[0]}" for s in expected for f, c in zip(s.forms, s.layers["pd"], strict=True)]
    default = run("tag", coupled, corpora / "dev.seg").stdout
    assert default == run("tag", coupled, corpora / "dev.seg", "--to", "ctb").stdout
    kept = run("complete", coupled, "-", "--to", "pd", "--format", "tagged", stdin="书/vn 了\n").stdout
    assert kept.startswith("书/vn 了/")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "{m} {c}/dev.seg --output-format tagged",
            "found several --to and the format tagged, expected columns or conllu or csv",
        ),
        ("{m} {c}/dev.seg --best 2", "found --probabilities or --best with several --to, expected one"),
        ("{m} {c}/dev.seg --to ud", "found --to ud, expected one of ctb, pd, ctb&pd, the guidelines of {m}"),
    ],
)
def test_several_guidelines_need_a_place(run, coupled, corpora, words, line):
    names = {"c": corpora, "m": coupled}
    result = run("tag", *words.format(**names).split(), "--to", "ctb", "--to", "pd", code=2)
    assert result.stderr.startswith(f"tagweave: {line.format(**names)}")


# Parts


def test_a_live_line_counts_on_a_terminal_only(tmp_path):
    for terminal in (True, False):
        with (tmp_path / "stderr").open("w+", encoding="utf-8") as stream:
            console = Console(file=stream, force_terminal=terminal, width=80)
            assert list(counted(iter(range(1234)), "sentences", console)) == list(range(1234))
            stream.seek(0)
            assert ("1,234 sentences" in stream.read()) is terminal


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.holds_several])
def test_a_conversion_is_read_back_under_the_name_of_its_guideline(run, coupled, tmp_path, name):
    rows = ["1\t书\t_\tn\t_" + "\t_" * 5, "2\t下雨\t_\tv\t_" + "\t_" * 5, ""]
    three = ["# columns = form upos xpos pd", "书\tX\tY\tn", "下雨\tX\tY\tv", ""]
    given = write(tmp_path / "given.conllu", rows) if name == "conllu" else f"{write(tmp_path / 'g.col', three)}#pd"
    out = tmp_path / "out"
    said = run("convert", coupled, f"pd={given}", "--to", "ctb", "--output-format", name, "-o", out).stderr
    back = load(f"ctb={out}#xpos" if "=FILE#xpos" in said else f"ctb={out}")
    assert tags(back) == [("NN", "VV")] and back.guideline == "ctb"
