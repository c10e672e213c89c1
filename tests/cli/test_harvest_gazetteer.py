"""`tagweave harvest lexicon --gazetteer`: how inputs are read, what is written, and that it can be trained on."""

from __future__ import annotations

import gzip

import pytest
from model_files import write

import tagweave as tw

ENTRIES = ["PER|LOC\tJordan", "LOC\tNew York", "St. John's", "NOWHERE\tAtlantis"]
LINES = ["Jordan left New York.", "", "Nothing.", "She is in St.John's"]


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "places.tsv", ENTRIES), write(tmp_path / "text", LINES)


def test_raw_text(run, files, tmp_path):
    places, text = files
    result = run("harvest", "lexicon", text, "--gazetteer", places, "--else", "O-for-others", "-o", tmp_path / "o.col")
    assert result.stderr.splitlines() == [
        f"{text} is read as raw text, cut into tokens",
        f"{tmp_path / 'o.col'}: 3 of 3 sentences, 3 phrases found",
    ]
    ours, corpus = tw.load(str(tmp_path / "o.col")), tw.harvest_gazetteer(LINES, ENTRIES, elsewhere="O-for-others")
    assert [(s.forms, s.layers) for s in ours] == [(s.forms, s.layers) for s in corpus]
    assert ours.covered == corpus.covered == ("LOC", "PER")
    piped = run("harvest", "lexicon", "-", "--gazetteer", places, "-o", "-", stdin="in New York\n")
    assert piped.stdout == "in\t_\nNew\tB-LOC\nYork\tI-LOC\n\n"


def test_tokens(run, files, tmp_path):
    tokens = write(tmp_path / "in.col", ["New\tB-X", "York\tI-X", "St.\tO", "John's\tO", "", "no\tO"])
    compressed = tmp_path / "o.col.gz"
    result = run("harvest", "lexicon", tokens, "--gazetteer", files[0], "-o", compressed)
    assert f"{tokens} is read as columns\n" in result.stderr
    assert gzip.decompress(compressed.read_bytes()).decode() == "New\tB-LOC\nYork\tI-LOC\nSt.\tB-*\nJohn's\tI-*\n\n"
    options = ("--format", "segmented", "--all", "-o", "-")
    of_words = run(
        "harvest", "lexicon", write(tmp_path / "words", ["a-b", "St. John's"]), "--gazetteer", files[0], *options
    )
    assert of_words.stdout == "a-b\t_\n\nSt.\tB-*\nJohn's\tI-*\n\n"


def test_training_on_what_was_found(run, files, tmp_path):
    gold = write(tmp_path / "gold.col", ["in\tO", "New\tB-LOC", "York\tI-LOC", "", "Jordan\tB-PER", "left\tO"])
    run("harvest", "lexicon", files[1], "--gazetteer", files[0], "--else", "O-for-others", "-o", tmp_path / "found.col")
    run("train", gold, "--source", tmp_path / "found.col", "--iterations", 2, "-o", tmp_path / "m")
    assert "left" in run("tag", tmp_path / "m", "--format", "segmented", stdin="Jordan left\n").stdout


def test_blanks_instead_of_tabs_are_suspected_if_nothing_is_found(run, files, tmp_path):
    blanks = write(tmp_path / "blanks.tsv", ["LOC New York"])
    assert "with a tab" in run("harvest", "lexicon", files[1], "--gazetteer", blanks, "-o", tmp_path / "o").stderr
    assert "with a tab" not in run("harvest", "lexicon", files[1], "--gazetteer", files[0], "-o", tmp_path / "o").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "found no --lexicon and no --gazetteer, or both"),
        ("--gazetteer {0} --lexicon {0}", "found no --lexicon and no --gazetteer, or both"),
        ("--gazetteer {0} --agree any", "found --agree with --gazetteer, expected it without"),
        ("--gazetteer {0} --processes 2", "found --processes with --gazetteer, expected it without"),
        ("--gazetteer {0} --sample 3", "found --sample with --gazetteer, expected it without"),
        ("--lexicon {0} --else O", "found --else with --lexicon, expected it without"),
        ("--lexicon {0} --stop {0}", "found --stop with --lexicon, expected it without"),
        ("--gazetteer {0} --else o", "found --else o, expected one of unknown, O, O-for-others"),
        ("--gazetteer {0} --format kytea", "found kytea, a format of characters"),
        ("--gazetteer {0} {1}", "found raw text and columns, expected one of them in a run"),
    ],
)
def test_options_that_do_not_fit(run, files, tmp_path, options, message):
    tokens = write(tmp_path / "in.col", ["New\tB-X", "York\tI-X"])
    given = options.format(files[0], tokens).split()
    assert message in run("harvest", "lexicon", files[1], *given, "-o", tmp_path / "o", code=2).stderr
    assert not (tmp_path / "o").exists()
