"""Tables with titles: comma-separated values, also with semicolons or tabs, a token a row.

The first row names the columns. One holds the tokens (`token`, `word`, `form` or `text`), another one the sentence
(`sentence`, `sentence_id`, `Sentence #` ...): a row in which it is blank continues the sentence before. Without such a
column, blank rows separate sentences. So does another document (`doc_id`). Each other column is a layer and a string
column, except for numbers of tokens, offsets and lemmas, which are string columns alone; a column without a title is
left out. The last layer is the usual one.

    Sentence #,Word,POS,Tag
    Sentence: 1,Vela,NNP,B-per
    ,"left, late",VBD,O

Values may be quoted, with quotes inside doubled. In a table with tabs, a quote that is not closed stands for itself.
Labels are written as in the format `columns`: `_`, `?`, `-X-` and an empty value are unknown, bars separate candidates.
A table is refused if its titles do not name one column of tokens.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from sys import intern
from typing import IO, NamedTuple

from tagweave.corpus.formats import columns
from tagweave.corpus.formats.format import (
    FirstLines,
    Format,
    Look,
    Sign,
    checked,
    fields_to_write,
    layer_of_fields,
    layer_to_write,
)
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError

_TAB = "\t"
_DELIMITERS = (",", ";", _TAB)
_BLANKS = " \t"
_TOKENS = ("token", "tokens", "word", "words", "form", "forms")
_TEXT = "text"  # the tokens if no other title says so
_SENTENCE = re.compile(r"sent(ence)?s?(id|idx|ix|index|no|nr|num|number)?")
_DOCUMENT = re.compile(r"(doc|document|article|file)(s|id|idx|ix|index|no|nr|num|number|name)?")
_NO_LABELS = re.compile(
    r"(token|word)?(id|idx|ix|index|no|nr|num|number|position)|lemmas?|(start|end)(char|offset)?|offset"
)
_LABELS = re.compile(
    r"(ner|pos|upos|xpos|iob|bio|chunk|entity|gold|word)?(tag|label)s?|ner|pos|upos|xpos|entity|iob|bio"
)
_EXPECTED = (
    "titles of columns in the first row: token (or word, form), sentence (or blank rows), and tag or other labels"
)


class _Titles(NamedTuple):
    """What the columns of a table hold, by their numbers."""

    names: tuple[str, ...]
    token: int
    sentence: int | None
    documents: tuple[int, ...]
    kept: tuple[int, ...]  # string columns
    layers: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> _Titles | None:
        """Return the meaning of titles; `None` unless exactly one names the tokens, and one at most the sentences."""
        plain = [re.sub(r"[^a-z]", "", name.lower()) for name in names]
        sentences = [at for at, name in enumerate(plain) if _SENTENCE.fullmatch(name)]
        tokens = [at for at, name in enumerate(plain) if name in _TOKENS]
        tokens = tokens or [at for at, name in enumerate(plain) if name == _TEXT]
        if len(tokens) != 1 or len(sentences) > 1:
            return None
        documents = tuple(at for at, name in enumerate(plain) if _DOCUMENT.fullmatch(name))
        kept = tuple(at for at, name in enumerate(names) if name and at not in (*tokens, *sentences))
        layers = tuple(at for at in kept if at not in documents and not _NO_LABELS.fullmatch(plain[at]))
        return cls(tuple(names), tokens[0], sentences[0] if sentences else None, documents, kept, layers)

    @property
    def is_plain(self) -> bool:
        """Return whether a title says that the rows are tokens of sentences, or labelled."""
        plain = [re.sub(r"[^a-z]", "", self.names[at].lower()) for at in self.layers]
        return self.sentence is not None or any(map(_LABELS.fullmatch, plain))


def _values(line: str, delimiter: str) -> list[str]:
    """Split a row. Raises csv.Error for a quote that is not closed, or that ends before the value."""
    try:
        values = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        if delimiter != _TAB:
            raise
        values = line.split(_TAB)  # a quotation mark is a token there
    return [value.strip(_BLANKS) for value in values]


def _header(line: str) -> tuple[str, _Titles] | None:
    """Return the delimiter and the titles of a first row; `None` if it has none."""
    for delimiter in sorted(_DELIMITERS, key=line.count, reverse=True):
        try:
            names = _values(line, delimiter)
        except csv.Error:
            continue
        titles = _Titles.of(names)
        if len(names) > 1 and titles is not None:
            return delimiter, titles
    return None


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sentences of a table. Raises CorpusError for titles that do not say what the columns hold."""
    numbered = enumerate(lines, 1)
    number, first = next(((number, line) for number, line in numbered if line.strip(_BLANKS)), (1, None))
    if first is None:
        return
    header = _header(first)
    if header is None:
        raise CorpusError(f"the first row {first!r}", _EXPECTED, path, number)
    delimiter, titles = header
    named = [titles.names[at] for at in titles.kept]
    if repeated := next((name for name in named if named.count(name) > 1), None):
        raise CorpusError(f"two columns {repeated!r}", "each title once", path, number)
    parse = cache(columns.parse_label)
    rows: list[tuple[int, list[str]]] = []
    key: tuple[str, ...] = ()
    seen: set[tuple[str, ...]] = set()
    separated = False
    for number, line in numbered:
        try:
            row = _values(line, delimiter)
        except csv.Error:
            raise CorpusError(
                "a quotation mark that is not closed", "quotes around whole values", path, number
            ) from None
        if not any(row):
            separated = True
            if rows and titles.sentence is None:
                yield _sentence(rows, titles, parse, path)
                rows = []
            continue
        if len(row) != len(titles.names):
            problem = f"{len(row)} values"
            raise CorpusError(problem, f"{len(titles.names)}: {', '.join(titles.names)}", path, number)
        if not row[titles.token]:
            raise CorpusError("an empty token", "text in every row", path, number)
        by = titles.documents if titles.sentence is None else (*titles.documents, titles.sentence)
        current = tuple(row[at] or before for at, before in zip(by, key or ("",) * len(by), strict=True))
        if current != key:
            if current in seen:
                problem = f"rows of the sentence {' '.join(current)!r} in two places"
                raise CorpusError(problem, "rows of a sentence that follow one another", path, number)
            seen.add(current)
            if rows:
                yield _sentence(rows, titles, parse, path)
                rows = []
            key = current
        rows.append((number, row))
    if titles.sentence is None and not separated:
        problem = f"the columns {', '.join(titles.names)}"
        raise CorpusError(problem, "a column `sentence`, or blank rows between sentences", path, 1)
    if rows:
        yield _sentence(rows, titles, parse, path)


def _sentence(
    rows: Sequence[tuple[int, list[str]]], titles: _Titles, parse: Callable[[str], Candidates], path: str
) -> Sentence:
    lines = [number for number, _ in rows]
    texts = {titles.names[at]: tuple(intern(row[at]) for _, row in rows) for at in titles.kept}
    names = (titles.names[at] for at in titles.layers)
    layers = {name: layer_of_fields(texts[name], parse, path, lines) for name in names}
    forms = tuple(intern(row[titles.token]) for _, row in rows)
    return Sentence(forms, layers, texts, location=Location(path, lines[0]))


def write(sentences: Iterable[Sentence], stream: IO[str], layer: str) -> None:
    """Write the titles, and a row a token; `layer` comes last. Raises CorpusError for what a table cannot hold."""
    writer = csv.writer(stream, lineterminator="\n")
    titles: list[str] = []
    count = 0
    for sentence in sentences:
        if not sentence.forms:
            continue
        if not titles:
            titles = _titles_to_write(sentence, layer)
            writer.writerow(titles)
        if extra := [name for name in sentence.layers if name not in titles]:
            raise sentence.error(f"a layer {extra[0]!r}", f"the layers of the sentences before: {titles[2:]}")
        count += 1
        texts = [sentence.forms, *(fields_to_write(sentence, name, columns.UNKNOWN) for name in titles[2:])]
        for values in zip(*texts, strict=True):
            for value in values:
                if value != checked(value, sentence).strip(_BLANKS):
                    raise sentence.error(f"the value {value!r}", "values without blanks around them")
            if not values[0]:
                raise sentence.error("an empty token", "text in every token")
            writer.writerow([str(count), *values])


def _titles_to_write(sentence: Sentence, layer: str) -> list[str]:
    layer_to_write(sentence, layer)
    strings = [name for name in sentence.columns if name not in sentence.layers]
    names = ["sentence", "token", *strings, *(name for name in sentence.layers if name != layer), layer]
    titles = _Titles.of([checked(name, sentence) for name in names])
    unclear = titles is None or titles.sentence != 0 or titles.token != 1 or titles.layers[-1:] != (len(names) - 1,)
    if unclear or len(set(names)) != len(names) or any(name != name.strip(_BLANKS) for name in names):
        raise sentence.error(
            f"the columns {', '.join(names[2:])}", "names that differ from titles of tokens and sentences"
        )
    return names


def _look(text: FirstLines) -> Look | None:
    """Recognise titles of columns, with as many values in the next row."""
    if len(text.rows) < 2 or (header := _header(text.rows[0])) is None:
        return None
    delimiter, titles = header
    try:
        is_alike = len(_values(text.rows[1], delimiter)) == len(titles.names)
    except csv.Error:
        return None
    return Look(Sign.LAYOUT) if titles.is_plain and is_alike else None


FORMAT = Format(
    name="csv",
    read=read,
    write=write,
    look=_look,
    extensions=(".csv",),
    layers=("tag",),
    names_layers=True,
    put_beside=columns.FORMAT.put_beside,
    confidence=columns.FORMAT.confidence,
)
