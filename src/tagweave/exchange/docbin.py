"""spaCy's DocBin, the format of its training data (`.spacy`).

Tags are the layers `upos` and `xpos`, entities the layer `entities` in IOB2, heads the layer `head`; lemmas and
morphology are the columns `lemma` and `feats`. Missing values are unknown. The span group `incorrect_spans` has
rejected spans: spaCy learns from the group that `incorrect_spans_key` names.

Only the arrays and strings of a file are read. `get_docs` would pass unchecked values to compiled code, and unpack user
data; so no documents are made, and user data is left out.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import IO, Any

from tagweave.corpus.load import key_and_value
from tagweave.corpus.sentence import Arc, ArcCandidates, Candidates, Location, Sentence
from tagweave.corpus.spans import OUTSIDE, Span
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange.document import TokenTool, single
from tagweave.exchange.members import UNPACKED, ExportFile, library, members
from tagweave.exchange.offsets import TokenOffsets
from tagweave.exchange.sentences import DOCUMENT, TEXT, place_comments

UPOS, XPOS, HEAD, ENTITIES = "upos", "xpos", "head", "entities"
_TEXTS = ("ORTH", "POS", "TAG", "LEMMA", "MORPH", "DEP", "ENT_TYPE")
_COLUMNS = {"lemma": "LEMMA", "feats": "MORPH"}
_NUMBERS = ("HEAD", "ENT_IOB", "SENT_START")
_ARRAYS, _BYTES = (b"tokens", b"spaces"), (0xC4, 0xC5, 0xC6)  # what is an array, and how it begins in msgpack
_OBJECTS = 12 << 20  # bytes of all else
_LARGEST, _RATIO = 1 << 28, 50  # bytes of a file; times those on disk
_INSIDE, _OUTSIDE, _BEGIN = 1, 2, 3
_NONE = "_"
_INCORRECT = "incorrect_spans"
_NO_GROUPS = (b"", b"\x80", b"\x90")  # nothing, an empty map, an empty list: srsly takes half a millisecond for each
_SPAN = struct.Struct(">QQQllll")
"""A span of a group: its number, that of its entity, its label; its tokens and its characters from .. to."""


@dataclass(frozen=True)
class _Tokens:
    """The tokens of a document: texts and numbers by attribute, whether a blank follows each, and rejected spans."""

    texts: dict[str, list[str]]
    numbers: dict[str, list[int]]
    blanks: list[bool]
    rejected: list[Span]

    def __len__(self) -> int:
        return len(self.blanks)


def read(path: str, leave_out: Callable[[str], None]) -> Iterator[Sentence]:
    """Yield the sentences of a file, or of a folder of files."""
    library("spacy", "spaCy", "spacy")
    for member in members(path, ".spacy"):
        for number, tokens in enumerate(_documents(member, leave_out), 1):
            yield from _sentences(tokens, number, member)


def _documents(member: ExportFile, leave_out: Callable[[str], None]) -> Iterator[_Tokens]:
    from spacy.attrs import IDS
    from spacy.strings import StringStore
    from spacy.tokens import DocBin

    _check_size(member)
    try:
        docbin = DocBin().from_bytes(member.data)
        strings = StringStore(docbin.strings)
        text: Callable[[int], str] = cache(lambda number: str(strings[number]))  # each is made once
        for what, values in (("user data of documents", docbin.user_data), ("categories of documents", docbin.cats)):
            for _ in filter(None, values):
                leave_out(what)
        groups = [_groups(packed) for packed in docbin.span_groups]
        for name in (name for names in groups for name in names if name != _INCORRECT):
            leave_out(f"span groups {name}")
        rejected = [[Span(a, b, text(label)) for a, b, label in spans.get(_INCORRECT, ())] for spans in groups]
        links = [at for at, attribute in enumerate(docbin.attrs) if attribute == IDS["ENT_KB_ID"]]
        for at, array in enumerate(docbin.tokens):
            if links and array[:, links].any():
                leave_out("documents with links of entities")
            yield _tokens(docbin, at, text, rejected[at])
    except Exception as error:
        told = f"no DocBin ({type(error).__name__}: {error})"
        raise CorpusError(told, "spaCy's training data", member.place) from None


def _check_size(member: ExportFile) -> None:
    """Raise if the data grow beyond measure when they are decompressed, or when they become Python's objects.

    Tokens are arrays, which take what they have; lists and maps take up to 64 times that, and so do documents.
    """
    from srsly.msgpack import Unpacker

    unpacking, most = zlib.decompressobj(), max(UNPACKED, min(_LARGEST, _RATIO * len(member.data)))
    try:
        data = unpacking.decompress(member.data, most)
        if unpacking.unconsumed_tail:
            raise CorpusError(f"more than {most:,} bytes in {len(member.data):,}", "several files", member.place)
        unpacker = Unpacker(max_buffer_size=len(data) + 1)
        unpacker.feed(data)
        size = 0
        for _ in range(unpacker.read_map_header()):
            key, start = unpacker.unpack(), unpacker.tell()
            unpacker.skip()
            is_array = key in _ARRAYS and data[start] in _BYTES
            size += 0 if is_array else (unpacker.tell() - start) * (4 if key == b"lengths" else 1)
    except CorpusError:
        raise
    except Exception as error:
        raise CorpusError(f"no DocBin ({error})", "spaCy's training data", member.place) from None
    if size > _OBJECTS:
        problem = f"{size:,} bytes of texts and documents"
        raise CorpusError(problem, f"at most {_OBJECTS:,}: several files", member.place)


def _groups(packed: bytes) -> dict[str, list[tuple[int, int, int]]]:
    """Return the span groups of a document by name: first tokens, tokens after the last ones, and labels of spans."""
    import srsly

    named: dict[str, list[tuple[int, int, int]]] = {}
    groups = [] if packed in _NO_GROUPS else srsly.msgpack_loads(packed)
    for group in groups:
        content = srsly.msgpack_loads(group)
        spans = [_SPAN.unpack(packed_span) for packed_span in content["spans"]]
        for name in groups[group] if isinstance(groups, dict) else [content["name"]]:
            named[name] = [(start, stop, label) for _, _, label, start, stop, _, _ in spans]
    return named


def _tokens(docbin: Any, at: int, text: Callable[[int], str], rejected: list[Span]) -> _Tokens:
    from spacy.attrs import IDS

    array, blanks = docbin.tokens[at], [bool(blank) for blank in docbin.spaces[at].reshape(-1)]
    if len(array) != len(blanks):
        raise ValueError(f"{len(array)} tokens and {len(blanks)} blanks")
    columns = {name: array[:, docbin.attrs.index(IDS[name])] for name in IDS if IDS[name] in docbin.attrs}
    if "ORTH" not in columns:
        raise ValueError("tokens without texts")
    texts = {name: [text(int(number)) for number in columns[name]] for name in _TEXTS if name in columns}
    numbers = {name: columns[name].astype("int64").tolist() for name in _NUMBERS if name in columns}
    unknown = docbin.flags[at].get("has_unknown_spaces")
    if wrong := [span for span in rejected if not 0 <= span.start < (span.stop or 0) <= len(blanks)]:
        raise ValueError(f"the rejected span {wrong[0].start}:{wrong[0].stop} of {len(blanks)} tokens")
    return _Tokens(texts, numbers, [True] * len(blanks) if unknown else blanks, rejected)


def _sentences(tokens: _Tokens, number: int, member: ExportFile) -> Iterator[Sentence]:
    begins = [at for at, value in enumerate(tokens.numbers.get("SENT_START", ())) if value == 1 and at]
    pieces = [form + " " * blank for form, blank in zip(tokens.texts["ORTH"], tokens.blanks, strict=True)]
    text, starts = "".join(pieces), [0, *accumulate(map(len, pieces))]
    offsets = [(start, start + len(form)) for start, form in zip(starts, tokens.texts["ORTH"], strict=False)]
    end = 0
    comments: tuple[str, ...] = (f"# {DOCUMENT} = {number}",)
    for start, stop in zip([0, *begins], [*begins, len(tokens)], strict=True):
        kept = [at for at in range(start, stop) if tokens.texts["ORTH"][at].strip()]
        if kept:
            first, last = offsets[kept[0]][0], offsets[kept[-1]][1]
            sentence_comments = (*comments, *place_comments(text, end, first, last))
            yield _sentence(tokens, kept, sentence_comments, member)
            end, comments = last, ()


def _sentence(tokens: _Tokens, kept: Sequence[int], comments: tuple[str, ...], member: ExportFile) -> Sentence:
    def column(name: str) -> list[str]:
        values = tokens.texts.get(name)
        return [values[at] if values else "" for at in kept]

    layers: dict[str, tuple[Candidates, ...]] = {
        UPOS: tuple((tag,) if tag else None for tag in column("POS")),
        XPOS: tuple((tag,) if tag else None for tag in column("TAG")),
        ENTITIES: (None,) * len(kept),
    }
    if "ENT_IOB" in tokens.numbers:
        layers[ENTITIES] = tuple(_entities([tokens.numbers["ENT_IOB"][at] for at in kept], column("ENT_TYPE")))
    columns = {name: column(key) for name, key in _COLUMNS.items() if any(tokens.texts.get(key, ()))}
    heads = tuple(_heads(tokens, kept, column("DEP"), member))
    places = {at: place for place, at in enumerate(kept)}
    rejected = tuple(
        Span(places[start], places[stop - 1] + 1, label)
        for start, stop, label in tokens.rejected
        if label and start in places and stop is not None and stop - 1 in places  # no blank tokens at its ends
    )
    return Sentence(
        tuple(column("ORTH")),
        layers,
        {name: tuple(value or _NONE for value in values) for name, values in columns.items()},
        {HEAD: heads},
        comments,
        rejected={ENTITIES: rejected} if rejected else {},
        location=Location(member.place),
    )


def _entities(places: Sequence[int], types: Sequence[str]) -> Iterator[Candidates]:
    """Yield labels in IOB2; an entity that goes on where there was none of its type begins."""
    before = ""
    for place, label in zip(places, types, strict=True):
        inside = place == _INSIDE and bool(label) and before == label
        before = label if place in (_INSIDE, _BEGIN) else ""
        if place not in (_INSIDE, _OUTSIDE, _BEGIN):
            yield None
        else:
            yield (f"{'I' if inside else 'B'}-{label}" if before else OUTSIDE,)


def _heads(
    tokens: _Tokens, kept: Sequence[int], relations: Sequence[str], member: ExportFile
) -> Iterator[ArcCandidates]:
    """Yield the heads; nothing is known of a token whose head is a blank."""
    places = {at: place for place, at in enumerate(kept, 1)}
    distances = tokens.numbers.get("HEAD", [0] * len(tokens))
    for at, relation in zip(kept, relations, strict=True):
        head = at + distances[at]
        if not relation:
            yield None
        elif head == at or head in places:
            yield (Arc(0 if head == at else places[head], relation),)
        elif 0 <= head < len(tokens) and not tokens.texts["ORTH"][head].strip():
            yield None
        else:
            problem = f"the head {distances[at]:+} of {tokens.texts['ORTH'][at]!r}"
            raise CorpusError(problem, "a token of its sentence", member.place)


def write(sentences: Sequence[Sentence], stream: IO[bytes], layers: Sequence[str], _name: str) -> None:
    """Write a DocBin in which every sentence is a document; a layer that is not `upos` or `xpos` is entities."""
    library("spacy", "spaCy", "spacy")
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    entity_layers = [name for name in layers if name not in (UPOS, XPOS)]
    if len(entity_layers) > 1:
        raise ExchangeError(f"found the layers {', '.join(entity_layers)}, expected one of them, as entities of spaCy")
    vocab, docbin = Vocab(), DocBin(store_user_data=False)
    for sentence in sentences:
        if sentence.forms:
            try:
                docbin.add(_doc(sentence, entity_layers[0] if entity_layers else None, vocab))
            except CorpusError:
                raise
            except (ValueError, KeyError) as error:
                raise CorpusError(f"what spaCy refuses ({error})", "tags of UD, and IOB2", *sentence.location) from None
    stream.write(docbin.to_bytes())


def _doc(sentence: Sentence, entities: str | None, vocab: Any) -> Any:
    from spacy.tokens import Doc
    from spacy.tokens import Span as Marked

    def labels(name: str | None) -> list[str] | None:
        layer = sentence.layers.get(name) if name is not None else None
        return None if layer is None else [label or "" for label in single(layer, sentence, "spaCy")]

    columns: dict[str, Any] = {
        name: ["" if value == _NONE else value for value in sentence.columns[key]]
        for name, key in (("lemmas", "lemma"), ("morphs", "feats"))
        if key in sentence.columns
    }
    columns |= {"pos": labels(UPOS), "tags": labels(XPOS), "ents": labels(entities)}
    heads, relations = _spacy_heads(sentence)
    starts: list[bool | int | None] | None = None if heads else [True, *[False] * (len(sentence) - 1)]
    columns |= {"heads": heads, "deps": relations, "sent_starts": starts}
    made = Doc(vocab, words=list(sentence.forms), spaces=_blanks(sentence), **columns)
    if rejected := sentence.rejected.get(entities or ENTITIES, ()):
        made.spans[_INCORRECT] = [Marked(made, start, stop or 0, label or "") for start, stop, label in rejected]
    return made


def _spacy_heads(sentence: Sentence) -> tuple[list[int] | None, list[str] | None]:
    """Return heads and relations. A token without a head hangs on the root, so that it does not part the sentence."""
    arcs = sentence.heads.get(HEAD)
    if arcs is None or not any(arcs):
        return None, None
    root = next((at for at, candidates in enumerate(arcs) if candidates and candidates[0].head == 0), 0)
    heads, relations = [], []
    for at, candidates in enumerate(arcs):
        if candidates is not None and (
            len(candidates) > 1 or candidates[0].head is None or candidates[0].relation is None
        ):
            problem = f"{len(candidates)} candidates of a head, or half of one"
            raise sentence.error(problem, "a head and its relation, or none")
        head = root if candidates is None else candidates[0].head
        heads.append(
            at if candidates is not None and head == 0 else head - 1 if candidates is not None and head else root
        )
        relations.append("" if candidates is None else candidates[0].relation or "")
    return heads, relations


def _blanks(sentence: Sentence) -> list[bool] | None:
    """Return whether a blank follows each token in the text of a comment; `None` if there is none."""
    text = dict(map(key_and_value, sentence.comments)).get(TEXT)
    offsets = TokenOffsets.in_text(text, sentence.forms) if text is not None else None
    if offsets is None:
        return None
    return [stop not in offsets.starts for stop in [*offsets.stops][:-1]] + [False]


TOOL = TokenTool("spacy", read, write, (".spacy",))
