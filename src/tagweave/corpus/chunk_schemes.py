"""Schemes that code chunks (entities, phrases) as labels of their tokens: IOB1, IOB2 and BIOES, and their conversion.

    tokens   w1    w2    w3    w4          two adjacent chunks of type X, the first of two tokens
    IOB1     I-X   I-X   B-X   O           B only where a chunk follows another of its type
    IOB2     B-X   I-X   B-X   O           B begins every chunk
    BIOES    B-X   E-X   S-X   O           E ends a chunk of several tokens, S is a chunk of one
    IOE1     I-X   E-X   I-X   O           E only where another chunk of its type follows
    IOE2     I-X   E-X   E-X   O           E ends every chunk

(IOB1: Ramshaw and Marcus 1995. The others but BIOES, also written IOBES: Tjong Kim Sang and Veenstra 1999.) A label is
`O`, a letter (chunks without types) or `LETTER-TYPE`. Types are an open list, so `B-*` stands for `B` with any type,
and `!B-X` for every label but that one.

Other spellings are read, and never written: L and U for E and S (BILOU), M for I and W for S (BMES, BMEWO), small
letters, `LETTER_TYPE`, and `TYPE-LETTER` (`standard_labels`).

Under candidates, a sequence of labels is allowed if each position's label is a candidate, and consistent if the scheme
codes some chunks that way. Conversion gives each position exactly the labels that it has in the conversions of the
consistent allowed sequences; no independent sets of labels can be narrower.

Annotators who leave out whole chunks have marked the others as wholes: a chunk of IOB1 or IOB2 that is followed by an
unknown position ends there; if its right end is unknown as well, the next position says what may follow: `B-*|I-X|O`.
Where single tokens were left out, the chunk may go on into the unknown position. `gaps_in` tells the two apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product, repeat
from typing import Literal, NamedTuple

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.errors import CorpusError

SCHEMES = ("IOB1", "IOB2", "BIOES")
LENIENT = "IOB"
"""B and I as conlleval reads them, whatever stands before: an I that does not go on begins a chunk. Never written."""
LETTERS = {LENIENT: "BI", "IOB1": "BI", "IOB2": "BI", "BIOES": "BIES", "IOE2": "IE", "IOE1": "IE"}
ANY = "*"  # stands for every type
Gaps = Literal["spans", "tokens"]
"""What annotators left out: whole chunks, or tokens."""
_ENOUGH = 50  # labels I from which it counts that none follows a gap
_SLIPS = 0.01  # share of labels I that may stand where the scheme, or whole chunks, have none
_BEGINNINGS = 0.1  # labels B per label I at least, where B begins every chunk
_LABEL = re.compile(r"[BIES](-.+)?")
_TYPED = re.compile(r"[BIES]-.+")
_SPELLINGS = (
    re.compile(r"(?P<letter>[BIESMLUWbiesmluw])-(?P<type>.+)"),
    re.compile(r"(?P<letter>[BIESMLUWbiesmluw])_(?P<type>.+)"),
    re.compile(r"(?P<type>.+)[-_](?P<letter>[BIESMLUWbiesmluw])"),
)
_STANDARD = dict(zip("BIESMLUW", "BIESIESS", strict=True))  # letters of BIOES for those of other schemes
_CACHED = 1 << 16  # sets of candidates, and steps between them; a corpus has few
_PREFERENCE = ("IOB2", "IOB1", "BIOES", "IOE2", "IOE1")
_ENDS_MARKED = ("BIOES", "IOE2")


class ChunkLabel(NamedTuple):
    """A label in its parts; the type `ANY` stands for every type that the sentence does not name."""

    letter: str
    type: str | None = None

    def __str__(self) -> str:
        return self.letter if self.type is None else f"{self.letter}-{self.type}"


ChunkLabels = tuple[ChunkLabel, ...]
OUTSIDE = ChunkLabel("O")
_OUTSIDE = {"O", "o"}
EDGE: ChunkLabels = (OUTSIDE,)  # before and after a sentence
_EDGE: Candidates = (OUTSIDE.letter,)


def parse(label: str) -> ChunkLabel:
    """Split a label into its parts. Raises CorpusError if it does not code a chunk."""
    letter, dash, kind = label.partition("-")
    if label in _OUTSIDE:
        return OUTSIDE
    if letter in ("B", "I", "E", "S") and bool(dash) == bool(kind):
        return ChunkLabel(letter, kind or None)
    if spelled := next(filter(None, (spelling.fullmatch(label) for spelling in _SPELLINGS)), None):
        return ChunkLabel(_STANDARD[spelled["letter"].upper()], spelled["type"])
    raise CorpusError(f"the label {label!r}", "O, or one of B I E S with or without -TYPE")


def codes_chunks(names: Iterable[str]) -> bool:
    """Return whether labels look like a scheme's: only `O` and letters with a type, and some of these.

    Letters of other alphabets than BIES, small ones and other spellings count if `O` is there and all labels agree.
    """
    every = set(names)
    inside = every - _OUTSIDE
    if not inside or all(_TYPED.fullmatch(name) for name in inside):
        return bool(inside)
    if every == inside:
        return False
    spelled = ([spelling.fullmatch(name) for name in inside] for spelling in _SPELLINGS)
    parts = next((matches for matches in spelled if all(matches)), [])
    return any(match is not None and match["letter"].upper() in "BIES" for match in parts)


def standard_labels(corpus: Corpus, layer: str | None = None) -> Corpus:
    """Return the corpus with a layer, by default its own, in the letters BIES if it codes chunks in others."""
    name = layer or corpus.guideline
    sets = {candidates for sentence in corpus for candidates in sentence.layers.get(name, ())}
    labels = {label.removeprefix("!") for candidates in sets for label in candidates or ()}
    if not codes_chunks(labels) or all(label in ("O", ANY) or _TYPED.fullmatch(label) for label in labels):
        return corpus
    spelled = {candidates: _in_standard(candidates) for candidates in sets}

    def step(sentence: Sentence) -> Sentence:
        positions = sentence.layers.get(name)
        return (
            sentence
            if positions is None
            else sentence.with_layer(name, [spelled[candidates] for candidates in positions])
        )

    return corpus.map(step)


def _in_standard(candidates: Candidates) -> Candidates:
    if candidates is None:
        return None
    names = [f"{'!' * label.startswith('!')}{parse(label.removeprefix('!'))!s}" for label in candidates]
    return candidates.spelled(names, candidates) if isinstance(candidates, Soft) else tuple(dict.fromkeys(names))


def labels(names: Iterable[str], scheme: str) -> tuple[str, ...]:
    """Return all labels of the scheme for the types of these labels, sorted."""
    types = dict.fromkeys(parse(name).type for name in names if name not in _OUTSIDE)
    return tuple(sorted(["O", *(str(ChunkLabel(letter, kind)) for kind in types for letter in LETTERS[scheme])]))


def types_in(layer: Layer) -> tuple[str | None, ...]:
    """Return the types that a layer names, in their order."""
    parsed = (parse(label.removeprefix("!")) for candidates in dict.fromkeys(layer) for label in candidates or ())
    return tuple(dict.fromkeys(label.type for label in parsed if label != OUTSIDE and label.type != ANY))


@lru_cache(_CACHED)
def expanded(candidates: Candidates, named: tuple[str | None, ...], scheme: str) -> ChunkLabels:
    """Return the labels that candidates stand for, if a sentence names these types."""
    every = (OUTSIDE, *(ChunkLabel(letter, kind) for kind in (*named, ANY) for letter in LETTERS[scheme]))
    if candidates is None:
        return every
    options: list[ChunkLabel] = []
    for name in candidates:
        label = parse(name.removeprefix("!"))
        if name.startswith("!"):
            options += [
                option for option in every if option != label and (option.letter, label.type) != (label.letter, ANY)
            ]
        elif label.type == ANY:
            options += [ChunkLabel(label.letter, kind) for kind in (*named, ANY)]
        else:
            options.append(label)
    return tuple(dict.fromkeys(options))


def continues(last: ChunkLabel, label: ChunkLabel) -> bool:
    """Return whether two neighbours are in one chunk."""
    return last.letter in "BI" and label.letter in "IE" and last.type == label.type


def may_follow(scheme: str, last: ChunkLabel, label: ChunkLabel, closes: bool = False) -> bool:
    """Return whether a label may follow another in a scheme; `closes` says that the chunk before it ends."""
    if closes and continues(last, label):
        return False
    goes_on = continues(last, label)
    if scheme == "BIOES":
        return goes_on == (last.letter in "BI") == (label.letter in "IE")
    beside = OUTSIDE not in (last, label) and last.type == label.type
    return {
        LENIENT: True,
        "IOB1": label.letter != "B" or beside,
        "IOB2": label.letter != "I" or goes_on,
        "IOE1": last.letter != "E" or beside,
        "IOE2": last.letter != "I" or goes_on,
    }[scheme]


def detect(sentences: Iterable[Sentence], layer: str) -> str:
    """Return the scheme in which a layer of every sentence is consistent: the first of `_PREFERENCE` that fits."""
    fits = list(_PREFERENCE)
    seen: set[tuple[Candidates, Candidates]] = set()  # neighbours that all schemes left allow
    for sentence in sentences:
        positions = sentence.layers.get(layer, ())
        steps = {*pairwise((_EDGE, *positions, _EDGE))} - seen if any(positions) else None
        if not steps:
            continue
        if all(_certain(last) and _certain(label) for last, label in steps):
            fits = [scheme for scheme in fits if all(_follows(scheme, *step) for step in steps)]
            seen |= steps
        else:
            fits = [scheme for scheme in fits if _is_consistent(sentence, positions, scheme)]
        if not fits:
            validate(sentence, layer, "IOB2")
            raise sentence.error("sentences of different schemes", f"one of {', '.join(_PREFERENCE)} in all")
    return fits[0]


def readable(sentences: Iterable[Sentence], layer: str) -> str:
    """Return the scheme to read a layer by: the one of `detect` or, if letters B and I break all rules, `LENIENT`.

    Real corpora have such labels where sentences were cut inside a chunk. The sentences are iterated twice.
    """
    try:
        return detect(sentences, layer)
    except CorpusError:
        if strays(sentences, layer):
            return LENIENT
        raise


def strays(sentences: Iterable[Sentence], layer: str) -> int:
    """Count the certain labels `I` that do not go on with a chunk, in a layer of B, I and O; 0 for other letters."""
    count = 0
    for sentence in sentences:
        if layer not in sentence.layers:
            continue
        with _located(sentence):
            positions = [
                expanded(candidates, (), LENIENT) if candidates else () for candidates in sentence.layers[layer]
            ]
        if any(label.letter not in "BIO" for labels in positions for label in labels):
            return 0
        for last, labels in pairwise((EDGE, *positions)):
            alone = len(labels) == len(last) == 1 and labels[0].letter == "I"
            count += alone and not continues(last[0], labels[0])
    return count


def gaps_in(sentences: Iterable[Sentence], layer: str) -> Gaps:
    """Return whether whole chunks or tokens were left out at unknown positions, judged by the sentences that have some.

    In IOB2, whole chunks have no `I` after an unknown position. Where `I` may begin a chunk, or is rare, tokens were
    left out if some are known to be `O`: annotators who mark only chunks label no other token.
    """
    letters: Counter[str] = Counter()
    after_gap = begun = 0
    for sentence in sentences:
        labels = sentence.layers.get(layer, ())
        if None not in labels or not any(labels):
            continue
        certain = [_letter(candidates) for candidates in labels]
        letters.update(letter for letter in certain if letter)
        pairs = Counter(pairwise(("O", *certain)))
        after_gap, begun = after_gap + pairs[None, "I"], begun + pairs["O", "I"]
    inside = letters["I"]
    if begun <= _SLIPS * inside and letters["B"] >= _BEGINNINGS * inside:
        if after_gap > _SLIPS * inside:
            return "tokens"
        if inside >= _ENOUGH:
            return "spans"
    return "tokens" if letters["O"] else "spans"


@lru_cache(_CACHED)
def _letter(candidates: Candidates) -> str | None:
    """Return the letter of a certain label, "" for several candidates, and `None` if nothing is known."""
    if candidates is None or len(candidates) > 1:
        return None if candidates is None else ""
    try:
        return parse(candidates[0]).letter
    except CorpusError:  # a label of no chunk
        return candidates[0][:1]


@lru_cache(_CACHED)
def _certain(candidates: Candidates) -> ChunkLabel | None:
    """Return the label of a position that has exactly one, without a number; `None` for others, and for bad labels."""
    if candidates is None or isinstance(candidates, Soft) or len(candidates) > 1 or candidates[0].startswith("!"):
        return None
    try:
        label = parse(candidates[0])
    except CorpusError:
        return None
    return None if label.type == ANY else label


@lru_cache(_CACHED)
def _follows(scheme: str, last: Candidates, label: Candidates) -> bool:
    """Return whether the scheme has both labels, each the only one of its position, in this order."""
    one, other = _certain(last), _certain(label)
    letters = LETTERS[scheme] + OUTSIDE.letter
    return bool(one and other and one.letter in letters and other.letter in letters and may_follow(scheme, one, other))


@lru_cache(_CACHED)
def _converted(last: Candidates, label: Candidates, following: Candidates, source: str, target: str) -> Candidates:
    """Convert a position by its neighbours; `None` unless all three have one label, and the scheme has them so."""
    if not (_follows(source, last, label) and _follows(source, label, following)):
        return None
    before, here, after = (parse(candidates[0]) for candidates in (last, label, following) if candidates)
    return tuple(map(str, _labels_between((before,), (here,), (after,), source, target, (False, False))))


def _is_consistent(sentence: Sentence, positions: Layer, scheme: str) -> bool:
    try:
        _feasible(sentence, positions, scheme)
    except CorpusError:
        return False
    return True


def validate(sentence: Sentence, layer: str, scheme: str) -> None:
    """Raise CorpusError, with the first token at which all fail, unless some sequence of the layer is consistent."""
    _feasible(sentence, sentence.layers[layer], scheme)


def convert(
    corpus: Corpus, target: str, source: str | None = None, layer: str | None = None, gaps: Gaps | None = None
) -> Corpus:
    """Convert a layer to another scheme, by default the corpus's own; covered labels become labels of the same types.

    The scheme of the layer is `source`, or else detected, and so are its `gaps`.
    """
    name = layer or corpus.guideline
    scheme = source or detect(corpus, name)
    gaps = gaps or gaps_in(corpus, name)
    is_guideline = name == corpus.guideline

    def step(sentence: Sentence) -> Sentence:
        layer = recoded(sentence, sentence.layers[name], target, scheme, gaps)
        coded = sentence.with_valid_layers({**sentence.layers, name: layer})
        return (
            replace(coded, covered=_covered(sentence.covered, target)) if is_guideline and sentence.covered else coded
        )

    covered = corpus.covered if corpus.covered is None or not is_guideline else _covered(corpus.covered, target)
    return replace(corpus.map(step), covered=covered)


def coded(
    corpus: Corpus, target: str, layer: str | None = None, source: str | None = None, gaps: Gaps | None = None
) -> Corpus:
    """Return the corpus with a layer as evidence for labels of another scheme; sentences without it stay.

    As `convert`, but the layer is read as by `readable`, and an unknown position that ends a chunk says so: `B-*|O` in
    IOB2, `!I-X` in IOB1.
    """
    name = layer or corpus.guideline
    annotated = corpus.with_sentences(sentence for sentence in corpus if name in sentence.layers)
    source = source or readable(annotated, name)
    gaps = gaps or gaps_in(annotated, name)
    converted = convert(annotated, target, source, name, gaps)
    rest = iter(converted.sentences)
    sentences = []
    for sentence in corpus:
        if name not in sentence.layers:
            sentences.append(sentence)
            continue
        coded, positions = next(rest), sentence.layers[name]
        if target != "BIOES" and None in coded.layers[name] and any(positions):
            labels = list(coded.layers[name])
            for at, (last, labels_here) in enumerate(pairwise(_feasible(sentence, positions, source, gaps)), 1):
                ends = positions[at] is None and gaps == "spans"
                if labels[at] is None and (_closes(source, last, ends) or _certainly_ends(last, labels_here)):
                    labels[at] = _after(last, target)
            coded = coded.with_layer(name, labels)
        sentences.append(coded)
    return converted.with_sentences(sentences)


@lru_cache(_CACHED)
def _after(last: ChunkLabels, target: str) -> Candidates:
    """Return what may follow a chunk that ends with one of these labels."""
    types = {label.type for label in last}
    if target == "IOB2":
        return ("B", "O") if types == {None} else (f"B-{ANY}", "O")
    return (f"!{ChunkLabel('I', types.pop())!s}",) if len(types) == 1 else None


@lru_cache(_CACHED)
def _certainly_ends(last: ChunkLabels, labels: ChunkLabels) -> bool:
    return OUTSIDE not in last and not any(continues(before, label) for before in last for label in labels)


def ends_only(candidates: Candidates) -> bool:
    """Return whether candidates of `coded` say only that the chunk before them ends."""
    return candidates is not None and (set(candidates) in ({"B", "O"}, {f"B-{ANY}", "O"}) or candidates[0][:2] == "!I")


def _covered(names: Iterable[str], target: str) -> tuple[str, ...]:
    """Return the covered labels in the target scheme; names may be labels or types."""
    covered = tuple(names)
    types = dict.fromkeys(parse(name).type if _LABEL.fullmatch(name) else name for name in covered if name != "O")
    inside = [str(ChunkLabel(letter, kind)) for kind in types for letter in LETTERS[target]]
    return (*inside, "O") if OUTSIDE.letter in covered else tuple(inside)


def recoded(
    sentence: Sentence, positions: Layer, target: str, source: str | None = None, gaps: Gaps = "spans"
) -> Layer:
    """Convert a layer of a sentence; without `source`, its scheme is detected."""
    if not any(positions):
        return positions
    if source is None:
        source = next((scheme for scheme in _PREFERENCE if _is_consistent(sentence, positions, scheme)), LENIENT)
    if None not in positions:
        before, after = (_EDGE, *positions[:-1]), (*positions[1:], _EDGE)
        certain = tuple(map(_converted, before, positions, after, repeat(source), repeat(target)))
        if None not in certain:
            return certain
    feasible = _feasible(sentence, positions, source, gaps)
    named = types_in(positions)
    converted: list[Candidates] = []
    ends = [*(candidates is None and gaps == "spans" for candidates in positions), False]
    beside = [EDGE, *feasible, EDGE]
    for at, (last, labels, following) in enumerate(zip(beside[:-2], feasible, beside[2:], strict=True)):
        is_closed = target == "BIOES" or not _goes_on(source, last, labels, ends[at])
        closes = _closes(source, last, ends[at]), _closes(source, labels, ends[at + 1])
        spelled = _labels_between(last, labels, following, source, target, closes)
        candidates = positions[at]
        if isinstance(candidates, Soft):
            converted.append(_numbered(sentence, candidates, spelled, named, source, target))
        else:
            converted.append(_candidates(spelled, named, target, candidates is None, is_closed))
    return tuple(converted)


def _numbered(
    sentence: Sentence, soft: Soft[str], labels: ChunkLabels, named: tuple[str | None, ...], source: str, target: str
) -> Soft[str]:
    """Return labels that share the number of the candidate that they spell; lost numbers go to the others."""
    if "IOB1" in (source, target) or (source in ("BIOES", "IOE1", "IOE2") and target != source):
        problem = f"numbers of candidates from the scheme {source} to {target}"
        raise sentence.error(problem, "labels with numbers in IOB2, and IOB2 or BIOES to code them")
    letters = {} if source == target else {"S": "B", "E": "I"}
    candidates = {label: candidate for candidate in reversed(soft) for label in expanded((candidate,), named, source)}
    chosen = [label for label in labels if label.type != ANY]
    spelt = [candidates[ChunkLabel(letters.get(label.letter, label.letter), label.type)] for label in chosen]
    kept = soft.spelled(map(str, chosen), spelt)
    scale = sum(soft.numbers) / sum(kept.numbers)
    return Soft(kept, (scale * number for number in kept.numbers), kept.groups)


@lru_cache(_CACHED)
def _goes_on(source: str, last: ChunkLabels, labels: ChunkLabels, ends: bool) -> bool:
    """Return whether a position after one that is certainly in a chunk may continue the chunk."""
    return (
        OUTSIDE not in last
        and not (ends and source not in _ENDS_MARKED)
        and any(continues(before, label) for before in last for label in labels)
    )


@lru_cache(_CACHED)
def _labels_between(
    before: ChunkLabels, labels: ChunkLabels, after: ChunkLabels, source: str, target: str, closes: tuple[bool, bool]
) -> ChunkLabels:
    """Return the labels of one position in the target scheme. Given its own label, the two sides are independent.

    `closes` says whether the position, and the next one, end the chunk before them.
    """
    targets: dict[ChunkLabel, None] = {}
    for label in labels:
        lefts = {  # whether the label begins a chunk, and whether the token before is in a chunk of the same type
            (not continues(last, label), last != OUTSIDE and last.type == label.type)
            for last in before
            if may_follow(source, last, label, closes[0])
        }
        ends = {
            not continues(label, following) for following in after if may_follow(source, label, following, closes[1])
        }
        for (starts, beside), end in product(sorted(lefts), sorted(ends)):
            targets[_spelled(target, label, starts, beside, end)] = None
    return tuple(targets)


@lru_cache(_CACHED)
def _candidates(
    labels: ChunkLabels, named: tuple[str | None, ...], target: str, unknown: bool, is_closed: bool
) -> Candidates:
    """Return labels as candidates. Unknown stays unknown, unless that would end a chunk which may go on."""
    wild = {label.letter for label in labels if label.type == ANY}
    is_whole = len(labels) == len(LETTERS[target]) * (len(named) + 1) + 1
    if wild and is_closed and (unknown or is_whole):
        return None
    return tuple(str(label) for label in labels if label.type == ANY or label.letter not in wild)


def _spelled(target: str, label: ChunkLabel, starts: bool, beside: bool, ends: bool) -> ChunkLabel:
    if label == OUTSIDE:
        return label
    if target == "IOB1":
        letter = "B" if starts and beside else "I"
    elif target == "IOB2":
        letter = "B" if starts else "I"
    else:
        letter = {(True, True): "S", (True, False): "B", (False, False): "I", (False, True): "E"}[starts, ends]
    return ChunkLabel(letter, label.type)


def _feasible(sentence: Sentence, positions: Layer, scheme: str, gaps: Gaps = "spans") -> list[ChunkLabels]:
    """Return the labels on some allowed consistent sequence: a pass forward, then one backward."""
    with _located(sentence):
        named = types_in(positions)
        stands_for = {position: expanded(position, named, scheme) for position in dict.fromkeys(positions)}
    for candidates, meant in stands_for.items():
        if strange := [label for label in meant if label.letter not in LETTERS[scheme] + "O"]:
            expected = f"O or {' '.join(LETTERS[scheme])} with -TYPE in the scheme {scheme}"
            raise sentence.error(f"the label {str(strange[0])!r} at token {positions.index(candidates) + 1}", expected)
    options = [stands_for[candidates] for candidates in positions]
    ends = [candidates is None and gaps == "spans" for candidates in positions]
    last = EDGE
    for number, labels in enumerate(options, 1):
        reached = _reached(scheme, last, labels, ends[number - 1])
        if not reached:
            raise _inconsistent(sentence, scheme, labels, number, last)
        options[number - 1] = last = reached
    following = EDGE
    for number in range(len(options), 0, -1):
        labels = options[number - 1]
        closes = number < len(options) and _closes(scheme, labels, ends[number])
        leading = _leading(scheme, labels, following, closes)
        if not leading:  # only at the end: before it, every label has a successor from the pass forward
            raise _inconsistent(sentence, scheme, following, number + 1, labels)
        options[number - 1] = following = leading
    return options


@lru_cache(_CACHED)
def _reached(scheme: str, last: ChunkLabels, labels: ChunkLabels, ends: bool) -> ChunkLabels:
    """Return the labels that may follow; a position that `ends` chunks continues none that IOB leaves open."""
    closes = _closes(scheme, last, ends)
    return tuple(label for label in labels if any(may_follow(scheme, before, label, closes) for before in last))


def _closes(scheme: str, last: ChunkLabels, ends: bool) -> bool:
    """Return whether a position that ends chunks has one before it, which IOB leaves open."""
    return ends and scheme not in _ENDS_MARKED and OUTSIDE not in last


@lru_cache(_CACHED)
def _leading(scheme: str, labels: ChunkLabels, following: ChunkLabels, closes: bool) -> ChunkLabels:
    return tuple(label for label in labels if any(may_follow(scheme, label, after, closes) for after in following))


@contextmanager
def _located(sentence: Sentence) -> Iterator[None]:
    try:
        yield
    except CorpusError as error:
        raise error.at(*sentence.location) from error


def _inconsistent(sentence: Sentence, scheme: str, labels: ChunkLabels, number: int, last: ChunkLabels) -> CorpusError:
    before, here = ("|".join(map(str, side)) for side in (last, labels))
    if number > len(sentence):
        problem = f"{before} at the last token"
    else:
        problem = f"{here} at token {number} after {before if number > 1 else 'the start'}"
    return sentence.error(problem, f"labels that can follow each other in the scheme {scheme}")
