"""The tools whose files are read and written, and their exports as sentences."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange import answers, brat, datasets, docbin, label_studio
from tagweave.exchange.document import SKIPPED, Document, TokenTool, Tool
from tagweave.exchange.json_exports import DOCCANO, PRODIGY
from tagweave.exchange.members import Memory
from tagweave.exchange.sentences import Notes, annotators, joined, sentences
from tagweave.exchange.tokenization import is_tokenized
from tagweave.exchange.tokens import tokenizer

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (DOCCANO, label_studio.TOOL, PRODIGY, answers.TOOL, brat.TOOL)}
TOKEN_TOOLS: dict[str, TokenTool] = {tool.name: tool for tool in (datasets.TOOL, docbin.TOOL)}
NAMES = (*TOOLS, *TOKEN_TOOLS)


def tool(name: str) -> Tool:
    """Look up a tool whose files have offsets. Raises ExchangeError if there is none."""
    if name not in TOOLS:
        raise ExchangeError(f"found the tool {name!r}, expected one of {', '.join(NAMES)}")
    return TOOLS[name]


class Export(NamedTuple):
    """A file of a tool that is read as a corpus. `layer`: the one that is asked for."""

    tool: str
    path: str
    layer: str | None

    def error(self, found: str, expected: str, option: str = "") -> CorpusError:
        """Return an error that names the command to run, with an option; `{}` in `expected` stands for it."""
        path, output = map(shlex.quote, (self.path, f"{Path(self.path).name.partition('.')[0]}.conll"))
        command = f"tagweave import {self.tool} {path}{option and f' --{option}'} -o {output}"
        return CorpusError(found, expected.format(command), self.path)

    def sentences(self, tell: Callable[[str], None] = lambda line: None) -> Sequence[Sentence]:
        """Return its sentences, and tell the decisions about answers of a language model. Raises CorpusError."""
        if self.tool in TOKEN_TOOLS:
            left_out: Counter[str] = Counter()
            unbounded = TOKEN_TOOLS[self.tool].read(self.path, lambda what: left_out.update([what]))
            read = [*Memory([self.path]).sentences(unbounded)]
            self._check_complete(left_out)
            return known_layers(read)
        notes = Notes()
        documents, memory = documents_of(TOOLS[self.tool], [self.path], notes)
        names = annotators(documents)
        if len(names) > 1 and self.layer is None:
            expected = f"one of them, {self.path}#{names[0]}, or a corpus of all: {{}}"
            raise self.error(f"annotation by {' and '.join(names)}", expected)
        if self.tool == answers.TOOL.name:
            return _answers(documents, memory, notes, tell)
        read = [*memory.sentences(sentences(documents, tokenizer("words"), "unknown", "outside", notes, overlap=True))]
        if notes.misaligned:
            problem = f"{notes.misaligned:,} spans that are not whole tokens of a line: {notes.shown[0]}"
            expected = f"a choice: {{}} (or `misaligned=unknown`){notes.hint}"
            raise self.error(problem, expected, "misaligned widen")
        if notes.empty:
            problem = f"{notes.empty:,} of {notes.documents:,} documents without any span"
            expected = "a choice: {} if nobody found any in them, and `unmarked=empty-unknown` if nobody has begun"
            raise self.error(problem, expected, "unmarked outside")
        if notes.overlapping:
            of = "of their type" if notes.typed else "ones"
            problem = f"{notes.overlapping:,} spans that overlap longer {of}"
            raise self.error(problem, "none; this leaves them out: {}")
        if notes.several:
            problem = f"{notes.several:,} spans with another label than the same span before, {notes.several_shown}"
            raise self.error(problem, "one label a span; this leaves the others out: {}")
        self._check_complete(notes.left_out)
        if notes.typed:
            tell(f"spans overlap, so each type has a layer: {', '.join(notes.typed)}")
        return read

    def _check_complete(self, left_out: Counter[str]) -> None:
        if lost := {what: count for what, count in left_out.items() if what not in SKIPPED}:
            problem = ", ".join(f"{count:,} {what}" for what, count in sorted(lost.items()))
            raise self.error(problem, "what a corpus can hold; this command leaves these out: {}")


def _answers(
    documents: Sequence[Document], memory: Memory, notes: Notes, tell: Callable[[str], None]
) -> Sequence[Sentence]:
    """Return the sentences of answers: O where nothing is marked, spans widened to whole tokens; tell the changes."""
    cut = "blanks" if is_tokenized(document.text for document in documents) else "words"
    read = [*memory.sentences(sentences(documents, tokenizer(cut), "widen", "outside", notes))]
    how = {"blanks": "tokens end at blanks", "words": "tokens are words and signs"}[cut]
    lines = [
        *notes.lines("widen", "outside"),
        f"{how}, and those in no span are O (`tagweave import answers` reads it in other ways)",
    ]
    tell("; ".join(lines))
    return read


def documents_of(tool: Tool, paths: Sequence[str], notes: Notes) -> tuple[list[Document], Memory]:
    """Return the documents of a tool's files, and what counts the memory for them. Raises CorpusError if it is much."""

    def counted() -> Iterator[Document]:
        for document in memory.documents(document for path in paths for document in tool.read(path)):
            notes.left_out.update(document.left_out)
            notes.tally.update(document.tally, f"line {document.location.line}: ")
            yield document

    memory = Memory(paths)
    documents = joined(counted())
    memory.layers(documents, annotators(documents))
    return documents, memory


def known_layers(read: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the sentences without layers and heads in which nothing is known."""
    annotated = {
        name
        for sentence in read
        for name, layer in sentence.layers.items()
        if any(layer) or sentence.rejected.get(name)
    }
    trees = any(any(layer) for sentence in read for layer in sentence.heads.values())
    return tuple(
        replace(sentence.with_layers_of(annotated), heads=sentence.heads if trees else {}) for sentence in read
    )
