"""What perceptrons are compared on: corpora, features as templates, and the same features as lists of strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.characters import corpora_folder
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.features.columns import DIGIT, LETTER, PUNCTUATION, character_class
from tagweave.features.templates import PRESETS, Templates
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

Attributes = list[list[str]]

AFFIX = 3
"""The longest prefix and suffix."""
WORDS = Templates(
    (
        *(f"form[{offset}]" for offset in (-1, 0, 1)),
        *(f"{affix}_{n}[0]" for affix in ("prefix", "suffix") for n in range(1, AFFIX + 1)),
    )
)
_GRAMS = [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-1, 1)]
_REACH = 2  # characters looked at on either side
_DATES = frozenset("年月日时時分秒")


@dataclass(frozen=True)
class Workload:
    """Corpora of one task.

    Attributes:
        title: in the page.
        task: `segment`, `segtag` or `tag`.
        train: as it was read.
        prepared, dev: training and development data with the tokens and labels of the task.
        templates: the features.
        attributes: the same features of every token of a sentence.
    """

    title: str
    task: str
    train: Corpus
    prepared: Corpus
    dev: Corpus
    templates: Templates
    attributes: Callable[[Sequence[str]], Attributes]

    def recipe(self, features: str | None) -> Recipe:
        """How tagweave trains."""
        return Recipe(Task(self.task), self.templates, learner="perceptron", features=features)


CORPORA = {
    "segment": ("pd199801", "segment", "People's Daily, segmentation"),
    "tag": ("pd199801", "tag", "People's Daily, tags of words"),
    "segtag": ("zx", "segtag", "Zhuxian, segmentation and tags"),
}
"""Of every workload its corpus, task and title."""


def workload(name: str, lines: int | None = None) -> Workload:
    """One of `CORPORA`, on the first lines of its training data."""
    corpus, task, title = CORPORA[name]
    folder = corpora_folder() / "zh" / corpus
    train, dev = load(str(folder / "train.txt")), load(str(folder / "dev.txt"))
    return of_corpora(title, task, train.with_sentences(train.sentences[:lines]), dev)


def of_corpora(title: str, task: str, train: Corpus, dev: Corpus) -> Workload:
    """The workload of a task on some corpora."""
    templates, attributes = (WORDS, of_words) if task == "tag" else (PRESETS["jiang-2015"], of_characters)
    prepare = Task(task).prepare
    return Workload(title, task, train, prepare(train), prepare(dev), templates, attributes)


def of_words(words: Sequence[str]) -> Attributes:
    """The features of `WORDS`."""
    return [list(_of_word(words, at)) for at in range(len(words))]


def _of_word(words: Sequence[str], at: int) -> Iterator[str]:
    word = words[at]
    yield f"w={word}"
    yield f"w-1={words[at - 1] if at else '<'}"
    yield f"w+1={words[at + 1] if at + 1 < len(words) else '>'}"
    for n in range(1, min(AFFIX, len(word)) + 1):
        yield f"p{n}={word[:n]}"
        yield f"s{n}={word[-n:]}"


@lru_cache(maxsize=1 << 16)
def _date_class(character: str) -> str:
    """jiang-2015, section 2.2."""
    return "2" if character in _DATES else {DIGIT: "1", LETTER: "3"}.get(character_class(character), "4")


@lru_cache(maxsize=1 << 16)
def _is_punctuation(character: str) -> bool:
    return character_class(character) == PUNCTUATION


def of_characters(characters: Sequence[str]) -> Attributes:
    """The features of jiang-2015, Table 1."""
    before = [f"<-{distance}>" for distance in range(_REACH, 0, -1)]
    after = [f"<+{distance}>" for distance in range(_REACH)]
    forms = [*before, *characters, *after]
    classes = [*before, *map(_date_class, characters), *after]
    found = []
    for at in range(_REACH, _REACH + len(characters)):
        own = [f"{k}=" + "/".join([forms[at + offset] for offset in shape]) for k, shape in enumerate(_GRAMS)]
        own.append("d=" + "/".join(classes[at - _REACH : at + _REACH + 1]))
        if _is_punctuation(forms[at]):
            own.append("p")
        found.append(own)
    return found


def gold(corpus: Corpus) -> list[list[str]]:
    """The one label of every token."""
    return [[candidates[0] for candidates in s.layers[corpus.guideline] if candidates] for s in corpus.sentences]
