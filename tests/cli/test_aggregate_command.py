"""`tagweave aggregate`, and `tw.aggregate`."""

import json
import random

import pytest

import tagweave as tw

CROWD = """# columns = form ann bob eve
Ann	B-PER	B-PER	_
Lee	I-PER	O	I-PER
left	O	O	O
it	O	O	_

Rome	B-LOC	B-PER	B-LOC
"""


@pytest.fixture
def crowd(tmp_path):
    path = tmp_path / "crowd.conll"
    path.write_text(CROWD, encoding="utf-8")
    return path


def test_columns_become_one_layer_of_probabilities_with_a_report_and_questions(crowd, tmp_path, run):
    out, report = tmp_path / "out.conll", tmp_path / "report.json"
    told = run("aggregate", str(crowd), "--sources", "2:", "-o", str(out), "--report", str(report), "--ask", "1").stderr
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines() if line]
    assert [row[0] for row in rows] == ["Ann", "Lee", "left", "it", "Rome"]
    assert rows[0][1].startswith("B-PER:")
    assert rows[4][1].startswith("B-LOC:")
    assert {row["source"] for row in json.loads(report.read_text(encoding="utf-8"))["rows"]} == {"ann", "bob", "eve"}
    assert f"ask {crowd}:" in told
    assert "right in spans" in told


def test_a_file_for_each_source_and_hard_labels(crowd, tmp_path, run):
    first, second, out = (tmp_path / f"{name}.conll" for name in ("first", "second", "out"))
    first.write_text("a\tN\nb\tV\n\n", encoding="utf-8")
    second.write_text("a\tN\nb\tN\n\n", encoding="utf-8")
    run(
        "aggregate", str(first), str(second), "--known", "second=1", "--method", "dawid-skene", "--hard", "-o", str(out)
    )
    assert out.read_text(encoding="utf-8") == "a\tN\nb\tN\n\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "best"], "found --method best, expected majority"),
        (["--known", "zoe=1"], "a known reliability of 'zoe', expected one of ann, bob, eve"),
        (["--known", "ann=much"], "found ann=much, expected a number"),
        (["--report", "r.txt"], "expected a name that ends in .csv or .json"),
    ],
)
def test_mistakes_are_told(crowd, tmp_path, run, options, message):
    options = [each.format(crowd) for each in options]
    told = run("aggregate", str(crowd), "--sources", "2:", "-o", str(tmp_path / "out.conll"), *options, code=2).stderr
    assert message in told


def test_the_front_door_takes_a_corpus_and_draws(crowd, tmp_path):
    found = tw.aggregate(crowd, "2:", "majority")
    assert [each[0] for each in found.corpus[0].layers["tag"]] == ["B-PER", "I-PER", "O", "O"]
    assert found.corpus[1].layers["tag"][0][0] == "B-LOC"
    again = tw.aggregate(tw.aggregate(crowd, "2:", hard=True).corpus, "tag")
    assert [each[0] for each in again.corpus[1].layers["tag"]] == ["B-LOC"]
    found.plot(tmp_path / "sources.png")
    assert (tmp_path / "sources.png").read_bytes().startswith(b"\x89PNG")
    assert found.reliability()[0]["source"] == "ann"


def test_sources_that_hardly_meet_get_a_warning(tmp_path, run):
    apart = tmp_path / "apart.conll"
    apart.write_text("# columns = form ann bob\n" + "a\tN\t_\nb\t_\tV\n\n" * 10 + "a\tN\tN\n", encoding="utf-8")
    said = "4.8 % of the labelled tokens have answers of several sources"
    for options, is_told in (((), True), (("--method", "majority"), False), (("--known", "ann=0.9"), False)):
        told = run("aggregate", str(apart), "--sources", "2:", "-o", str(tmp_path / "out.conll"), *options).stderr
        assert (said in " ".join(told.split())) == is_told


def test_gold_labels_of_some_sentences_say_which_method_is_kept(capsys):
    """Three annotators miss half of the names each, and invent none."""
    draw = random.Random(5).random
    text, gold = [], []
    for s in range(30):
        labels = ["B-PER" if draw() < 0.3 else "O" for _ in range(6)]
        layers = {
            name: [("O" if draw() < 0.5 and label != "O" else label,) for label in labels]
            for name in ("ann", "bob", "eve")
        }
        text.append(tw.Sentence(tuple(f"w{s}-{t}" for t in range(6)), layers))
        gold.append((text[-1].forms, labels))
    corpus, dev = tw.Corpus(text), [*gold[20:], *gold[:20], gold[0]]
    for count, kept, why in (
        (31, "dawid-skene", "better than blend, p = 0."),
        (3, "blend", "no other is better at p < 0.2"),
    ):
        found = tw.aggregate(corpus, "ann,bob,eve", dev=dev[:count])
        assert (found.method, next(iter(found.scores)), len(found.scores)) == (kept, "blend", 4)
        again = tw.aggregate(corpus, "ann,bob,eve", kept)
        assert found.corpus.sentences == again.corpus.sentences
        told = capsys.readouterr().err
        assert told.startswith(f"F in {min(count, 30)} sentences: blend 0.")
        assert f"; method {kept}: {why}" in told
    assert tw.aggregate(corpus, "ann,bob,eve", "bsc", dev=dev).scores.keys() == {"bsc"}
    assert "method" not in capsys.readouterr().err
    with pytest.raises(
        tw.TagweaveError, match="found 1 sentences with labels, none of them among the 30 of the sources"
    ):
        tw.aggregate(corpus, "ann,bob,eve", dev=[(("w0-0",), ("O",))])


def test_gold_labels_may_be_a_column(crowd, tmp_path, run):
    told = run("aggregate", str(crowd), "--sources", "2:3", "--dev", f"{crowd}#eve", "-o", str(tmp_path / "out.conll"))
    assert f"F in 2 sentences of {crowd}: blend " in " ".join(told.stderr.split())
    assert "(--method would name another)" in " ".join(told.stderr.split())


def test_without_sources_every_layer_of_a_file_that_is_like_its_last_one_is_a_source(tmp_path, run):
    def file(name, header, *rows):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in (f"# columns = form {header}", *rows, "")), "utf-8")
        return path

    both = file("both.conll", "ann bob", "Ann\tB-PER\tB-PER", "left\tO\tO")
    assert {*tw.aggregate(both).result.reliability.sources} == {"ann", "bob"}
    assert {*tw.aggregate(tw.load(both)).result.reliability.sources} == {"ann", "bob"}
    said = run("aggregate", str(both), "-o", str(tmp_path / "out.conll")).stderr
    assert said.endswith("out.conll: 1 sentences, 2 sources\n")
    again = tmp_path / "imported.conll"
    again.write_text(both.read_text().replace("\n", "\n# guideline = bob\n", 1))
    assert tw.load(f"{again}#ann").guideline == "ann"
    for one in (f"{both}#ann", file("tags.conll", "pos ann", "Ann\tNNP\tB-PER", "left\tVBD\tO")):
        assert len(tw.aggregate(one).result.reliability.sources) == 1
    silent = file("silent.conll", "ann bob", "Ann\tO\tB-PER", "left\tO\tO")
    assert len(tw.aggregate(silent).result.reliability.sources) == 2
    gold = file("gold.conll", "gold ann", "Ann\tB-PER\tB-PER", "left\tO\tO")
    for files, told in (
        (
            (gold,),
            "gold.conll: found the layers gold, ann, expected tagweave aggregate --sources ann",
        ),
        (
            (both, silent),
            "both.conll: found the layers ann, bob, expected tagweave aggregate --sources ann,bob",
        ),
    ):
        assert told in run("aggregate", *map(str, files), "-o", str(tmp_path / "no.conll"), code=2).stderr
        assert tw.aggregate(files, "files").result.reliability.sources == tuple(each.stem for each in files)
