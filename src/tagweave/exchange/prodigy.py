"""Prodigy's JSON Lines.

    {"text": "Ann left.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept", "_annotator_id": "ann"}

An answer `accept` says that the spans are right, `reject` that something is wrong with them: a single span is rejected,
and of several spans nothing is known. `ignore` says that nobody knows: such tasks are left out. Tokens that it brings
are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO

from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.json_values import Values, read_json_lines, shown

_ANNOTATOR = "annotator"
_ANSWERS = ("accept", "reject", "ignore")


def read(path: str) -> Iterator[Document]:
    """The documents of a file.

    Raises:
        CorpusError: a line that is not in this form.
        OSError: the file cannot be read.
    """
    for line in read_json_lines(path):
        if (answer := line.values.get("answer", "accept")) not in _ANSWERS:
            raise line.error(f"the answer {shown(answer)}", f"one of {', '.join(_ANSWERS)}")
        if answer != "ignore":
            yield _document(line, answer == "accept")


def _document(line: Values, accepted: bool) -> Document:
    who = next((line.get(key, str) for key in ("_annotator_id", "_session_id") if key in line), _ANNOTATOR)
    spans = line.objects("spans") if "spans" in line else ()
    places = [(each.get("start", int), each.get("end", int), each.get("label", str)) for each in spans]
    marks = tuple(Mark(*place, rejected=not accepted) for place in places)
    tokens = None
    if "tokens" in line:
        tokens = tuple((each.get("start", int), each.get("end", int)) for each in line.objects("tokens"))
    usable = accepted or len(marks) == 1
    left_out = {} if usable or not marks else {"rejected answers with several spans": 1}
    text, given = line.get("text", str), {who: marks if usable else None}
    return Document(text, given, line.name("_task_hash"), tokens, line.location, left_out=left_out)


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents as tasks, with what all annotators marked as spans to look over; every rejected span is one."""
    for each in documents:
        marks = [mark for marks in each.marks.values() for mark in marks or ()]
        accepted, rejected = ([mark for mark in marks if mark.rejected is kind] for kind in (False, True))
        for some in [accepted] * bool(accepted or not rejected) + [[mark] for mark in rejected]:
            spans = [{"start": mark.start, "end": mark.stop, "label": mark.label} for mark in some]
            answer = {"answer": "reject"} if some and some[0].rejected else {}
            stream.write(json.dumps({"text": each.text, "spans": spans, **answer}, ensure_ascii=False) + "\n")


TOOL = Tool("prodigy", read, write, ".jsonl", rejections=True)
