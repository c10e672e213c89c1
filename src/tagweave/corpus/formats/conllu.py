"""CoNLL-U (universaldependencies.org/format.html), with candidates where the annotation is ambiguous.

UPOS and XPOS are the layers `upos` and `xpos`, HEAD and DEPREL the head layer `head`; LEMMA, FEATS, DEPS and MISC are
the columns `lemma`, `feats`, `deps` and `misc`, unchanged. `_` is unknown for UPOS, XPOS, HEAD and DEPREL. Multiword
tokens and empty nodes are `extra_rows`. Candidates are in MISC, separated by slashes:

    AltUpos=NOUN/PROPN    AltXpos=VBG/JJ    AltHead=3:obj/5:obl    (`_` for an unknown head or relation: 3:_)
    AltUpos=NOUN:0.7/PROPN:0.3              AltHead=3:obj:0.6/5:obl:0.4

They are appended to the value of the field itself, if it has one, and removed from the column `misc`. Ambiguous
positions are written as `_` with all candidates in MISC, so that no other reader takes the first for the truth. A label
that is itself called `_` is always written to MISC: `AltXpos=_`. In these values a slash is escaped as `\\/`, a bar as
`\\p`, a backslash as `\\\\`, and the colon of a label that ends like one with a number as `\\:`. Candidates with
numbers are all in MISC, and nothing is in the field itself.

The library conllu parses IDs and heads. Its reader of sentences is not used: it splits rows at two blanks, keeps one
comment per key and does not count lines. Like pyconll it takes 7 seconds a million rows, this file 4.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from sys import intern
from typing import IO, Any, TypeVar

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value, parse_int_value

from tagweave.corpus.candidates import Soft, format_number, number_like, split_numbers
from tagweave.corpus.characters import RAW_BLANKS, split_unescaped
from tagweave.corpus.formats.format import (
    Confidence,
    FirstLines,
    Format,
    Look,
    Sign,
    blocks,
    checked,
    layer_to_write,
    rejected_comments,
    take_rejected,
)
from tagweave.corpus.sentence import Arc, ArcCandidates, Candidates, Layer, Location, Sentence
from tagweave.corpus.word_boundaries import next_visible
from tagweave.errors import CorpusError

UPOS, XPOS, HEAD = "upos", "xpos", "head"
_DEPS, _MISC = "deps", "misc"
COLUMNS = ("lemma", "feats", _DEPS, _MISC)

_IDENTIFIER, TEXT = "# sent_id = ", "# text = "
FIELDS = 10
_PLUS = "# global.columns ="
"""With it begins CoNLL-U Plus, another format."""
_NONE = "_"
_KEYS = ("AltUpos", "AltXpos", "AltHead")
_CONFIDENCE = "Confidence"
_ESCAPED = {"/": "\\/", "|": "\\p", "\\": "\\\\", ":": "\\:"}
_PLAIN = {escaped: plain for plain, escaped in _ESCAPED.items()}

_Token = tuple[str, Candidates, Candidates, ArcCandidates, str, str, str, str]


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sentences between blank lines; constant memory."""
    return (sentence_of(block, path, start) for block, start in blocks(lines))


def sentence_of(block: list[str], path: str, start: int) -> Sentence:
    """Parse one block of lines, which begins at line `start` of the file."""
    tokens: list[_Token] = []
    locations: list[Location] = []
    extra: list[tuple[int, str]] = []
    comments = next((index for index, line in enumerate(block) if line[0] != "#"), len(block))
    for number, line in enumerate(block[comments:], start + comments):
        location = Location(path, number)
        fields = line.split("\t")
        if len(fields) != FIELDS or "" in fields:
            problem = "an empty field" if len(fields) == FIELDS else f"{len(fields)} fields"
            raise CorpusError(problem, "ten fields separated by tabs, none of them empty", *location)
        if fields[0] == str(len(tokens) + 1):
            tokens.append(_token(fields, location))
            locations.append(location)
        else:
            _check_extra(fields[0], len(tokens), location)
            extra.append((len(tokens), line))
    if not tokens:
        raise CorpusError("no tokens", "at least one token before the blank line", path, start)
    forms, upos, xpos, arcs, *columns = zip(*tokens, strict=True)
    _check_heads(arcs, locations)
    layers = {UPOS: upos, XPOS: xpos}
    named = dict(zip(COLUMNS, columns, strict=True))
    rest, rejected = take_rejected(block[:comments], locations[0])
    return Sentence(forms, layers, named, {HEAD: arcs}, rest, tuple(extra), rejected=rejected, location=locations[0])


def _check_extra(identifier: str, tokens: int, location: Location) -> None:
    """Raise unless a row with this ID, a multiword token or an empty node, may follow so many tokens."""
    try:
        value = parse_id_value(identifier)
    except (ParseException, ValueError):
        value = None
    if not isinstance(value, tuple) or value[0] != tokens + (value[1] == "-"):
        expected = f"{tokens + 1}, {tokens + 1}-N for a multiword token or {tokens}.N for an empty node"
        raise CorpusError(f"the ID {identifier!r}", expected, *location)


def _token(fields: list[str], location: Location) -> _Token:
    _, form, lemma, upos, xpos, feats, head, relation, deps, misc = fields
    tags, other_tags, arcs = _labels(upos), _labels(xpos), _arcs(head, relation, location)
    if "Alt" in misc:
        misc, more = _take_alternatives(misc)
        tags = _merged(tags, more.get("AltUpos", []), _plain, location)
        other_tags = _merged(other_tags, more.get("AltXpos", []), _plain, location)
        arcs = _merged(arcs, more.get("AltHead", []), lambda text: _parse_arc(text, location), location)
    return intern(form), tags, other_tags, arcs, intern(lemma), intern(feats), deps, intern(misc)


@lru_cache(10_000)
def _labels(field: str) -> Candidates:
    return None if field == _NONE else (intern(field),)


def _arcs(head: str, relation: str, location: Location) -> ArcCandidates:
    try:
        return _known_arcs(head, relation)
    except (ParseException, ValueError):
        raise CorpusError(f"the head {head!r}", "the ID of a token, 0 for the root or _", *location) from None


@lru_cache(100_000)
def _known_arcs(head: str, relation: str) -> ArcCandidates:
    position = parse_int_value(head)
    if position is not None and position < 0:
        raise ValueError(head)
    if position is None and relation == _NONE:
        return None
    return (Arc(position, None if relation == _NONE else intern(relation)),)


def _check_heads(arcs: Sequence[ArcCandidates], locations: Sequence[Location]) -> None:
    for position, (candidates, location) in enumerate(zip(arcs, locations, strict=True), 1):
        for arc in candidates or ():
            if arc.head is not None and (arc.head > len(arcs) or arc.head == position):
                expected = f"0 or another token of the sentence (1 to {len(arcs)})"
                raise CorpusError(f"the head {arc.head} of token {position}", expected, *location)


def _take_alternatives(misc: str) -> tuple[str, dict[str, list[str]]]:
    """Split MISC into the rest, and the alternatives by key, which are still escaped."""
    rest: list[str] = []
    alternatives: dict[str, list[str]] = {}
    for item in misc.split("|"):
        key, equals, value = item.partition("=")
        if equals and key in _KEYS:
            alternatives[key] = split_unescaped(value, "/")
        else:
            rest.append(item)
    return "|".join(rest) or _NONE, alternatives


_Value = TypeVar("_Value")


def _merged(
    candidates: tuple[_Value, ...] | None, pieces: list[str], parse: Callable[[str], _Value], location: Location
) -> tuple[_Value, ...] | None:
    """Return the candidates of the field, then the alternatives, which may repeat the field once."""
    try:
        texts, numbers = split_numbers(pieces, "/".join(pieces))
        listed = tuple(map(parse, texts))
        if "" in listed or len(set(listed)) != len(listed):
            raise CorpusError(f"the alternatives {listed}", "different, non-empty alternatives")
        if not numbers:
            return tuple(dict.fromkeys((*(candidates or ()), *listed))) or None
        if not {*(candidates or ())} <= {*listed}:
            raise CorpusError(f"{candidates} beside alternatives with numbers", "a number for it, too")
        return Soft(listed, numbers)
    except CorpusError as error:
        raise error.at(*location) from None


def _plain(text: str) -> str:
    return re.sub(r"\\[/p:\\]", lambda match: _PLAIN[match.group()], text)


def _escaped(text: str) -> str:
    """Escape special characters, and a colon where a number would stand."""
    plain, number = number_like(text)
    return re.sub(r"[/|\\]", lambda match: _ESCAPED[match.group()], plain) + (f"\\{number}" if number else "")


def _parse_arc(text: str, location: Location) -> Arc:
    head, _, relation = text.partition(":")
    arcs = _arcs(head, _plain(relation) or _NONE, location)
    return arcs[0] if arcs else Arc(None, None)


def write(sentences: Iterable[Sentence], stream: IO[str], upos: str = UPOS, xpos: str = XPOS, head: str = HEAD) -> None:
    """Write each sentence with tokens as a block; the named layers become UPOS, XPOS, HEAD and DEPREL."""
    for sentence in sentences:
        if not sentence.forms:
            continue
        if sentence.layers and not {upos, xpos} & {*sentence.layers}:
            layer_to_write(sentence, upos)
        comments = (*sentence.comments, *rejected_comments(sentence, {upos: UPOS, xpos: XPOS}))
        for comment in comments:
            if not comment.startswith("#"):
                raise sentence.error(f"the comment {comment!r}", "comments that begin with #")
        rows = list(rows_of(sentence, (upos, xpos), head))
        for count, row in reversed(sentence.extra_rows):
            rows.insert(count, "\t".join(row.split("\t")[:FIELDS]))
        checked("".join((*comments, *rows)), sentence)
        stream.write("\n".join((*comments, *rows, "", "")))


def rows_of(sentence: Sentence, names: tuple[str, str] = (UPOS, XPOS), head: str = HEAD) -> Iterator[str]:
    """Yield the rows of the tokens; the named layers are UPOS, XPOS, HEAD and DEPREL."""
    unknown: tuple[None, ...] = (None,) * len(sentence)
    blank = (_NONE,) * len(sentence)
    upos, xpos = (sentence.layers.get(name, unknown) for name in names)
    arcs = sentence.heads.get(head, unknown)
    _check_heads(arcs, (sentence.location,) * len(sentence))
    lemma, feats, deps, misc = (sentence.columns.get(name, blank) for name in COLUMNS)
    rows = zip(sentence.forms, lemma, upos, xpos, feats, arcs, deps, misc, strict=True)
    for number, (form, lemma_, upos_, xpos_, feats_, arcs_, deps_, misc_) in enumerate(rows, 1):
        tags, other_tags = _field(upos_, sentence), _field(xpos_, sentence)
        pairs = []
        for candidate in arcs_ or ():
            if candidate.relation in ("", _NONE):
                raise sentence.error(f"the relation {candidate.relation!r}", "relations other than _, which is unknown")
            pairs.append((_NONE if candidate.head is None else str(candidate.head), candidate.relation or _NONE))
        arc = pairs[0] if len(pairs) == 1 and not isinstance(arcs_, Soft) else (_NONE, _NONE)
        end, candidates = misc_ or _NONE, (upos_ or (), xpos_ or (), arcs_ or ())
        if "Alt" in misc_ or any(map(_need_alternatives, candidates)):
            alternatives = [_escaped(":".join(pair)) for pair in pairs]
            texts = [[*map(_escaped, candidates[0])], [*map(_escaped, candidates[1])], alternatives]
            end = _with_alternatives(misc_, texts, candidates, sentence)
        fields = (str(number), form, lemma_, tags, other_tags, feats_, *arc, deps_, end)
        row = "\t".join(fields)
        if "" in fields or row.count("\t") != FIELDS - 1:
            raise sentence.error(f"an empty field or a tab in {fields}", "ten fields without tabs")
        yield row


def _field(candidates: Candidates, sentence: Sentence) -> str:
    if "" in (candidates or ()):
        raise sentence.error("the label ''", "labels that are not empty")
    return candidates[0] if candidates is not None and len(candidates) == 1 and type(candidates) is tuple else _NONE


def _with_alternatives(
    misc: str, texts: Sequence[Sequence[str]], candidates: Sequence[Sequence[Any]], sentence: Sentence
) -> str:
    if "Alt" in misc and (taken := _take_alternatives(misc)[1]):
        raise sentence.error(f"the key {next(iter(taken))} in the column misc", "candidates of the layers")
    items = [] if misc == _NONE else [misc]
    for key, escaped, labels in zip(_KEYS, texts, candidates, strict=True):
        if isinstance(labels, Soft):
            numbers = (format_number(number) for _, number in labels.numbered())
            items.append(f"{key}={'/'.join(map(':'.join, zip(escaped, numbers, strict=True)))}")
        elif _need_alternatives(labels):
            items.append(f"{key}={'/'.join(escaped)}")
    return "|".join(items) or _NONE


def _need_alternatives(labels: Sequence[Any]) -> bool:
    """Return whether labels do not fit into their field alone."""
    return len(labels) > 1 or isinstance(labels, Soft) or _NONE in labels


def of_text(sentence: Sentence, text: str, number: int) -> Sentence:
    """Return a sentence of raw text with its text and number in comments, and in MISC which words no blank follows.

    The text has one space for blanks between words, and nothing else that belongs to no word, as UD asks for.
    """
    glued = [*_glued(sentence.forms, text)]
    shown = "".join(
        form + ("" if is_glued else " ") for form, is_glued in zip(sentence.forms, glued, strict=True)
    ).rstrip()
    comments = (f"{_IDENTIFIER}{number}", f"{TEXT}{shown}")
    return replace(_spaced(sentence, glued), comments=(*comments, *sentence.comments))


def _glued(forms: Iterable[str], text: str) -> Iterator[bool]:
    """Yield for each token whether another one follows in the text without a blank between them."""
    at = 0
    for form in forms:
        at = max(text.find(form, at), at) + len(form)
        after = next_visible(text, at)
        yield after < len(text) and set(text[at:after]).isdisjoint(RAW_BLANKS)


def _spaced(sentence: Sentence, glued: Iterable[bool]) -> Sentence:
    return sentence.with_column(_MISC, ["SpaceAfter=No" if is_glued else _NONE for is_glued in glued])


def multiword_tokens(sentence: Sentence) -> Iterator[tuple[int, int, str]]:
    """Yield the words start .. stop - 1 of each multiword token, and its form."""
    for before, row in sentence.extra_rows:
        identifier, form = row.split("\t")[:2]
        if "-" in identifier:
            yield before, int(identifier.partition("-")[2]), form


def in_surface_tokens(sentence: Sentence) -> Sentence:
    """Return a sentence as its text has it: a multiword token is one word, whose labels are unknown."""
    multiword = {start: (stop, form) for start, stop, form in multiword_tokens(sentence)}
    if not multiword:
        return sentence
    words: list[tuple[int, str | None]] = []  # the first word, and the form of a multiword token
    at = 0
    while at < len(sentence):
        stop, form = multiword.get(at, (at + 1, None))
        words.append((at, form))
        at = stop
    layers = {
        name: tuple(layer[at] if form is None else None for at, form in words)
        for name, layer in sentence.layers.items()
    }
    return Sentence(
        tuple(form or sentence.forms[at] for at, form in words),
        layers,
        comments=sentence.comments,
        covered=sentence.covered,
        confidence=sentence.confidence and tuple(sentence.confidence[at] for at, _ in words),
        location=sentence.location,
    )


def without_enhanced_dependencies(sentence: Sentence) -> Sentence:
    """Return a sentence without DEPS and without empty nodes, which belong to a tree that was replaced.

    Universal Dependencies wants enhanced dependencies in all sentences of a file or in none.
    """
    words = tuple((before, row) for before, row in sentence.extra_rows if "." not in row.partition("\t")[0])
    columns = {**sentence.columns}
    if _DEPS in columns:
        columns[_DEPS] = (_NONE,) * len(sentence)
    return replace(sentence, columns=columns, extra_rows=words)


def _write_layer(sentences: Iterable[Sentence], stream: IO[str], layer: str) -> None:
    """Write as `write`; the layer becomes XPOS if the sentence has UPOS, otherwise UPOS.

    Sentences with their text, which are from another format, get the other facts that UD asks for (`of_text`).
    """
    for number, sentence in enumerate(sentences, 1):
        text = next((comment.removeprefix(TEXT) for comment in sentence.comments if comment.startswith(TEXT)), None)
        if text is not None and _MISC not in sentence.columns:
            sentence = _spaced(sentence, _glued(sentence.forms, text))  # noqa: PLW2901
            if not any(comment.startswith(_IDENTIFIER) for comment in sentence.comments):
                named = (f"{_IDENTIFIER}{number}", *sentence.comments)
                sentence = replace(sentence, comments=named)  # noqa: PLW2901
        if layer in sentence.heads:
            write([sentence], stream, head=layer)
        elif layer in (UPOS, XPOS) or layer not in sentence.layers:
            write([sentence], stream)
        elif UPOS not in sentence.layers:
            write([sentence], stream, upos=layer)
        elif XPOS not in sentence.layers:
            write([sentence], stream, xpos=layer)
        else:
            raise sentence.error(f"the layers upos, xpos and {layer}", "two layers at most, for UPOS and XPOS")


def _put_beside(sentence: Sentence, name: str, layer: Layer, beside: str | None) -> Sentence:
    """Put labels in a field that is unknown everywhere, XPOS first; `upos` and `xpos` have fields of their own."""
    if name in (UPOS, XPOS):
        return sentence.with_layer(name, layer)
    if beside is not None:
        sentence = sentence.with_layer(UPOS if beside == XPOS else XPOS, (None,) * len(sentence))
    for field in (XPOS, UPOS):
        if not any(sentence.layers.get(field, ())):
            return sentence.with_layer(field, layer)
    raise sentence.error("labels in UPOS and in XPOS", f"one of them empty, for the labels of {name}")


def _take_confidence(sentence: Sentence) -> tuple[list[str | None], Sentence]:
    texts: list[str | None] = []
    for misc in sentence.columns.get(_MISC, ()):
        items = (item.partition("=") for item in misc.split("|"))
        texts.append(next((value for key, equals, value in items if equals and key == _CONFIDENCE), None))
    return texts, sentence


def _put_confidence(sentence: Sentence, texts: Sequence[str]) -> Sentence:
    fields = []
    for misc, text in zip(sentence.columns.get(_MISC, (_NONE,) * len(sentence)), texts, strict=True):
        kept = [item for item in misc.split("|") if item != _NONE and item.partition("=")[0] != _CONFIDENCE]
        fields.append("|".join([*kept, f"{_CONFIDENCE}={text}"]))
    return sentence.with_column(_MISC, fields)


CONFIDENCE = Confidence(_take_confidence, _put_confidence)


def _look(text: FirstLines) -> Look | None:
    is_row = any(len(row) == FIELDS and row[0][:1].isdigit() for row in text.tabbed)
    is_plus = any(row.startswith(_PLUS) for row in text.rows)  # of CoNLL-U Plus, whose other columns are refused
    return Look(Sign.LAYOUT) if is_row or is_plus else None


FORMAT = Format(
    name="conllu",
    read=read,
    write=_write_layer,
    look=_look,
    extensions=(".conllu",),
    layers=(UPOS, XPOS),
    put_beside=_put_beside,
    heads=HEAD,
    confidence=CONFIDENCE,
    comments=True,
)
