"""brat's standoff: a text `NAME.txt`, and beside it `NAME.ann` with its annotation.

    T1<TAB>PER 0 3<TAB>Ann
    T2<TAB>LOC 9 11;12 16<TAB>St Pölten

Text-bound annotations (`T`) are spans; one of several fragments with more than blanks between them has gaps. Events,
relations, attributes, equivalences, normalisations and notes are counted as left out. A folder or zip of pairs is an
annotator, of its name; if names occur in several folders, each folder is. A text without `.ann` has not been seen. It
is written as a zip of pairs, with a folder for each layer if there are several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath

from tagweave.corpus.sentence import Location
from tagweave.errors import CorpusError, shortened
from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.members import ExportFile, members, refuse_link, unique, write_zip
from tagweave.exchange.offsets import Places, hint

_BOUND = re.compile(r"T\S*\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?")
_OTHERS = {
    "E": "events",
    "R": "relations",
    "*": "equivalences",
    "A": "attributes",
    "M": "attributes",
    "N": "normalisations",
    "#": "notes",
}


def read(path: str) -> Iterator[Document]:
    """Yield the documents of a folder, a zip or a pair of files; naming either file is enough."""
    annotator = Path(path).name.partition(".")[0] if Path(path).is_dir() or path.endswith(".zip") else "annotator"
    files = {member.name: member for member in _files(path)}
    for name, member in files.items():
        if name.suffix == ".ann" and name.with_suffix(".txt") not in files:
            raise CorpusError(f"no {name.with_suffix('.txt')}", "the text beside its annotation", member.place)
    names = [name for name in files if name.suffix == ".txt"]
    several = len({name.name for name in names}) < len(names)
    for name in names:
        who, title = (name.parent.name, name.stem) if several else (annotator, str(name.with_suffix("")))
        text, marked = files[name], files.get(name.with_suffix(".ann"))
        if marked is None:
            yield Document(text.text(), name=title, location=Location(text.place))
            continue
        left_out: Counter[str] = Counter()
        places = Places(text.text())
        marks = tuple(_marks(marked, places, left_out))
        yield Document(places.text, {who or annotator: marks}, title, None, Location(marked.place), left_out)


def _files(path: str) -> Iterator[ExportFile]:
    if Path(path).suffix not in (".txt", ".ann") or Path(path).is_dir():
        yield from members(path, ".txt", ".ann")
        return
    for file in (Path(path).with_suffix(".txt"), Path(path).with_suffix(".ann")):
        if str(file) != path:
            refuse_link(file)
        if file.is_file() or file.suffix == ".txt":
            yield from members(str(file))


def _marks(member: ExportFile, places: Places, left_out: Counter[str]) -> Iterator[Mark]:
    for number, line in enumerate(member.text().split("\n"), 1):
        if line[:1] in _OTHERS:
            left_out[_OTHERS[line[0]]] += 1
        elif line.strip():
            yield _mark(line.rstrip("\r"), places, Location(member.place, number))


def _mark(line: str, places: Places, location: Location) -> Mark:
    match = _BOUND.fullmatch(line)
    if match is None:
        raise CorpusError(f"{line!r}", "T1<TAB>TYPE START END<TAB>TEXT, or another annotation of brat", *location)
    label, offsets, shown = match.groups()
    fragments = [[int(digits[:12]) for digits in fragment.split(" ")] for fragment in offsets.split(";")]
    ends = [*chain(*fragments)]
    text = places.text

    def fits(start: int, stop: int) -> bool:
        return shown is not None and text[start:stop].split() == shown.split()

    if ends != sorted(ends) or ends[-1] > len(text) or any(start == stop for start, stop in fragments):
        way = hint(text, ends[0], ends[-1], fits)
        raise CorpusError(f"the span {offsets}", f"characters of the text, 0 to {len(text)}{way}", *location)
    if shown is not None:
        most = len(shown) + 1000  # a longer text is not compared, which takes time
        covered = " ".join(text[start : min(stop, start + most)] for start, stop in fragments)
        if sum(stop - start for start, stop in fragments) > most or covered.split() != shown.split():
            problem = f"the span {' '.join(map(str, ends))} of {shown!r}"
            way = hint(text, ends[0], ends[-1], fits)
            raise CorpusError(problem, f"{shortened(covered)!r}, as the text has it there{way}", *location)
    gaps = not all(places.is_blank(stop, start) for (_, stop), (start, _) in pairwise(fragments))
    return Mark(ends[0], ends[-1], label, gaps=gaps, line=location.line if gaps else 0)


def _pairs(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for number, document in enumerate(documents, 1):
        name = unique(document.name, taken, f"document{number}")
        folders: set[str] = set()
        for annotator, marks in document.marks.items():
            folder = PurePosixPath(unique(annotator, folders, "layer") if len(document.marks) > 1 else "")
            yield str(folder / f"{name}.txt"), document.text
            yield str(folder / f"{name}.ann"), "".join(_lines(document, marks or ()))


def _lines(document: Document, marks: Iterable[Mark]) -> Iterator[str]:
    """Yield the lines of a document. Raises CorpusError for a label with a blank, which brat's types cannot have."""
    for number, mark in enumerate(marks, 1):
        if len(mark.label.split()) != 1 or mark.label != mark.label.strip():
            raise document.error(f"the label {mark.label!r}", "a label without blanks, as brat has them")
        shown = " ".join(document.text[mark.start : mark.stop].splitlines())
        yield f"T{number}\t{mark.label} {mark.start} {mark.stop}\t{shown}\n"


TOOL = Tool("brat", read, lambda documents, stream: write_zip(stream, _pairs(documents)), ".zip", binary=True)
