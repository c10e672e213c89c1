"""The sample corpus holds to its guidelines: closed classes, words of several tags, words that join, lengths, repeats.

The files are parsed here by hand, so that a mistake in a reader cannot hide a mistake in the data, nor the reverse.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise

import pytest

from tagweave.corpus import sample

TAGS = {
    "ctb": "AD AS BA CC CD CS DEC DEG DER DEV DT ETC FW IJ JJ LB LC M MSP NN NR NT OD ON P PN PU SB SP VA VC VE VV",
    "pd": "Ag a ad an b c Dg d e f h i j k l m Ng n nr ns nt nx nz o p q r s Tg t u Vg v vd vn w x y z",
}
ABSENT = {"ctb": set[str](), "pd": {"x"}}

PUNCTUATION = set("，。、？！：；“”")
SENTENCE_FINAL = set("。？！")


def others_of(table: str) -> dict[str, str]:
    """Read a table of tags, and what else they are: `TAG: TAG TAG; TAG: TAG`."""
    return dict(row.strip().split(": ") for row in table.split(";"))


# The words of a closed class. Only these carry the tag; whatever else they are must stand in AMBIGUOUS.
CLOSED = {
    "ctb": {
        "AS": "了 着 过",
        "BA": "把",
        "CC": "与 和 并 或者",
        "CS": "只要 如果 既然 虽然",
        "DEC": "的",
        "DEG": "的",
        "DER": "得",
        "DEV": "地",
        "DT": "上 下 任何 全 全部 另 各 所有 有些 有的 本 每 这 这些 那 那些",
        "ETC": "等",
        "IJ": "哎 哎呀 唉 喂",
        "LB": "被",
        "LC": "上 下 中 之内 之前 之间 以前 以后 以来 内 前 后 外 底 时 来 里",
        "MSP": "所 来",
        "OD": "第一 第二",
        "P": "为 为了 从 像 关于 到 向 和 因为 在 对 就 往 按照 根据 比 用 由 由于 给 自从 跟",
        "PN": "一切 什么 他 他们 你 你们 别人 双方 哪里 大家 她 您 我 我们 有些 自己 谁 这 这里",
        "SB": "被",
        "SP": "了 似的 吗 吧 呢 啊 的 的话",
        "VC": "是",
        "VE": "有 没有",
    },
    "pd": {
        "c": "不仅 不但 不过 但 但是 只要 可 可是 和 因为 因此 如果 并 总的来说 既 然后 而 而且 虽 虽然 还是",
        "e": "哎 哎呀 唉 啊",
        "h": "非",
        "k": "们",
        "p": "为 为了 于 从 以 作为 像 关于 向 和 在 对 就 往 把 按 据 根据 比 用 由 经 经过 给 自 自从 被 跟 除了 "
        "随着",
        "r": "为什么 什么 他 他们 任何 你 你们 哪儿 大家 她 如何 它 怎么 您 我 我们 有些 有的 本校 每 每天 自己 谁 "
        "这 这个 这些 这次 这部 这里 那 那天",
        "u": "一样 之 了 地 得 所 来说 的 着 等 过 连",
        "y": "了 吗 吧 呢 啊",
    },
}

# Words that the sample has under more than one tag; all others are slips.
AMBIGUOUS = {
    "ctb": {
        # particles by function (aspect after a verb, change of state at the end), and verbs of the same character
        **others_of(
            "了: AS SP; 的: DEC DEG SP; 得: DER VV; 地: DEV NN; 等: ETC VV; 被: LB SB; 所: M MSP; 来: LC MSP VV"
        ),
        # determiners, pronouns, localizers, prepositions, verbs: 上 个 月 and 湖 上, 和 … 一样, 用 … 来
        **others_of(
            "上: DT LC; 下: DT LC VV; 本: DT M; 这: DT PN; 有些: DT PN; 像: P VV; 到: P VV; 在: AD P VV; 就: AD P"
        ),
        **others_of("和: CC P; 没有: AD VE; 还: AD VV"),
        # measures and nouns: 每 小时, 三 个 小时
        **others_of("只: AD M; 夜: M NN; 天: M NN; 小时: M NN; 班: M NN; 碗: M NN; 种: M VV"),
        # adjectives: JJ before a noun, AD before a verb, else VA
        **dict.fromkeys(("冷", "热", "大", "好", "小", "年轻", "新", "新鲜", "长", "黑"), "JJ VA"),
        **others_of("快: AD VA; 晚: AD VA; 真: AD VA; 最后: AD JJ; 一点: AD CD; 多: AD CD VA; 滑: VA VV"),
        # verbs as nouns
        **dict.fromkeys(("生产", "画", "赔偿"), "NN VV"),
    },
    "pd": {
        # particles
        **others_of("了: u y; 得: u v; 着: u v; 等: u v; 过: d u v; 啊: e y"),
        # prepositions, localizers, conjunctions, adverbs, verbs
        **others_of(
            "为: p v; 像: p v; 和: c p; 在: d p v; 就: d p; 比: p v; 经过: p v; 给: p v; 来: f v; 上: f v; 下: f v"
        ),
        **others_of("没有: d v; 并: c d; 还是: c d"),
        # measures and nouns
        **others_of("只: d q; 天: n q; 家: n q; 种: q v"),
        # adjectives
        **others_of("一样: a u; 多: a ad m; 快: a d; 滑: a v; 努力: a an; 错误: a n"),
        # verbs as nouns, one as an adverb
        **others_of("持续: v vd; 判断: v vn; 提高: v vn; 检查: v vn; 规定: n v"),
    },
}

# Neighbours whose join is a word elsewhere, rightly: 还 是 is "still is", 很 快 a predicate, not "soon".
SEPARABLE = {"ctb": {("还", "是")}, "pd": {("还", "是"), ("很", "快")}}

# What a CTB tag may be under PD, on words that both guidelines have.
COUNTERPARTS = others_of("""
AD: d ad c r m; AS: u; BA: p; CC: c; CD: m; CS: c; DEC: u; DEG: u; DER: u; DEV: u; DT: r m b; ETC: u; FW: nx;
IJ: e; JJ: a; LB: p; LC: f Ng; M: q; MSP: u; NN: n vn an f s; NR: ns; NT: t; OD: m; ON: o; P: p c; PN: r; PU: w;
SB: p; SP: y u; VA: a z; VC: v; VE: v; VV: v d i
""")

# The tags of the word before one with a tag, of AS and u before 了 and 着 alone; and of the word after one.
BEFORE = {
    "ctb": {"AS": "VV VA", "DEG": "NN NR NT PN JJ LC CD M ON", "DEC": "AS LC NN VA VV"},
    "pd": {"u": "v a"},
}
AFTER = {"ctb": {"SP": "PU SP", "LB": "NN PN NR", "SB": "VV"}, "pd": {"y": "w y"}}


def lines(name: str, separator: str) -> list[list[list[str]]]:
    text = sample.path(name).read_text(encoding="utf-8")
    return [[item.split(separator) for item in line.split(" ")] for line in text.splitlines()]


def rows() -> list[list[list[str]]]:
    text = sample.path("both.tsv").read_text(encoding="utf-8")
    first, _, body = text.partition("\n")
    assert first == "# columns = form ctb pd"
    return [[row.split("\t") for row in block.split("\n")] for block in body.rstrip("\n").split("\n\n")]


CTB, PD, BOTH = lines("ctb.txt", "_"), lines("pd.txt", "/"), rows()
UNDER = {
    "ctb": CTB + [[[row[0], row[1]] for row in sentence] for sentence in BOTH],
    "pd": PD + [[[row[0], row[2]] for row in sentence] for sentence in BOTH],
}
FORMS = [[token[0] for token in sentence] for sentence in (*CTB, *PD, *BOTH)]
TEXTS = ["".join(forms) for forms in FORMS]
each_guideline = pytest.mark.parametrize("guideline", ["ctb", "pd"])


def tags_of_words(guideline: str) -> dict[str, set[str]]:
    tags: dict[str, set[str]] = defaultdict(set)
    for sentence in UNDER[guideline]:
        for word, tag in sentence:
            tags[word].add(tag)
    return tags


def test_the_files_have_the_sentences_that_the_readme_says() -> None:
    assert (len(CTB), len(PD), len(BOTH)) == (120, 120, 60)
    readme = sample.path("ctb.txt").with_name("README.md").read_text(encoding="utf-8")
    for name, count in (("ctb.txt", 120), ("pd.txt", 120), ("both.tsv", 60)):
        assert f"| `{name}` | {count} |" in readme


def test_sentences_have_8_to_25_words_with_their_tags() -> None:
    fields = {len(token) for sentence in (*CTB, *PD) for token in sentence}, {len(row) for rows in BOTH for row in rows}
    assert fields == ({2}, {3})
    assert [text for text, forms in zip(TEXTS, FORMS, strict=True) if not 8 <= len(forms) <= 25] == []


def test_no_sentence_is_there_twice_and_none_nearly() -> None:
    bigrams = [{text[i : i + 2] for i in range(len(text) - 1)} for text in TEXTS]
    assert len(set(TEXTS)) == 300
    near = [
        (TEXTS[i], TEXTS[j])
        for (i, one), (j, other) in combinations(enumerate(bigrams), 2)
        if len(one & other) >= 0.5 * len(one | other)
    ]
    assert near == []


def test_every_sentence_ends_with_a_final_mark_and_quotation_marks_pair() -> None:
    for text in TEXTS:
        assert text.rstrip("”")[-1] in SENTENCE_FINAL, text
        assert [mark for mark in text if mark in "“”"] == ["“", "”"] * text.count("“"), text


def test_characters_are_chinese_full_width_marks_or_letters_of_a_foreign_word() -> None:
    for word in {word for forms in FORMS for word in forms}:
        chinese = all("\u4e00" <= character <= "\u9fff" for character in word)
        assert chinese or word in PUNCTUATION or (word.isascii() and word.isalpha()), word


@each_guideline
def test_the_tags_are_those_of_the_guideline_and_stand_in_the_readme(guideline: str) -> None:
    used = {tag for sentence in UNDER[guideline] for _, tag in sentence}
    readme = sample.path("ctb.txt").with_name("README.md").read_text(encoding="utf-8")
    assert used == set(TAGS[guideline].split()) - ABSENT[guideline]
    assert [tag for tag in sorted(used) if f"\n| {tag} | " not in readme] == []


@each_guideline
def test_punctuation_and_foreign_letters_and_nothing_else_are_tagged_so(guideline: str) -> None:
    mark, foreign = {"ctb": ("PU", "FW"), "pd": ("w", "nx")}[guideline]
    for word, tags in tags_of_words(guideline).items():
        assert ((word in PUNCTUATION), word.isascii()) == (mark in tags, foreign in tags), word


@each_guideline
def test_closed_classes_have_exactly_their_words(guideline: str) -> None:
    tags = tags_of_words(guideline)
    for tag, words in CLOSED[guideline].items():
        assert {word for word in tags if tag in tags[word]} == set(words.split()), tag


@each_guideline
def test_a_word_has_one_tag_unless_it_is_known_to_have_several(guideline: str) -> None:
    several = {word: tags for word, tags in tags_of_words(guideline).items() if len(tags) > 1}
    assert several == {word: set(tags.split()) for word, tags in AMBIGUOUS[guideline].items()}


@each_guideline
def test_no_word_is_split_elsewhere(guideline: str) -> None:
    words = set(tags_of_words(guideline))
    split_words = set()
    for sentence in UNDER[guideline]:
        forms = [word for word, _ in sentence]
        split_words |= {pair for pair in pairwise(forms) if "".join(pair) in words}
        threes = zip(forms, forms[1:], forms[2:], strict=False)
        assert [three for three in threes if "".join(three) in words] == []
    assert split_words == SEPARABLE[guideline]


def test_the_two_tags_of_a_word_are_counterparts() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for sentence in BOTH:
        for _, ctb, pd in sentence:
            found[ctb].add(pd)
    assert found == {tag: set(others.split()) for tag, others in COUNTERPARTS.items()}


@each_guideline
def test_particles_and_bei_stand_where_their_tags_say(guideline: str) -> None:
    for sentence in UNDER[guideline]:
        for (word, tag), (after, next_tag) in pairwise(sentence):
            if next_tag in BEFORE[guideline] and (next_tag not in ("AS", "u") or after in "了着"):
                assert tag in BEFORE[guideline][next_tag].split(), word + after
            if tag in AFTER[guideline]:
                assert next_tag in AFTER[guideline][tag].split(), word + after


def test_pd_writes_surname_and_given_name_as_two_words() -> None:
    surnames = {"张", "李", "王", "赵", "刘", "陈"}
    names = {word for sentence in UNDER["pd"] for word, tag in sentence if tag == "nr"}
    assert surnames < names
    assert [name for name in names if name[0] in surnames and len(name) > 1] == []


@pytest.mark.parametrize("name", sample.NAMES)
def test_path_is_a_utf_8_text_with_one_line_break_at_its_end(name: str) -> None:
    text = sample.path(name).read_bytes().decode("utf-8")
    assert text.endswith("\n") and not text.endswith("\n\n") and "\r" not in text


@pytest.mark.parametrize("name", ["", "ctb", "README.md", "../corpus.py"])
def test_path_of_another_name_says_which_there_are(name: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"ctb\.txt, pd\.txt, both\.tsv"):
        sample.path(name)
