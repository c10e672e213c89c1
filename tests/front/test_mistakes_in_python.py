"""What a beginner gives from Python: lists, pairs, data frames and callbacks that work, and mistakes that are named."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw

TOKENS, LABELS = ["Jan", "lives", "in", "Bern", "."], ["B-PER", "O", "O", "B-LOC", "O"]
PAIRS = [(TOKENS, LABELS), (["Ada", "met", "Jan"], ["B-PER", "O", "B-PER"])] * 6


class NAType:
    """The missing value of pandas, which is neither equal to anything nor unequal."""

    def __eq__(self, _: object) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


class Frame:
    """A data frame, as far as it matters: named columns."""

    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]


def frame() -> Frame:
    rows = [(n, token, label) for n, pair in enumerate(PAIRS) for token, label in zip(*pair, strict=True)]
    sentence, token, label = map(list, zip(*rows, strict=True))
    return Frame(sentence=sentence, token=token, label=label)


def quiet(_: object) -> None: ...


def trained(corpus: Any, **settings: Any) -> Any:
    return tw.train(corpus, **{"iterations": 3, "callback": quiet, **settings})


@pytest.fixture(scope="module")
def model() -> Any:
    return trained(PAIRS)


# What works


@pytest.mark.parametrize(
    "give",
    [
        lambda: PAIRS,
        lambda: iter(PAIRS),
        lambda: tw.Corpus(PAIRS),  # type: ignore[arg-type]
        lambda: [tw.Sentence(tokens, {"tag": labels}) for tokens, labels in PAIRS],  # type: ignore[arg-type]
        frame,
        lambda: [np.array(PAIRS[0][0]), np.array(PAIRS[0][1])] and [tuple(map(np.array, pair)) for pair in PAIRS],
    ],
)
def test_a_corpus_in_python(model: Any, give: Any) -> None:
    again = trained(give())
    assert again.tag(TOKENS) == model.tag(TOKENS) and again.chain.space.names == model.chain.space.names
    assert tw.evaluate(give(), {"a": again}).systems["a"].spans.f == 1
    assert len(list(tw.Corpus(give()))) == len(PAIRS)


def test_a_label_is_text_not_its_letters() -> None:
    corpus = tw.Corpus([(["Jan"], ["PER"]), (["a", "b"], [None, ("X", "Y")]), (["c"], [{"Z", "Y"}])])  # type: ignore[arg-type]
    assert [each.layers["tag"] for each in corpus] == [(("PER",),), (None, ("X", "Y")), (("Y", "Z"),)]
    assert tw.Sentence(["Jan"], {"tag": ["PER"]}).layers["tag"] == (("PER",),)  # type: ignore[arg-type]


def test_other_columns_of_a_frame_are_columns() -> None:
    [sentence] = tw.Corpus(Frame(sentence=["s", "s"], token=["a", "b"], lemma=["A", 2]))  # type: ignore[arg-type]
    assert (sentence.forms, sentence.layers, sentence.columns) == (("a", "b"), {}, {"lemma": ("A", "2")})
    for missing in (None, float("nan"), NAType()):
        [known] = tw.Corpus(Frame(sentence=[1, 1], token=["a", "b"], label=["X", missing]))  # type: ignore[arg-type]
        assert known.layers["tag"] == (("X",), None)


def test_tag_takes_the_same(model: Any) -> None:
    def words() -> Iterator[list[str]]:
        yield TOKENS
        yield TOKENS[:2]

    expected = [LABELS, LABELS[:2]]
    assert model.tag(words()) == model.tag([tuple(TOKENS), TOKENS[:2]]) == expected
    assert model.tag((TOKENS, LABELS)) == model.tag(np.array(TOKENS)) == LABELS
    assert model.tag(PAIRS[:2]) == [labels for _, labels in PAIRS[:2]]
    assert model.tag(frame()) == frame()["label"]
    assert [each.layers["tag"] for each in model.tag(iter([tw.Sentence(tuple(TOKENS))]))] == [
        tuple((x,) for x in LABELS)
    ]
    assert (
        model.marginals(TOKENS).probabilities.shape == (5, 5) == model.marginals(" ".join(TOKENS)).probabilities.shape
    )


def test_spans_of_texts_and_tokens(model: Any) -> None:
    text = "\n Ada met Jan .\n\n  Jan lives in Bern.\n"
    found = model.spans(text)
    assert [(text[a.start : a.end], a.label) for a in found] == [
        ("Ada", "PER"),
        ("Jan", "PER"),
        ("Jan", "PER"),
        ("Bern", "LOC"),
    ]
    assert [(a.first, a.last) for a in found] == [(0, 1), (2, 3), (4, 5), (7, 8)] and all(
        a.probability > 0.5 for a in found
    )
    [person, place] = model.spans(TOKENS)
    assert (person.start, place.label, place.first, place.last) == (None, "LOC", 3, 4)
    assert model.spans([TOKENS, text])[1] == found and model.spans("") == model.spans([]) == []
    assert [text[a.start : a.end] for a in model.spans(text, tokens="blanks")][-1] != "Bern"


def test_the_command_cuts_text_as_python_does(model: Any, tmp_path: Path) -> None:
    text, (raw, out) = "Ada met Jan.\nJan lives in Bern.", (tmp_path / "a.txt", tmp_path / "b.txt")
    raw.write_text(text, encoding="utf-8")
    model.label_file(raw, out, tokens="words")
    assert out.read_text(encoding="utf-8").rstrip("\n") == model.tag(text)
    with pytest.raises(ValueError, match="conllu with tokens of its own"):
        model.label_file(raw, out, tokens="words", format="conllu")


def test_a_model_in_one_line_by_its_file_and_its_score(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert repr(model) == "<Tagger 'the model': a tagger of words of tag>" and len(repr(tw.Corpus(PAIRS))) < 100  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert again.tag(TOKENS) == model.tag(TOKENS) and repr(again) == repr(model)
    print(model.evaluate(PAIRS))
    assert "PER" in capsys.readouterr().out
    assert dir(tw) == sorted(tw.__all__)


def test_a_callback_is_a_function() -> None:
    scores: list[float | None] = []
    trained(PAIRS, dev=PAIRS[:2], callback=lambda iteration: scores.append(iteration.score))
    assert len(scores) == 3 and scores[-1] == 1


# What is refused, with a reason

ACCEPTED = "expected sentences: .tokens, labels. pairs, tw.Sentence, or a data frame"
MISTAKES: list[tuple[str, Any, type[Exception], str]] = [
    ("frame of other columns", lambda m: tw.train(Frame(word=["a"], tag=["b"])), TypeError, "columns word, tag"),
    ("nan", lambda m: tw.Corpus(Frame(sentence=[1], token=[float("nan")])), TypeError, "sentence 1: .*keep_default"),
    ("mixed rows", lambda m: tw.Corpus(Frame(sentence=[1, 2, 1], token=list("abc"))), ValueError, "sentence 1 in row"),
    ("dict", lambda m: tw.train({"Jan": "PER"}), TypeError, f"found dict, {ACCEPTED}"),
    ("None", lambda m: tw.train(None), TypeError, f"found None, {ACCEPTED}"),
    ("text", lambda m: tw.train("Jan PER\nlives O\n"), TypeError, f"found the text 'Jan PER.*, {ACCEPTED}"),
    ("one line", lambda m: tw.train("Jan lives in Bern"), OSError, "Jan lives in Bern"),
    ("empty", lambda m: tw.train([]), ValueError, "found no corpus, expected one"),
    ("no sentences", lambda m: tw.train(tw.Corpus([])), ValueError, "no sentence"),
    ("no labels", lambda m: tw.train([(["Jan"], [None])], iterations=1), ValueError, "label"),
    ("length", lambda m: tw.train([(["Jan", "lives"], ["PER"])]), ValueError, "sentence 1: found 2 tokens and 1"),
    ("whole numbers", lambda m: tw.train([(["Jan"], [1])]), TypeError, "sentence 1: found 1 as a label, expected text"),
    ("array of numbers", lambda m: tw.train(np.zeros((3, 4))), TypeError, "sentence 1: found ndarray, expected"),
    ("set", lambda m: tw.train([({"Jan"}, ["PER"])]), TypeError, "found set, expected a list of tokens"),
    ("text as tokens", lambda m: tw.train([("Jan", ["PER"])]), TypeError, "found the text 'Jan', expected a list of"),
    ("text as labels", lambda m: tw.train([(["J"], "P")]), TypeError, "found the text 'P', expected a list of labels"),
    ("tuples", lambda m: tw.train([[("Jan", "PER"), ("lives", "O")]]), TypeError, r"expected \(tokens, labels\):"),
    ("empty token", lambda m: tw.train([([""], ["O"])]), ValueError, "found an empty token"),
    ("one label", lambda m: tw.Sentence(("Jan",), {"tag": "PER"}), TypeError, "expected a list of labels"),
    ("heads", lambda m: tw.Sentence(("Jan",), heads={"head": [2]}), TypeError, r"expected None or \(Arc"),
    ("folder", lambda m: tw.train("."), OSError, "directory"),
    ("file", lambda m: tw.train("missing.txt"), FileNotFoundError, "missing.txt"),
    ("task", lambda m: tw.train(PAIRS, task="tags"), ValueError, "unknown task 'tags', expected 'tag', or one of"),
    ("method", lambda m: tw.train(PAIRS, method="copled"), ValueError, "expected 'coupled', or one of"),
    ("learner", lambda m: tw.train(PAIRS, learner="adagrda"), ValueError, "expected 'adagrad', or one of"),
    ("setting", lambda m: tw.train(PAIRS, settings={"rat": 1}), ValueError, "unknown setting 'rat'.*expected 'rate'"),
    ("keyword", lambda m: tw.train(PAIRS, iteration=3), TypeError, "no option 'iteration', expected 'iterations'"),
    ("threads", lambda m: tw.train(PAIRS, threads=0), ValueError, "threads"),
    ("iterations", lambda m: tw.train(PAIRS, iterations=-1), ValueError, "iterations"),
    ("weights", lambda m: tw.train(PAIRS, weights=[-1]), ValueError, "weight -1, expected a positive number"),
    ("sample", lambda m: tw.train(PAIRS, sample=["half"]), ValueError, "found `sample=half`, expected a whole number"),
    ("threads of a model", lambda m: tw.load_model("a.model", threads=0), ValueError, "threads=0, expected at least 1"),
    ("text as iterations", lambda m: tw.train(PAIRS, iterations="3"), ValueError, "iterations"),
    ("sources", lambda m: tw.train(PAIRS, sources=5), TypeError, f"found int, {ACCEPTED}"),
    ("callback", lambda m: tw.train(PAIRS, callback=3), TypeError, "found 3 as the callback, expected a function"),
    ("arguments", lambda m: tw.train(PAIRS, callback=lambda: 0), TypeError, "too many positional.*expected a function"),
    ("cancel", lambda m: tw.train(PAIRS, cancel=True), TypeError, "found bool as cancel, expected a function"),
    ("model as gold", lambda m: tw.evaluate(m, {"m": m}), TypeError, f"found Tagger, {ACCEPTED}"),
    ("model as train", tw.train, TypeError, f"found Tagger, {ACCEPTED}"),
    ("systems", lambda m: tw.evaluate(PAIRS, m), TypeError, "found Tagger as the systems, expected them by name"),
    ("tag None", lambda m: m.tag(None), TypeError, "found None, expected words, a text, "),
    ("tag a dict", lambda m: m.tag({"Jan": 1}), TypeError, "found dict, expected words, a text, "),
    ("tag a set", lambda m: m.tag({"Jan"}), TypeError, "found set, expected words, a text, "),
    ("tag numbers", lambda m: m.tag([1, 2]), TypeError, "found int, expected a list of tokens"),
    ("marginals", lambda m: m.marginals(None), TypeError, "found None, expected words, a text, "),
    ("several", lambda m: m.marginals([["a"], ["b"]]), TypeError, "found 2 sentences, expected one"),
    ("given", lambda m: m.marginals(["a"], given="gold"), ValueError, "found the layers none, expected a layer 'gold'"),
    ("no spans", lambda m: trained([(["a", "b"], ["X", "Y"])]).spans("a"), TypeError, "whose labels code no spans"),
    ("way to cut", lambda m: m.tag("a", tokens="word"), ValueError, "found the tokens 'word', expected"),
    ("cut", lambda m: m.cut("ab"), TypeError, "expected a model of the task segment"),
    ("save", lambda m: m.save("missing/a.model"), OSError, "missing"),
    ("save nothing", lambda m: tw.save(PAIRS, "a.txt"), TypeError, "found list, expected a corpus"),
    ("load None", lambda m: tw.load(None), TypeError, "found None, expected the path of a corpus"),
    ("load_model None", lambda m: tw.load_model(None), TypeError, "found None, expected the path of a model"),
    ("load_model text", lambda m: tw.load_model(__file__), ValueError, "expected a tagweave model"),
    ("load_model folder", lambda m: tw.load_model("."), ValueError, "expected a tagweave model"),
    ("complete", lambda m: m.complete(None), TypeError, f"found None, {ACCEPTED}"),
    ("convert", lambda m: m.convert(5), TypeError, f"found int, {ACCEPTED}"),
    ("setting below 0", lambda m: tw.train(PAIRS, settings={"rate": -1}), ValueError, "`settings=rate=-1`, expected"),
    ("setting of text", lambda m: tw.train(PAIRS, settings={"batch": "4"}), ValueError, "a whole number from 1"),
    ("settings", lambda m: tw.train(PAIRS, settings="rate=1"), ValueError, "expected values by name"),
    ("one weight", lambda m: tw.train(PAIRS, weights=1), TypeError, "found int as weights, expected a list"),
    ("covers of one", lambda m: tw.train(PAIRS, covers="PER"), TypeError, "found .* as covers, expected a list"),
    ("covers", lambda m: tw.train(PAIRS, covers=[3]), TypeError, "found int as covers, expected labels or types"),
    ("too many covers", lambda m: tw.train(PAIRS, covers=["PER", "all"]), ValueError, "found 2 values as covers, expe"),
    ("covers no type", lambda m: tw.train(PAIRS, covers=["PRE"]), ValueError, "found the covered type 'PRE'"),
    ("templates", lambda m: tw.train(PAIRS, templates=[1]), TypeError, "found 1 as a line, expected text"),
    ("layers", lambda m: tw.Sentence(("a",), "NN"), TypeError, "found 'NN' as layers, expected a dict"),
    ("column", lambda m: tw.Sentence(("a", "b"), {}, {"lemma": "ab"}), TypeError, "'lemma', expected a tuple of text"),
    ("guideline", lambda m: m.convert(PAIRS, to="x"), ValueError, "found `to=x`, expected tag"),
    ("compare", lambda m: tw.compare(None, PAIRS), TypeError, f"found None, {ACCEPTED}"),
    ("one text", lambda m: tw.harvest_lexicon("ab", ["a"]), TypeError, "found the text 'ab', expected a list of lines"),
    ("phrases", lambda m: tw.harvest_gazetteer(["a"], [("a", "X")]), TypeError, "as a line, expected text"),
    ("one text of words", lambda m: tw.harvest_clusters("a b c"), TypeError, "expected sentences: lines of words"),
    ("function", lambda m: tw.apply_functions(PAIRS, None), TypeError, "found None, expected a function"),
    ("option", lambda m: m.label_file("a", "b", retagg=True), TypeError, "no option 'retagg', expected 'retag'"),
]


@pytest.mark.parametrize(
    ("call", "error", "expected"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES]
)
def test_a_mistake_is_named(
    model: Any, call: Any, error: type[Exception], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=expected):
        call(model)


def test_other_functions_take_the_same() -> None:
    assert tw.compare(PAIRS, tw.Corpus(PAIRS, "other")).counts.sum() == 48  # type: ignore[arg-type]
    assert tw.compare_sources(PAIRS, "tag")["tokens"] == 48  # type: ignore[arg-type]


def test_nothing_in_nothing_out(model: Any) -> None:
    assert (model.tag(""), model.tag([]), model.tag(" \n")) == ("", [], "")
