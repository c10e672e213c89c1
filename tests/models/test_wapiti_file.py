"""Models of Wapiti: one that it made, ones written here as its format says, and damaged ones."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagweave.estimators import ChainCRF
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.models.wapiti_patterns import Pattern, attributes

MADE = Path(__file__).parent / "wapiti" / "patterns.mdl"

TEXT = [
    [["An", "DET"], ["grey", "ADJ"], ["heron", "NOUN"], ["of", "ADP"], ["Köln", "PROPN"], ["swims", "VERB"]],
    [["Herons", "NOUN"], ["wait", "VERB"], [".", "PUNCT"]],
]
SAID = [
    [("O", 0.801779), ("O", 0.708456), ("B", 0.700107), ("O", 0.656088), ("B", 0.430187), ("O", 0.638671)],
    [("B", 0.396305), ("O", 0.682736), ("B", 0.569619)],
]
"""What Wapiti says: the most probable label of each token, and its probability."""


def written(path: Path, weights: dict[int, float], observations: list[str], **more: Any) -> Path:
    """A model without patterns, of the labels A and B."""
    head, reader = more.get("head", f"#mdl#2#{len(weights)}"), more.get("reader", "#rdr#0/0/0")
    texts = [f"#qrk#{len(names)}\n" + "".join(_text(name) for name in names) for names in (["A", "B"], observations)]
    lines = "".join(f"{number}={value.hex()}\n" for number, value in weights.items())
    path.write_text(f"{head}\n{reader}\n{more.get('patterns', '')}{''.join(texts)}{lines}", encoding="utf-8")
    return path


def _text(name: str) -> str:
    return f"{len(name.encode())}:{name},\n"


def test_a_model_that_wapiti_made() -> None:
    crf = ChainCRF.load(MADE)
    assert crf.classes_ == ["O", "B", "I"]
    X = [attributes(crf.model_.about["patterns"], rows) for rows in TEXT]
    assert X[0][4][:4] == ["u01:Köln", "u02:of/PROPN", "u03:\\xb6ln", "u04:true"]
    for marginals, said in zip(crf.predict_marginals(X), SAID, strict=True):
        best = [max(each.items(), key=lambda item: item[1]) for each in marginals]
        assert [label for label, _ in best] == [label for label, _ in said]
        assert [p for _, p in best] == pytest.approx([p for _, p in said], abs=1e-6)


def test_a_model_of_attributes(tmp_path: Path) -> None:
    """Weights are numbered through: ux 0, 1; b 2 to 5; * 6, 7 and 8 to 11; uy 12, 13."""
    values = {0: 0.5, 3: -1.25, 5: 2.0, 6: 0.75, 9: 0.25, 13: -0.125}
    crf = ChainCRF.load(written(tmp_path / "m", values, ["ux", "b", "*", "uy"]))
    assert crf.state_features_ == {("ux", "A"): 0.5, ("*", "A"): 0.75, ("uy", "B"): -0.125}
    assert crf.transition_features_ == {("A", "B"): -1.25 + 0.25, ("B", "B"): 2.0}
    sentence = [["ux", "b", "*"], ["uy", "unew", "b", "*"], ["b"]]
    states, pairs = crf.state_features_ or {}, crf.transition_features_ or {}
    scores = {}
    for labels in itertools.product("AB", repeat=3):
        given = [(name, label) for row, label in zip(sentence, labels, strict=True) for name in row]
        parts = [states.get(pair, 0.0) for pair in given] + [
            pairs.get(pair, 0.0) for pair in itertools.pairwise(labels)
        ]
        scores[labels] = math.exp(math.fsum(parts))
    for found, probability in crf.predict_best([sentence], 8)[0]:
        assert probability == pytest.approx(scores[tuple(found)] / math.fsum(scores.values()))
    save_model(load_model(tmp_path / "m"), tmp_path / "saved")
    assert ChainCRF.load(tmp_path / "saved").state_features_ == states


def test_older_files_and_maximum_entropy(tmp_path: Path) -> None:
    old = written(tmp_path / "old", {0: 1.0}, ["ux"], head="#mdl#1", reader="#rdr#0/0")
    assert ChainCRF.load(old).state_features_ == {("ux", "A"): 1.0}
    alone = written(tmp_path / "alone", {1: 1.0}, ["ux"], head="#mdl#0#1", reader="#rdr#0/0/1")
    assert ChainCRF.load(alone).state_features_ == {("x", "B"): 1.0}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("u:%x[0,0]", ["u:Ab1", "u:.c"]),
        ("u:%X[0,0]", ["u:ab1", "u:.c"]),
        ("u%x[-1,1]|%x[1,1]", ["u_x-1|Y", "uX|_x+1"]),
        ("u%x[-5,0]%x[5,0]", ["u_x-#_x+4", "u_x-4_x+#"]),
        ("u%x[@1,0]%x[@-1,1]", ["uAb1Y", "uAb1Y"]),
        ('u%t[0,0,"^\\u"]', ["utrue", "ufalse"]),
        ('u%m[0,0,"\\l*\\d"]', ["ub1", "u"]),
        ('u%m[0,0,"\\l*"]', ["u", "u"]),
        ('u%m[0,0,"\\A?c$"]', ["u", "u.c"]),
        ('u%M[0,0,"\\.?.?$"]', ["u1", "u.c"]),
        ('u%t[0,1,"\\\\"]', ["ufalse", "ufalse"]),
        ("b", ["b", "b"]),
    ],
)
def test_patterns(pattern: str, expected: list[str]) -> None:
    rows = [["Ab1", "X"], [".c", "Y"]]
    assert [each for (each,) in attributes([pattern], rows)] == expected
    assert Pattern.of(pattern).is_constant == ("%" not in pattern)


def test_characters_that_a_pattern_cuts_stay_apart() -> None:
    assert attributes(['u%m[0,0,".$"]'], [["é"], ["ê"]]) == [["u\\xa9"], ["u\\xaa"]]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("u%y[0,0]", "expected commands such as"),
        ("u%x[0]", "expected commands such as"),
        ("u100%", "expected commands such as"),
        ("u%t[0,0]", "expected a regular expression for %t"),
        ('u%x[0,0,"a"]', "and none for %x"),
        ('u%m[0,0,"*a"]', "expected a character before"),
        ('u%m[0,0,"a*b*c*d*"]', "expected at most 3"),
        ('u%m[0,0,"a?a?a?a?a?a?a?a?a?a?a?a?a?$"]', "expected at most 3"),
    ],
)
def test_patterns_that_cannot_be_read(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pattern.of(pattern)


def test_a_token_without_the_column() -> None:
    with pytest.raises(ValueError, match="found a token of 1 columns, expected one with column 1"):
        attributes(["u%x[0,1]"], [["a"]])


@pytest.mark.parametrize(
    ("weights", "observations", "more", "message"),
    [
        ({0: 1.0}, ["ux"], {"head": "#mdl#1#1"}, "the type 1, maximum entropy Markov, expected 0 or 2"),
        ({0: 1.0}, ["ux"], {"head": "#mdl#7#1"}, "the type 7, unknown"),
        ({0: 1.0}, ["ux"], {"head": "#mdl#x"}, "expected a model, `#mdl#...`"),
        ({0: 1.0}, ["ux"], {"head": "#mdl#2#2"}, "found 1 weights, expected 2"),
        ({0: 1.0}, ["ux"], {"reader": "#rdr#9/0/0"}, "expected a length and a colon"),
        ({0: 1.0}, ["ux"], {"reader": "#qrk#0"}, "expected the patterns"),
        ({2: 1.0}, ["ux"], {}, "a weight of number 2, expected numbers below 2"),
        ({0: 1.0}, [], {}, "a weight of number 0, expected numbers below 0"),
        ({0: 1.0}, ["x"], {}, "the observation 'x', expected one that begins with u, b or *"),
        ({2: 1.0}, ["ux", "bx"], {}, "depend on the observation 'bx', expected those of every token: b *"),
        ({0: 1.0}, ["b"], {"reader": "#rdr#1/0/0", "patterns": "6:u%x[0,0],\n"}, "expected commands|a text of 6 bytes"),
        ({0: 1.0}, ["b"], {"reader": "#rdr#1/0/0", "patterns": "8:u%x[0,0],\n"}, "every token: none"),
        ({0: float("nan")}, ["ux"], {}, "a weight that is nan"),
        ({0: 1.0}, ["ux", "ux"], {}, "the attribute 'ux' twice"),
    ],
)
def test_files_that_are_refused(
    weights: dict[int, float], observations: list[str], more: dict[str, str], message: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "bad", weights, observations, **more)
    with pytest.raises(ModelFileError, match=f"bad: found .*({message.removeprefix('found ')})"):
        load_model(path)


def test_changed_bytes_are_refused_or_harmless(tmp_path: Path) -> None:
    data, rng, path = MADE.read_bytes(), np.random.default_rng(0), tmp_path / "mutated"
    refused = 0
    for _ in range(200):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        path.write_bytes(b"#mdl#" + (changed if rng.random() < 0.8 else changed[: rng.integers(len(data))])[5:])
        try:
            crf = ChainCRF.load(path)
            crf.predict([attributes(crf.model_.about["patterns"], rows) for rows in TEXT])
        except (ModelFileError, ValueError):
            refused += 1
    assert refused > 100
