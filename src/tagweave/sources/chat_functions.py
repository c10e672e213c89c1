"""A labelling function that asks a chat model for the spans of each sentence, and keeps every answer in a file.

The model quotes spans, since language models hardly count characters. A line of the file is an answer as
`tagweave.exchange.answers` reads it, with the digest of the request under `key`: what has been answered is not asked
again, and a run that died goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tagweave.corpus.chunk_schemes import recoded
from tagweave.corpus.load import parse_argument
from tagweave.corpus.sentence import Candidates, Layer, Location, Sentence
from tagweave.corpus.spans import ANY, TAGS, layer_of, spans_of
from tagweave.errors import CorpusError, shortened
from tagweave.exchange.answers import ANSWERS
from tagweave.exchange.json_exports import Values, parsed
from tagweave.exchange.load import load
from tagweave.exchange.offsets import TokenOffsets
from tagweave.exchange.quotations import Tally
from tagweave.sources.answer_functions import Answer
from tagweave.sources.chat_client import ChatClient, NoAnswerError
from tagweave.sources.functions import DeclaredFunction, FunctionError, LabellingFunction, Progress, stamp

_INSTRUCTIONS = """\
Quote the entities in the text that the user sends. The types of entities are:
{types}

Answer with JSON alone: {{"spans": [{{"text": "...", "label": "..."}}]}}
There is one object for each entity, in the order of the text: "text" is the entity exactly as it stands there, and \
"label" its type. If there is no entity, answer {{"spans": []}}"""
_EXAMPLES = 5  # sentences with spans that are shown; more if only more of them have all types
_HOPELESS = 10  # useless answers, and no useful one, that end a run
_RESERVED = {"messages", "model", "n", "stream"}
_BEGINNING = b'{"key": "'  # of a line


@dataclass(frozen=True)
class ChatFunction(DeclaredFunction):
    """Asks a chat model behind OpenAI's interface, a sentence at a time, and abstains where it has no answer.

    The text, some of the examples and the key go to `url`, and nowhere else.
    """

    path_fields = ("examples", "answers")

    url: str  # the address before `/chat/completions`, such as `http://localhost:8000/v1`
    model: str | None = None  # by default the only one that the server has
    types: Mapping[str, str] | None = None  # types of spans, and what each means; by default those of the examples
    examples: str | None = None  # a corpus of checked sentences, some of which are shown to the model
    answers: str = ""  # the file of answers; by default `NAME.jsonl`
    key_variable: str = "OPENAI_API_KEY"  # the environment variable with the key
    parallel: int = 8  # requests at the same time
    parameters: Mapping[str, Any] | None = None  # what else a request has; by default `{"temperature": 0}`

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", self.answers or f"{self.name}.jsonl")
        blank = next((kind for kind in self.types or () if kind.split() != [kind]), None)
        reserved = sorted(_RESERVED & {*(self.parameters or ())})
        for wrong, expected in (
            (self.task == TAGS and f"the task {TAGS}", "spans, which a chat model quotes"),
            (not self.types and self.examples is None and "no types", '"types" with their meanings, or "examples"'),
            (blank is not None and f"the type {blank!r}", "one without blanks"),
            (reserved and f"{reserved[0]!r} in parameters", "others"),
            (self.parallel < 1 and f"parallel {self.parallel}", "at least 1"),
        ):
            if wrong:
                raise FunctionError(f"{self.name}: found {wrong}, expected {expected}")

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise FunctionError, CorpusError or OSError if the address, types or kept answers are none."""
        ChatClient(self.url, self.key_variable)
        self._prompt()
        _kept(self.answers)

    def prepared(
        self, sentences: Sequence[Sentence], progress: Progress, tell: Callable[[str], None]
    ) -> LabellingFunction:
        """Ask for the answers that the file lacks, and tell what is sent, and what became of it."""
        retries: list[str] = []

        def retrying(problem: str) -> None:
            if not retries:
                tell(f"{self.name}: {problem}")
            retries.append(problem)

        with ChatClient(self.url, self.key_variable, retrying) as client:
            function = replace(self, model=self.model or client.only_model())
            wanted = {function._key(sentence): sentence for sentence in sentences if len(sentence)}
            kept = _kept(self.answers)
            if kept.is_cut:
                os.truncate(self.answers, kept.whole)
                tell(f"{self.answers}: the last line was cut off and is removed")
            lacking = {key: sentence for key, sentence in wanted.items() if key not in kept.answers}
            counts = Counter(dict.fromkeys(("requests", "cached", "retries", "prompt tokens", "completion tokens"), 0))
            counts["cached"] = len(wanted) - len(lacking)
            there = f"{counts['cached']:,} answers are in {self.answers}"
            tell(f"{self.name}: {there}, {len(lacking):,} texts go to {self.url}")
            try:
                useless = function._ask(client, lacking, counts, progress)
            finally:  # also of a run that dies: its answers are kept
                counts["retries"] = len(retries)
                tell(f"{self.name}: {', '.join(f'{count:,} {what}' for what, count in counts.items())}")
        if useless:
            tell(f"{self.name}: {len(useless):,} useless answers, the first: {useless[0]}")
        for line in function._about(wanted):
            tell(f"{self.name}: {line}")
        return function

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """Return the labels of the answers that the file has."""
        answers = _kept(self.answers).answers
        types = self._prompt().types
        layers: list[Layer] = []
        for sentence in sentences:
            answer = answers.get(self._key(sentence))
            spans = answer.spans(sentence) if answer else ()
            of_types = [span for span in spans if span.types[0] in types]
            layers.append(layer_of(of_types, len(sentence), self.outside and answer is not None))
        return layers

    def _ask(
        self,
        client: ChatClient,
        sentences: Mapping[str, Sentence],
        counts: Counter[str],
        progress: Progress,
    ) -> list[NoAnswerError | CorpusError]:
        """Keep answers as they come, and count them and their tokens; return what is wrong with the useless ones."""
        useless: list[NoAnswerError | CorpusError] = []
        with Path(self.answers).open("ab") as file:
            for key, result in client.completions(sentences, self._request, self.parallel):
                counts["requests"] += 1
                try:
                    if isinstance(result, Exception):
                        raise result
                    counts["prompt tokens"] += result.prompt_tokens
                    counts["completion tokens"] += result.completion_tokens
                    file.write(self._line(key, sentences[key], result.text))
                    file.flush()
                except (NoAnswerError, CorpusError) as error:
                    useless.append(error)
                    if len(useless) == min(_HOPELESS, len(sentences)) == counts["requests"] and not counts["cached"]:
                        problem = f"found {len(useless)} useless answers and no other, the first: {error}"
                        raise FunctionError(f"{self.name}: {problem}") from None
                progress(counts["requests"], len(sentences))
        return useless

    def _line(self, key: str, sentence: Sentence, said: str) -> bytes:
        """Return an answer as a line. Raises CorpusError if it has no quotations."""
        said = said.rpartition("</think>")[2]
        start = min((at for at in map(said.find, "{[") if at >= 0), default=0)  # it may stand in a fence, or in words
        try:
            value = parsed(said[start : 1 + max(map(said.rfind, "}]"))], sentence.location)
            values = value if isinstance(value, dict) else {"spans": value}
            text = TokenOffsets.of(sentence.forms).text
            quoted = {name: values[name] for name in ANSWERS if name in values}
            answer: dict[str, Any] = {"key": key, "model": self.model, "text": text, **quoted}
            list(Answer(Values(answer, sentence.location)).spans(sentence))
        except CorpusError as error:
            raise CorpusError(f"{said!r} ({error.found})", "JSON with quotations", *sentence.location) from None
        # half of a surrogate pair becomes an escape of JSON
        return json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"

    def _about(self, sentences: Mapping[str, Sentence]) -> Iterator[str]:
        """Yield what became of the quotations in the answers."""
        answers, types = _kept(self.answers).answers, self._prompt().types
        tally, unasked = Tally(), Counter[str]()
        for key, sentence in sentences.items():
            if key in answers:
                unasked.update(span.types[0] for span in answers[key].spans(sentence) if span.types[0] not in types)
                tally.update(answers[key].tally, f"line {answers[key].line.location.line}: ")
        yield from tally.lines()
        if unasked:
            yield f"{unasked.total():,} of them left out for their label ({shortened(next(iter(unasked)))!r})"

    def _key(self, sentence: Sentence) -> str:
        return hashlib.sha256(json.dumps(self._request(sentence)).encode()).hexdigest()

    def _request(self, sentence: Sentence) -> dict[str, Any]:
        text, prompt = TokenOffsets.of(sentence.forms).text, self._prompt()
        listed = "\n".join(f"{kind}: {meaning}" if meaning else kind for kind, meaning in prompt.types.items())
        turns = [("system", _INSTRUCTIONS.format(types=listed))]
        for example in prompt.examples:
            if example.text != text:  # no text is shown its own answer
                turns += [("user", example.text), ("assistant", example.answer)]
        messages = [{"role": role, "content": content} for role, content in (*turns, ("user", text))]
        parameters = {"temperature": 0} if self.parameters is None else self.parameters
        return {"model": self.model, "messages": messages, **parameters}

    def _prompt(self) -> _Prompt:
        types = tuple(self.types.items()) if self.types else None
        if self.examples is None:
            return _Prompt(dict(types or ()), ())
        return _prompt(types, self.examples, stamp(parse_argument(self.examples).path))


class _Example(NamedTuple):
    """A text, the answer that is expected, and the types of spans in it."""

    text: str
    answer: str
    types: frozenset[str]


class _Prompt(NamedTuple):
    """What every request says: types with their meanings, and examples."""

    types: Mapping[str, str]
    examples: Sequence[_Example]


@lru_cache(maxsize=8)
def _prompt(types: tuple[tuple[str, str], ...] | None, path: str, _stamp: object) -> _Prompt:
    """Choose examples: always the sentence with most types that those before lack, and one without spans."""
    corpus = load(path)
    layers = ((sentence, sentence.layers.get(corpus.guideline, (None,))) for sentence in corpus)
    annotated = ((sentence, layer) for sentence, layer in layers if all(map(_is_known, layer)))
    full = [(sentence, recoded(sentence, layer, "IOB2")) for sentence, layer in annotated]
    seen = dict.fromkeys(span.label or "" for sentence, layer in full for (span,) in spans_of(layer, sentence.location))
    named = dict.fromkeys(seen, "") if types is None else dict(types)
    if not named:
        raise FunctionError(f"{path}: found no spans in sentences without unknown tokens, expected some, as examples")
    left = [_example(sentence, layer, named) for sentence, layer in full]
    empty = next((example for example in left if not example.types), None)
    left = [example for example in left if example.types]
    everything = frozenset[str]().union(*(example.types for example in left))
    chosen: list[_Example] = []
    lacking = everything
    while left and (lacking or len(chosen) < _EXAMPLES):
        chosen.append(max(left, key=lambda example: len(example.types & (lacking or everything))))
        left.remove(chosen[-1])
        lacking -= chosen[-1].types
    return _Prompt(named, (*chosen, *([empty] if empty else ())))


def _is_known(labels: Candidates) -> bool:
    return labels is not None and len(labels) == 1 and not labels[0].endswith(f"-{ANY}")


def _example(sentence: Sentence, layer: Layer, types: Mapping[str, str]) -> _Example:
    offsets = TokenOffsets.of(sentence.forms)
    starts, stops = [*offsets.starts], [*offsets.stops]
    spans = [
        {"text": offsets.text[starts[span.start] : stops[span.stop - 1]], "label": span.label}
        for (span,) in spans_of(layer, sentence.location)
        if span.stop and span.label in types
    ]
    answer = json.dumps({"spans": spans}, ensure_ascii=False)
    return _Example(offsets.text, answer, frozenset(str(span["label"]) for span in spans))


class _Kept(NamedTuple):
    """The answers in a file by their keys, the bytes of its whole lines, and whether more follow them."""

    answers: Mapping[str, Answer]
    whole: int = 0
    is_cut: bool = False


def _kept(path: str) -> _Kept:
    """Read a file of answers; none is there before the first run. Raises CorpusError for a line that is no answer."""
    return _read(path, stamp(path)) if Path(path).exists() else _Kept({})


@lru_cache(maxsize=8)
def _read(path: str, _stamp: object) -> _Kept:
    content = Path(path).read_bytes()
    *lines, last = content.split(b"\n")
    if last[: len(_BEGINNING)] != _BEGINNING[: len(last)]:  # a killed run leaves no such line
        raise CorpusError(f"{last[:99]!r} without a line break", "an answer of a chat model", path, len(lines) + 1)
    answers: dict[str, Answer] = {}
    for number, line in enumerate(lines, 1):
        location = Location(path, number)
        values = Values.of(parsed(line, location, "an answer of a chat model"), location)
        answers[values.get("key", str)] = Answer(values)
    return _Kept(answers, len(content) - len(last), bool(last))
