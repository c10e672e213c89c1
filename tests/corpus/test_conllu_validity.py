"""CoNLL-U that is made of raw text or gets new heads keeps to the rules of Universal Dependencies, level 2."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace

from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import without_enhanced_dependencies as without
from tagweave.corpus.sentence import Arc, Sentence

_DEPREL = re.compile(r"[a-z]+(:[a-z]+)*")
_UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _".split()  # noqa: SIM905


def faults(text: str) -> Iterator[str]:
    """Yield what UD's `validate.py --level 2` has against a file."""
    names, have_graphs = list[str](), set[bool]()
    for block in text.split("\n\n")[:-1]:
        comments = dict(line[2:].split(" = ", 1) for line in block.split("\n") if line[0] == "#")
        rows = [line.split("\t") for line in block.split("\n") if line[0] != "#"]
        names.append(comments.get("sent_id", ""))
        yield from ("a field with blanks at its ends" for row in rows if any(f != f.strip() or not f for f in row))
        yield from ("more than ten fields" for row in rows if len(row) != 10)
        words = [row for row in rows if row[0].isdigit()]
        ids = {row[0] for row in rows if "-" not in row[0]}
        heads = {row[0]: row[6] for row in words}
        inside = {
            str(at)
            for row in rows
            if "-" in row[0]
            for at in range(int(row[0].split("-")[0]), int(row[0].split("-")[1]) + 1)
        }
        shown = "".join(
            row[1] + ("" if "SpaceAfter=No" in row[9].split("|") else " ")
            for row in rows
            if "." not in row[0] and row[0] not in inside
        )
        yield from ["the text differs"] * (comments.get("text") != shown.strip())
        yield from (
            "SpaceAfter=No inside a multiword token" for row in words if row[0] in inside and "SpaceAfter" in row[9]
        )
        if any(head != "_" for head in heads.values()):
            yield from ["not one root"] * ([*heads.values()].count("0") != 1)
            yield from ("0 without root" for row in words if (row[6] == "0") != (row[7].split(":")[0] == "root"))
            yield from ("a relation of another form" for row in words if not _DEPREL.fullmatch(row[7]))
            yield from ("a cycle" for at in heads if not _reaches_root(at, heads))
        yield from ("no universal tag" for row in words if row[3] not in _UPOS)
        empty = [row for row in rows if "." in row[0]]
        yield from ("an empty node with a head" for row in empty if (row[6], row[7]) != ("_", "_"))
        graph = {
            row[0]: [item.partition(":")[0] for item in row[8].split("|")] for row in (*words, *empty) if row[8] != "_"
        }
        yield from (
            "an enhanced head that is not there" for each in graph.values() for head in each if head not in {*ids, "0"}
        )
        have_graphs.add(bool(graph))
        reached = {"0"}
        while more := {at for at, above in graph.items() if not reached.isdisjoint(above)} - reached:
            reached |= more
        yield from ["a graph in parts"] * bool(graph and not ids <= reached)
    yield from ["enhanced dependencies in some sentences"] * (len(have_graphs) > 1)
    yield from ["sent_id"] * (len({*names} - {""}) < len(names))


def _reaches_root(word: str, heads: dict[str, str]) -> bool:
    for _ in heads:
        word = heads.get(word, "0")
    return word == "0"


def written(*sentences: Sentence) -> str:
    stream = io.StringIO()
    conllu.FORMAT.write(sentences, stream, "upos")
    return stream.getvalue()


def test_raw_text() -> None:
    table = (
        ("Ann sees Bob, in\u00a0Graz.", "Ann sees Bob , in Graz .", "Ann sees Bob, in Graz."),
        ("\ufeff It  barks!\u200b ", "It barks !", "It barks!"),
        ("the dog is heard .", "the dog is heard .", "the dog is heard ."),
        ("他在看书。", "他 在 看书 。", "他在看书。"),
        ("a\u200bb", "a b", "a b"),
    )
    made = [conllu.of_text(Sentence(tuple(words.split(" "))), text, at) for at, (text, words, _) in enumerate(table, 1)]
    text = written(*made)
    assert [*faults(text)] == []
    assert re.findall("# text = (.*)", text) == [shown for _, _, shown in table]
    assert re.findall("# sent_id = (.*)", text) == [*"12345"]
    # an export of an annotation tool has its text in a comment
    imported = Sentence(("Ann", ",", "b"), {"upos": (("X",),) * 3}, comments=("# text = Ann, b",))
    assert [*faults(written(imported))] == [] and written(*conllu.read(written(imported).splitlines())) == written(
        imported
    )


BLOCK = """\
# sent_id = 1
# text = Va du Brun.
1\tVa\t_\tVERB\t_\t_\t0\troot\t0:root\t_
2-3\tdu\t_\t_\t_\t_\t_\t_\t_\t_
2\tde\t_\tADP\t_\t_\t4\tcase\t4:case\t_
3\tle\t_\tDET\t_\t_\t4\tdet\t4:det\t_
4\tBrun\t_\tPROPN\t_\t_\t1\tobl\t1:obl:de\tSpaceAfter=No
{}5\t.\t_\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_

"""
EMPTY = "4.1\tva\t_\tVERB\t_\t_\t_\t_\t4:dep\t_\n"


def test_trees_that_replace_others_have_no_enhanced_dependencies() -> None:
    """Neither where the new tree is another one, nor where it is the same: a file has them everywhere or nowhere."""
    text = BLOCK.format(EMPTY) + BLOCK.format("").replace("sent_id = 1", "sent_id = 2")
    sentences = [*conllu.read(text.splitlines())]
    assert [*faults(text)] == [] and written(*sentences) == text
    arcs = list(sentences[0].heads["head"])
    arcs[2] = (Arc(2, "fixed"),)
    new = replace(sentences[0], heads={"head": tuple(arcs)}), sentences[1]
    assert "enhanced dependencies in some sentences" in faults(written(*new[:1], without(new[1])))
    parsed = written(*map(without, new))
    assert [*faults(parsed)] == [] and "2-3\tdu" in parsed and "4.1" not in parsed and "4:det" not in parsed


def test_a_multiword_token_is_one_word_of_the_text() -> None:
    [given] = conllu.read(BLOCK.format(EMPTY).splitlines())
    found = conllu.in_surface_tokens(given)
    assert found.forms == ("Va", "du", "Brun", ".") and found.layers["upos"] == (
        ("VERB",),
        None,
        ("PROPN",),
        ("PUNCT",),
    )
    assert [*conllu.multiword_tokens(given)] == [(1, 3, "du")] and conllu.in_surface_tokens(found) is found
