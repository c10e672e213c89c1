"""Tasks: the tokens and labels that a model makes of a corpus.

| task | tokens | labels |
|---|---|---|
| `tag` | the words of the corpus | the tags of its layer |
| `segment` | characters | the words, in a word coding |
| `segtag` | characters | the words and their tags, in a word coding |
| `spans` | the words of the corpus | the chunks of its layer (entities, phrases), in a chunk scheme |
| `parse` | the words of the corpus | none: the heads of its layer |

The task of a training that names none: `spans` if the labels of its corpus code chunks, otherwise `tag`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from tagweave.corpus import chunk_schemes
from tagweave.corpus.chunk_schemes import Gaps, codes_chunks
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import in_surface_tokens
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError
from tagweave.labels import OF_CHARACTERS, PARSE, SPANS
from tagweave.labels.coding import CODINGS_OF, LETTERS, SEGMENTATION, recode, to_characters
from tagweave.labels.space import collect_names
from tagweave.labels.transition_scheme import split_label
from tagweave.structures import STRUCTURES

TASKS = ("tag", *OF_CHARACTERS, SPANS)
"""The tasks whose annotation is labels."""
_ENDS = {"BMES": {"B": "E", "M": "BE", "E": "B"}, "BI": {"I": "B"}, "boundary": {"-": "|"}}
"""Per coding and letter, the letters at the ends of words that contain it."""
TAGS = "tag"
"""The layer of a corpus of characters with the tags of its words."""


@dataclass(frozen=True)
class Task:
    """A task and the coding of its words or spans in labels; by default the usual one of the task.

    `gaps` says what the unknown tokens of a corpus of spans are; by default its labels tell.
    """

    name: str = "tag"
    coding: str = ""
    gaps: Gaps | None = None

    def __post_init__(self) -> None:
        if self.name not in STRUCTURES:
            raise ValueError(f"unknown task {self.name!r}, expected one of {', '.join(STRUCTURES)}")
        codings = CODINGS_OF.get(self.name, ("",))
        if self.coding and self.coding not in codings:
            expected = f"one of {', '.join(codings)}" if codings[0] else f"none, for the task {self.name}"
            raise ValueError(f"unknown coding {self.coding!r}, expected {expected}")
        if self.gaps and self.name != SPANS:
            raise ValueError(f"found `gaps` with the task {self.name}, expected the task spans")
        if self.gaps not in (None, *get_args(Gaps)):
            raise ValueError(f"unknown gaps {self.gaps!r}, expected {' or '.join(get_args(Gaps))}")
        object.__setattr__(self, "coding", self.coding or codings[0])

    @property
    def structure(self) -> str:
        return STRUCTURES[self.name]

    @property
    def of_characters(self) -> bool:
        return self.name in OF_CHARACTERS

    def labels(self, names: Sequence[str]) -> tuple[str, ...]:
        """`names`, the labels in the corpora, and the other labels that a model needs; for `tag` there are none.

        A coding has all its letters, even if the training data lack one: without S no sentence of one character could
        be labelled, and without labels of type S the wildcard `S-*` would mean nothing. A tag that occurs inside a word
        may also occur at both its ends.
        """
        if not self.coding:
            return tuple(names)
        if self.name == SPANS:
            return chunk_schemes.labels(names, self.coding)
        parts = [split_label(name) for name in names]
        seen = {letter for letter, _ in parts}
        kinds = sorted({kind for _, kind in parts})
        more = [(letter, kind) for letter in LETTERS[self.coding] if letter not in seen for kind in kinds]
        more += [(end, kind) for letter, kind in parts for end in _ENDS[self.coding].get(letter, "")]
        return tuple(sorted({*names, *(f"{letter}-{kind}" if kind else letter for letter, kind in more)}))

    def prepare(self, corpus: Corpus, scheme: str | None = None) -> Corpus:
        """Return the corpus as sentences of the task's tokens, with its labels in the layer of its guideline.

        Each character has the confidence of its word. Spans are read in the scheme of the corpus, by default detected.
        """
        if self.name == PARSE:
            return corpus
        if self.name not in (SPANS, "segment") or self.coding == "IOB1":  # labels of IOB1 do not tell where spans begin
            for sentence in corpus:
                if sentence.rejected.get(corpus.guideline):
                    coding = f" in {self.coding}" if self.name == SPANS else ""
                    problem = f"rejected spans for the task {self.name}{coding}"
                    raise CorpusError(problem, "the task spans, in BIOES or IOB2", *sentence.location)
        if not self.of_characters:
            if corpus.unit == "character":
                problem = "a corpus of characters" if len(corpus) else "no sentences"
                raise CorpusError(problem, f"words, for the task {self.name}", corpus.path)
            return corpus if self.name == "tag" else chunk_schemes.coded(corpus, self.coding, None, scheme, self.gaps)
        convert = self._from_characters if corpus.unit == "character" else self._from_words
        tag_layer = TAGS if corpus.unit == "character" else corpus.guideline
        visible = (without_outside(sentence, tag_layer, corpus.covered_in(sentence)) for sentence in corpus.sentences)
        sentences = tuple(convert(sentence, corpus.guideline) for sentence in visible)
        return Corpus(sentences, corpus.guideline, "character", None, corpus.path, corpus.weight)

    def _from_words(self, sentence: Sentence, guideline: str) -> Sentence:
        if self.name == "segtag" and guideline not in sentence.layers:
            raise CorpusError("words without tags", f"a layer {guideline!r}, for the task segtag", *sentence.location)
        sentence = in_surface_tokens(sentence)
        coded = to_characters(sentence, guideline, self.coding, guideline if self.name == "segtag" else None)
        if sentence.confidence is None:
            return coded
        pairs = zip(sentence.forms, sentence.confidence, strict=True)
        return replace(coded, confidence=tuple(believed for form, believed in pairs for _ in form))

    def _from_characters(self, sentence: Sentence, guideline: str) -> Sentence:
        segmentation = segmentation_name(sentence, guideline)
        letters = sentence.layers.get(segmentation, (None,) * len(sentence))
        if strange := sorted({letter for candidates in set(letters) for letter in candidates or ()} - set("BMES")):
            problem = f"the labels {', '.join(strange)} in layer {segmentation!r}"
            raise CorpusError(problem, "a segmentation in the letters B, M, E, S", *sentence.location)
        source = sentence.with_layer(SEGMENTATION, letters)
        coded = recode(source, guideline, self.coding, TAGS if self.name == "segtag" else None)
        return replace(sentence, layers={guideline: coded.layers[guideline]}, heads={}, comments=(), extra_rows=())


def segmentation_name(sentence: Sentence, guideline: str) -> str:
    """Return the layer that segments a sentence of characters: the guideline's, or the default of the format."""
    has_own = guideline in sentence.layers and not (guideline == TAGS and SEGMENTATION in sentence.layers)
    return guideline if has_own else SEGMENTATION


def without_outside(sentence: Sentence, layer: str, covered: Sequence[str] | None) -> Sentence:
    """Return the sentence with `O` replaced by unknown if the corpus covers only some labels."""
    if covered is None or layer not in sentence.layers:
        return sentence
    visible: list[Candidates] = [
        None if OUTSIDE in (candidates or ()) else candidates for candidates in sentence.layers[layer]
    ]
    return sentence.with_layer(layer, visible)


def label_counts(corpus: Corpus) -> Counter[str]:
    """Count the labels of the corpus's own layer, also at ambiguous positions."""
    name = TAGS if corpus.unit == "character" else corpus.guideline
    layers = (sentence.layers.get(name, ()) for sentence in corpus)
    return Counter(label for layer in layers for candidates in layer for label in candidates or ())


SENTENCES = 500
"""How many sentences tell the task of a corpus."""
_SHOWN = 4


def guessed_task(corpus: Corpus, tell: Callable[[str], None]) -> str:
    """Return the task of a corpus by the labels of its first sentences; say so if it is not `tag`."""
    if corpus.unit != "word":
        return "tag"
    names = collect_names([sentence.layers.get(corpus.guideline, ()) for sentence in corpus.sentences[:SENTENCES]])
    if not codes_chunks(names):
        return "tag"
    shown = " ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
    path = corpus.path or "the corpus"
    tell(f"the labels of {path} code spans ({shown}), so the task is spans; `task=tag` takes them as they are")
    return SPANS
