"""`tagweave demo` runs, tells numbers of its own run, and ends with commands that exist."""

from __future__ import annotations

import pytest

from tagweave.cli.demo import _NEXT, ambiguous, partial
from tagweave.corpus.describe import describe
from tagweave.corpus.load import load
from tagweave.corpus.sample import path


@pytest.fixture(scope="module")
def corpus():
    return load(f"ctb={path('ctb.txt')}")


def test_it_runs_to_the_end_and_every_command_that_it_names_exists(run):
    output = run("demo").stdout
    for title in ("incomplete", "ambiguous", "completed", "boundaries", "used again"):
        assert title in output
    assert "are the same: True" in " ".join(output.split())
    scores = [
        float(row.split("│")[-2].strip().removesuffix(" %"))
        for row in output.splitlines()
        if " %" in row and "│" in row
    ]
    full, by_likelihood, discarded, either, first = scores
    assert full > by_likelihood > discarded and either > first
    for line in _NEXT:
        assert line in output
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
