"""CoNLL-U Plus (universaldependencies.org/ext-format.html): the columns of CoNLL-U that a file names, and others.

    # global.columns = ID FORM UPOS HEAD DEPREL MISC PARSEME:MWE

The columns of CoNLL-U are what they are there, with candidates in MISC. Every other column is a layer of labels and a
string column: `_` is unknown, and candidates are separated by bars, as in column files. A layer without a namespace of
its own is written as `TAGWEAVE:NAME`, and read as NAME. Only FORM has to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from sys import intern
from typing import IO, NamedTuple

from tagweave.corpus.candidates import interned, parse_candidates
from tagweave.corpus.characters import split_blanks
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import COLUMNS, FIELDS, HEAD, PLUS_HEADER, UPOS, XPOS
from tagweave.corpus.formats.format import (
    Format,
    Look,
    Sign,
    blocks,
    checked,
    fields_to_write,
    layer_of_fields,
    layer_to_write,
    refuse_blanks,
    rejected_comments,
)
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError

_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_OWN = "TAGWEAVE:"
_NONE = "_"


class _Header(NamedTuple):
    """The named columns: where the ten of CoNLL-U are (`None`: nowhere), and the others by layer."""

    width: int
    places: tuple[int | None, ...]
    others: dict[str, int]

    @classmethod
    def of(cls, line: str, location: Location) -> _Header:
        names = split_blanks(line.partition("=")[2])
        layers = {name.removeprefix(_OWN): at for at, name in enumerate(names) if name not in _NAMES}
        wrong = {*layers} & {UPOS, XPOS, HEAD, *COLUMNS, ""}
        different = len(layers) + len({*names} & {*_NAMES})
        if "FORM" not in names or different != len(names):
            raise CorpusError(f"the header {line!r}", f"`{PLUS_HEADER} ID FORM NAME ...`, each name once", *location)
        if wrong:
            raise CorpusError(f"the column {min(wrong)!r}", "another name, or that of CoNLL-U", *location)
        places = tuple(names.index(name) if name in names else None for name in _NAMES)
        return cls(len(names), places, layers)

    def ten(self, fields: Sequence[str], number: int) -> list[str]:
        """Return the ten fields of CoNLL-U; a file without IDs has tokens alone."""
        ten = [_NONE if at is None else fields[at] for at in self.places]
        return ten if self.places[0] is not None else [str(number), *ten[1:]]


def _label(field: str) -> Candidates:
    return None if field == _NONE else interned(parse_candidates(field))


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sentences between blank lines; constant memory."""
    header: _Header | None = None
    for block, start in blocks(lines):
        comments = next((at for at, line in enumerate(block) if line[0] != "#"), len(block))
        for at, line in enumerate(block[:comments]):
            if line.startswith(PLUS_HEADER):
                header = _Header.of(line, Location(path, start + at))
        if header is None:
            raise CorpusError(f"{block[0]!r}", f"a first line `{PLUS_HEADER} ID FORM ...`", path, start)
        if not all(line.startswith(PLUS_HEADER) for line in block):
            yield _sentence(block, comments, header, Location(path, start))


def _sentence(block: list[str], comments: int, header: _Header, start: Location) -> Sentence:
    locations = [Location(start.path, start.line + at) for at in range(comments, len(block))]
    rows = [line.split("\t") for line in block[comments:]]
    for fields, location in zip(rows, locations, strict=True):
        if len(fields) != header.width or "" in fields:
            found = "an empty field" if len(fields) == header.width else f"{len(fields)} fields"
            raise CorpusError(found, f"{header.width} fields separated by tabs, none of them empty", *location)
    ten = [header.ten(fields, number) for number, fields in enumerate(rows, 1)]
    sentence = conllu.sentence_of([*block[:comments], *map("\t".join, ten)], *start)
    tokens = [at for at, fields in enumerate(ten) if fields[0].isdigit()]
    other_fields = [
        [rows[at][place] for place in header.others.values()] for at in range(len(rows)) if at not in {*tokens}
    ]
    sentence = _kept(sentence, header)
    layers, columns = dict(sentence.layers), dict(sentence.columns)
    lines = [locations[at].line for at in tokens]
    for name, place in header.others.items():
        fields = [rows[at][place] for at in tokens]
        layers[name] = layer_of_fields(fields, _label, start.path, lines)
        columns[name] = tuple(map(intern, fields))
    return replace(
        sentence,
        layers=layers,
        columns=columns,
        comments=tuple(line for line in sentence.comments if not line.startswith(PLUS_HEADER)),
        extra_rows=tuple(
            (before, "\t".join((row, *fields)))
            for (before, row), fields in zip(sentence.extra_rows, other_fields, strict=True)
        ),
    )


def _kept(sentence: Sentence, header: _Header) -> Sentence:
    """Keep the layers and columns that the file has. Raises CorpusError if MISC has candidates of others."""
    there = {"misc", *(name.lower() for name, at in zip(_NAMES, header.places, strict=True) if at is not None)}
    heads = sentence.heads if there & {"head", "deprel"} else {}
    layers = {name: layer for name, layer in sentence.layers.items() if name in there}
    columns = {name: column for name, column in sentence.columns.items() if name in there}
    for name, layer in {**sentence.layers, **sentence.heads}.items():
        if any(layer) and name not in {**layers, **heads}:
            raise sentence.error(f"candidates of {name.upper()} in MISC", f"a column {name.upper()} in the header")
    return replace(sentence, layers=layers, columns=columns, heads=heads)


def write(sentences: Iterable[Sentence], stream: IO[str], layer: str) -> None:
    """Write a header, and each sentence with tokens as a block; a layer that CoNLL-U lacks comes last."""
    header: _Written | None = None
    for sentence in sentences:
        if sentence.forms:
            if layer not in sentence.heads:
                layer_to_write(sentence, layer)
            of_sentence = _Written.of(sentence, layer)
            if header is None:
                header = of_sentence
                named = (name if ":" in name and not name.startswith(_OWN) else _OWN + name for name in header.others)
                stream.write(f"{PLUS_HEADER} {' '.join((*header.names, *named))}\n")
            _write_sentence(sentence, stream, header, of_sentence)


class _Written(NamedTuple):
    """The columns that are written of a sentence: the standard ones of CoNLL-U, the others, and the layer of heads."""

    names: tuple[str, ...]
    others: tuple[str, ...]
    head: str

    @classmethod
    def of(cls, sentence: Sentence, layer: str) -> _Written:
        head = layer if layer in sentence.heads else HEAD
        there = {"id", "form", "misc", *sentence.columns, *sentence.layers}
        if head in sentence.heads:
            there |= {"head", "deprel"}
        names = tuple(name for name in _NAMES if name.lower() in there)
        names_there = dict.fromkeys((*sentence.columns, *sentence.layers))
        other_names = sorted(
            (name for name in names_there if name not in (UPOS, XPOS, *COLUMNS)), key=lambda name: name == layer
        )
        refuse_blanks(other_names, "column name", " \t", sentence)
        if wrong := {*other_names} & {*_NAMES, "id", "form", "head", "deprel"}:
            raise sentence.error(f"a layer {min(wrong)!r}", "a name that is no column of CoNLL-U")
        return cls(names, tuple(other_names), head)


def _write_sentence(sentence: Sentence, stream: IO[str], header: _Written, of_sentence: _Written) -> None:
    if more := [
        name for name in (*of_sentence.names, *of_sentence.others) if name not in (*header.names, *header.others)
    ]:
        raise sentence.error(f"a column {more[0]!r}", "the columns of the sentences before")
    comments = (*sentence.comments, *rejected_comments(sentence))
    for comment in comments:
        if not comment.startswith("#") or comment.startswith(PLUS_HEADER):
            raise sentence.error(f"the comment {comment!r}", "comments that begin with #")
    places = [_NAMES.index(name) for name in header.names]
    more_fields = [fields_to_write(sentence, name, (_NONE,)) for name in header.others]
    texts = zip(*more_fields, strict=True) if more_fields else None
    rows = []
    for row in conllu.rows_of(sentence, head=header.head):
        fields = row.split("\t")
        rows.append("\t".join([*(fields[at] for at in places), *(next(texts) if texts else ())]))
    for count, row in reversed(sentence.extra_rows):  # those of a file with other columns are unknown there
        fields = row.split("\t")
        other_fields = fields[FIELDS:] if len(fields) == FIELDS + len(header.others) else [_NONE] * len(header.others)
        rows.insert(count, "\t".join([*(fields[at] for at in places), *other_fields]))
    if wrong := [row for row in rows if row.count("\t") + 1 != len(places) + len(header.others)]:
        raise sentence.error(f"a tab in {wrong[0]!r}", "fields without tabs")
    stream.writelines(checked(line, sentence) + "\n" for line in (*comments, *rows))
    stream.write("\n")


FORMAT = Format(
    name="conllu-plus",
    read=read,
    write=write,
    look=lambda text: Look(Sign.LAYOUT) if any(row.startswith(PLUS_HEADER) for row in text.rows) else None,
    extensions=(".conllup",),
    layers=(UPOS, XPOS),
    names_layers=True,
    put_beside=lambda sentence, name, layer, _: sentence.with_layer(name, layer),
    heads=HEAD,
    confidence=conllu.CONFIDENCE,
    comments=True,
)
