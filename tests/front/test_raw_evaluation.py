"""`evaluate` of models on raw text: what is cut as text of users is scored against the gold tokens."""

from __future__ import annotations

import pytest

import tagweave as tw
from tagweave.errors import CorpusError, StreamError
from tagweave.evaluation.score import Score

LEARNED = ["Ann/PROPN sleeps/VERB ./PUNCT", "Bob/PROPN runs/VERB ./PUNCT", "Dogs/NOUN run/VERB ./PUNCT"]
CUT_OTHERWISE = ["Ann-x/PROPN sleeps/VERB ./PUNCT", "Bob/NOUN runs/VERB ./PUNCT", "Dogs/NOUN run/VERB ./PUNCT"]


def conllu(path, lines, has_text=True):
    with path.open("w", encoding="utf-8") as stream:
        for line in lines:
            words = [each.split("/") for each in line.split()]
            if has_text:
                print("# text =", " ".join(form for form, _ in words).replace(" .", "."), file=stream)
            for at, (form, tag) in enumerate(words, 1):
                print(at, form, "_", tag, *"______", sep="\t", file=stream)
            print(file=stream)
    return str(path)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = conllu(tmp_path_factory.mktemp("raw") / "train.conllu", LEARNED)
    return tw.train(path, iterations=20, seed=0)


def test_words_cut_otherwise_lower_f(model, tmp_path, capsys):
    gold = conllu(tmp_path / "gold.conllu", CUT_OTHERWISE)
    scores = model.evaluate(gold, raw=True).systems[model.name]
    # Ann-x is cut into three: of 9 gold and 11 system words 8 are right, and 7 with their tags (Bob is not)
    assert scores.words == Score(8, 9, 11)
    assert scores.words.f == pytest.approx(0.8) and scores.tagged.words.f == pytest.approx(0.7)
    assert "F of words 80.00: 8 right, 9 in the gold standard, 11 cut" in capsys.readouterr().err


def test_words_cut_alike_score_as_gold_tokens(model, tmp_path):
    gold = conllu(tmp_path / "gold.conllu", [LEARNED[0], *CUT_OTHERWISE[1:]])
    assert model.evaluate(gold, raw=True).systems == model.evaluate(gold).systems
    with pytest.raises(CorpusError, match="without raw text, expected the comment `# text = "):
        model.evaluate(conllu(tmp_path / "bare.conllu", LEARNED, has_text=False), raw=True)
    with pytest.raises(StreamError, match="`raw` without a model"):
        tw.evaluate(gold, {"same": gold}, raw=True)


def test_spans_are_compared_by_character():
    learned = [tw.Sentence(("Ann", "Bell", "sleeps", "."), {"tag": (("B-PER",), ("I-PER",), ("O",), ("O",))})]
    spans = tw.train(learned * 3, task="spans", iterations=20, seed=0)
    gold = [tw.Sentence(("Ann", "Bell", "sleeps-", "."), learned[0].layers, comments=("# text = Ann Bell sleeps-.",))]
    assert spans.evaluate(gold, raw=True).systems[spans.name].spans.f == 1
