"""Where two guidelines diverge: which tags of the two occur at the same tokens, on which words, and how trees differ.

If the same sentences are annotated under both guidelines, pairs of tags are counted. If each guideline has a corpus of
its own, a model of both (li-2015) gives the probability of each pair at every token, given the tag that is there, and
the counts are expected counts:

    count(a, b) = sum over tokens of p(a, b | sentence, given tags)

Counts leave out positions that do not have exactly one label on each side. Expected counts leave out only positions
without any label, since the model gives the probability of each of several labels.

Trees are compared in the same sentences. Relations of a token are counted in pairs, as tags are. For heads, the
position of a token's head in the tree of the other guideline is counted:

    same           it is the token's head there, too
    reversed       it is a modifier of the token: the arc is reversed
    grandparent    it is the head of the token's head: another token is between them
    grandchild     the token is the head of its head
    sibling        both have the same head
    uncle          it has the same head as the token's head
    nephew         the token has the same head as its head
    ancestor       it is further above the token
    descendant     it is further below
    other          it is anywhere else

A token does not count if it does not have exactly one head in both trees, or is not part of a tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from tagweave.corpus.describe import Context
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import only_label
from tagweave.evaluation.alignment import check_tokens, paired
from tagweave.evaluation.attachment import arcs_of
from tagweave.evaluation.divergence import Divergence, Pair, TreeDivergence
from tagweave.evaluation.score import Share
from tagweave.evidence.trees import only_head
from tagweave.features.arc_templates import check_lengths
from tagweave.kernels.arcs import FARTHEST, PATHS, tree_paths
from tagweave.models.chain_predictor import ChainPredictor

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates, Sentence
    from tagweave.models.chain import ChainModel

Token = tuple[int, int]
"""The number of a sentence and the position in it."""

_EXAMPLES = 5
_BLOCK = 500  # sentences whose expected pairs are in memory at a time


@dataclass(slots=True)
class _Word:
    """How often a word has a pair, the token that is its example, and the probability of the pair there."""

    token: Token
    weight: float = 0.0
    best: float = 0.0


class TagPairs:
    """Counts of pairs of tags, and of the words that have them.

    Attributes:
        counts: how often each pair occurs; expected counts may be fractional.
    """

    def __init__(self) -> None:
        self.counts: dict[Pair, float] = defaultdict(float)
        self._words: dict[Pair, dict[str, _Word]] = defaultdict(dict)
        self._forms: dict[str, float] = defaultdict(float)
        self._total = 0.0

    def add(self, pair: Pair, form: str, token: Token) -> None:
        self.counts[pair] += 1
        self.show(pair, form, token)

    def show(self, pair: Pair, form: str, token: Token, probability: float = 1.0) -> None:
        """Add a possible example of a pair. For each word the most probable token is kept, of ties the first."""
        word = self._words[pair].setdefault(form, _Word(token))
        word.weight += probability
        if probability > word.best:
            word.best, word.token = probability, token
        self._forms[form] += probability
        self._total += probability

    def examples(self, pair: Pair) -> list[Token]:
        """Return tokens of different words, the most typical words first, ties sorted by name.

        How typical a word is of a pair is n(word, pair) log (P(pair | word) / P(pair)): it has the pair often, and more
        often than other words do.
        """
        words = self._words.get(pair, {})
        average = sum(word.weight for word in words.values()) / (self._total or 1)
        typical = {form: word.weight * log(word.weight / self._forms[form] / average) for form, word in words.items()}
        best = sorted(words, key=lambda form: (-typical[form], form))[:_EXAMPLES]
        return [words[form].token for form in best]


def divergence_of(
    first: str,
    second: str,
    pairs: TagPairs,
    context: Callable[[Token], Context],
    left_out: int = 0,
    expected: bool = False,
    what: str = "tag",
) -> Divergence:
    """Compute the divergence from pairs of tags; `context` returns a token in its context, for examples."""
    occurring = {pair: count for pair, count in pairs.counts.items() if count > 0}
    tags, partners = (tuple(sorted({pair[side] for pair in occurring})) for side in (0, 1))
    counts = np.zeros((len(tags), len(partners)))
    for (tag, partner), count in occurring.items():
        counts[tags.index(tag), partners.index(partner)] = count
    examples = {pair: tuple(map(context, pairs.examples(pair))) for pair in occurring}
    return Divergence(first, second, tags, partners, counts, examples, left_out, expected, what)


def same_sentences(first: Corpus, second: Corpus) -> bool:
    """Return whether two corpora have the same words in the same order."""
    return len(first) == len(second) and all(a.forms == b.forms for a, b in zip(first, second, strict=True))


def counted(first: Corpus, second: Corpus) -> Divergence:
    """Count pairs of tags in sentences that are annotated under both guidelines."""
    check_words(first, second)
    check_tokens(first.sentences, second.sentences, first.path, second.path)
    pairs, left_out = TagPairs(), 0
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        layers = zip(_layer(one, first.guideline), _layer(other, second.guideline), strict=True)
        for at, (a, b) in enumerate(layers):
            tag, partner = only_label(a), only_label(b)
            if tag is None or partner is None:
                left_out += 1
            else:
                pairs.add((tag, partner), one.forms[at], (number, at))
    return _divergence(first, second, pairs, first.sentences, left_out)


def expected(model: ChainModel, first: Corpus, second: Corpus, threads: int = 1) -> Divergence:
    """Compute expected counts of pairs of tags in two corpora by a model of both guidelines.

    Args:
        model: the guidelines of both corpora are views of its labels, and its last view is the joint one.
        first, second: corpora in words of the model; layers of both guidelines are used wherever they are.
        threads: how many threads share the work.

    Raises:
        KeyError: a guideline that the model does not have.
        CorpusError: labels that the model does not know or that exclude one another, two corpora of one guideline, or
            no token with a label.
    """
    check_words(first, second)
    one, other = model.space.view(first.guideline), model.space.view(second.guideline)
    pair_of_label = one.projection.astype(np.int64) * len(other.names) + other.projection
    order = np.argsort(pair_of_label, kind="stable")  # labels of the model, with the labels of one pair side by side
    distinct, starts = np.unique(pair_of_label[order], return_index=True)
    parts = (divmod(number, len(other.names)) for number in distinct.tolist())
    names = [(one.names[a], other.names[b]) for a, b in parts]
    tagger = ChainPredictor(model, threads, model.space.views[-1].guideline)
    pairs, left_out, before = TagPairs(), 0, 0
    for corpus in (first, second):
        for start in range(0, len(corpus), _BLOCK):
            block = corpus.sentences[start : start + _BLOCK]
            tables = tagger.probabilities(block, corpus.guideline, corpus.covered)
            for number, (sentence, table) in enumerate(zip(block, tables, strict=True), before + start):
                layers = zip(_layer(sentence, first.guideline), _layer(sentence, second.guideline), strict=True)
                known = [at for at, given in enumerate(layers) if given != (None, None)]
                left_out += len(sentence) - len(known)
                if not known:
                    continue
                by_pair = np.add.reduceat(table[known][:, order], starts, axis=1, dtype=np.float64)
                for pair, count in zip(names, by_pair.sum(axis=0).tolist(), strict=True):
                    pairs.counts[pair] += count
                best = by_pair.argmax(axis=1)
                probabilities = by_pair[np.arange(len(known)), best].tolist()
                for at, which, probability in zip(known, best.tolist(), probabilities, strict=True):
                    pairs.show(names[which], sentence.forms[at], (number, at), probability)
        before += len(corpus)
    return _divergence(first, second, pairs, (*first.sentences, *second.sentences), left_out, expected=True)


def _divergence(
    first: Corpus, second: Corpus, pairs: TagPairs, sentences: Sequence[Sentence], left_out: int, expected: bool = False
) -> Divergence:
    if not any(count > 0 for count in pairs.counts.values()):
        found = f"no token with labels of {first.guideline} and {second.guideline}"
        raise CorpusError(found, "corpora to compare", first.path)

    def context(token: Token) -> Context:
        return Context.of(sentences[token[0]], token[1])

    return divergence_of(first.guideline, second.guideline, pairs, context, left_out, expected)


def check_words(first: Corpus, second: Corpus) -> None:
    """Raise unless both are corpora of words, and have different guidelines."""
    for corpus in (first, second):
        if corpus.unit == "character":
            raise CorpusError("a corpus of characters", "words with tags to compare", corpus.path)
    if first.guideline == second.guideline:
        found = f"the guideline {first.guideline!r} in {first.path or 'one corpus'} as well"
        raise CorpusError(found, "another one, to compare with (named GUIDELINE=FILE)", second.path)


def _layer(sentence: Sentence, name: str) -> Sequence[Candidates]:
    return sentence.layers.get(name, (None,) * len(sentence))


_SAME = "same"
_NEAR = {(1, 0): _SAME, (0, 1): "reversed", (1, 1): "sibling", (2, 1): "uncle", (1, 2): "nephew"}
_LINE = {(2, 0): "grandparent", (0, 2): "grandchild", (FARTHEST, 0): "ancestor", (0, FARTHEST): "descendant"}
_NAMES = ("", *((_NEAR | _LINE).get(divmod(path, FARTHEST + 1), "other") for path in range(PATHS - 1)))
"""The position of the head, by the number of a path in `kernels.arcs`; "" if it is unknown."""


def counted_trees(first: Corpus, second: Corpus) -> TreeDivergence:
    """Compare trees in sentences that have the same tokens in both corpora."""
    check_words(first, second)
    for corpus in (first, second):
        check_lengths(corpus)
        if not any(corpus.guideline in sentence.heads for sentence in corpus):
            raise CorpusError("no heads", "a head layer (FILE#head), as the other corpus has", corpus.path)
    names, sentences = (first.guideline, second.guideline), paired(first, second)
    of_relations, of_positions = TagPairs(), (TagPairs(), TagPairs())
    tokens = both_heads = same_heads = both_arcs = same_arcs = 0
    for number, pair in enumerate(sentences):
        forms, layers = pair[0].forms, [arcs_of(*each) for each in zip(pair, names, strict=True)]
        heads = [[only_head(candidates) for candidates in layer] for layer in layers]
        relations = [[each[0].relation if each and len(each) == 1 else None for each in layer] for layer in layers]
        tokens += len(forms)
        for at, (ours, theirs) in enumerate(zip(*relations, strict=True)):
            has_same_head, have_heads = heads[0][at] == heads[1][at], heads[0][at] >= 0 and heads[1][at] >= 0
            both_heads += have_heads
            same_heads += have_heads and has_same_head
            if ours is not None and theirs is not None:
                of_relations.add((ours, theirs), forms[at], (number, at))
                both_arcs += have_heads
                same_arcs += have_heads and has_same_head and ours == theirs
        for positions, own, tree, own_relations in zip(of_positions, heads, heads[::-1], relations, strict=True):
            for at, (position, relation) in enumerate(zip(head_positions(own, tree), own_relations, strict=True)):
                if position and tree[at] >= 0:
                    positions.add((relation or "_", position), forms[at], (number, at))
    if not both_heads:
        found = f"no token with one head of {first.guideline} and one of {second.guideline}"
        raise CorpusError(found, "the same sentences in both corpora", second.path)

    def context(token: Token) -> Context:
        """Return a token in context, with its heads in both trees."""
        number, at = token
        one = sentences[number][0]
        heads = (only_head(arcs_of(*each)[at]) for each in zip(sentences[number], names, strict=True))
        forms = [one.forms[head - 1] if head > 0 else "root" if head == 0 else "?" for head in heads]
        return Context.of(one, at, note=f"{names[0]} → {forms[0]}, {names[1]} → {forms[1]}")

    def divergence(one: str, other: str, pairs: TagPairs) -> Divergence:
        left_out = tokens - round(sum(pairs.counts.values()))
        return divergence_of(one, other, pairs, context, left_out, what="relation")

    return TreeDivergence(
        divergence(*names, of_relations),
        (
            divergence(names[0], f"the position of the head in {names[1]}", of_positions[0]),
            divergence(names[1], f"the position of the head in {names[0]}", of_positions[1]),
        ),
        Share(same_heads, both_heads),
        Share(same_arcs, both_arcs),
        len(sentences),
        (len(first) - len(sentences), len(second) - len(sentences)),
    )


def head_positions(heads: Sequence[int], tree: Sequence[int]) -> list[str]:
    """Return the position of every token's head (0: root, negative: unknown) in another tree; "" if it is unknown."""
    n = len(tree)
    paths = np.empty((n + 1) ** 2, np.uint8)
    tree_paths(np.array([-1, *tree], np.int32), np.array([0, n + 1], np.int64), paths)
    numbers = paths.reshape(n + 1, n + 1)[np.maximum(heads, 0), np.arange(1, n + 1)].tolist()
    return [
        "" if head < 0 else _SAME if head == other else _NAMES[number]
        for head, other, number in zip(heads, tree, numbers, strict=True)
    ]
