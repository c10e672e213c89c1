"""Small random treebanks: projective trees over a few words, whose tags say much of what depends on what."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence

WORDS = {"N": ["river", "stone", "light", "house"], "V": ["sees", "holds"], "D": ["the", "some"], "P": ["."]}
RELATIONS = {"N": "obj", "V": "root", "D": "det", "P": "punct"}


def sentence(tags: str, heads: Sequence[int], rng: random.Random | None = None) -> Sentence:
    """A sentence of these tags and heads, each arc with the relation of its modifier's tag."""
    rng = rng or random.Random(0)
    forms = tuple(rng.choice(WORDS[tag]) for tag in tags)
    arcs: tuple[ArcCandidates, ...] = tuple((Arc(head, RELATIONS[tag]),) for tag, head in zip(tags, heads, strict=True))
    return Sentence(forms, {"upos": tuple((tag,) for tag in tags)}, heads={"head": arcs})


def treebank(count: int, seed: int = 0) -> list[Sentence]:
    """Sentences `(D) N V (D) N .`, whose verb is the root, determiners depend on the noun behind them."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        phrases = [rng.choice(["N", "DN"]) for _ in range(rng.choice([1, 2, 3]))]
        at = rng.randint(0, len(phrases))
        tags = "".join([*phrases[:at], "V", *phrases[at:], rng.choice(["", "P"])])
        verb = tags.index("V") + 1
        heads = [0 if tag == "V" else m + 1 if tag == "D" else verb for m, tag in enumerate(tags, 1)]
        found.append(sentence(tags, heads, rng))
    return found


def with_evidence(given: Sentence, *candidates: ArcCandidates) -> Sentence:
    """The sentence with other candidates in its head layer."""
    return Sentence(given.forms, given.layers, heads={"head": candidates})


def conllu(sentences: Sequence[Sentence]) -> str:
    """The sentences as a file."""
    blocks = []
    for each in sentences:
        rows = []
        for number, (form, tag, arcs) in enumerate(
            zip(each.forms, each.layers["upos"], each.heads["head"], strict=True), 1
        ):
            head, relation = ("_", "_") if arcs is None else (arcs[0].head, arcs[0].relation or "_")
            rows.append(f"{number}\t{form}\t_\t{(tag or ('_',))[0]}\t_\t_\t{head}\t{relation}\t_\t_\n")
        blocks.append("".join(rows) + "\n")
    return "".join(blocks)
