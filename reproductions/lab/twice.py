"""A text that is annotated twice, under two guidelines."""

from __future__ import annotations

from dataclasses import dataclass

from tagweave.corpus.corpus import Corpus
from tagweave.errors import CorpusError


@dataclass(frozen=True)
class Twice:
    """The sentences of two corpora whose texts are the same, in both; and how many were left out since they differ."""

    first: Corpus
    second: Corpus
    left_out: int = 0

    @classmethod
    def of(cls, first: Corpus, second: Corpus, same_tokens: bool = False) -> Twice:
        """Sentence by sentence; those that differ in their text, or with `same_tokens` in their tokens, are left out.

        Raises:
            CorpusError: another number of sentences, or not half of them have the same text.
        """
        if len(first) != len(second):
            raise CorpusError(f"{len(second)} sentences", f"{len(first)}, those of {first.path}", second.path)
        pairs = [(a, b) for a, b in zip(first, second, strict=True) if _alike(a.forms, b.forms, same_tokens)]
        if 2 * len(pairs) < len(first):
            expected = f"the sentences of {first.path} in other {'trees' if same_tokens else 'words'}"
            raise CorpusError(f"{len(pairs)} of {len(first)} sentences with the same text", expected, second.path)
        kept = (first.with_sentences(a for a, _ in pairs), second.with_sentences(b for _, b in pairs))
        return cls(*kept, len(first) - len(pairs))

    @property
    def reverse(self) -> Twice:
        """The second one first."""
        return Twice(self.second, self.first, self.left_out)


def _alike(one: tuple[str, ...], other: tuple[str, ...], same_tokens: bool) -> bool:
    return one == other or (not same_tokens and "".join(one) == "".join(other))
