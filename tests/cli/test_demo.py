"""`tagweave demo` runs, tells numbers of its own run, and ends with commands that exist."""

from __future__ import annotations

import pytest

from tagweave.cli.demonstration import NEXT
from tagweave.corpus.describe import describe
from tagweave.corpus.load import load
from tagweave.corpus.sample import ambiguous, forms_only, partial, partial_lines, path, sample


@pytest.fixture(scope="module")
def corpus():
    return load(f"ctb={path('ctb.txt')}")


@pytest.mark.slow  # `.ci/run` begins with `make demo`
def test_it_runs_to_the_end(run):
    output = run("demo").stdout
    for title in ("incomplete", "ambiguous", "Two guidelines", "completed", "boundaries", "used again"):
        assert title in output
    assert "are the same: True" in " ".join(output.split())
    scores = [
        float(row.split("│")[-2].strip().removesuffix(" %"))
        for row in output.splitlines()
        if " %" in row and "│" in row
    ]
    full, by_likelihood, discarded, either, first, alone, coupled, converted = scores
    assert full > by_likelihood > discarded and either > first
    assert full == alone < coupled < converted
    assert all(line in output for line in NEXT)


def test_every_command_that_it_names_exists(run):
    for line in NEXT:
        run(line.split()[1], "--help")


def test_the_partial_corpus_has_three_labels_of_ten(corpus):
    layer = describe(partial(corpus)).layers["ctb"]
    assert 0.25 < layer.share(layer.full) < 0.35 and layer.ambiguous == 0
    assert partial(corpus) == partial(corpus) != partial(corpus, seed=1)
    for before, after in zip(corpus, partial(corpus), strict=True):
        assert all(new in (None, old) for old, new in zip(before.layers["ctb"], after.layers["ctb"], strict=True))


def test_the_ambiguous_corpus_still_allows_every_right_label(corpus):
    pairs = [
        (old, new)
        for before, after in zip(corpus, ambiguous(corpus), strict=True)
        for old, new in zip(before.layers["ctb"], after.layers["ctb"], strict=True)
    ]
    assert all(old[0] in new for old, new in pairs)
    known = [new for old, new in pairs if old[0] in ("VV", "NN")]
    assert abs(2 * known.count(("VV", "NN")) - len(known)) <= 1


def test_files_of_the_sample_are_named_by_their_guidelines():
    assert sample("pd.txt").guideline == "pd"
    both = sample("both.tsv#ctb")
    assert both.guideline == "ctb" and list(both[0].layers) == ["ctb", "pd"]
    assert list(forms_only(both, "pd")[0].layers) == ["pd"] and forms_only(both)[0].layers == {}
    assert not forms_only(both)[0].columns


def test_half_of_the_boundaries_are_left_open(corpus):
    lines = partial_lines(corpus)
    assert lines == partial_lines(corpus) != partial_lines(corpus, seed=1)
    assert len(lines) == len(corpus)
    marks = [mark for line in lines for mark in line[1:-1:2]]
    assert 0.45 < marks.count(" ") / len(marks) < 0.55
    assert all(line[::2] == "".join(sentence.forms) for line, sentence in zip(lines, corpus, strict=True))
