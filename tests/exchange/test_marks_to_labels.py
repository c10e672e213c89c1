"""Spans of characters become labels of tokens, and come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.sentences import Notes, annotators, documents, joined, joint, sentences
from tagweave.exchange.tokens import of_words, tokenizer

OUTSIDE, UNKNOWN = ("O",), None
WORDS = tokenizer("words")


def read(*given: Document, **how: str) -> tuple[list[Sentence], Notes]:
    notes = Notes()
    rules = {"misaligned": "error", "unmarked": "outside", **how}
    return list(sentences(given, WORDS, rules["misaligned"], rules["unmarked"], notes)), notes


def layer(*marks: Mark, text: str = "Ann Bell left Graz.", **how: str) -> Layer:
    ((sentence,), _) = read(Document(text, {"ann": marks}), **how)
    return sentence.layers["tag"]


class TestTokens:
    @pytest.mark.parametrize(
        ("name", "tokens"),
        [
            ("blanks", ["Ann's", "cat,", "2.5"]),
            ("words", ["Ann's", "cat", ",", "2.5"]),
            ("characters", [*"Ann'scat,2.5"]),
        ],
    )
    def test_by_patterns(self, name: str, tokens: list[str]) -> None:
        text = "Ann's cat,  2.5"
        assert [text[a:b] for a, b in tokenizer(name)(text)] == tokens

    def test_by_a_function(self) -> None:
        cut = of_words(lambda text: [text[:2], text[2:].strip()])
        assert cut("ab cd") == [(0, 2), (3, 5)]
        with pytest.raises(ExchangeError, match="found the words 'x', expected those of the text 'ab'"):
            of_words(lambda _: ["x"])("ab")


class TestReading:
    def test_spans_are_labels_in_iob2(self) -> None:
        assert layer(Mark(0, 8, "PER"), Mark(14, 18, "LOC")) == (("B-PER",), ("I-PER",), OUTSIDE, ("B-LOC",), OUTSIDE)

    def test_a_score_is_a_number_of_candidates(self) -> None:
        found = layer(Mark(14, 18, "LOC", 0.75))
        assert found[3] == Soft(("B-LOC", "O"), (0.75, 0.25)) and found[:3] == (OUTSIDE, OUTSIDE, OUTSIDE)

    def test_what_nobody_marked_may_be_unknown(self) -> None:
        found = layer(Mark(14, 18, "LOC"), unmarked="unknown")
        assert found == (UNKNOWN, UNKNOWN, UNKNOWN, ("B-LOC",), UNKNOWN)

    def test_documents_that_nobody_has_begun_may_be_unknown(self) -> None:
        marks = (Mark(0, 1, "X"),)
        given = (Document("a b", {"ann": marks, "bob": ()}), Document("c", {"ann": (), "bob": None}), Document("d"))
        found, notes = read(*given, unmarked="empty-unknown")
        assert [list(each.layers.values()) for each in found] == [
            [(("B-X",), OUTSIDE), (UNKNOWN, UNKNOWN)],
            [(UNKNOWN,)] * 2,
            [(UNKNOWN,)] * 2,
        ]
        assert (notes.documents, notes.empty, notes.unseen) == (3, 1, 1)

    def test_blanks_at_the_ends_of_a_span_do_not_count(self) -> None:
        assert layer(Mark(8, 14, "X")) == layer(Mark(9, 13, "X"))

    @pytest.mark.parametrize(
        ("misaligned", "labels"),
        [
            ("widen", (("B-X",), ("I-X",), OUTSIDE, OUTSIDE, OUTSIDE)),
            ("unknown", (UNKNOWN, UNKNOWN, OUTSIDE, OUTSIDE, OUTSIDE)),
        ],
    )
    def test_a_span_that_cuts_a_token(self, misaligned: str, labels: Layer) -> None:
        given = Document("Ann Bell left Graz.", {"ann": (Mark(0, 6, "X"),)})
        ((sentence,), notes) = read(given, misaligned=misaligned)
        assert sentence.layers["tag"] == labels
        assert notes.shown == ["the span 'Ann Be' (0 to 6), of the tokens 'Ann Bell'"] and notes.spans == 1

    def test_or_that_is_an_error(self) -> None:
        with pytest.raises(CorpusError, match=r"found the span 'An' \(0 to 2\), of the tokens 'Ann', expected whole"):
            layer(Mark(0, 2, "X"))

    def test_a_span_of_two_lines_is_never_widened(self) -> None:
        given = Document("a b\nc d", {"ann": (Mark(2, 5, "X"),)})
        ((first, second), notes) = read(given, misaligned="widen")
        assert (first.layers["tag"], second.layers["tag"]) == ((OUTSIDE, UNKNOWN), (UNKNOWN, OUTSIDE))
        assert notes.misaligned == 2

    def test_of_spans_that_overlap_the_longest_stays_and_the_others_are_counted(self) -> None:
        given = Document("a b c", {"ann": (Mark(0, 1, "X"), Mark(0, 3, "Y"), Mark(4, 5, "Z"))})
        ((sentence,), notes) = read(given)
        assert sentence.layers["tag"] == (("B-Y",), ("I-Y",), ("B-Z",)) and notes.overlapping == 1

    def test_or_each_type_has_a_layer_of_nested_ones_the_outermost(self) -> None:
        marks = (Mark(0, 1, "X"), Mark(0, 3, "Y"), Mark(2, 3, "Y"), Mark(4, 5, "a Z"))
        given, notes = Document("a b c", {"ann": marks}), Notes()
        (sentence,) = sentences([given], WORDS, "error", "outside", notes, overlap=True)
        assert sentence.layers == {
            "X": (("B-X",), OUTSIDE, OUTSIDE),
            "Y": (("B-Y",), ("I-Y",), OUTSIDE),
            "a_Z": (OUTSIDE, OUTSIDE, ("B-a Z",)),
        }
        assert notes.overlapping == 1 and "overlap longer ones of the same type" in " ".join(notes.lines())
        (found,) = map(joint, documents([sentence], [*sentence.layers]))
        assert found.marks == {"tag": (marks[0], marks[1], marks[3])}

    def test_and_each_annotator_has_those_of_their_types(self) -> None:
        given = Document("a b", {"ann": (Mark(0, 1, "X"), Mark(0, 3, "Y")), "bob": (Mark(0, 1, "X"), Mark(2, 3, "Y"))})
        (sentence,) = sentences([given], WORDS, "error", "outside", Notes(), overlap=True)
        assert [*sentence.layers] == ["ann:X", "ann:Y", "bob"]

    def test_everybody_has_a_layer_and_who_did_not_see_a_text_says_nothing(self) -> None:
        first = Document("a b", {"ann": (Mark(0, 1, "X"),), "bob": ()})
        second = Document("c", {"bob": None, "eve": (Mark(0, 1, "X", 0.5),)})
        found, _ = read(first, second)
        assert found[0].layers == {"ann": (("B-X",), OUTSIDE), "bob": (OUTSIDE, OUTSIDE), "eve": (UNKNOWN, UNKNOWN)}
        assert found[1].layers["ann"] == found[1].layers["bob"] == (UNKNOWN,)

    def test_texts_of_several_files_are_joined_unless_one_annotator_marked_both(self) -> None:
        ann, bob = (Document("a", {name: (Mark(0, 1, name),)}) for name in ("ann", "bob"))
        assert [list(each.marks) for each in joined([ann, bob, ann])] == [["ann", "bob"], ["ann"]]
        assert annotators([bob, ann]) == ["bob", "ann"]

    def test_texts_that_occur_again_keep_their_places(self) -> None:
        texts = [Document(text, {"ann": ()}) for text in ("one", "two", "one")]
        assert joined(texts) == texts

    def test_tokens_of_the_tool_are_kept(self) -> None:
        given = Document("ab cd\nef", {"ann": (Mark(1, 5, "X"),)}, tokens=((0, 1), (1, 5), (6, 8)))
        ((first, second), _) = read(given)
        assert (first.forms, second.forms) == (("a", "b cd"), ("ef",)) and first.layers["tag"] == (OUTSIDE, ("B-X",))

    def test_a_span_with_gaps_is_misaligned(self) -> None:
        given = Document("a b c", {"ann": (Mark(0, 5, "X", gaps=True),)})
        assert read(given, misaligned="unknown")[0][0].layers["tag"] == (UNKNOWN,) * 3
        for misaligned in ("error", "widen"):
            with pytest.raises(CorpusError, match="found the discontinuous span 'a b c'"):
                read(given, misaligned=misaligned)

    def test_tags_are_labels_of_tokens(self) -> None:
        given = Document("a b c", {"ann": (Mark(0, 1, "X"), Mark(2, 5, "Y", 0.75))})
        (sentence,) = sentences([given], WORDS, "error", "outside", Notes(), "tags")
        assert sentence.layers["tag"] == (("X",), Soft(("Y", "O"), (0.75, 0.25)), Soft(("Y", "O"), (0.75, 0.25)))
        (found,) = documents([sentence], ["tag"], "tags")
        assert found.marks["tag"] == (Mark(0, 1, "X"), Mark(2, 3, "Y", 0.75), Mark(4, 5, "Y", 0.75))

    def test_a_line_without_tokens_is_no_sentence(self) -> None:
        ((only,), _) = read(Document("\n \na\n", {"ann": ()}))
        assert only.comments == ("# document = 1", "# text = a", "# start = 3", '# before = "\\n \\n"')


WORD = st.text("ab,.", min_size=1, max_size=4)
LINES = st.lists(st.lists(WORD, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=4)


class TestWriting:
    @given(lines=LINES, data=st.data())
    def test_the_way_back(self, lines: list[str], data: st.DataObject) -> None:
        """Of spans that are whole tokens and do not overlap; blank lines keep their place."""
        text = data.draw(st.sampled_from(["\n", "\n\n"])).join(lines)
        marks = []
        for sentence in read(Document(text))[0]:
            start = int(sentence.comments[-1].rpartition(" ")[2])
            tokens = WORDS(text[start : start + len(sentence.comments[-2]) - len("# text = ")])
            first = data.draw(st.integers(0, len(tokens) - 1))
            last = data.draw(st.integers(first, len(tokens) - 1))
            marks.append(Mark(start + tokens[first][0], start + tokens[last][1], "X", 0.5))
        given = Document(text, {"tag": tuple(marks)}, "7")
        (found,) = documents(read(given)[0], ["tag"])
        assert (found.text, found.marks, found.name) == (text, given.marks, "7")

    def test_sentences_of_another_corpus_are_documents_of_their_own(self) -> None:
        words = Sentence(("Ann", "left"), {"tag": (("B-PER",), OUTSIDE)})
        characters = Sentence(("我", "走"), {"tag": (UNKNOWN, ("B-X", "O"))})
        first, second = documents([words, characters], ["tag"])
        assert (first.text, first.marks) == ("Ann left", {"tag": (Mark(0, 3, "PER"),)})
        assert (second.text, second.marks) == ("我走", {"tag": ()})

    def test_what_stands_between_sentences_is_kept(self) -> None:
        for text in ("山上。\n有水。", "\r\n a. b.\n c.\r\n \n\nb"):
            assert [each.text for each in documents(read(Document(text, {"x": ()}))[0], ["tag"])] == [text]

    @pytest.mark.parametrize(
        ("comments", "told"),
        [
            (("# text = Ann", "# before = {"), r"found the comment before = \{, expected a JSON string"),
            (("# text = Bob",), "found the tokens 'Ann', expected those of the text 'Bob'"),
        ],
    )
    def test_comments_that_are_wrong(self, comments: tuple[str, ...], told: str) -> None:
        with pytest.raises(CorpusError, match=told):
            list(documents([Sentence(("Ann",), comments=comments)], ["tag"]))
