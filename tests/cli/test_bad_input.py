"""Input that is no clean text: a clear error that leaves the output as it was, or a result that has lost nothing."""

from __future__ import annotations

import re
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_files import write

from tagweave.corpus.characters import RAW_BLANKS
from tagweave.corpus.load import load
from tagweave.front import loading
from tagweave.front import taggers as segmenter_module
from tagweave.harvest.options import MARKUP_FORMATS
from tagweave.models import pair_tables

BLANKS = str.maketrans("", "", RAW_BLANKS)
ODD_TEXT = {
    "empty": "",
    "blank lines": "\n\n\n",
    "blanks only": " \n\t\n\u3000\n \t\n",
    "no line break at the end": "我们看着\n他说",
    "a blank and no line break": "我们\n ",
    "CRLF": "我们看着\r\n\r\n他说\r\n",
    "a byte order mark": "\ufeff我们看着\n他说\n",
    "nothing but a byte order mark": "\ufeff",
    "byte order marks inside": "\ufeff\ufeff我们\ufeff看着\n\ufeff他说\n",
    "what other programs end lines at": "我\u2028们\u2029\x85看\x0b着\x0c他\x1c说\n好\n",
    "blanks of other kinds": "我\u00a0们\u200b看\u2003着\n",
    "control characters": "\x01\x02\x7f\x1b[31m我\n",
    "combining marks and joiners": "e\u0301\u0301我\n\u0301\n👨\u200d👩\u200d👧\n",
    "beyond the basic plane": "𠀀𪚥\n\U0010ffff\U000e0001\n",
    "what formats use": "a/b|c-d\\e&f_g?h#i\n# guideline = x\n/\n|\n\\\n-\n#\n",
    "one character": "我",
}
BAD_BYTES = {
    "not UTF-8": (b"a\n\xe6\x88\x91\xff\n", r":2: found the byte 0xff at byte 4 of the line .*, expected UTF-8"),
    "cut in a character": ("我们".encode()[:-1], r":1: found the byte 0xe4 at byte 4 .*, expected UTF-8"),
    "UTF-16": ("我们\n".encode("utf-16"), r":1: found the byte 0xff at byte 1 .*, expected UTF-8"),
    "half of a surrogate pair": (b"a\n\n\xed\xa0\x80\n", r":3: found the byte 0xed at byte 1 .*, expected UTF-8"),
    "NUL": ("我\n们\0\n".encode(), r":2: found a NUL character at character 2, expected lines of text"),
    "a carriage return": (b"a\r\nb\rc\n", r":2: found a carriage return inside the line at character 2"),
    "gzip that ends too soon": (b"\x1f\x8b\x08ab", r":1: found broken gzip data .*, expected a whole gzip file"),
}
WORDS = "我们\n看着\tv".encode()
READ = [("tables", False), ("tables", True), ("tagger", False), ("with tags", True)]
"""Ways, and whether the text comes through a pipe, which differs for tables alone."""


def lines_of(data: bytes) -> list[str]:
    """The lines as a user counts them, without blanks, carriage returns at their ends and one byte order mark."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    lines = text.split("\n")
    if not lines[-1] and not (text == "" and data):
        lines.pop()
    return [line.removesuffix("\r").translate(BLANKS) for line in lines]


@pytest.fixture(autouse=True, scope="module")
def models_are_opened_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "load_model", cache(loading.load_model))
        derive, derived = pair_tables.kept_tables, {}

        def tables(model, folder):
            if id(model) not in derived:
                derived[id(model)] = derive(model, folder)
            return derived[id(model)]

        patch.setattr(pair_tables, "kept_tables", tables)
        yield


@pytest.fixture
def tag(run, segmenter, segtagger, tmp_path, monkeypatch):
    """Tags bytes in one of the ways, from a file or from standard input, into the file `out` that was there before."""

    def call(way, data, code=0, piped=False):
        with monkeypatch.context() as patch:
            if way == "tagger":
                patch.setattr(segmenter_module.Segmenter, "_by_tables", lambda *_: None)
            (tmp_path / "in.raw").write_bytes(data)
            (tmp_path / "out").write_text("before")
            source, stdin = ("-", data) if piped else (tmp_path / "in.raw", None)
            model = segtagger if way == "with tags" else segmenter
            options = ["-o", tmp_path / "out", "--output-format", "segmented"]
            return run("tag", model, source, *options, stdin=stdin, code=code)

    return call


def check_untouched(folder: Path, output: str = "out") -> None:
    assert (folder / output).read_text() == "before"
    assert not list(folder.glob("*.part"))


READERS = {
    "raw": "tag {segmenter} {file} -o out",
    "raw with tags": "tag {segtagger} {file} -o out",
    "raw to harvest": "harvest lexicon {file} --lexicon words -o out",
    "lexicon": "harvest lexicon text --lexicon {file} -o out",
    **{form: f"harvest markup {{file}} --format {form} -o out" for form in MARKUP_FORMATS},
    "partial": "train pd={corpora}/words.txt --source pd={file} --task segment -o out",
}


@pytest.mark.parametrize(
    ("name", "reader", "piped"),
    [
        *((name, "raw", False) for name in BAD_BYTES),
        *((name, reader, False) for name, reader in zip(cycle(BAD_BYTES), READERS, strict=False)),
        *(("NUL", "raw", True), ("UTF-16", "raw to harvest", True)),
    ],
)
def test_bad_bytes_name_the_line_and_nothing_is_written(
    run, segmenter, segtagger, corpora, tmp_path, monkeypatch, name, reader, piped
):
    data, message = BAD_BYTES[name]
    data = data.replace(b"a\n", "甲\n".encode()) if reader == "partial" else data
    monkeypatch.chdir(tmp_path)
    file = "in.kytea" if reader == "partial" else "in"
    for path, content in ((file, data), ("out", b"before"), ("words", WORDS), ("text", b"a\n")):
        Path(path).write_bytes(content)
    names = {"segmenter": segmenter, "segtagger": segtagger, "corpora": corpora, "file": "-" if piped else file}
    result = run(*READERS[reader].format(**names).split(), stdin=data if piped else None, code=2)
    assert re.match(f"tagweave: {names['file']}{message}", result.stderr.splitlines()[-1])
    assert result.stdout == "" and "Traceback" not in result.stderr
    check_untouched(tmp_path)


# tag


@pytest.mark.parametrize(("way", "piped"), READ)
@pytest.mark.parametrize("name", ODD_TEXT)
def test_tagging_loses_no_line_and_no_character(tag, tmp_path, name, way, piped):
    data = ODD_TEXT[name].encode()
    tag(way, data, piped=piped)
    out = (tmp_path / "out").read_bytes()
    assert out == b"" or out.endswith(b"\n")
    assert [line.translate(BLANKS) for line in out.decode().split("\n")[:-1]] == lines_of(data)


PIECES = ["我们", "看着", "a", "1", " ", "\u3000", "\n", "\r\n", "\ufeff", "\u2028", "𠀀", "\0", "\r", "\ud800"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=10))
def test_both_ways_agree_on_any_text(tag, tmp_path, pieces):
    data = "".join(pieces).encode("utf-8", "surrogatepass")
    code = 2 if re.search("\0|\ud800|\r(?!\n)", "".join(pieces).removesuffix("\r")) else 0
    seen = [(tag(way, data, code).stderr, (tmp_path / "out").read_bytes()) for way in ("tables", "tagger")]
    assert seen[0] == seen[1]
    if code == 0:
        assert [line.translate(BLANKS) for line in seen[0][1].decode().split("\n")[:-1]] == lines_of(data)


def test_a_line_of_ten_megabytes(tag, tmp_path):
    line = "今天早上我们看着他。" * 333_333
    tag("tables", f"我们\n{line}\n他".encode())
    first, long, last = (tmp_path / "out").read_text("utf-8").splitlines()
    assert (first.replace(" ", ""), last) == ("我们", "他") and long.replace(" ", "") == line


def test_names_of_files_that_are_no_text(run, segmenter, tmp_path):
    odd = Path(str(tmp_path) + "/\udcff\n.raw")
    assert run("tag", segmenter, odd, code=2).stderr.count("\n") == 1
    write(odd, ["我们"])
    assert run("tag", segmenter, odd).stdout.replace(" ", "") == "我们\n"


# harvest lexicon


@pytest.fixture
def harvest(run, tmp_path):
    """Harvests from bytes of raw text with bytes of a lexicon, into the file `out.kytea` that was there before."""

    def call(raw, lexicon=WORDS, code=0, piped=False):
        (tmp_path / "out.kytea").write_text("before")
        (tmp_path / "in.raw").write_bytes(raw)
        (tmp_path / "words.txt").write_bytes(lexicon)
        source, stdin = ("-", raw) if piped else (tmp_path / "in.raw", None)
        options = ["--lexicon", tmp_path / "words.txt", "-o", tmp_path / "out.kytea", "--all"]
        return run("harvest", "lexicon", source, *options, stdin=stdin, code=code)

    return call


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("name", ODD_TEXT)
def test_harvesting_loses_no_line_and_is_read_again(harvest, tmp_path, name, piped):
    data = ODD_TEXT[name].encode()
    harvest(data, piped=piped)
    expected = lines_of(data)
    assert (tmp_path / "out.kytea").read_bytes().count(b"\n") == len(expected)
    read = ["".join(sentence.forms) for sentence in load(str(tmp_path / "out.kytea"))]
    assert read == [line for line in expected if line]


@pytest.mark.parametrize(
    ("lexicon", "line"),
    [
        ("我们\n我们\n\n我们 3\n", "我-们|看 着"),
        ("我们\tr\n我们\tn|r\n我们\n", "我-们/r&n|看 着"),
        ("\ufeff我们\r\n\r\n  看着  \r\n", "我-们|看-着"),
        ("看着\n\ufeff我们\tr\n", "我-们/r|看-着"),  # two files with byte order marks, joined
        ("们\n", "我 们 看 着"),
        ("着" * 3_000_000, "我 们 看 着"),
    ],
)
def test_lexicons_with_odd_lines(harvest, tmp_path, lexicon, line):
    harvest("我们看着\n".encode(), lexicon.encode())
    assert (tmp_path / "out.kytea").read_text("utf-8") == line + "\n"


# harvest markup

UNBALANCED = [
    *(("markdown", text) for text in ("[乙丙](b", "**乙丙", "[乙丙", "`乙丙", "<b><i>乙丙", "| 乙丙")),
    *(("markdown", text) for text in ("[乙丙]: <", "{/* 乙丙", "```\n乙丙", "_乙丙*", "---\n乙丙", "[[[乙丙]")),
    *(("html", text) for text in ("<b><i>乙丙", "</b>乙丙", "<b>乙丙</i>", "<a href='乙丙", "乙丙<", "<!-- 乙丙")),
    *(("html", text) for text in ("&#xd800;乙丙", "&#x110000;乙丙&", "<table>乙丙", "<script>乙丙")),
    *(("mediawiki", text) for text in ("{{乙丙", "[[乙丙", "[[乙|丙", "'''乙丙", "<ref>乙丙", "{|乙丙", "-{乙丙")),
    *(("mediawiki", text) for text in ("<nowiki>乙丙", "乙丙]]}}", "&#xd800;乙丙", "&#x110000;乙丙", "<b><i>乙丙")),
]


@pytest.mark.parametrize(("name", "text"), UNBALANCED)
def test_unbalanced_markup_is_text_or_dropped_and_takes_no_other_block_with_it(run, name, text):
    result = run("harvest", "markup", "-", "--format", name, "--all", "-o", "-", stdin=f"甲甲。\n\n{text}")
    lines = result.stdout.splitlines()
    assert lines[0] in ("甲 甲 。", "甲-甲|。")
    assert len(lines) <= 2 and "1 pages" in result.stderr
    assert not re.search("[\ud800-\udfff]", result.stdout)


# train on partial annotation


@pytest.fixture
def train(run, corpora, tmp_path):
    """Trains a segmenter beside a partial corpus of these bytes; the file `out` of before is its model."""

    def call(data, code=0):
        (tmp_path / "out").write_text("before")
        (tmp_path / "partial.kytea").write_bytes(data)
        files = [f"pd={corpora / 'words.txt'}", "--source", f"pd={tmp_path / 'partial.kytea'}"]
        return run("train", *files, "--task", "segment", "--iterations", 1, "-o", tmp_path / "out", code=code)

    return call


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("甲-乙\n丙丁\n", ":2: found '丙丁' at character 1, expected a character, "),
        ("甲-\n", ":1: found '甲-' at character 1, expected a character, "),
        ("甲||乙\n", ":1: found '|乙' at character 3, expected a character, "),
        (" \n", ":1: found ' ' at character 1, expected a character, "),
        ("甲\\", ":1: found '甲\\\\' at character 1, expected a character, "),
        ("甲/N-乙", ":1: found the tag '/N' at character 2 without a boundary after it, expected a tag only where"),
        ("甲/N&N|乙", ":1: found a repeated alternative in the tag 'N&N', expected each alternative once"),
        ("甲" * 1_000_000, ":1: found '甲甲甲甲甲甲甲甲' at character 1, expected a character, "),
        ("甲/" + "N" * 1_000_000 + "-乙", ":1: found the tag '/NNNN"),
    ],
)
def test_training_on_what_is_no_partial_annotation(train, tmp_path, text, message):
    found = train(text.encode(), code=2).stderr
    assert f"partial.kytea{message}" in found
    assert len(found) < 500
    check_untouched(tmp_path)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "\ufeff甲-乙|丙\r\n\r\n丁", "甲 乙 丙\n", "\\\ufeff|甲-乙\n"])
def test_training_beside_little_or_nothing(train, tmp_path, text):
    train(text.encode())
    assert (tmp_path / "out").read_bytes() != b"before"
