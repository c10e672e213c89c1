"""Files that somebody makes to harm: small ones that stand for gigabytes or hours, and values that nobody expects."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Content = bytes | str | Iterable[tuple[str, bytes | str]]
ATTACKS: dict[str, tuple[str, str, Callable[[], Content]]] = {}
"""By name: the tool, the name of the file, and what makes its content, which is files by name for a zip."""


def attack(tool: str, file: str) -> Callable[[Callable[[], Content]], Callable[[], Content]]:
    def registered(content: Callable[[], Content]) -> Callable[[], Content]:
        ATTACKS[content.__name__] = (tool, file, content)
        return content

    return registered


def attacks(tool: str, file: str, **contents: Callable[[], Content]) -> None:
    ATTACKS.update({f"{tool}_{name}": (tool, file, content) for name, content in contents.items()})


def made(name: str, folder: Path) -> tuple[str, Path]:
    """Return the tool and the file of an attack, which is written into a folder."""
    tool, file, make = ATTACKS[name]
    content, path = make(), folder / file
    if isinstance(content, bytes | str):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        path.write_bytes(zipped(content))
    return tool, path


def zipped(files: Iterable[tuple[str, bytes | str]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, data in files:
            packed.writestr(name, data)
    return stream.getvalue()


def lines(*objects: object) -> str:
    return "\n".join(map(json.dumps, objects))


# Text in JSON


def marked(text: str, *marks: tuple[int, int, str]) -> str:
    return lines({"text": text, "label": marks})


attacks(
    "doccano",
    "a.jsonl",
    lines_in_gzip=lambda: gzip.compress((b'{"text":"' + b"a" * 100_000 + b'","label":[]}\n') * 8000, 1),
    a_text_again_and_again=lambda: b'{"text":"a","label":[]}\n' * 60_000,
    many_short_lines=lambda: marked("a\n" * 5_000_000, (0, 1, "X")),
    spans_over_all_lines=lambda: marked("a\n" * 50_000, *[(0, 100_000, "X")] * 50_000),
    spans_of_the_whole_line=lambda: marked("a " * 500_000, *[(0, 1_000_000, "X")] * 60_000),
    spans_of_blanks=lambda: marked("a" + " " * 2_000_000 + "b", *[(0, 2_000_002, "X")] * 60_000),
    a_long_label=lambda: marked("a " * 500_000, (0, 1_000_000, "X" * 8_000_000)),
    lists_in_a_line=lambda: '{"text":"a","label":[' + ",".join(["[]"] * 2_000_000) + "]}",
    lists_in_lists=lambda: '{"text":"a","label":' + "[" * 5_000_000,
    lists_as_deep_as_can_be=lambda: "\n".join(
        '{"text":"a","id":' + "[" * deep + "]" * deep + ',"label":["x"]}' for deep in range(900, 1000)
    ),
)
attacks(
    "prodigy",
    "a.jsonl",
    annotators=lambda: lines(*({"text": f"{at}", "spans": [], "_annotator_id": f"{at}"} for at in range(30_000))),
    annotators_of_a_text=lambda: lines(*({"text": "a", "spans": [], "_annotator_id": f"{at}"} for at in range(30_000))),
    lines_by_tokens=lambda: lines({"text": "a\n" * 100_000, "tokens": [{"start": 0, "end": 1}] * 100_000, "spans": []}),
    a_line_of_tokens=lambda: lines(
        {"text": "a" * 400_000, "tokens": [{"start": at, "end": at + 1} for at in range(400_000)], "spans": []}
    ),
)

attacks(
    "answers",
    "a.jsonl",
    quotations_in_each_other=lambda: quoting("ab " * 300_000, *("ab " * each for each in range(3000))),
    quotations_of_signs=lambda: quoting("!" * 1_000_000, *("!" * each for each in range(1, 3000))),
    labels_that_contradict=lambda: lines({"text": "ab " * 30_000, "spans": [["ab", f"{at}"] for at in range(100_000)]}),
    misspelt_everywhere=lambda: quoting("abcdefgh " * 20_000, *(f"abxdefgh{'i' * (at % 2)}" for at in range(9000))),
)


def quoting(text: str, *quoted: str) -> str:
    return lines({"text": text, "spans": {"X": quoted}})


def task(text: str, *results: object, **more: object) -> dict[str, object]:
    return {"id": 1, "data": {"text": text}, "annotations": [{"result": results, **more}]}


def result(start: int, end: int, marked: str | None = None, **more: Any) -> dict[str, object]:
    return {"type": "labels", "value": {"start": start, "end": end, "text": marked, "labels": ["X"]}, **more}


LONG = "\U0001f600 " + "a " * 1_000_000  # compared in units of UTF-16, too
attacks(
    "label-studio",
    "a.json",
    scores_and_offsets=lambda: json.dumps([task("a", result(0, 1, score=10**400))]),
    an_object_without_end=lambda: '[{"data": ["' + ("a" * 1000 + '",\n"') * 20_000,
    in_gzip=lambda: gzip.compress(b"[" + b'{"data":{"text":"a"}},\n' * 10_000_000, 1),
    texts_that_differ=lambda: json.dumps([task(LONG, *[result(0, len(LONG), "a")] * 50_000)]),
    texts_in_utf16=lambda: json.dumps(
        [task(LONG.replace("a ", "aa"), *(result(3 + at, 4 + at, "a") for at in range(50_000)))]
    ),
)


@attack("label-studio", "a.json")
def label_studio_of_odd_names() -> Content:
    odd: list[Any] = [[], {}, None, True, 10**400, "a\nb", {"id": []}]
    return json.dumps([task("a", result(0, 1), completed_by=each, prediction={"id": each}) for each in odd])


# Texts with annotation beside them


def pair(text: str | bytes, marks: str = "") -> Content:
    return [("a.txt", text), ("a.ann", marks)]


attacks(
    "brat",
    "a.zip",
    blanks=lambda: pair(bytes(1 << 28)),
    long_names=lambda: ((f"{'a' * 60_000}{at}.ann", "") for at in range(300)),
    long_spans=lambda: pair("a " * 1_000_000, "".join(f"T{at}\tX 0 2000000\n" for at in range(40_000))),
    gaps_of_blanks=lambda: pair(
        "a" + " " * 2_000_000 + "b", "".join(f"T{at}\tX 0 1;2000001 2000002\ta b\n" for at in range(40_000))
    ),
    folders=lambda: ((f"{at}/a.{kind}", text) for at in range(3000) for kind, text in (("txt", "a"), ("ann", ""))),
    # the sizes in the headers of a zip are small, the file is not
    sizes_that_are_none=lambda: zipped(pair(bytes(1 << 28))).replace(  # type: ignore[arg-type]
        (1 << 28).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    ),
)

# Tables

attacks("datasets", "a.jsonl", a_long_row_of_json=lambda: '{"tokens":[' + ",".join(['"a"'] * 4_000_000) + "]}")

# DocBin


def docbin(**values: object) -> bytes:
    import srsly

    nothing = dict.fromkeys(("tokens", "spaces", "lengths"), b"")
    lists: dict[str, object] = {name: [] for name in ("strings", "cats", "flags", "user_data")}
    return zlib.compress(srsly.msgpack_dumps({"version": "0.1", "attrs": [65], **nothing, **lists, **values}), 1)


attacks(
    "spacy",
    "a.spacy",
    lists=lambda: docbin(cats=[[]] * 60_000_000),
    some_lists=lambda: docbin(cats=[[]] * 11_000_000),
    documents=lambda: docbin(lengths=bytes(16_000_000)),
    zeros=lambda: zlib.compress(bytes(1 << 27), 1),
    an_array_in_a_list=lambda: docbin(tokens=[{}] * 13_000_000),
)
