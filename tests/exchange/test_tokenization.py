"""How text was cut is told from tokens; raw text is cut so, and text that was cut before stays as it is."""

from __future__ import annotations

import pytest

from tagweave.corpus.sentence import Sentence
from tagweave.errors import ExchangeError
from tagweave.exchange.tokenization import Tokenization, for_text, is_tokenized
from tagweave.streams.inputs import Input

CORPORA: dict[str, tuple[str, ...]] = {
    "words": ("Jan woont in Gent .", "De hond , zei Jan , blaft .", "राम दिल्ली गया ।"),
    "words, whole with - inside, without 's n't": (
        "Ann 's German-born dog does n't bark .",
        "Bob 's ex-wife , Dr. Bell , did n't .",
        "It 's a well-known cat ; it wo n't .",
    ),
    "words, without d' l'": ("l' eau d' Arras , l' or", "l' ami d' Ann ?", "d' ici"),
    "blanks": ("Jan woont in Gent.", "De hond, zei Jan, blaft."),
    "blanks ": ("他 在 图书馆 看书 。", "我们 明天 去 北京 。"),
    "characters": (" ".join("他在看书。"), " ".join("我去北京。")),
}
RAW = (
    ("words", "Jan woont in Gent.", "Jan|woont|in|Gent|."),
    ("words", "Jan woont in-huis , Gent .", "Jan|woont|in-huis|,|Gent|."),
    ("words", "राम गया।", "राम|गया|।"),
    ("words, whole with - inside, without 's n't", "Don't see Bob's ex-cat.", "Do|n't|see|Bob|'s|ex-cat|."),
    ("words, whole with - inside, without 's n't", "a- b -c d-e-f - g", "a|-|b|-|c|d-e-f|-|g"),
    ("words, whole with - inside, without 's n't", "see Ann 's rock-'n'-roll", "see|Ann|'s|rock-'n'-roll"),
    ("words, without d' l'", "L'eau d'Arras", "L'|eau|d'|Arras"),
    ("blanks", "Jan woont in Gent.", "Jan|woont|in|Gent."),
    ("blanks ", "他 去 北京。", "他|去|北京。"),
    ("characters", "他去 Gent", "他|去|G|e|n|t"),
)


def learned(name: str) -> Tokenization:
    return Tokenization.of_forms(line.split() for line in CORPORA[name])


def test_tokens_tell_how_text_was_cut_and_raw_text_is_cut_so() -> None:
    for name in CORPORA:
        assert (str(learned(name)), learned(name).of_segmenter) == (name.strip(), name.endswith(" "))
        assert Tokenization.from_json(learned(name).to_json()) == learned(name)
    for name, line, expected in RAW:
        assert (name, [line[a:b] for a, b in for_text(learned(name), [line])(line)]) == (name, expected.split("|"))
    assert Tokenization.of_forms([]) == Tokenization.from_json(None) == Tokenization()


def test_a_model_of_words_from_a_segmenter_takes_no_text_that_nobody_cut() -> None:
    uncut = "他们明天去北京,图书馆看书" * 3
    with pytest.raises(ExchangeError, match="cut by a segmenter"):
        learned("blanks ").cut(f"他 说 {uncut}")
    assert len(learned("words").cut(uncut)) == 39
    source = Input("x.txt", tokenization=learned("blanks "))
    assert "cut it first" in source.note_on_tokens([Sentence(("他", uncut))])
    assert source.note_on_tokens([Sentence(("他", "去"))]) == ""


def test_text_that_was_cut_before() -> None:
    for line, is_cut in (
        ("the dog is heard .", True),
        ("« Il vient ? »", False),  # as the French write
        ("Gent, and Graz .", False),
        ("the dog is heard", False),
        ("( a )", True),
    ):
        assert (line, is_tokenized([line])) == (line, is_cut)
    assert is_tokenized(["it 's"], ["'s"]) and not is_tokenized(["it 's"])
