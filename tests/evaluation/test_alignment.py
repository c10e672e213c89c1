"""Every way in which two corpora may fail to match has its message."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.alignment import check_text, check_tokens


def read(path, *texts):
    """Sentences of the blank-separated tokens of `texts`, from consecutive lines of a file."""
    return [Sentence(tuple(text.split()), location=Location(path, line)) for line, text in enumerate(texts, 1)]


BAD = [
    (
        ["ab c", "de f"],
        ["ab c", "d x"],
        "out:2: found 'x' from character 2 of sentence 2 on, expected 'ef' as in gold:2",
    ),
    (
        ["ab c"],
        ["ab"],
        "out:1: found the end of the sentence from character 3 of sentence 1 on, expected 'c' as in gold:1",
    ),
    (
        ["abc"],
        ["abcdefghijklmnopqrstuvw"],
        "out:1: found 'defghijklmno' from character 4 of sentence 1 on, expected the end of the sentence as in gold:1",
    ),
    (["a"], ["a", "b", "c"], "out:2: found 3 sentences, sentence 2 without a counterpart, expected 1 as in gold"),
    (["a", "b", "c"], ["a"], "out:1: found 1 sentences, nothing for gold:2, expected 3 as in gold"),
    (["a", "b"], [], "found 0 sentences, nothing for gold:1, expected 2 as in gold"),
    ([], ["a"], "out:1: found 1 sentences, sentence 1 without a counterpart, expected 0 as in the gold standard"),
    # the text is compared first: a sentence lost in the middle is named where it is missing
    (["a", "b", "c"], ["a", "c"], "out:2: found 'c' from character 1 of sentence 2 on, expected 'b' as in gold:2"),
]


@pytest.mark.parametrize(("gold", "system", "message"), BAD)
@pytest.mark.parametrize("check", [check_text, check_tokens])
def test_message(check, gold, system, message):
    with pytest.raises(CorpusError) as caught:
        check(read("gold", *gold), read("out", *system))
    assert str(caught.value) == message


LOOK_ALIKES = [
    ("caf\u00e9 a", "cafe\u0301 a", "U+0065 LATIN SMALL LETTER E, U+0301 COMBINING ACUTE ACCENT is found where U+00E9"),
    ("cafe\u0301 a", "caf\u00e9 a", "U+00E9 LATIN SMALL LETTER E WITH ACUTE is found where U+0065 LATIN SMALL "),
    ("q\u0323\u0307", "q\u0307\u0323", "U+0071 LATIN SMALL LETTER Q, U+0307 COMBINING DOT ABOVE, U+0323 COMBINING"),
    ("\uff21", "A", "U+0041 LATIN CAPITAL LETTER A is found where U+FF21 FULLWIDTH LATIN CAPITAL LETTER A is exp"),
    ("ab", "a\u200bb", "U+200B ZERO WIDTH SPACE is found where U+0062 LATIN SMALL LETTER B is expected"),
    ("a", "\u0430", "U+0430 CYRILLIC SMALL LETTER A is found where U+0061 LATIN SMALL LETTER A is expected"),
    (
        "a",
        "a\u0301",
        "U+0061 LATIN SMALL LETTER A, U+0301 COMBINING ACUTE ACCENT is found where U+0061 LATIN SMALL LETTER A is exp",
    ),
]


@pytest.mark.parametrize(("gold", "system", "told"), LOOK_ALIKES)
def test_characters_that_look_alike_are_told_apart(gold, system, told):
    with pytest.raises(CorpusError) as caught:
        check_text(read("gold", gold), read("out", system))
    assert f" as in gold:1; {told}" in str(caught.value)
    same = "one character in two Unicode normal forms" in str(caught.value)
    assert same == (normalize("NFKC", gold) == normalize("NFKC", system))


def test_sentences_without_a_place_are_named_by_file_and_number():
    message = r"s.txt: found 'c' from character 1 of sentence 2 on, expected 'b' as in g.txt \(sentence 2\)"
    with pytest.raises(CorpusError, match=message):
        check_text([Sentence(("a",)), Sentence(("b",))], [Sentence(("a",)), Sentence(("c",))], "g.txt", "s.txt")


words = st.lists(st.text("abc", min_size=1, max_size=3), max_size=4)


@given(st.lists(st.tuples(words, words), max_size=4))
def test_text_is_accepted_exactly_where_it_is_equal(pairs):
    gold, system = ([Sentence(tuple(pair[side])) for pair in pairs] for side in (0, 1))
    for check, same in (
        (check_text, all("".join(one) == "".join(other) for one, other in pairs)),
        (check_tokens, all(one == other for one, other in pairs)),
    ):
        if same:
            check(gold, system)
        else:
            with pytest.raises(CorpusError):
                check(gold, system)
