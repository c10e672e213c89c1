"""`import tagweave as tw`: everything that a first page shows, and mistakes that are named."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus import sample
from tagweave.errors import PlanError, StreamError
from tagweave.front.options import LabelOptions
from tagweave.harvest.options import LexiconOptions
from tagweave.options import declared
from tagweave.streams import inputs


class Quiet:
    def iteration(self, *_: object) -> None: ...


QUIET: dict[str, Any] = {"iterations": 3, "callback": Quiet()}
WORDS = ["他", "在", "看", "书"]


@pytest.fixture(scope="module")
def ctb() -> tw.Corpus:
    corpus = tw.load(f"ctb={sample.path('ctb.txt')}")
    return corpus.with_sentences(corpus.sentences[:30])


@pytest.fixture(scope="module")
def pd() -> tw.Corpus:
    corpus = tw.load(f"pd={sample.path('pd.txt')}")
    return corpus.with_sentences(corpus.sentences[:20])


@pytest.fixture(scope="module")
def tagger(ctb: tw.Corpus) -> Any:
    return tw.train(ctb, **QUIET)


@pytest.fixture(scope="module")
def segmenter(ctb: tw.Corpus) -> Any:
    return tw.train(ctb, task="segment", **QUIET)


@pytest.fixture(scope="module")
def segtagger(ctb: tw.Corpus) -> Any:
    return tw.train(ctb, task="segtag", learner="perceptron", **QUIET)


@pytest.fixture(scope="module")
def coupled(ctb: tw.Corpus, pd: tw.Corpus) -> Any:
    return tw.train(ctb, pd, **QUIET)


# What goes in comes out


def test_words_text_sentences_corpora(tagger: Any, ctb: tw.Corpus) -> None:
    tags = tagger.tag(WORDS)
    assert len(tags) == 4 and set(tags) <= set(tagger.labels)
    assert tagger.tag(" ".join(WORDS)) == " ".join(f"{word}/{tag}" for word, tag in zip(WORDS, tags, strict=True))
    assert tagger.tag([WORDS, WORDS[:2]])[0] == tags
    sentence = tagger.tag(tw.Sentence(tuple(WORDS)))
    assert sentence.layers["ctb"] == tuple((tag,) for tag in tags) and tagger.tag([sentence]) == [sentence]
    assert isinstance(tagger.tag(ctb), tw.Corpus) and len(tagger.tag(ctb)) == len(ctb)
    assert tagger.tag(["他 在", "看 书"]) == [tagger.tag("他 在"), tagger.tag("看 书")]
    assert tagger.tag([]) == []


def test_probabilities_and_the_k_best(tagger: Any) -> None:
    table, best = tagger.probabilities(WORDS), tagger.k_best(WORDS, 3)
    assert table.shape == (4, len(tagger.labels)) and np.allclose(table.sum(axis=1), 1, atol=1e-4)
    assert [each.probability for each in best] == sorted((each.probability for each in best), reverse=True)


def test_cutting(segmenter: Any, segtagger: Any) -> None:
    text = "他在图书馆看书。"
    words = segmenter.cut(text)
    assert "".join(words) == text and list(segmenter.cut_all([text, "", "他 看"])) == [words, [], ["他", "看"]]
    assert segmenter.cut(f"{text}\n{text}") == words * 2
    tagged = segtagger.tag(text)
    assert [token.rpartition("/")[0] for token in tagged.split()] == segtagger.cut(text)
    assert segtagger.tag([text, text]) == [tagged, tagged]


def test_all_ways_of_cutting_agree_on_blanks(segmenter: Any, segtagger: Any, tmp_path: Path) -> None:
    text = "他在\u00a0图书\u2003馆\u2028看\u0085书\u200b。"
    words = segmenter.cut(text)
    assert words[-1] == "。" and "".join(words) == "他在图书馆看书。" and not {"他在图", "书馆", "馆看"} & {*words}
    assert [list(each.forms) for each in segmenter.words([text])] == [words]
    (tmp_path / "in.raw").write_text(f"{text}\n", "utf-8")
    segmenter.label_file(str(tmp_path / "in.raw"), str(tmp_path / "out.seg"))
    assert (tmp_path / "out.seg").read_text("utf-8") == " ".join(words) + "\n"
    assert [token.rpartition("/")[0] for token in segtagger.tag(text).split(" ")] == segtagger.cut(text)


def test_completing_and_converting(coupled: Any, ctb: tw.Corpus, pd: tw.Corpus) -> None:
    converted = coupled.convert(pd)
    assert converted.guideline == "ctb" and all("ctb" in sentence.layers for sentence in converted)
    assert converted[0].layers["pd"] == pd[0].layers["pd"] and 0 < converted[0].confidence[0] <= 1
    partial = ctb.map(lambda s: s.with_layer("ctb", [s.layers["ctb"][0], *[None] * (len(s) - 1)]))
    completed = coupled.complete(partial)
    assert all(a.layers["ctb"][0] == b.layers["ctb"][0] for a, b in zip(completed, ctb, strict=True))


def test_a_parser(tmp_path: Path) -> None:
    tree = [("the", "DET", 2, "det"), ("boats", "NOUN", 3, "nsubj"), ("leave", "VERB", 0, "root")]
    lines = [f"{n}\t{form}\t_\t{tag}\t_\t_\t{head}\t{to}\t_\t_\n" for n, (form, tag, head, to) in enumerate(tree, 1)]
    rows = "".join([*lines, "\n"])
    (tmp_path / "trees.conllu").write_text(rows * 5, "utf-8")
    trees = tw.load(tmp_path / "trees.conllu")
    parser: Any = tw.train(trees, task="parse", **QUIET)
    assert [arcs[0].head for arcs in parser.parse(trees[0]).heads["head"]] == [2, 3, 0]
    assert parser.parse(trees).sentences == tuple(parser.parse(list(trees)))
    assert len(parser.parse(trees)) == 5
    again: Any = tw.train(str(tmp_path / "trees.conllu"), task="parse", **QUIET)
    assert np.array_equal(parser.trained.weights, again.trained.weights)


def test_a_training_can_be_cancelled(ctb: tw.Corpus) -> None:
    done: list[object] = []

    class Counting:
        def iteration(self, *iteration: object) -> None:
            done.append(iteration)

    model = tw.train(ctb, iterations=9, callback=Counting(), cancel=lambda: len(done) == 2)
    assert len(done) == 2 and len(model.tag(WORDS)) == 4
    with pytest.raises(KeyboardInterrupt):
        tw.train(ctb, **QUIET, cancel=lambda: True)


def test_models_of_every_kind_are_saved_and_read(tagger: Any, segmenter: Any, tmp_path: Path) -> None:
    tagger.save(tmp_path / "m")
    loaded: Any = tw.load_model(tmp_path / "m")
    assert loaded.tag(WORDS) == tagger.tag(WORDS) and loaded.plan == tagger.plan and loaded.plan.method == "single"
    segmenter.save(tmp_path / "s")
    read: Any = tw.load_model(str(tmp_path / "s"))
    assert read.cut("他看书") == segmenter.cut("他看书")


def test_evaluating_and_comparing(tagger: Any, segmenter: Any, ctb: tw.Corpus) -> None:
    report = tw.evaluate(ctb, {"mine": tagger, "gold": ctb})
    assert [*report.systems] == ["mine", "gold"]
    assert tw.evaluate(ctb, {"words": segmenter}).to_json()
    both = sample.path("both.tsv")
    divergence = tw.compare(tw.load(f"{both}#ctb"), tw.load(f"{both}#pd"))
    assert divergence.diverging()


# Files


def test_files_go_through_a_model_as_with_the_command(
    tagger: Any, segmenter: Any, coupled: Any, pd: tw.Corpus, tmp_path: Path
) -> None:
    (tmp_path / "in.raw").write_text("他在看书。\n他说\n", "utf-8")
    segmenter.label_file(tmp_path / "in.raw", tmp_path / "out.seg")
    lines = (tmp_path / "out.seg").read_text("utf-8").splitlines()
    assert [line.split() for line in lines] == list(segmenter.cut_all(["他在看书。", "他说"]))
    tagger.label_file(tmp_path / "out.seg", tmp_path / "out.conllu")
    segmenter.label_file(tmp_path / "in.raw", tmp_path / "turn.conllu", then=[tagger])
    once, in_turn = tw.load(f"{tmp_path / 'out.conllu'}#upos"), tw.load(f"{tmp_path / 'turn.conllu'}#xpos")
    assert [s.layers["upos"] for s in once] == [s.layers["xpos"] for s in in_turn]
    (tmp_path / "part.kytea").write_text("他|在 看 书\n", "utf-8")
    segmenter.complete_file(tmp_path / "part.kytea", tmp_path / "whole.kytea")
    assert (tmp_path / "whole.kytea").read_text("utf-8").startswith("他|在")
    tw.save(pd, tmp_path / "pd.txt", "tagged")
    listed = coupled.convert_file(f"pd={tmp_path / 'pd.txt'}", tmp_path / "ctb.txt", review=3)
    assert len(listed.tokens) == 3 and len(list(listed.lines())) == 4


def test_lines_are_cut_as_they_come(segtagger: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_BLOCK", 2)
    read: list[int] = []
    lines = (read.append(number) or "他看书" for number in range(100))
    next(segtagger.cut_all(lines))
    assert len(read) <= 4


# Mistakes


@pytest.mark.parametrize(
    ("call", "error", "expected"),
    [
        (lambda t, s, c: t.cut("他"), TypeError, r"found cut\(\) with a tagger of words, expected a model of the task"),
        (lambda t, s, c: s.tag("他"), TypeError, "a segmenter without tags"),
        (lambda t, s, c: list(s.cut_all("他")), TypeError, "found one text, expected lines"),
        (lambda t, s, c: s.cut(["他"]), TypeError, "found list, expected a text"),
        (lambda t, s, c: t.parse(c), TypeError, r"found parse\(\) with a tagger"),
        (lambda t, s, c: t.tag(3), TypeError, "found int, expected words, a text"),
        (lambda t, s, c: tw.save(t, "x.model"), TypeError, r"found Tagger, expected a corpus; a model is saved by"),
        (lambda t, s, c: t.convert(c), ValueError, "found 0 other guidelines"),
        (lambda t, s, c: t.label_file("-", "-", to="pd"), StreamError, "found `to=pd`, expected ctb, the guideline of"),
        (lambda t, s, c: t.label_file("-", "-", colour=1), TypeError, "has no option 'colour', expected one of format"),
        (lambda t, s, c: t.label_file("-", "-", then=[s]), StreamError, "a model of characters, expected a tagger"),
        (lambda t, s, c: tw.compare(c, c.with_sentences(c.sentences[:5])), StreamError, "found different sentences"),
        (lambda t, s, c: tw.train(c, rounds=2, method="merged"), PlanError, "found `rounds` with the method merged"),
        (lambda t, s, c: tw.train(c, weights=[1, 2]), PlanError, "found 2 numbers as weights, expected 1"),
        (lambda t, s, c: tw.train([tw.Corpus([(["a"], ["A"])], name) for name in "gh"]), PlanError, "^a corpus: found"),
        (lambda t, s, c: tw.evaluate(c, {}), ValueError, "found no system"),
        (lambda t, s, c: tw.tagger, AttributeError, "module 'tagweave' has no attribute 'tagger'"),
    ],
)
def test_mistakes_are_named(
    tagger: Any, segmenter: Any, ctb: tw.Corpus, call: Any, error: type[Exception], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        call(tagger, segmenter, ctb)


def test_every_name_is_there() -> None:
    assert all(getattr(tw, name) is not None for name in tw.__all__) and set(tw.__all__) <= set(dir(tw))


def test_options_stand_in_signatures_and_docstrings() -> None:
    """They are declared in classes of options alone."""
    for function, kind in (
        (tw.train, tw.Plan),
        (tw.harvest_lexicon_files, LexiconOptions),
        (tw.Model.label_file, LabelOptions),
    ):
        shown = inspect.signature(function).parameters
        for each in declared({"": kind}, leave_out=("target", "sources", "dev", "start", "task", "method", "weights")):
            assert shown[each.name].default == each.default and shown[each.name].annotation == each.kind
            assert each.fields[""].metadata["help"] in (function.__doc__ or "")
            assert each.fields[""].metadata["help"] in (kind.__doc__ or "")
