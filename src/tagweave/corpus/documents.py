"""Documents: sentences that follow one another and are of one text.

A document begins at a sentence with the comment `-DOCSTART-` (columns), `# newdoc` (CoNLL-U), or `# document = NAME` or
`# doc_id = NAME`, as readers of other formats write it, with another name than before. In text without such marks,
`RUNNING` sentences that follow one another stand for a document. A document of more than `LONGEST` is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from tagweave.corpus.sentence import Sentence

LONGEST = 500
RUNNING = 100  # on Spanish of CoNLL-2002, F on dev is 79.1, 79.3, 79.2 with 25, 100, 400, and 76.9 without
_BEGINS = re.compile(r"-DOCSTART-|# ?newdoc\b")
_NAME = re.compile(r"# ?(?:document|doc_id) = ?(.*)")


def marks() -> Iterator[tuple[str, ...]]:
    """Yield the comments of the sentences of one document, without end: the first has its mark."""
    return chain([("# newdoc",)], repeat(()))


def name_of_document(sentence: Sentence) -> str | None:
    """Return the name of the document that a sentence says it is of; "" where one without a name begins."""
    for comment in sentence.comments:
        if _BEGINS.match(comment):
            return ""
        if match := _NAME.match(comment):
            return match[1]
    return None


def are_in_documents(sentences: Iterable[Sentence]) -> bool:
    """Return whether at least two documents begin among the sentences."""
    names = map(name_of_document, sentences)
    first = next(names, None)
    return any(name is not None and (name == "" or name != first) for name in names)


def documents(
    sentences: Iterable[Sentence], longest: int = LONGEST, running: int = RUNNING
) -> Iterator[list[Sentence]]:
    """Yield the sentences of each document, in order; at most `longest` at a time, `running` before the first mark."""
    document: list[Sentence] = []
    before: str | None = None
    for sentence in sentences:
        name = name_of_document(sentence)
        begins = name is not None and (name == "" or name != before)
        if document and (begins or len(document) == (running if before is None else longest)):
            yield document
            document = []
        before = before if name is None else name
        document.append(sentence)
    if document:
        yield document


def in_blocks_of_documents(sentences: Iterable[Sentence], size: int) -> Iterator[list[Sentence]]:
    """Yield documents together, as many as have at least `size` sentences."""
    block: list[Sentence] = []
    for document in documents(sentences):
        block += document
        if len(block) >= size:
            yield block
            block = []
    if block:
        yield block
