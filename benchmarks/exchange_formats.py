"""What each format of other tools keeps, and what damaged files of it do: `python -m benchmarks.exchange_formats`.

Small corpora are written and read again: labels, unknown positions, candidates, candidates with numbers, trees. Then
files are mutated, also inside their zips and compressed data; each has to be read, or refused with an error for users.
The program ends with exit code 1 where there was anything else.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import tagweave as tw
from benchmarks.processes import ROOT
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import is_for_users
from tagweave.corpus.formats.registry import FORMATS
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Arc, Layer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.exchange.registry import TOKEN_TOOLS, TOOLS

PAGE = ROOT / "docs" / "results" / "exchange-formats.md"
OUTSIDE = ("O",)
LABELS: dict[str, Layer] = {
    "labels": (("B-PER",), ("I-PER",), OUTSIDE, ("B-LOC",), OUTSIDE),
    "unknown": (("B-PER",), ("I-PER",), None, ("B-LOC",), OUTSIDE),
    "candidates": (("B-PER",), ("I-PER", "O"), OUTSIDE, ("B-LOC", "B-ORG"), OUTSIDE),
    "scores": (("B-PER",), ("I-PER",), OUTSIDE, Soft(("B-LOC", "O"), (0.75, 0.25)), OUTSIDE),
}
"""Kinds of evidence on five tokens."""
TREE = (Arc(2, "flat"), Arc(3, "nsubj"), Arc(0, "root"), Arc(3, "obj"), Arc(3, "punct"))
_FORMS = ("Ann", "Bell", "left", "Gräz", ".")
_COMMENTS = ("# document = 1", "# text = Ann Bell left Gräz.", "# start = 0")
_PIECES = (
    b"\0",
    b"\xff",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"<",
    b">",
    b"&",
    b"\t",
    b"\n",
    b"-1",
    b"9" * 30,
    b"1e999",
    b"\\",
    b"null",
)
_HEAD = """\
# Formats of other tools

What is the same after a corpus was [exported](../exchange.md) and imported again, and what became of files that were
changed at random, also inside zips and compressed data: read, or refused with an error that says what is wrong.
`--unmarked`: with `--unmarked unknown`. *refused*: the format cannot hold it, and the error says so. *no*: a span
without its number, or tokens in no span, since such a file holds suggestions for people; and marks are no trees.
"""


@dataclass(frozen=True)
class Kind:
    """A format: its name, the extension of a file, and how a corpus is written and read; `None`: not written."""

    name: str
    extension: str
    write: Callable[[Corpus, str], object] | None
    read: Callable[[str], Corpus]
    read_partial: Callable[[str], Corpus] | None = None


def kinds() -> list[Kind]:
    """The formats: of tools with offsets, of libraries with tokens, and the corpus formats that hold most."""
    found = [_of_tool(name, TOOLS[name].extension) for name in TOOLS]
    xmi = next(each for each in found if each.name == "inception")
    found.insert(found.index(xmi) + 1, replace(xmi, name="inception, CAS JSON", extension=".json", write=_write_json))
    found += [_of_library("datasets", each) for each in (".parquet", ".arrow", ".jsonl")]
    found.append(_of_library("spacy", TOKEN_TOOLS["spacy"].extensions[0]))
    for name in ("conllu", "conllu-plus", "columns"):
        extension = FORMATS[name].extensions[0]
        found.append(Kind(name, extension, save, load))
    return found


def _quiet(_: str) -> None:
    pass


def _of_tool(name: str, extension: str) -> Kind:
    return Kind(
        name,
        extension,
        lambda corpus, path: tw.write_documents(name, corpus, path),
        lambda path: tw.read_documents(name, path, misaligned="unknown", tell=_quiet),
        lambda path: tw.read_documents(name, path, unmarked="unknown", tell=_quiet),
    )


def _of_library(name: str, extension: str) -> Kind:
    def read(path: str) -> Corpus:
        return tw.read_documents(name, path, tell=_quiet)

    return Kind(f"{name}, {extension}", extension, lambda corpus, path: tw.write_documents(name, corpus, path), read)


def _write_json(corpus: Corpus, path: str) -> None:
    """CAS JSON, by dkpro-cassis, of what is written as XMI."""
    import cassis

    zipped = f"{path}.zip"
    tw.write_documents("inception", corpus, zipped)
    with zipfile.ZipFile(zipped) as packed, packed.open("1.xmi") as xmi, packed.open("TypeSystem.xml") as types:
        cas = cassis.load_cas_from_xmi(xmi, typesystem=cassis.load_typesystem(types))
    Path(zipped).unlink()
    Path(path).write_text(cas.to_json(), "utf-8")


def sample(kind: str) -> Corpus:
    """A corpus with this kind of evidence, or with a tree."""
    layers = {"ner": LABELS["labels" if kind == "trees" else kind]}
    heads = {"head": tuple((each,) for each in TREE)} if kind == "trees" else {}
    return Corpus((Sentence(_FORMS, layers, heads=heads, comments=_COMMENTS),), "ner")


def kept(form: Kind, evidence: str, folder: Path) -> str:
    """`yes`, `no` or `refused`: whether a kind of evidence is the same after writing and reading."""
    path, corpus = str(folder / f"kept{form.extension}"), sample(evidence)
    if form.write is None:
        return "-"
    try:
        form.write(corpus, path)
        if _same(form.read(path), corpus):
            return "yes"
        if form.read_partial is not None and evidence == "unknown" and _is_partial(form.read_partial(path)):
            return "`--unmarked`"
    except ValueError as error:
        if not is_for_users(error):
            raise
        return "refused"
    return "no"


def _same(found: Corpus, corpus: Corpus) -> bool:
    own = corpus[0].layers["ner"]
    heads = [each.heads.get("head", (None,) * len(each)) for each in (found[0], corpus[0])]
    return len(found) == 1 and own in found[0].layers.values() and heads[0] == heads[1]


def _is_partial(found: Corpus) -> bool:
    (layer,) = found[0].layers.values()
    return layer[2] is None and layer[0] == ("B-PER",)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to three changes; of a zip or of compressed data half of the time inside."""
    if data[:2] == b"PK" and rng.random() < 0.75:
        return _rezipped(data, rng)
    if data[:1] == b"\x78" and rng.random() < 0.75:
        return zlib.compress(_changed(zlib.decompress(data), rng))
    return _changed(data, rng)


def _rezipped(data: bytes, rng: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(stream, "w") as after:
        names = before.namelist()
        chosen = rng.choice(names)
        for name in names:
            content = before.read(name)
            after.writestr(name, _changed(content, rng) if name == chosen else content)
    return stream.getvalue()


def _changed(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, kind = rng.randrange(len(changed) + 1), rng.randrange(5)
        if kind == 0:
            changed[at:at] = rng.choice(_PIECES)
        elif kind == 1:
            del changed[at : at + rng.randint(1, 8)]
        elif kind == 2:
            changed[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 3:
            changed[at : at + 1] = rng.choice(b"0123456789,:;|-_").to_bytes(1, "big")
        else:
            del changed[at:]
            changed += data[at + rng.randint(0, 4) :]
    return bytes(changed)


def outcomes(form: Kind, number: int, folder: Path, seed: int = 0) -> Counter[str]:
    """How many mutated files were read or refused; everything else by the name of the exception."""
    rng, path = random.Random(f"{form.name} {seed}"), folder / f"mutated{form.extension}"
    if form.write is None:
        return Counter()
    form.write(sample("labels"), str(path))
    data, found = path.read_bytes(), Counter[str]()
    for _ in range(number):
        path.write_bytes(mutated(data, rng))
        try:
            form.read(str(path))
            found["read"] += 1
        except Exception as error:
            found["refused" if is_for_users(error) else type(error).__name__] += 1
    return found


def table(rows: Iterable[tuple[str, dict[str, str], Counter[str]]]) -> str:
    """The page."""
    evidence = [*LABELS, "trees"]
    lines = [
        *_HEAD.split("\n"),
        f"| format | {' | '.join(evidence)} | mutated: read | refused | else |",
        f"|{' --- |' * (len(evidence) + 4)}",
    ]
    for name, cells, found in rows:
        other = sum(found.values()) - found["read"] - found["refused"]
        shown = " | ".join(cells[each] for each in evidence)
        lines.append(f"| {name} | {shown} | {found['read']} | {found['refused']} | {other} |")
    command = "python -m benchmarks.exchange_formats"
    return "\n".join([*lines, "", f"Written by `{command}`."]) + "\n"


def main() -> int:
    """Write the page; 1 if a mutated file was neither read nor refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1000)
    number, rows = parser.parse_args().mutations, []
    with tempfile.TemporaryDirectory() as folder:
        for form in kinds():
            cells = {each: kept(form, each, Path(folder)) for each in (*LABELS, "trees")}
            rows.append((form.name, cells, outcomes(form, number, Path(folder))))
            print(json.dumps([form.name, cells, rows[-1][2]]), flush=True)
    PAGE.write_text(table(rows), "utf-8")
    return int(any({*found} - {"read", "refused"} for _, _, found in rows))


if __name__ == "__main__":
    sys.exit(main())
