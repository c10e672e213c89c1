"""Brute-force twins: what the package computes cleverly, computed the slow way.

A chain is enumerated label sequence by label sequence. Features are texts, found by string operations on the tokens.
Nothing here imports the package's arithmetic, so that the two can only agree by both being right.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from string import ascii_letters, digits

Rows = Sequence[Sequence[float]]
Labels = tuple[int, ...]
NEVER = -math.inf


@dataclass(frozen=True)
class Chain:
    """One sentence of T >= 1 tokens over Y labels.

    Attributes:
        scores: [T][Y].
        transition: [Y][Y], row: from; -inf where a scheme forbids it.
        start, end: [Y]; -inf where a scheme forbids it.
        shares: [T][Y], the part of its potential that the evidence leaves to a label: 1 where it is allowed, the noise
            where it is not; `None`: 1 everywhere.
    """

    scores: Rows
    transition: Rows
    start: Sequence[float]
    end: Sequence[float]
    shares: Rows | None = None

    def log_weight(self, labels: Labels) -> float:
        """The score of one label sequence, with the logarithms of its shares."""
        total = float(self.start[labels[0]]) + float(self.end[labels[-1]])
        for t, label in enumerate(labels):
            total += float(self.scores[t][label]) + (_log(self.shares[t][label]) if self.shares is not None else 0.0)
        return total + sum(float(self.transition[i][j]) for i, j in pairwise(labels))

    def sequences(self) -> Iterator[Labels]:
        """Every label sequence."""
        return product(range(len(self.start)), repeat=len(self.scores))


def _log(share: float) -> float:
    return math.log(share) if share > 0 else NEVER


def log_weights(chain: Chain) -> dict[Labels, float]:
    """The log weight of every sequence that is possible at all."""
    weights = {labels: chain.log_weight(labels) for labels in chain.sequences()}
    return {labels: weight for labels, weight in weights.items() if weight > NEVER}


def log_partition(chain: Chain) -> float:
    """log Z; -inf where no sequence is possible."""
    weights = log_weights(chain).values()
    if not weights:
        return NEVER
    top = max(weights)
    return top + math.log(math.fsum(math.exp(weight - top) for weight in weights))


def distribution(chain: Chain) -> dict[Labels, float]:
    """The probability of every possible sequence."""
    log_z = log_partition(chain)
    return {labels: math.exp(weight - log_z) for labels, weight in log_weights(chain).items()}


def state_marginals(chain: Chain) -> list[list[float]]:
    """[T][Y]: the probability of each label at each position."""
    gamma = [[0.0] * len(chain.start) for _ in chain.scores]
    for labels, probability in distribution(chain).items():
        for t, label in enumerate(labels):
            gamma[t][label] += probability
    return gamma


def pair_marginals(chain: Chain) -> list[list[list[float]]]:
    """[T - 1][Y][Y]: the probability of each pair of labels at positions t, t + 1."""
    size = len(chain.start)
    xi = [[[0.0] * size for _ in range(size)] for _ in chain.scores[1:]]
    for labels, probability in distribution(chain).items():
        for t, (i, j) in enumerate(pairwise(labels)):
            xi[t][i][j] += probability
    return xi


def over_draws(chain: Chain, posteriors: Sequence[Mapping[frozenset[int], float] | None]) -> float:
    """The mean of log Z over independent draws of a group of labels at every position that has probabilities of them.

    The chain has the other evidence. Draws without a sequence are left out.
    """
    total = mass = 0.0
    weights = log_weights(chain)
    for draw in product(
        *(each.items() if each else ((frozenset(range(len(chain.start))), 1.0),) for each in posteriors)
    ):
        inside = [w for labels, w in weights.items() if all(y in g for y, (g, _) in zip(labels, draw, strict=True))]
        if inside:
            share = math.prod(p for _, p in draw)
            mass += share
            total += share * (max(inside) + math.log(math.fsum(math.exp(w - max(inside)) for w in inside)))
    return total / mass


def k_best(chain: Chain, k: int) -> list[tuple[float, Labels]]:
    """The k best possible sequences with their scores, the best first; fewer if there are fewer."""
    ranked = sorted(((weight, labels) for labels, weight in log_weights(chain).items()), key=lambda item: -item[0])
    return ranked[:k]


def posterior(chain: Chain, labels: Labels) -> float:
    """The probability of one sequence."""
    return distribution(chain).get(labels, 0.0)


def entropy(chain: Chain, first: int, last: int) -> float:
    """The entropy, in nats, of the labels of positions first .. last - 1 together."""
    spans: dict[Labels, float] = {}
    for labels, probability in distribution(chain).items():
        spans[labels[first:last]] = spans.get(labels[first:last], 0.0) + probability
    return -math.fsum(p * math.log(p) for p in spans.values() if p > 0)


# Features

SCRIPTS = {
    "digit": "0129１" + digits,
    "letter": "abABＺéßд" + ascii_letters,
    "punctuation": ".,-!。，$😀",
    "han": "中国年月一𠀀",
    "hiragana": "あの",
    "katakana": "アーｱ",
}
"""The characters that the twin knows the class of."""
ALPHABET = "".join(characters[:8] for characters in SCRIPTS.values())
"""What tests draw their tokens from."""
HALF_WIDTH = str.maketrans("｡｢｣､ｦｱｲｶﾞﾟ￨", "。「」、ヲアイカ\u3099\u309a│")
"""Half-width forms, and what they are the forms of."""
_DATES = "年月日时時分秒"


def _script(character: str) -> str:
    return next(name for name, characters in SCRIPTS.items() if character in characters)


def _coarse(character: str) -> str:
    script = _script(character)
    return script if script in ("digit", "letter", "punctuation") else "other"


def _date(character: str) -> str:
    if character in _DATES:
        return "date"
    return {"digit": "number", "letter": "letter"}.get(_script(character), "others")


def _shared(names: list[str]) -> list[str]:
    """The one name of all characters, `mixed` for several, nothing for none."""
    return [] if not names else [names[0]] if len(set(names)) == 1 else ["mixed"]


def _if(condition: bool) -> list[str]:
    return ["yes"] if condition else []


def _is_punctuation(character: str) -> bool:
    return _script(character) == "punctuation"


def folded(text: str) -> str:
    """Full-width ASCII as ASCII, U+3000 as a space, half-width forms as full-width ones."""
    wide = "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in text.replace("\u3000", " "))
    return wide.translate(HALF_WIDTH)


def shape(form: str) -> str:
    """The classes of characters, each run once; punctuation is itself."""
    classes = [
        c if _is_punctuation(c) else "capital" if c.isupper() and _script(c) == "letter" else _script(c) for c in form
    ]
    return " ".join(name for name, _ in groupby(classes))


def category(form: str) -> str:
    """The general categories of characters, each run once."""
    return " ".join(name for name, _ in groupby(map(unicodedata.category, form)))


def column(name: str, form: str) -> list[str]:
    """The values of a column for a form: none where it is absent, several only for a list column."""
    if name.startswith(("prefix_", "suffix_")):
        kind, _, digits = name.partition("_")
        length = int(digits)
        affix = form[:length] if kind == "prefix" else form[-length:]
        return [affix] if len(form) >= length else []
    simple = {
        "form": [form] if form else [],
        "final": [form] if form else [],
        "lower": [form.lower()] if form else [],
        "folded": [folded(form)] if form else [],
        "normal": ["".join("0" if c.isdecimal() else c for c in form.lower())] if form else [],
        "shape": [shape(form)] if form else [],
        "category": [category(form)] if form else [],
        "first": [form[0]] if form else [],
        "last": [form[-1]] if form else [],
        "single": [form] if len(form) == 1 else [],
        "length": [str(min(len(form), 10))] if form else [],
        "inner": list(form[1:-1]),
        "repeat": [a for a, b in pairwise(form) if a == b],
        "type": _shared([_coarse(c) for c in form]),
        "script": _shared([_script(c) for c in form]),
        "date_class": _shared([_date(c) for c in form]),
        "punctuation": _if(bool(form) and all(_is_punctuation(c) for c in form)),
        "starts_digit": _if(form[:1].isdigit()),
        "starts_upper": _if(form[:1].isupper()),
        "all_upper": _if(bool(form) and all(c.isupper() for c in form)),
        "all_lower": _if(bool(form) and all(c.islower() for c in form)),
        "has_period": _if("." in form),
        "has_punctuation": _if(any(_is_punctuation(c) for c in form)),
        "has_hyphen": _if("-" in form),
    }
    return simple[name]


def _values(name: str, forms: Sequence[str], columns: Mapping[str, Sequence[str]], t: int) -> list[str]:
    if t < 0:
        return [f"{-t} before the sentence"]
    if t >= len(forms):
        return [f"{t - len(forms) + 1} after the sentence"]
    if name.startswith("user:"):
        value = columns[name.removeprefix("user:")][t]
        return [value] if value else []
    return column(name, forms[-1] if name == "final" else forms[t])


def _term(text: str, forms: Sequence[str], columns: Mapping[str, Sequence[str]], t: int) -> list[str]:
    left, _, right = text.partition("==")
    name, _, offset = left.rstrip("]").partition("[")
    values = _values(name, forms, columns, t + int(offset))
    if not right:
        return values
    other = right.rstrip("]").partition("[")[2]
    return ["same" if values == _values(name, forms, columns, t + int(other)) else "different"]


def token_features(
    template: str, forms: Sequence[str], t: int, columns: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """The features, as texts, that one template gives token t; none where a term has no value."""
    terms = template.split()
    values = [_term(term, forms, columns or {}, t) for term in terms]
    return [" & ".join(f"{a}={b}" for a, b in zip(terms, row, strict=True)) for row in product(*values)]


def features(
    templates: Sequence[str], forms: Sequence[str], columns: Mapping[str, Sequence[str]] | None = None
) -> list[list[str]]:
    """Per token, the texts of its features under all templates, repeats of a template left out."""
    distinct = list(dict.fromkeys(" ".join(template.split()) for template in templates))
    return [[text for item in distinct for text in token_features(item, forms, t, columns)] for t in range(len(forms))]


def scores(
    features_of: Sequence[Sequence[str]], weights: Mapping[tuple[str, int], float], labels: int
) -> list[list[float]]:
    """[T][Y]: the sum of the weights of (feature, label), 0 for pairs that have none."""
    return [[math.fsum(weights.get((text, y), 0.0) for text in texts) for y in range(labels)] for texts in features_of]
