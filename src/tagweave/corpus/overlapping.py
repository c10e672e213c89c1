"""Layers of spans that may overlap: spans of one layer exclude one another, those of different layers do not.

Layers whose spans never overlap, though the same sentences have both, can be one: it says of each token which of their
spans it is in. Such layers are grouped, joined, and split again by the types of their spans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from tagweave.corpus import chunk_schemes
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import layer_names
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import ANY, OUTSIDE
from tagweave.errors import CorpusError

Types = Mapping[str, tuple[str, ...]]
"""The types of the spans of each layer."""
_JOINT = "+"
_MARKED = 2  # layers that can overlap


def layer_types(corpora: Iterable[Corpus]) -> dict[str, tuple[str, ...]]:
    """Return the layers that code spans with types, in the order of the corpora, with the types of each, sorted."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for corpus in corpora:
        for sentence in corpus:
            for name, layer in sentence.layers.items():
                names[name].update(label for candidates in set(layer) for label in candidates or ())
    types = {}
    for name, labels in names.items():
        if chunk_schemes.codes_chunks(label.removeprefix("!") for label in labels):
            parsed = {chunk_schemes.parse(label.removeprefix("!")).type for label in labels}
            types[name] = tuple(sorted(kind for kind in parsed if kind not in (None, ANY)))
    return {name: kinds for name, kinds in types.items() if kinds}


def are_of_types(corpora: Sequence[Corpus]) -> bool:
    """Return whether corpora have layers that are each called like the only type of their spans, and spans of
    different layers overlap."""
    named = type_layers(layer_types(corpora))
    return len(named) >= _MARKED and any(
        not one.isdisjoint(other)
        for corpus in corpora
        for sentence in corpus
        for one, other in combinations([_inside(sentence.layers.get(name, ())) for name in named], 2)
    )


def type_layers(types: Types) -> tuple[str, ...]:
    """Return the layers that are called like the only type of their spans."""
    return tuple(name for name, kinds in types.items() if kinds == (name,))


def by_types(corpus: Corpus, names: Collection[str]) -> Corpus:
    """Return a corpus whose own layer has no name as one with a layer for each of its types, if all of these are names
    of layers: the file of an annotator, none of whose spans overlap."""
    kinds = layer_types([corpus]).get(corpus.guideline, ()) if corpus.guideline in layer_names() else ()
    if not kinds or not {*kinds} <= {*names}:
        return corpus
    coded = chunk_schemes.coded(corpus, "IOB2")

    def step(sentence: Sentence) -> Sentence:
        layers = dict(sentence.layers)
        labels = layers.pop(coded.guideline, (None,) * len(sentence))
        return sentence.with_valid_layers({**layers, **{kind: of_layer(labels, (kind,)) for kind in kinds}})

    return replace(coded.map(step), guideline=kinds[0], layer=kinds[0])


def groups(corpora: Sequence[Corpus], types: Types) -> list[tuple[str, ...]]:
    """Group layers that can be one: none of their spans overlap, and they mark the same sentences in full.

    Greedily, those with the most conflicts first (Welsh and Powell 1967). Layers with a type in common, and layers that
    are incomplete, uncertain, or of different text, stay apart: nothing tells that their spans exclude one another.
    """
    apart = {name: {other for other in types if other != name and {*types[name]} & {*types[other]}} for name in types}
    patterns: set[tuple[frozenset[str], frozenset[str]]] = set()  # the layers that mark a sentence, and those in part

    def separate(one: str, other: str) -> None:
        apart[one].add(other)
        apart[other].add(one)

    for sentence in (sentence for corpus in corpora for sentence in corpus):
        marked = {name: layer for name in types if any(layer := sentence.layers.get(name, ()))}
        partial = {name for name, layer in marked.items() if not all(map(_is_one_label, layer))}
        patterns.add((frozenset(marked), frozenset(partial.union(sentence.rejected))))
        inside = [(name, tokens) for name, layer in marked.items() if (tokens := _inside(layer))]
        for (one, tokens), (other, other_tokens) in combinations(inside, 2):
            if not tokens.isdisjoint(other_tokens):
                separate(one, other)
    for marking, partial_ones in patterns:
        for one, other in combinations(types, 2):
            if len(marking & {one, other}) == 1 or partial_ones & {one, other}:
                separate(one, other)
    joint: list[tuple[str, ...]] = []
    for name in sorted(types, key=lambda name: (-len(apart[name]), name)):
        at = next((at for at, group in enumerate(joint) if apart[name].isdisjoint(group)), len(joint))
        joint[at : at + 1] = [(*(joint[at] if at < len(joint) else ()), name)]
    order = [*types]
    return sorted((tuple(sorted(group, key=order.index)) for group in joint), key=lambda group: order.index(group[0]))


def _inside(layer: Layer) -> set[int]:
    """Return the tokens that are in a span for certain."""
    return {at for at, candidates in enumerate(layer) if candidates and OUTSIDE not in candidates}


def _is_one_label(candidates: Candidates) -> bool:
    return candidates is not None and len(candidates) == 1 and not isinstance(candidates, Soft)


def joint_name(group: Sequence[str]) -> str:
    """Return the name of the layer that layers are joined to."""
    return _JOINT.join(group)


def of_group(corpus: Corpus, group: Sequence[str], types: Types, name: str | None = None) -> Corpus:
    """Return a corpus with one layer, that of a group, as far as the corpus covers its types; `name`: of the layer."""
    name = name or joint_name(group)
    kinds = [kind for layer in group for kind in types[layer]]
    coded = corpus
    for layer in group if len(group) > 1 else ():
        coded = chunk_schemes.coded(coded, "IOB2", layer)

    def step(original: Sentence, sentence: Sentence) -> Sentence:
        covered = _covered(corpus.covered_in(original), kinds)
        layer = (None,) * len(sentence) if covered == () else joined(sentence, group, types)
        rejected = tuple(span for one in group for span in sentence.rejected.get(one, ()))
        return replace(sentence, layers={name: layer}, rejected={name: rejected} if rejected else {}, covered=covered)

    return replace(corpus.with_sentences(map(step, corpus, coded)), guideline=name, layer=name, covered=None)


def _covered(covered: tuple[str, ...] | None, types: Sequence[str]) -> tuple[str, ...] | None:
    """Return which of some types annotators looked for; `None`: all of them."""
    if covered is None:
        return None
    kinds = {label[2:] if label[1:2] == "-" else label for label in covered}
    looked_for = tuple(kind for kind in types if kind in kinds)
    return None if len(looked_for) == len(types) else looked_for


def joined(sentence: Sentence, group: Sequence[str], types: Types) -> Layer:
    """Return the layer of a group: of several layers, which are in IOB2, the labels that all of them allow.

    A token of spans of several layers is unknown.
    """
    layers = [sentence.layers.get(name, (None,) * len(sentence)) for name in group]
    if len(layers) == 1:
        return layers[0]
    kinds = tuple(types[name] for name in group)
    return tuple(_joined(candidates, kinds) for candidates in zip(*layers, strict=True))


@cache
def _joined(several: tuple[Candidates, ...], types: tuple[tuple[str, ...], ...]) -> Candidates:
    if not any(several):
        return None
    allowed = [list(_spelled(*pair)) for pair in zip(several, types, strict=True)]
    shut = [at for at, labels in enumerate(allowed) if OUTSIDE not in labels]
    inside = (labels for at, labels in enumerate(allowed) if not {*shut} - {at})
    labels = [label for layer_labels in inside for label in layer_labels if label != OUTSIDE]
    return (*((OUTSIDE,) if not shut else ()), *labels) or None


def _spelled(candidates: Candidates, types: tuple[str, ...]) -> Iterator[str]:
    """Yield the labels in IOB2 that candidates of a layer with these types stand for."""
    every = (OUTSIDE, *(f"{letter}-{kind}" for letter in "BI" for kind in types))
    for label in every if candidates is None else candidates:
        if label.endswith(f"-{ANY}"):
            yield from (name for name in every if name[:2] == label[:2])
        elif label.startswith("!"):
            yield from (name for name in every if name != label[1:])
        else:
            yield label


def of_layer(layer: Layer, types: Sequence[str]) -> Layer:
    """Return the layer of some types of a joint layer of labels: a token of other spans is outside."""

    @cache
    def kept(candidates: Candidates) -> Candidates:
        labels = list[str]()
        for label in candidates or ():
            kind = label.partition("-")[2]
            labels += [label, OUTSIDE] if kind == ANY else [label if kind in types else OUTSIDE]
        return candidates if candidates is None or tuple(labels) == candidates else tuple(dict.fromkeys(labels))

    return tuple(map(kept, layer))


def refuse_overlap(sentence: Sentence, group: Sequence[str]) -> None:
    """Raise CorpusError if spans of a group of layers overlap."""
    marked = [(name, _inside(sentence.layers.get(name, ()))) for name in group]
    for (one, inside), (other, also) in combinations(marked, 2):
        if both := sorted(inside & also):
            problem = f"spans of {one} and {other} that overlap at token {both[0] + 1}, {sentence.forms[both[0]]!r}"
            raise CorpusError(problem, "none, as in training", *sentence.location)
