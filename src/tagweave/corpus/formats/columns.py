"""Column files in the style of CoNLL-2000 and CoNLL-2003: a token a row, blank lines between sentences.

The first column is the form, the last one the layer `tag`, and the others are string columns named by their position:
`column2`, `column3`. Fields are separated by tabs, or by blanks in a row without tabs. A first line

    # columns = form ctb pd

names the columns instead; then each column except the form is both a layer and a string column of that name. Writers
write the layer. `-X-`, `_`, `?` and an empty field (only possible with tabs) are unknown labels; `O` is a label like
any other. Alternatives are separated by bars. Lines `# key = value` before a sentence are comments, and so is a block
of one row `-DOCSTART-`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import count, pairwise, takewhile
from operator import methodcaller
from sys import intern
from typing import IO, NamedTuple

from tagweave.corpus.candidates import interned, parse_candidates
from tagweave.corpus.characters import split_blanks
from tagweave.corpus.formats.format import (
    Confidence,
    FirstLines,
    Format,
    Look,
    Sign,
    checked,
    fields_to_write,
    layer_of_fields,
    layer_to_write,
    refuse_blanks,
    rejected_comments,
    take_rejected,
)
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError

UNKNOWN = ("_", "?", "-X-", "")  # the first one is written
_TAG = "tag"
_CONFIDENCE = "confidence"
_ROWS = 10  # rows of equally many fields that cannot be text by chance
_ALIKE = 0.9  # share of them if there are some others
_TITLES_OF_FORMS = frozenset(["token", "tokens", "word", "words", "form", "forms", "text"])
_TITLES_OF_LABELS = frozenset(
    f"{prefix}{plural}"
    for prefix in ("tag", "label", "pos", "upos", "xpos", "pos_tag", "ner", "ner_tag", "entity", "bio", "iob", "chunk")
    for plural in ("", "s")
)
_COMMENT = re.compile(r"# ?[\w.]+ =( |\Z)")
_HEADER = re.compile(r"# ?columns =")
_DOCUMENT = "-DOCSTART-"
_count_tabs = methodcaller("count", "\t")
_content = methodcaller("strip", " \t")
"""What a row has beside the blanks around it; nothing in a blank line."""


def parse_label(field: str) -> Candidates:
    """Return the candidates in a field; `None` if it is unknown."""
    return None if field in UNKNOWN else interned(parse_candidates(field))


class _Block(NamedTuple):
    """A sentence in a file."""

    comments: list[tuple[int, str]]  # with their lines
    rows: list[str]
    line: int  # of the first row


def read(lines: Iterable[str], path: str = "", layer: str = _TAG) -> Iterator[Sentence]:
    """Yield the sentences between blank lines; `layer` names the last column's layer if no header does."""
    names: list[str] = []
    parse = cache(parse_label)  # equal fields share their candidates
    named = False
    for block in _blocks(lines):
        location = Location(path, block.line)
        for number, header in block.comments:
            if is_header(header):
                names, named = split_blanks(header.partition("=")[2]), True
                if len(names) < 2 or len(set(names)) != len(names):
                    expected = "`# columns = form NAME ...`, each name once"
                    raise CorpusError(f"the header {header!r}", expected, path, number)
        if block.rows and not names:
            _refuse_titles(_fields(block.rows[0]), location)
            names = _default_names(len(_fields(block.rows[0])), layer)
        texts = dict(zip(names, _texts(block, names, path), strict=True))
        forms = texts.pop(names[0], ()) if names else ()
        labelled, kept = (texts, texts) if named else (list(texts)[-1:], list(texts)[:-1])
        layers = {name: layer_of_fields(texts[name], parse, path, count(block.line)) for name in labelled}
        columns = {name: tuple(map(intern, texts[name])) for name in kept}
        comments, rejected = take_rejected(
            [comment for _, comment in block.comments if not is_header(comment)], location
        )
        words = tuple(map(intern, forms))
        yield Sentence(words, layers, columns, comments=comments, rejected=rejected, location=location)


def _fields(row: str) -> list[str]:
    return row.split("\t") if "\t" in row else split_blanks(row)


def _texts(block: _Block, names: Sequence[str], path: str) -> list[Sequence[str]]:
    """Return the fields of all rows, column by column. Raises CorpusError for a row without a form or a column."""
    rows, width = block.rows, len(names)
    tabs = {*map(_count_tabs, rows)}
    if tabs == {width - 1} and width > 1:
        fields = "\t".join(rows).split("\t")
        columns: list[Sequence[str]] = [fields[at::width] for at in range(width)]
    elif tabs == {0} and width == 1 and " " not in "".join(rows):
        columns = [rows]
    elif all(len(row) == width for row in map(_fields, rows)):
        columns = list(zip(*map(_fields, rows), strict=True)) if rows else [()] * width
    else:
        columns = [[""]]
    if names and "" in columns[0]:
        for number, fields in enumerate(map(_fields, rows), block.line):
            if len(fields) != width or not fields[0]:
                problem = "an empty form" if len(fields) == width else f"{len(fields)} columns"
                raise CorpusError(problem, f"{width} columns: {' '.join(names)}", path, number)
    return columns


def with_column_layers(sentences: Iterable[Sentence], names: Collection[str]) -> Iterator[Sentence]:
    """Make string columns of these names layers of labels, and no longer columns."""
    parse = cache(parse_label)  # equal fields share their candidates
    for sentence in sentences:
        layers, columns = dict(sentence.layers), dict(sentence.columns)
        for name in names:
            if name in columns:
                fields = columns.pop(name)
                if name not in layers:
                    path, line = sentence.location
                    layers[name] = layer_of_fields(fields, parse, path, count(line))
        yield replace(sentence, layers=layers, columns=columns)


def _refuse_titles(row: Sequence[str], location: Location) -> None:
    """Raise CorpusError if a first row has the titles of columns: it would be a word with a label."""
    names = [title.lstrip("# ") for title in row]
    if len(row) > 1 and names[0].lower() in _TITLES_OF_FORMS and names[-1].lower() in _TITLES_OF_LABELS:
        header = " ".join(["# columns = form", *(title.replace(" ", "-") for title in names[1:])])
        raise CorpusError(f"titles of columns, {' '.join(names)}", f"no titles, or `{header}`", *location)


def is_header(line: str) -> bool:
    """Return whether the line is a comment that names the columns."""
    return _HEADER.match(line) is not None


def _default_names(columns: int, layer: str) -> list[str]:
    return ["form", *(f"column{number}" for number in range(2, columns)), *[layer] * (columns > 1)]


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    """Yield the blocks between blank lines; one without rows joins the next, unless it is the last."""
    comments: list[tuple[int, str]] = []
    number = 0
    following = iter(lines)
    for line in following:
        number += 1
        if not _content(line):
            continue
        if _COMMENT.match(line) or line.startswith(_DOCUMENT):
            comments.append((number, line))
            continue
        rows = [line, *takewhile(_content, following)]  # with the blank line, which is not among them
        yield _Block(comments, rows, number)
        comments = []
        number += len(rows)
    if comments:
        yield _Block(comments, [], comments[-1][0])


def write(sentences: Iterable[Sentence], stream: IO[str], layer: str | None = None) -> None:
    """Write each sentence as rows of fields separated by tabs, and a blank line; `layer` comes last.

    By default that is the last layer. A header is written unless the columns have their default names. Comments that
    this format cannot distinguish from rows are left out, and so are empty sentences without comments.
    """
    names: list[str] | None = None
    for sentence in sentences:
        if names is None and sentence.forms:
            names = _names_to_write(sentence, layer)
            if names != _default_names(len(names), _TAG):
                stream.write(checked(f"# columns = {' '.join(names)}", sentence) + "\n")
        for comment in (*sentence.comments, *rejected_comments(sentence)):
            if comment.startswith(_DOCUMENT):
                stream.write(checked(comment, sentence) + "\n\n")
            elif _COMMENT.match(comment) and not is_header(comment):
                stream.write(checked(comment, sentence) + "\n")
        if names is not None and sentence.forms:
            rows = _rows(sentence, names)
            checked("\t".join(rows), sentence)
            stream.write("\n".join(rows) + "\n\n")


def _names_to_write(sentence: Sentence, layer: str | None) -> list[str]:
    if layer is not None:
        layer_to_write(sentence, layer)
    last = layer or next(reversed([*sentence.layers]), _TAG)
    layers = [name for name in sentence.layers if name != last]
    names = ["form", *(name for name in sentence.columns if name not in sentence.layers), *layers, last]
    refuse_blanks(names, "column name", " \t", sentence)
    if len(set(names)) != len(names):
        raise sentence.error(f"a column or layer named 'form' in {names}", "another name")
    return names


def _rows(sentence: Sentence, names: Sequence[str]) -> list[str]:
    if extra := [name for name in sentence.layers if name not in names]:
        raise sentence.error(f"a layer {extra[0]!r}", f"the layers of the sentences before: {names[1:]}")
    texts = [sentence.forms, *(fields_to_write(sentence, name, UNKNOWN) for name in names[1:])]
    rows = list(map("\t".join, zip(*texts, strict=True)))
    tabs = len(names) - 1
    if not all(map(str.strip, sentence.forms)) or "".join(rows).count("\t") != tabs * len(rows):
        _refuse_broken_rows(sentence, rows, tabs)
    if _COMMENT.match(rows[0]) or rows[0].startswith(_DOCUMENT):
        raise sentence.error(f"the form {sentence.forms[0]!r} first in a sentence", "no row like a comment")
    return rows


def _refuse_broken_rows(sentence: Sentence, rows: Sequence[str], tabs: int) -> None:
    """Raise CorpusError for a row without a form, with more tabs than separate its fields, or of blanks alone."""
    for form, row in zip(sentence.forms, rows, strict=True):
        if not form or row.count("\t") != tabs:
            raise sentence.error(f"an empty form or a tab in {row!r}", "fields without tabs")
        if not row.strip(" \t"):
            raise sentence.error(f"nothing but blanks in {row!r}", "a row that is no blank line")


def _take_confidence(sentence: Sentence) -> tuple[list[str | None], Sentence]:
    if _CONFIDENCE not in sentence.layers:
        return [], sentence
    layers = dict(sentence.layers)
    texts = ["|".join(candidates) if candidates else None for candidates in layers.pop(_CONFIDENCE)]
    return texts, replace(sentence, layers=layers)


def _look(text: FirstLines) -> Look | None:
    """Recognise a header, rows with tabs, or blocks of rows of equally many fields.

    Text for a model is rows only if they have a header, are many, or end with its labels. Rows of different lengths are
    still rows: the reader names the first that differs.
    """
    named = any(map(is_header, text.rows))
    end_with_labels = text.labels is None or text.labels.fill(fields[-1] for fields in text.fields)
    labelled = named or len(text.rows) >= _ROWS or end_with_labels
    tabbed = 2 * len(text.tabbed) > len(text.rows)
    alike = tabbed and len(set(map(len, text.tabbed))) == 1
    if (labelled and (named or alike)) or (tabbed and end_with_labels):
        return Look(Sign.FIELDS)
    if labelled and _are_blocks(text.lines):
        return Look(Sign.ROWS)
    note = f"read as words: no labels of the model where {FORMAT.name} have them (`format={FORMAT.name}`)"
    return Look(Sign.FIELDS, is_format=False, note=note) if tabbed else None


def _are_blocks(lines: Sequence[str]) -> bool:
    """Return whether (nearly) all rows have equally many fields, at least two, and some stand between blank lines."""
    counts = [len(split_blanks(line)) for line in lines]
    widths = Counter(count for count in counts if count)
    blocks = sum(count > 0 and not before for before, count in pairwise([0, *counts]))
    if not widths or 0 not in counts or widths.total() <= blocks:
        return False
    width, alike = widths.most_common(1)[0]
    return width > 1 and alike >= (_ALIKE if widths.total() >= _ROWS else 1) * widths.total()


FORMAT = Format(
    name="columns",
    read=read,
    write=write,
    look=_look,
    extensions=(".conll", ".col", ".iob", ".bio"),
    layers=(_TAG,),
    names_layers=True,
    put_beside=lambda sentence, name, layer, _: sentence.with_layer(name, layer),
    confidence=Confidence(
        _take_confidence, lambda sentence, texts: _take_confidence(sentence)[1].with_column(_CONFIDENCE, texts)
    ),
    comments=True,
)
