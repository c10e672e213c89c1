"""The two workloads: People's Daily segmentation (4 labels) and tagging (42), with the same features for both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.characters import corpora_folder
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.features.templates import PRESETS, Templates
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

LINES = 8000
NGRAMS = Templates(PRESETS["liu-2014"].texts[:12])  # the character n-grams of liu-2014, Table 2


@dataclass(frozen=True)
class Workload:
    """Training and development corpora, prepared for a task."""

    name: str
    train: Corpus
    dev: Corpus
    recipe: Recipe


def workload(name: str, lines: int = LINES) -> Workload:
    """`segment` or `tag` on the first lines of People's Daily."""
    folder = corpora_folder() / "zh" / "pd199801"
    train, dev = load(str(folder / "train.txt")), load(str(folder / "dev.txt"))
    train = train.with_sentences(train.sentences[:lines])
    if name == "segment":
        recipe = Recipe(task=Task("segment"), templates=NGRAMS)
    else:
        recipe = Recipe(templates=PRESETS["li-2015"])
    return Workload(name, recipe.task.prepare(train), recipe.task.prepare(dev), recipe)


def attributes(name: str, forms: Sequence[str]) -> list[list[str]]:
    """The same features as lists of strings, as python-crfsuite takes them."""
    make = _character_attributes if name == "segment" else _word_attributes
    return [list(make(forms, i)) for i in range(len(forms))]


def _at(forms: Sequence[str], i: int) -> str:
    return forms[i] if 0 <= i < len(forms) else f"<{i}>" if i < 0 else f"<+{i - len(forms)}>"


_SHAPES = [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, 0), (-1, 1), (0, 2)]


def _character_attributes(forms: Sequence[str], i: int) -> Iterator[str]:
    for k, shape in enumerate(_SHAPES):
        yield f"{k}=" + "/".join([_at(forms, i + offset) for offset in shape])


def _word_attributes(forms: Sequence[str], i: int) -> Iterator[str]:
    word, before, after = forms[i], _at(forms, i - 1), _at(forms, i + 1)
    last_before = before[-1] if i else before
    first_after = after[0] if i + 1 < len(forms) else after
    yield f"w={word}"
    yield f"w-1={before}"
    yield f"w+1={after}"
    yield f"w,c-1={word}/{last_before}"
    yield f"w,c+1={word}/{first_after}"
    yield f"first={word[0]}"
    yield f"last={word[-1]}"
    for character in word[1:-1]:
        yield f"inner={character}"
        yield f"first,inner={word[0]}/{character}"
        yield f"last,inner={word[-1]}/{character}"
    if len(word) == 1:
        yield f"single={word}/{last_before}/{first_after}"
    for one, other in pairwise(word):
        if one == other:
            yield f"repeat={one}"
    for n in range(1, min(4, len(word)) + 1):
        yield f"prefix={word[:n]}"
        yield f"suffix={word[-n:]}"


def gold(corpus: Corpus) -> list[list[str]]:
    """The one label of every token."""
    return [[candidates[0] for candidates in s.layers[corpus.guideline] if candidates] for s in corpus.sentences]
