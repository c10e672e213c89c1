"""Chunks in the letters and the order of other tools: read alike wherever labels of spans are."""

from __future__ import annotations

import pytest

import tagweave as tw
from tagweave.corpus.chunk_schemes import coded, codes_chunks
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import describe
from tagweave.errors import CorpusError
from tagweave.evaluation.report import evaluate
from tagweave.sources.layers import in_iob2
from tagweave.training.fit.task import guessed_task
from tagweave.training.inspection import suspicions

WORDS = ["Vela", "ran", "New", "Brun", "Bay", ".", "Mo", "Lund"]
BIOES = ["S-PER", "O", "B-LOC", "I-LOC", "E-LOC", "O", "S-PER", "S-PER"]
SPELLINGS = {
    "BIOES": BIOES,
    "BILOU": ["U-PER", "O", "B-LOC", "I-LOC", "L-LOC", "O", "U-PER", "U-PER"],
    "BMES": ["S-PER", "O", "B-LOC", "M-LOC", "E-LOC", "O", "S-PER", "S-PER"],
    "BMEWO": ["W-PER", "O", "B-LOC", "M-LOC", "E-LOC", "O", "W-PER", "W-PER"],
    "small": ["s-PER", "o", "b-LOC", "i-LOC", "e-LOC", "o", "s-PER", "s-PER"],
    "underscores": ["S_PER", "O", "B_LOC", "I_LOC", "E_LOC", "O", "S_PER", "S_PER"],
    "letters last": ["PER-S", "O", "LOC-B", "LOC-I", "LOC-E", "O", "PER-S", "PER-S"],
    "IOB2": ["B-PER", "O", "B-LOC", "I-LOC", "I-LOC", "O", "B-PER", "B-PER"],
    "IOB1": ["I-PER", "O", "I-LOC", "I-LOC", "I-LOC", "O", "I-PER", "B-PER"],
    "IOE2": ["E-PER", "O", "I-LOC", "I-LOC", "E-LOC", "O", "E-PER", "E-PER"],
    "IOE1": ["I-PER", "O", "I-LOC", "I-LOC", "I-LOC", "O", "E-PER", "I-PER"],
    "small IOB2": ["b-PER", "o", "b-LOC", "i-LOC", "i-LOC", "o", "b-PER", "b-PER"],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spans_are_read_whatever_their_spelling(name):
    corpus = Corpus([(WORDS, SPELLINGS[name])])
    assert guessed_task(corpus, lambda _: None) == "spans"
    assert [each for (each,) in coded(corpus, "BIOES")[0].layers["tag"]] == BIOES
    assert describe(corpus).layers["tag"].spans == {"PER": 3, "LOC": 1}
    for gold, system in ((corpus, corpus), (corpus, Corpus([(WORDS, BIOES)])), (Corpus([(WORDS, BIOES)]), corpus)):
        scores = evaluate(gold, {"x": system}).to_json()["systems"]["x"]["spans"]
        assert (scores["f"], scores["gold"]) == (1.0, 4)
    if name not in ("IOE1", "IOB1"):  # of these schemes sources may be a mixture
        read = in_iob2(corpus, ("tag",))[0].layers["tag"]
        assert [each for (each,) in read] == SPELLINGS["IOB2"]


def test_labels_that_code_no_chunks_stay():
    for names in (["M-sg", "M-pl"], ["m-x", "O"], ["S-NN", "M-NN"], ["B_X", "I-X", "O"], ["NN-S", "VB-x", "O"]):
        assert not codes_chunks(names), names
    with pytest.raises(CorpusError, match="the label 'X-PER'"):
        coded(Corpus([(["a"], ["X-PER"])]), "IOB2")


def test_training_and_evaluation_of_a_model_read_them_alike():
    corpus = Corpus([(WORDS, SPELLINGS["BMES"]), (WORDS, SPELLINGS["BMES"])])
    told = list(suspicions(corpus))
    model = tw.train(corpus, dev=Corpus([(WORDS, BIOES)]), iterations=5)
    scores = tw.evaluate(corpus, {"model": model}).to_json()["systems"]["model"]["spans"]
    assert (told, model.score, scores["f"]) == ([], 1.0, 1.0)
