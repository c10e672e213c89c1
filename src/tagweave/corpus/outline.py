"""What the sentences of a file say about it as a whole, gathered in one pass that keeps none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence

_OF_DOCUMENTS = ("labels_covered",)


@dataclass
class Outline:
    """What sentences say about their file.

    Attributes:
        path: the file, for messages.
        comments: the values of comments `# key = value` that must agree, by key; `None` until it occurs.
        sentences, characters: how many there are.
        first: the layers of labels of the first sentence.
        names: the names of all layers, of labels and of heads.
        known: the layers that annotate at least one position.
        documents: the keys whose comments may differ between documents, and do.
    """

    path: str
    comments: dict[str, str | None]
    sentences: int = 0
    characters: int = 0
    first: tuple[str, ...] = ()
    names: dict[str, None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)

    def over(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences, each of which is taken into account as it passes.

        Raises:
            CorpusError: comments that differ.
        """
        for sentence in sentences:
            if not self.sentences:
                self.first = tuple(sentence.layers)
            self.sentences += 1
            self.characters += sum(map(len, sentence.forms))
            for name, layer in (*sentence.layers.items(), *sentence.heads.items()):
                self.names[name] = None
                if name not in self.known and any(candidates is not None for candidates in layer):
                    self.known.add(name)
            for comment in sentence.comments:
                self._take(comment, sentence.location.line)
            yield sentence

    def _take(self, comment: str, line: int) -> None:
        key, value = key_and_value(comment)
        if key in self.comments:
            agreed = self.comments[key]
            if agreed is not None and value != agreed and key in _OF_DOCUMENTS:
                self.documents.add(key)
            elif agreed is not None and value != agreed:
                raise CorpusError(f"{key} = {value}", f"{key} = {agreed} as before", self.path, line)
            self.comments[key] = value


def comment_value(sentences: Iterable[Sentence], key: str, path: str) -> str | None:
    """The value of the comments `# key = value`, or `None`. Raises CorpusError if they differ."""
    outline = Outline(path, {key: None})
    for sentence in sentences:
        for comment in sentence.comments:
            outline._take(comment, sentence.location.line)
    if outline.documents:
        raise CorpusError(f"several comments {key}", "one for the whole file", path)
    return outline.comments[key]


def key_and_value(comment: str) -> tuple[str, str]:
    """The two sides of a comment `# key = value`."""
    key, _, value = comment.lstrip("# ").partition("=")
    return key.strip(), value.strip()
