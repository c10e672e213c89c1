"""Answers of sources as arrays."""

from __future__ import annotations

import pytest

from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError
from tagweave.sources.answers import Answers
from tagweave.sources.layers import SourceCorpus, load_sources

ROWS = "Ann B-PER B-PER _ B-PER|O\nsleeps O O _ O\n\nMay B-PER _ O O\n"
NAMED = "# columns = form gold bob tag\nAnn\tB-PER\t_\tO\n"


def _file(tmp_path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def _said(found: SourceCorpus) -> dict[str, list[object]]:
    return {name: [sentence.layers[name] for sentence in found.corpus] for name in found.sources}


def test_columns_from_a_number_on_are_sources_and_others_stay_columns(tmp_path):
    found = load_sources([_file(tmp_path, "a.conll", ROWS)], "3:")
    assert _said(found) == {
        "column3": [(("B-PER",), ("O",)), (None,)],
        "column4": [(None, None), (("O",),)],
        "column5": [(("B-PER", "O"), ("O",)), (("O",),)],
    }
    assert found.corpus[0].columns == {"column2": ("B-PER", "O")}


def test_numbers_ranges_and_names_select_columns(tmp_path):
    path = _file(tmp_path, "a.conll", ROWS)
    selections = {
        "5,2": "column5 column2",
        ":3": "column2 column3",
        "3:4": "column3 column4",
        "column3,tag": "column3 tag",
    }
    for selection, names in selections.items():
        assert load_sources([path], selection).sources == tuple(names.split())
    found = load_sources([_file(tmp_path, "b.conll", NAMED)], "3:", gold="2")
    assert (found.sources, found.gold) == (("bob", "tag"), "gold")
    assert found.corpus[0].layers["gold"] == (("B-PER",),)
    assert not found.corpus[0].columns


def test_a_source_missing_in_one_file_says_nothing_there(tmp_path):
    first = _file(tmp_path, "a.conll", "# columns = form bob\nAnn\tO\n")
    second = _file(tmp_path, "b.conll", "# columns = form bob eve\nMay\tO\tB-PER\n")
    found = load_sources([first, second], "2:")
    assert _said(found) == {"bob": [(("O",),), (("O",),)], "eve": [(None,), (("B-PER",),)]}


def test_every_file_may_be_a_source(tmp_path):
    bob, eve = _file(tmp_path, "bob.conll", "Ann B-PER\nran O\n"), _file(tmp_path, "e.conll", "Ann O\nran _\n")
    found = load_sources([bob, f"eve={eve}"])
    assert _said(found) == {"bob": [(("B-PER",), ("O",))], "eve": [(("O",), None)]}
    assert load_sources([bob], gold=f"truth={eve}").gold == "truth"
    with pytest.raises(CorpusError, match=r"w\.seg: found words without labels, expected labels of tokens"):
        load_sources([bob, _file(tmp_path, "w.seg", "Ann ran\n")])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ann O\nruns O\n", r"b\.conll:1: found 'runs' as token 2, expected 'ran', as in the sentence at .*a\.conll:1"),
        ("Ann O\n", r"b\.conll:1: found the end of the sentence as token 2, expected 'ran'"),
        ("Ann O\nran O\n", r"b\.conll: found no sentence more, expected one as at line 4 of .*a\.conll"),
        ("Ann O\nran O\n\nHm O\n\nOh O\n", r"b\.conll:6: found a sentence more, expected 2, as in .*a\.conll"),
    ],
)
def test_texts_that_differ_are_an_error_that_names_the_line(tmp_path, text, message):
    files = [_file(tmp_path, "a.conll", "Ann O\nran O\n\nHm O\n"), _file(tmp_path, "b.conll", text)]
    with pytest.raises(CorpusError, match=message):
        load_sources(files)


def test_answers_of_models_may_lack_lines_and_are_aligned_by_their_text(tmp_path):
    def answer(text):
        return f'{{"text": "{text} .", "entities": {{"PER": ["{text}"]}}}}\n'

    cut = '{"text": "Hm\n'
    first = _file(tmp_path, "a.jsonl", answer("Ann") + cut + answer("May") + answer("Ann"))
    second = _file(tmp_path, "b.jsonl", answer("Ann") + answer("Bob") + cut + answer("Ann"))
    found = load_sources([first, second])
    assert [each.forms[0] for each in found.corpus] == ["Ann", "May", "Ann", "Bob"]
    said, silent = (("B-PER",), ("O",)), (None, None)
    assert _said(found) == {"a": [said, said, said, silent], "b": [said, silent, said, said]}
    assert found.lacking == (
        f"{first} lacks 1 of 4 sentences, such as that at {second}:2",
        f"{second} lacks 1 of 4 sentences, such as that at {first}:3",
    )
    third = _file(tmp_path, "c.jsonl", answer("Eve"))
    with pytest.raises(CorpusError, match=r"found no sentence of the other files, expected some, .*c\.jsonl:1"):
        load_sources([first, third])


@pytest.mark.parametrize(
    ("selection", "gold", "message"),
    [
        ("bob", None, "found no column 'bob', expected numbers, ranges such as 3:, or names: column2, column3"),
        ("3:7", None, "found the columns 3:7, expected columns from 2 to 5"),
        ("1", None, "found the columns 1, expected columns from 2 to 5"),
        ("", None, "found no column ''"),
        ("2:", "2", "found the gold column '2', expected one column that is no source"),
        ("4", "2:3", "found the gold column '2:3', expected one column"),
    ],
)
def test_a_wrong_selection_is_an_error(tmp_path, selection, gold, message):
    with pytest.raises(CorpusError, match=message):
        load_sources([_file(tmp_path, "a.conll", ROWS)], selection, gold)


def test_a_bad_cell_is_an_error_with_its_line(tmp_path):
    with pytest.raises(CorpusError, match=r"a\.conll:2: found a repeated alternative"):
        load_sources([_file(tmp_path, "a.conll", "Ann O O\nran O|O O\n")], "2:")


def test_layers_of_other_formats_are_chosen_by_name(tmp_path):
    rows = "1\tAnn\t_\tPROPN\tNNP\t_\t0\troot\t_\t_\n\n"
    found = load_sources([_file(tmp_path, "a.conllu", rows)], "upos,xpos")
    assert _said(found) == {"upos": [(("PROPN",),)], "xpos": [(("NNP",),)]}
    with pytest.raises(CorpusError, match="found no column '2', expected upos, xpos"):
        load_sources([_file(tmp_path, "b.conllu", rows)], "2")


def test_two_files_of_one_name_are_an_error(tmp_path):
    path = _file(tmp_path, "a.conll", "Ann O\n")
    with pytest.raises(CorpusError, match="found two files called 'a', expected names of their own"):
        load_sources([path, path])


SENTENCES = (
    Sentence(("Ann", "Lee"), {"a": (("B-PER",), ("I-PER",)), "b": (None, ("B-PER", "O"))}),
    Sentence(("sees",), {"b": (("O",),)}),
)


def test_answers_are_sorted_rows_and_spans_have_all_labels_of_their_types():
    answers = Answers.of_sentences(SENTENCES, ("b", "a"))
    assert answers.labels == ("B-PER", "I-PER", "O")
    assert answers.sentence_ptr.tolist() == [0, 2, 3]
    columns = answers.position, answers.source, answers.label, answers.share
    assert [column.tolist() for column in columns] == [
        [0, 1, 1, 1, 2],
        [1, 0, 0, 1, 0],
        [0, 0, 2, 1, 2],
        [1, 0.5, 0.5, 1, 1],
    ]
    assert answers.votes().tolist() == [[1, 0, 0], [0.5, 1, 0.5], [0, 0, 1]]
    assert answers.counts().tolist() == [2, 2]
    assert not answers.scheme.start[1]


def test_layers_without_any_label_and_rejected_spans_are_refused():
    with pytest.raises(ValueError, match="no label in the layers c"):
        Answers.of_sentences(SENTENCES, ("c",))
    sentence = Sentence(("a",), {"ann": (("B-X",),), "bob": (None,)}).rejecting("bob", [Span(0, 1, "X")])
    with pytest.raises(CorpusError, match="found rejected spans of the source bob"):
        Answers.of_sentences([sentence], ("ann", "bob"))
    assert len(Answers.of_sentences([sentence], ("ann",)))
