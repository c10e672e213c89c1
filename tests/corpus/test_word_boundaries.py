"""Words of any script: no mark, joiner or format character alone, and no grapheme cluster in pieces."""

from __future__ import annotations

import unicodedata

import regex
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.characters import RAW_BLANKS
from tagweave.exchange.offsets import TokenOffsets
from tagweave.exchange.tokens import tokenizer

# tokens are between bars, those that are between blanks, too
SENTENCES = """
Devanagari|राम|दिल्ली|गया|।
Bengali|রাম|ঢাকায়|গেল|।
Tamil|ராம்|சென்னைக்கு|போனான்|.
Telugu|రాము|ఇంటికి|వెళ్ళాడు|.
Kannada|ರಾಮ|ಮನೆಗೆ|ಹೋದ|.
Malayalam|രാമൻ|വീട്ടിൽ|പോയി|.
Gujarati|રામ|ઘરે|ગયો|.
Gurmukhi|ਰਾਮ|ਘਰ|ਗਿਆ|।
Sinhala|රාම|ගෙදර|ගියා|.
Arabic|ذَهَبَ|الوَلَدُ|،|إلى|البَيْتِ
Persian|می‌خواهم|بروم|؟
Hebrew|הַיֶּלֶד|הָלַךְ|.
Syriac|ܫܠܳܡܳܐ|ܥܠܟ݂ܘܢ
Greek|ο|Νίκος|πήγε|.
Cyrillic|И́ван|пошёл|.
Armenian|Արամը|գնաց|։
Georgian|ნინო|წავიდა|.
Amharic|አበበ|ሄደ|።
Korean|철수가|갔다|.
Vietnamese|Tôi|tới|Hà|Nội|.
Tibetan|བོད|་|ཡིག|།
Thai|น้ำ|ดี
Lao|ນ້ຳ|ດີ
Khmer|ស្រី|ល្អ
Burmese|မြ|န်|မာ|။
Chinese|我|去|北|京|，|3|月
Japanese|東|京|へ|カタカナ|。
Latin|don't|l'ami|U.S.|3.14|1,000.5|naïve_x|well|-|known
initials|J.|Bell|met|Dr.|Noor|at|10:30|on|2001-02-03|,|24/7
addresses|http://a.example/b_(c)?d=é|,|www.b.example|.|x.y@b.example|;|b.example/c|.
names|@ann|#tag|#|1|C++|,|C#|R&D|:)|:-(
repeated|...|--|!!!|?!|…|(|(|''|""
emoji|👩‍💻|👍🏽|👍🏽|🇧🇪|🇳🇱|❤️|1️⃣|🏴󠁧󠁢󠁥󠁮󠁧󠁿
mixed|iPhone|手|机|用|http://a.example|。
soft|Donau\u00addampf|schiff
"""


def cut(text: str, name: str = "words") -> list[str]:
    return [text[start:stop] for start, stop in tokenizer(name)(text)]


def test_words_of_many_scripts_are_whole() -> None:
    tables = [line.split("|") for line in SENTENCES.strip().splitlines()]
    for form in ("NFC", "NFD"):
        for script, *words in tables:
            expected = [unicodedata.normalize(form, word) for word in words]
            assert (script, cut(" ".join(expected))) == (script, expected)
            assert (script, cut("\u2003 \u200b".join(expected))) == (script, expected)
            if script not in ("names", "initials", "repeated"):  # where what follows matters
                signs = [word for word in expected if unicodedata.category(word[0]) == "Po" and len(word) == 1]
                glued = " ".join(expected)
                for sign in signs:
                    glued = glued.replace(f" {sign}", sign)
                assert (script, cut(glued)) == (script, expected)


def test_what_cannot_be_seen_belongs_to_no_token() -> None:
    for text, expected in (
        ("\ufeff\u2067Ann\u2069 \u200e sang\u200b", ["Ann", "sang"]),
        ("a\u00a0b\u2028c\u0085d\x1ce\u3000f", ["a", "b", "c", "d", "e", "f"]),
        (" \u0301a \u200d \ufe0f b\x00", ["a", "b"]),
        ("က\u102c ျ", ["က\u102c"]),
        ("plan B.", ["plan", "B", "."]),
        ("", []),
    ):
        assert cut(text) == expected
        offsets = TokenOffsets.in_text(text, expected)
        assert offsets is not None and [*offsets.starts] == [start for start, _ in tokenizer("words")(text)]
    assert TokenOffsets.in_text("a\u0301", ["a"]) is None


ODD = ("\u06001", "น้ำ", "กि", *"aZ1.,'’:@#-_!() \u00a0\u0301\u200d\u200c\u00ad\ufe0f\u200e\ufeff我あア한👩🇧א\u200b\x00")


@given(st.lists(st.sampled_from(ODD), max_size=12).map("".join))
def test_tokens_are_whole_grapheme_clusters_in_order_that_can_be_seen(text: str) -> None:
    lines = text.translate(dict.fromkeys(map(ord, RAW_BLANKS), "\n"))  # nothing combines with a blank
    ends = {match.end() for match in regex.finditer(r"\X", lines)} | {0}
    for name in ("words", "characters"):
        offsets = tokenizer(name)(text)
        assert offsets == sorted(offsets) and all(start in ends and stop in ends for start, stop in offsets)
        for form in cut(text, name):
            assert not set(form) & set(RAW_BLANKS)
            assert any(unicodedata.category(each)[0] not in "MC" for each in form)
        left_out = {*range(len(text))} - {at for start, stop in offsets for at in range(start, stop)}
        assert all(unicodedata.category(text[at])[0] in "MCZ" for at in left_out)
        found = TokenOffsets.in_text(text, cut(text, name))
        assert found is not None and [*zip(found.starts, found.stops, strict=True)] == offsets
