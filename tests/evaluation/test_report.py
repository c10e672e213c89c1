"""Which metrics a report takes, what it says of pairs, and how it is shown."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import Accuracy
from tagweave.evaluation.attachment import Attachment
from tagweave.evaluation.report import evaluate, evaluate_layers
from tagweave.evaluation.score import Score, Share
from tagweave.evaluation.spans import SpanScores
from tagweave.evaluation.tables import table_console
from tagweave.evaluation.words import WordScores
from treebank import sentence, with_evidence


def corpus(*texts, path="gold.txt", unit="word", guideline="tag"):
    """`ab/N c/V`: words with a tag; `ab c`: words without a layer; `ab/?`: an unknown tag."""
    sentences = []
    for line, text in enumerate(texts, 1):
        pairs = [item.partition("/") for item in text.split()]
        layer = tuple(None if tag == "?" else tuple(tag.split("|")) for _, _, tag in pairs)
        layers = {guideline: layer} if "/" in text else {}
        sentences.append(Sentence(tuple(form for form, _, _ in pairs), layers, location=Location(path, line)))
    return Corpus(tuple(sentences), guideline, unit, path=path)


def shown(report, width=100, **arguments):
    console = Console(file=io.StringIO(), width=width, no_color=True)
    report.render(console, **arguments)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("gold", "system", "words", "tagged"),
    [
        (corpus("ab/N c/V"), corpus("a/N b/N c/V"), Score(1, 2, 3), Score(1, 2, 3)),
        (corpus("a/B-N b/E-N c/S-V", unit="character"), corpus("a/N b/N c/V"), Score(1, 2, 3), Score(1, 2, 3)),
        (
            corpus("a/B-N b/E-N c/S-V", unit="character"),
            corpus("a/S-N b/S-N c/S-V", unit="character", guideline="mine"),
            *(Score(1, 2, 3), Score(1, 2, 3)),
        ),
        # plain segmented text, even if all words are right
        (corpus("ab/N c/V"), corpus("ab c"), Score(2, 2, 2), None),
        (corpus("ab c"), corpus("ab c"), Score(2, 2, 2), None),
    ],
)
def test_other_words_characters_and_plain_text_are_scored_by_f(gold, system, words, tagged):
    scores = evaluate(gold, {"base": system}).systems["base"]
    assert isinstance(scores, WordScores)
    assert (scores.words, scores.tagged and scores.tagged.words) == (words, tagged)


def test_all_systems_are_scored_alike():
    gold = corpus("ab/N c/V")
    report = evaluate(gold, {"same": gold, "other": corpus("a/N b/N c/V")})
    assert all(isinstance(scores, WordScores) for scores in report.systems.values())
    report = evaluate(gold, {"same": gold})
    assert [scores.tokens for scores in report.systems.values()] == [Share(2, 2)]
    assert (report.gold, report.sentences, report.comparisons) == ("gold.txt", 1, ())


def test_labels_of_spans_are_scored_by_spans():
    gold = corpus("a/B-X b/I-X c/O", "d/B-Y")
    report = evaluate(
        gold, {"base": corpus("a/I-X b/I-X c/O", "d/O"), "good": gold}, training=corpus("d/B-X", "a/O b/O")
    )
    scores = report.systems["base"]
    assert isinstance(scores, SpanScores)
    assert (scores.spans, scores.labels["Y"], scores.unseen) == (Score(1, 2, 1), Score(0, 1, 0), Score(1, 1, 1))
    assert [(item.metric, round(item.difference, 3)) for item in report.comparisons] == [("F", 0.333)]
    base = json.loads(json.dumps(report.to_json()))["systems"]["base"]
    assert base["spans"]["recall"] == base["macro"]["recall"] == base["partial"]["recall"] == 0.5
    low, high = report.to_json()["intervals"]["base"]["F"]
    assert 0 <= low <= base["spans"]["f"] <= high <= 1 and low < high
    lines = shown(report).splitlines()
    assert f"{100 * low:.2f} to {100 * high:.2f}" in next(line for line in lines if "F, 95 %" in line)
    first = next(line for line in lines if "precision" in line)
    assert first.split()[1::2] == ["precision", "100.00", "100.00"]
    assert any("unseen F" in line for line in lines) and any("base: types" in line for line in lines)


def test_unknown_is_never_a_label_and_never_a_word():
    """A gold standard that says nothing scores nothing, whatever the systems say."""
    words = corpus("a/? b/?")
    found = evaluate(words, {"x": corpus("a/N b/V"), "y": corpus("a/V b/V")})
    for scores in found.systems.values():
        assert isinstance(scores, Accuracy)
        assert (scores.tokens, scores.labels, scores.confusions) == (Share(0, 0), {}, ())
    assert found.comparisons == ()
    characters = corpus("a/? b/?", unit="character")
    found = evaluate(characters, {"x": corpus("ab"), "y": corpus("a b")})
    for word_scores in found.systems.values():
        assert word_scores.counts.sum() == 0
    assert found.comparisons == ()


def test_the_first_system_is_compared_with_each_other_one():
    gold = corpus(*["a/N b/V"] * 30)
    systems = {"base": corpus(*["a/V b/V"] * 30), "good": gold, "same": corpus(*["a/V b/V"] * 30)}
    report = evaluate(gold, systems)
    good, same = report.comparisons
    assert (good.first, good.second, good.metric, good.difference) == ("base", "good", "accuracy", 0.5)
    assert good.randomisation == 1 / 10_001
    assert good.wilcoxon < 0.001
    assert (same.second, same.difference, same.randomisation, same.wilcoxon) == ("same", 0, 1, 1)


def test_words_and_tagged_words_are_each_compared():
    systems = {"base": corpus("a/N b/N c/V"), "tags": corpus("ab/V c/V"), "bare": corpus("ab c")}
    found = [
        (each.second, each.metric, round(each.difference, 3))
        for each in evaluate(corpus("ab/N c/V"), systems).comparisons
    ]
    assert found == [("tags", "F", 0.6), ("tags", "tagged F", 0.1), ("bare", "F", 0.6)]


def test_another_text_is_an_error_that_names_file_and_line():
    gold = corpus("a/N", "b/N")
    with pytest.raises(CorpusError) as caught:
        evaluate(gold, {"base": corpus("a/N", "c/N", path="out.txt")})
    assert str(caught.value) == (
        "out.txt:2: found 'c' from character 1 of sentence 2 on, expected 'b' as in gold.txt:2"
    )


def test_no_system_is_an_error():
    with pytest.raises(ValueError, match="no system"):
        evaluate(corpus("a/N"), {})


def test_json_is_plain_and_whole():
    gold = corpus("ab/N c/V", "d/?")
    fields = (
        "accuracy unscored ambiguous undecided oov_accuracy iv_accuracy labels confusions",
        "words unscored undecided oov_recall iv_recall tagged",
    )
    for other, names in zip((corpus("ab/N c/N", "d/V"), corpus("a/N b/N c/N", "d/V")), fields, strict=True):
        found = evaluate(gold, {"x": gold, "y": other}, corpus("ab c d")).to_json()
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert list(found) == ["gold", "sentences", "systems", "comparisons", "calibrations", "intervals"]
        assert list(found["systems"]) == ["x", "y"]
        assert {"randomisation_p", "wilcoxon_p", "difference", "metric"} < set(found["comparisons"][0])
        assert list(found["systems"]["y"]) == names.split()
    assert found["systems"]["y"]["oov_recall"] == {"value": None, "right": 0, "total": 0}
    assert list(found["systems"]["y"]["words"]) == ["precision", "recall", "f", "right", "gold", "system"]
    assert found["systems"]["y"]["tagged"]["confusions"] == [{"gold": "V", "system": "N", "count": 1}]


def test_tables_of_accuracy():
    gold = corpus("a/N b/V c/[x] d/N")
    text = shown(evaluate(gold, {"[base]": gold, "new": corpus("a/V b/V c/N d/?")}, corpus("a b")))
    assert "1 sentences against gold.txt" in text
    rows = [[cell.strip() for cell in line.strip("│┃").split("│")] for line in text.splitlines() if "│" in line]
    headers = [line.replace("┃", " ").split() for line in text.splitlines() if "┃" in line]
    assert headers[0] == ["[base]", "new"]
    assert ["accuracy", "100.00", "25.00"] in rows
    assert ["OOV accuracy", "100.00", "0.00"] in rows
    assert ["undecided", "0", "1"] in rows
    assert next(row for row in rows if row[0] == "[base]")[:4] == ["[base]", "new", "accuracy", "-75.00"]
    assert ["[x]", "100.00", "100.00", "100.00", "1"] in rows  # square brackets are no markup
    assert ["[x]", "-", "0.00", "0.00", "1"] in rows
    assert ["N", "(undecided)", "1"] in rows
    assert "[base]: labels" in text


def test_tables_of_words():
    gold = corpus("ab/N c/V")
    text = shown(evaluate(gold, {"base": corpus("a/N b/N c/N"), "bare": corpus("ab c")}))
    rows = [[cell.strip() for cell in line.strip("│┃").split("│")] for line in text.splitlines() if "│" in line]
    assert ["F", "40.00", "100.00"] in rows
    assert ["tagged F", "0.00", "-"] in rows  # the second system has no tags
    assert ["V", "N", "1"] in rows
    assert "bare: labels" not in text


def test_the_number_of_confusions_is_what_was_asked_for():
    gold = corpus("a/A b/B c/C")
    report = evaluate(gold, {"base": corpus("a/X b/Y c/Z")})
    assert "confusions" not in shown(report, confusions=0)
    text = shown(report, confusions=2)
    assert "confusions" in text
    assert text.count("│ X ") == 2  # the label table and one confusion
    assert text.count("│ Z ") == 1  # the label table only


NAME = "a-name-that-is-longer-than-a-line-of-eighty-characters" * 3


def test_no_name_is_cut_in_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table()
    table.add_column("name")
    table.add_row(NAME)
    table_console().print(table)
    lines = capsys.readouterr().out.splitlines()
    assert any(NAME in line for line in lines)
    assert len(set(map(len, lines))) == 1


def test_columns_are_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert table_console().width == 72


GOLD = sentence("DNV", [2, 3, 0]).with_layer("xpos", (("x",), None, ("z",)))


def layered(*sentences: Sentence, guideline: str = "upos") -> Corpus:
    return Corpus(sentences, guideline)


def parsed(*heads: int) -> Sentence:
    return with_evidence(GOLD, *((Arc(head, "dep"),) for head in heads))


def test_what_was_copied_is_named_and_what_differs_is_scored() -> None:
    report = evaluate_layers(layered(GOLD), {"one": layered(parsed(2, 3, 0)), "two": layered(parsed(3, 3, 0))})
    assert (list(report.reports), report.copied, report.absent) == (["head"], ("upos", "xpos"), ())
    scores = report.reports["head"].systems
    assert isinstance(scores["two"], Attachment)
    assert scores["two"].heads.right == 2
    assert [each.metric for each in report.reports["head"].comparisons] == ["UAS", "LAS"]
    stream = io.StringIO()
    report.render(Console(file=stream, width=100))
    assert "not scored: upos, xpos: the same in all systems as in the gold standard" in stream.getvalue()
    assert "accuracy" not in stream.getvalue()
    assert list(report.to_json()["layers"]) == ["head"]


def test_a_layer_in_which_one_system_differs_is_scored_for_all() -> None:
    other = GOLD.with_layer("upos", (("D",), ("V",), ("V",)))
    report = evaluate_layers(layered(GOLD), {"one": layered(GOLD), "two": layered(other)})
    assert (list(report.reports), report.copied) == (["upos"], ("xpos", "head"))
    found = report.reports["upos"].systems
    assert [each.tokens.right for each in found.values() if isinstance(each, Accuracy)] == [3, 2]
    same = evaluate_layers(layered(GOLD), {"one": layered(GOLD)})
    assert (list(same.reports), same.copied) == (["upos", "xpos", "head"], ())


def test_a_layer_that_no_system_has_is_named() -> None:
    bare = Sentence(GOLD.forms, {"upos": (("V",), ("N",), ("V",))})
    report = evaluate_layers(layered(GOLD), {"one": layered(bare)})
    assert (list(report.reports), report.absent) == (["upos"], ("xpos", "head"))
    unknown = GOLD.with_layer("xpos", (None,) * 3)
    assert evaluate_layers(layered(unknown), {"one": layered(bare)}).absent == ("head",)


def test_the_own_guideline_may_have_another_name() -> None:
    other = Sentence(GOLD.forms, {"tag": (("V",), ("N",), ("V",))})
    report = evaluate_layers(layered(GOLD), {"one": layered(other, guideline="tag")})
    scores = report.reports["upos"].systems["one"]
    assert isinstance(scores, Accuracy)
    assert scores.tokens.right == 2


def test_words_that_differ_are_scored_as_words() -> None:
    whole = Sentence(("".join(GOLD.forms[:2]), GOLD.forms[2]))
    report = evaluate_layers(layered(GOLD), {"one": layered(whole)})
    assert isinstance(report.reports["upos"].systems["one"], WordScores)


def test_a_system_of_other_text_is_refused() -> None:
    with pytest.raises(CorpusError, match="expected"):
        evaluate_layers(layered(GOLD), {"one": layered(sentence("DN", [2, 0]))})
