from __future__ import annotations

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.evaluation.mistakes import content, mistakes, table
from tagweave.evaluation.report import evaluate


def corpus(*labelled, layers=True, unit="word"):
    sentences = []
    for text in labelled:
        pairs = [each.rpartition("/")[::2] for each in text.split()]
        forms, labels = zip(*pairs, strict=True)
        sentences.append(Sentence(forms, {"tag": tuple((label,) for label in labels)} if layers else {}))
    return Corpus(tuple(sentences), "tag", unit)


def of_trees(*arcs):
    return Corpus((Sentence(("a", "b", "c"), heads={"tag": tuple((Arc(*each),) for each in arcs)}),), "tag")


CASES = {
    "spans": (
        corpus("Jan/B-PER Vos/I-PER en/O Gent/B-LOC , /O".replace(", /O", ",/O"), "Ik/O zag/O Ede/B-LOC Acme/B-ORG"),
        corpus("Jan/B-PER Vos/O en/O Gent/B-ORG ,/O", "Ik/B-PER zag/B-ORG Ede/I-ORG Acme/O"),
        {"wrong boundary": 1, "wrong type": 1, "invented": 1, "wrong type and boundary": 1, "missed": 1},
    ),
    "tokens": (corpus("a/DT b/NN c/NN"), corpus("a/DT b/VB c/VB"), {"NN -> VB": 2}),
    "words": (
        Corpus((Sentence(("ab", "c", "d", "e", "fg", "hi")),), "tag"),
        Corpus((Sentence(("a", "b", "cd", "e", "f", "ghi")),), "tag"),
        {"split": 1, "joined": 1, "cut elsewhere": 1},
    ),
    "characters": (
        corpus("a/B b/E c/S d/S", unit="character"),
        corpus("a/S b/S c/B d/E", unit="character"),
        {"split": 1, "joined": 1},
    ),
    "trees": (
        of_trees((2, "nsubj"), (0, "root"), (2, "obj")),
        of_trees((2, "obj"), (0, "root"), (1, "obj")),
        {"wrong head": 1, "relation: nsubj -> obj": 1},
    ),
}


def test_every_mistake_has_its_kind_and_its_tokens():
    for name, (gold, system, expected) in CASES.items():
        scores = evaluate(gold, {"x": system}).systems["x"]
        found = mistakes(gold, system, scores)
        counts = [each.kind for each in found]
        assert {kind: counts.count(kind) for kind in counts} == expected, name
        assert not mistakes(gold, gold, evaluate(gold, {"x": gold}).systems["x"]), name
    gold, system, _ = CASES["spans"]
    wrong = {each.kind: each for each in mistakes(gold, system, evaluate(gold, {"x": system}).systems["x"])}
    assert wrong["wrong boundary"][1:6] == (0, 0, 2, "Jan Vos/PER", "Jan/PER")
    assert wrong["wrong type and boundary"][1:6] == (1, 1, 3, "Ede/LOC", "zag Ede/ORG")


def test_the_most_frequent_kind_comes_first_and_text_is_escaped():
    gold = corpus("<b>/X c/Y d/Y")
    system = corpus("<b>/Z c/Z d/Z")
    found = {"<mine>": mistakes(gold, system, evaluate(gold, {"x": system}).systems["x"])}
    lines = list(table(gold, found))
    assert lines[1] == "Y -> Z\t<mine>\t1\t2\t2\tY\tZ\t<b> [ c ] d\t\n"
    assert lines[3].startswith("X -> Z")
    page = content(gold, found)
    assert "<b>" not in page
    assert "&lt;mine&gt;: 3 mistakes" in page
    assert page.index("Y -&gt; Z") < page.index("X -&gt; Z")
