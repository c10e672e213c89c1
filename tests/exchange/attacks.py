"""Files that somebody makes to harm: small ones that stand for gigabytes or hours, and values that nobody expects."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ATTACKS: dict[str, tuple[str, Callable[[Path], Path]]] = {}
"""The tool, and what writes a file into a folder, by the name of the attack."""

MARK = [0, 1, "X"]


def attack(tool: str) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    def registered(write: Callable[[Path], Path]) -> Callable[[Path], Path]:
        ATTACKS[write.__name__] = (tool, write)
        return write

    return registered


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def lines(folder: Path, objects: Iterable[object]) -> Path:
    return written(folder / "a.jsonl", "\n".join(map(json.dumps, objects)))


def zipped(path: Path, files: Iterable[tuple[str, bytes | str]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, data in files:
            packed.writestr(name, data)
    return path


# Text in JSON


@attack("doccano")
def doccano_of_lists_as_deep_as_can_be(folder: Path) -> Path:
    texts = ('{"text":"a","id":' + "[" * deep + "]" * deep + ',"label":["x"]}' for deep in range(900, 1000))
    return written(folder / "a.jsonl", "\n".join(texts))


@attack("prodigy")
def prodigy_of_a_line_of_tokens(folder: Path) -> Path:
    tokens = ",".join('{"start":%d,"end":%d}' % (at, at + 1) for at in range(400_000))  # noqa: UP031 - braces
    return written(folder / "a.jsonl", '{"text":"' + "a" * 400_000 + '","tokens":[' + tokens + '],"spans":[]}')


@attack("prodigy")
def prodigy_of_lines_by_tokens(folder: Path) -> Path:
    tokens = [{"start": 0, "end": 1}] * 100_000
    return lines(folder, [{"text": "a\n" * 100_000, "tokens": tokens, "spans": []}])


def task(text: str, *results: object, **more: object) -> dict[str, object]:
    return {"id": 1, "data": {"text": text}, "annotations": [{"result": results, **more}]}


def result(start: object, end: object, label: object = "X", **more: Any) -> dict[str, object]:
    value = {"start": start, "end": end, "labels": [label], **more.pop("value", {})}
    return {"type": "labels", "value": value, **more}


@attack("label-studio")
def label_studio_of_texts_that_differ(folder: Path) -> Path:
    """Each is compared in units of UTF-16, too."""
    text = "\U0001f600 " + "a " * 1_000_000
    same = {"value": {"text": "a"}}
    return written(folder / "a.json", json.dumps([task(text, *[result(0, len(text), **same) for _ in range(50_000)])]))


@attack("label-studio")
def label_studio_of_texts_in_utf16(folder: Path) -> Path:
    text = "\U0001f600 " + "a" * 1_000_000
    results = [result(3, 1_000_003, value={"text": "a" * 1_000_000})] * 3 + [
        result(3 + at, 4 + at, value={"text": "a"}) for at in range(50_000)
    ]
    return written(folder / "a.json", json.dumps([task(text, *results[3:])]))


@attack("label-studio")
def label_studio_of_odd_names(folder: Path) -> Path:
    odd: object = [[], {}, None, True, 10**400, "a\nb", {"id": []}]
    tasks = [task("a", result(0, 1), completed_by=each, prediction={"id": each}) for each in odd]  # type: ignore[attr-defined]
    return written(folder / "a.json", json.dumps(tasks))


# Texts with annotation beside them


@attack("brat")
def brat_of_long_spans(folder: Path) -> Path:
    marks = "".join(f"T{at}\tX 0 2000000\n" for at in range(40_000))
    return zipped(folder / "a.zip", [("a.txt", "a " * 1_000_000), ("a.ann", marks)])


@attack("brat")
def brat_of_gaps_of_blanks(folder: Path) -> Path:
    marks = "".join(f"T{at}\tX 0 1;2000001 2000002\ta b\n" for at in range(40_000))
    return zipped(folder / "a.zip", [("a.txt", "a" + " " * 2_000_000 + "b"), ("a.ann", marks)])


@attack("brat")
def brat_of_folders(folder: Path) -> Path:
    pairs = ((f"{at}/a.{kind}", text) for at in range(3000) for kind, text in (("txt", "a"), ("ann", "")))
    return zipped(folder / "a.zip", pairs)


@attack("brat")
def brat_in_zips(folder: Path) -> Path:
    data = bytes(1 << 26)
    for _ in range(2):
        data = zipped(folder / "x.zip", [(f"{at}.zip", data) for at in range(3)]).read_bytes()
    return written(folder / "a.zip", data)


@attack("brat")
def brat_of_sizes_that_are_none(folder: Path) -> Path:
    """The sizes in the headers of a zip are small, the file is not."""
    path = zipped(folder / "a.zip", [("a.txt", bytes(1 << 28)), ("a.ann", "")])
    return written(path, path.read_bytes().replace((1 << 28).to_bytes(4, "little"), (1000).to_bytes(4, "little")))


# UIMA

XMI = (
    '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI"'
    ' xmlns:cas="http:///uima/cas.ecore" xmlns:t="http:///t.ecore" xmi:version="2.0"><cas:NULL xmi:id="0"/>'
    '{}<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{}"/>'
    '<cas:View sofa="1" members="{}"/></xmi:XMI>'
)


def type_system(types: Iterable[tuple[str, str, Iterable[str]]]) -> str:
    def feature(name: str) -> str:
        kind = "<rangeTypeName>uima.cas.String</rangeTypeName>"
        return f"<featureDescription><name>{name}</name>{kind}</featureDescription>"

    described = (
        f"<typeDescription><name>{name}</name><supertypeName>{above}</supertypeName>"
        f"<features>{''.join(map(feature, features))}</features></typeDescription>"
        for name, above, features in types
    )
    space = "http://uima.apache.org/resourceSpecifier"
    return f'<typeSystemDescription xmlns="{space}"><types>{"".join(described)}</types></typeSystemDescription>'


ANNOTATION = "uima.tcas.Annotation"
ONE_TYPE = type_system([("t.T", ANNOTATION, ["value"])])


def xmi(count: int, text: str = "a", end: int = 1, first: int = 10) -> str:
    numbers = range(first, first + count)
    spans = "".join(f'<t:T xmi:id="{at}" sofa="1" begin="0" end="{end}" value="X"/>' for at in numbers)
    return XMI.format(spans, text, " ".join(map(str, numbers)))


@attack("inception")
def xmi_of_annotations_in_a_folder(folder: Path) -> Path:
    written(folder / "TypeSystem.xml", ONE_TYPE)
    return written(folder / "a.xmi", xmi(600_000))


@attack("inception")
def xmi_of_offsets_beyond_the_text(folder: Path) -> Path:
    files = [("a.xmi", xmi(20_000, "a" * 1_000_000, 1_000_000_000)), ("TypeSystem.xml", ONE_TYPE)]
    return zipped(folder / "a.zip", files)


@attack("inception")
def xmi_of_many_type_systems(folder: Path) -> Path:
    files = ((f"{at}/TypeSystem.xml", ONE_TYPE + " " * 1_000_000) for at in range(100))
    return zipped(folder / "a.zip", [*files, ("1/a.xmi", xmi(1))])


@attack("inception")
def xmi_of_type_systems_that_differ(folder: Path) -> Path:
    features = [f"f{at}" for at in range(95)]
    types = (type_system([("t.T", ANNOTATION, ["value", *features, f"x{at}"])]) for at in range(500))
    files = ((f"{at}/{name}", data) for at, each in enumerate(types) for name, data in _pair(each))
    return zipped(folder / "a.zip", files)


def _pair(types: str) -> list[tuple[str, str]]:
    return [("a.xmi", xmi(1)), ("TypeSystem.xml", types)]


@attack("inception")
def types_of_features(folder: Path) -> Path:
    types = type_system([("t.T", ANNOTATION, [f"f{at}" for at in range(2000)])])
    return zipped(folder / "a.zip", _pair(types))


@attack("inception")
def types_below_types(folder: Path) -> Path:
    types = [(f"t.T{at}", f"t.T{at - 1}" if at else ANNOTATION, [f"f{at}"]) for at in range(2000)]
    return zipped(folder / "a.zip", _pair(type_system(types)))


@attack("inception")
def xml_of_entities(folder: Path) -> Path:
    doctype = '<!DOCTYPE x [<!ENTITY a "' + "a" * 100_000 + '">]>'
    content = xmi(1, "&a;" * 50_000).replace("<xmi:XMI", f"{doctype}<xmi:XMI", 1)
    return zipped(folder / "a.zip", [("a.xmi", content), ("TypeSystem.xml", ONE_TYPE)])


@attack("inception")
def xml_in_utf16(folder: Path) -> Path:
    content = xmi(1).replace("UTF-8", "UTF-16").replace("<xmi:XMI", "<!DOCTYPE x [<!ENTITY a 'a'>]><xmi:XMI", 1)
    return zipped(folder / "a.zip", [("a.xmi", content.encode("utf-16")), ("TypeSystem.xml", ONE_TYPE)])


def cas(structures: str, types: object = None, views: str = '{"_InitialView": {"%MEMBERS": [2]}}') -> str:
    own = {"t.T": {"%NAME": "t.T", "%SUPER_TYPE": ANNOTATION, "value": {"%NAME": "value", "%RANGE": "uima.cas.String"}}}
    declared = json.dumps(own if types is None else types)
    return f'{{"%TYPES": {declared}, "%FEATURE_STRUCTURES": [{structures}], "%VIEWS": {views}}}'


SOFA = '{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "sofaString": "a"}'
SPAN = '{"%ID": 2, "%TYPE": "t.T", "@sofa": 1, "begin": 0, "end": 1, "value": "X"}'


def cas_zip(folder: Path, content: str) -> Path:
    return zipped(folder / "a.zip", [("a.json", content)])


@attack("inception")
def cas_json_of_itself(folder: Path) -> Path:
    types = {"t.T": {"%NAME": "t.T", "%SUPER_TYPE": "t.T", "value": {"%NAME": "value", "%RANGE": "t.T"}}}
    return cas_zip(folder, cas(f"{SOFA},{SPAN}".replace('"value": "X"', '"@value": 2'), types))


@attack("inception")
def cas_json_of_references_to_itself(folder: Path) -> Path:
    own = {"value": {"%NAME": "value", "%RANGE": ANNOTATION}, "%NAME": "t.T", "%SUPER_TYPE": ANNOTATION}
    return cas_zip(folder, cas(f"{SOFA},{SPAN}".replace('"value": "X"', '"@value": 2'), {"t.T": own}))


# WebAnno TSV

TSV = "#FORMAT=WebAnno TSV 3.3\n"


@attack("webanno-tsv")
def tsv_of_gaps(folder: Path) -> Path:
    rows = "".join(f"\n#Text=a\n{at}-1\t{at * 65_000}-{at * 65_000 + 1}\ta\t_\n" for at in range(1, 30_000))
    return zipped(folder / "a.zip", [("a.tsv", f"{TSV}#T_SP=x.T|v\n\n{rows}")])


@attack("webanno-tsv")
def tsv_of_rows(folder: Path) -> Path:
    rows = "".join(f"1-{at}\t0-1\ta\t_\n" for at in range(200_000))
    return zipped(folder / "a.zip", [("a.tsv", f"{TSV}#T_SP=x.T|v\n\n\n#Text=a\n{rows}")])


# Tables


def parquet(folder: Path, columns: dict[str, Any], **how: Any) -> Path:
    import pyarrow
    from pyarrow import parquet as written_by

    written_by.write_table(pyarrow.table(columns), folder / "a.parquet", **how)
    return folder / "a.parquet"


def of_one_value(count: int, rows: int, text: str = "a") -> Any:
    """Lists of the same text, which take next to no bytes."""
    import numpy as np
    import pyarrow

    every = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(count, np.int8)), pyarrow.array([text]))
    return pyarrow.ListArray.from_arrays(pyarrow.array([count // rows * at for at in range(rows + 1)], "int32"), every)


@attack("datasets")
def parquet_whose_sizes_are_none(folder: Path) -> Path:
    """The description at the end of the file says that a column takes a few bytes; its page unpacks to 100 MB."""
    path = parquet(folder, {"tokens": [["a" * 100_000_000]]}, compression="zstd", use_dictionary=False)
    data = bytearray(path.read_bytes())
    size = _varint(2 * 100_000_000)[2:]  # all but the lowest digits
    at = data.rindex(size[:-1])
    data[at : at + len(size) - 1] = b"\x80" * (len(size) - 1)
    return written(path, bytes(data))


def _varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


@attack("datasets")
def parquet_of_nothing(folder: Path) -> Path:
    import pyarrow

    values = pyarrow.nulls(100_000_000)
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 100_000_000], "int32"), values)
    return parquet(folder, {"tokens": [["a"]], "tags": lists})


@attack("datasets")
def parquet_in_lists(folder: Path) -> Path:
    import pyarrow

    deep: Any = pyarrow.array([1])
    for _ in range(60):
        deep = pyarrow.ListArray.from_arrays(pyarrow.array([0, 1], "int32"), deep)
    return parquet(folder, {"tokens": [["a"]], "tags": deep})


def arrow(folder: Path, columns: dict[str, Any], **how: Any) -> Path:
    import pyarrow
    from pyarrow import ipc

    table = pyarrow.table(columns)
    with ipc.new_file(str(folder / "a.arrow"), table.schema, options=ipc.IpcWriteOptions(**how)) as stream:
        stream.write_table(table)
    return folder / "a.arrow"


@attack("datasets")
def arrow_of_nothing(folder: Path) -> Path:
    import pyarrow

    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 2_000_000_000], "int32"), pyarrow.nulls(2_000_000_000))
    return arrow(folder, {"tokens": [["a"]], "tags": lists})


@attack("datasets")
def arrow_of_views(folder: Path) -> Path:
    import pyarrow

    view = pyarrow.array(["a" * 1_000_000], pyarrow.string_view())
    places = pyarrow.py_buffer(view.buffers()[1].to_pybytes()[:16] * 20_000)
    views = pyarrow.Array.from_buffers(view.type, 20_000, [None, places, view.buffers()[2]])
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 20_000], "int32"), views)
    return arrow(folder, {"tokens": lists})


@attack("datasets")
def arrow_of_lists_of_the_same_values(folder: Path) -> Path:
    import pyarrow

    starts, sizes = (pyarrow.array([each] * 10_000, "int32") for each in (0, 100_000))
    views = pyarrow.ListViewArray.from_arrays(starts, sizes, pyarrow.array(["a"] * 100_000))
    return arrow(folder, {"tokens": views})


@attack("datasets")
def arrow_of_runs(folder: Path) -> Path:
    import pyarrow

    runs = pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array([2_000_000_000], "int32"), pyarrow.array(["a"]))
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 2_000_000_000], "int32"), runs)
    return arrow(folder, {"tokens": [["a"]], "tags": lists})


# DocBin


def docbin(folder: Path, **values: object) -> Path:
    import srsly

    message: dict[str, object] = {
        "version": "0.1",
        "attrs": [65],
        "tokens": b"",
        "spaces": b"",
        "lengths": b"",
        "strings": [],
        "cats": [],
        "flags": [],
        "user_data": [],
        **values,
    }
    return written(folder / "a.spacy", zlib.compress(srsly.msgpack_dumps(message), 1))


PLAIN: dict[str, dict[str, Callable[[Path], Path]]] = {
    "doccano": {
        "doccano_of_lines_in_gzip": lambda folder: written(
            folder / "a.jsonl", gzip.compress((b'{"text":"' + b"a" * 100_000 + b'","label":[]}\n') * 8000, 1)
        ),
        "doccano_of_a_text_again_and_again": lambda folder: written(
            folder / "a.jsonl", b'{"text":"a","label":[]}\n' * 60_000
        ),
        "doccano_of_many_short_lines": lambda folder: lines(folder, [{"text": "a\n" * 5_000_000, "label": [MARK]}]),
        "doccano_of_spans_over_all_lines": lambda folder: lines(
            folder, [{"text": "a\n" * 50_000, "label": [[0, 100_000, "X"]] * 50_000}]
        ),
        "doccano_of_spans_of_the_whole_line": lambda folder: lines(
            folder, [{"text": "a " * 500_000, "label": [[0, 1_000_000, "X"]] * 60_000}]
        ),
        "doccano_of_spans_of_blanks": lambda folder: lines(
            folder, [{"text": "a" + " " * 2_000_000 + "b", "label": [[0, 2_000_002, "X"]] * 60_000}]
        ),
        "doccano_of_a_long_label": lambda folder: lines(
            folder, [{"text": "a " * 500_000, "label": [[0, 1_000_000, "X" * 8_000_000]]}]
        ),
        "doccano_of_lists_in_a_line": lambda folder: written(
            folder / "a.jsonl", '{"text":"a","label":[' + ",".join(["[]"] * 2_000_000) + "]}"
        ),
        "doccano_in_lists": lambda folder: written(folder / "a.jsonl", '{"text":"a","label":' + "[" * 5_000_000),
    },
    "prodigy": {
        "prodigy_of_annotators": lambda folder: lines(
            folder, ({"text": f"{at}", "spans": [], "_annotator_id": f"{at}"} for at in range(30_000))
        ),
        "prodigy_of_annotators_of_a_text": lambda folder: lines(
            folder, ({"text": "a", "spans": [], "_annotator_id": f"{at}"} for at in range(30_000))
        ),
    },
    "label-studio": {
        "label_studio_of_scores_and_offsets": lambda folder: written(
            folder / "a.json", json.dumps([task("a", result(0, 1, score=10**400))])
        ),
        "label_studio_of_an_object_without_end": lambda folder: written(
            folder / "a.json", '[{"data": ["' + ("a" * 1000 + '",\n"') * 20_000
        ),
        "label_studio_in_gzip": lambda folder: written(
            folder / "a.json", gzip.compress(b"[" + b'{"data":{"text":"a"}},\n' * 10_000_000, 1)
        ),
    },
    "brat": {
        "brat_of_blanks": lambda folder: zipped(folder / "a.zip", [("a.txt", bytes(1 << 28)), ("a.ann", "")]),
        "brat_of_long_names": lambda folder: zipped(
            folder / "a.zip", ((f"{'a' * 60_000}{at}.ann", "") for at in range(300))
        ),
    },
    "inception": {
        "xmi_of_annotations": lambda folder: zipped(
            folder / "a.zip", [("a.xmi", xmi(600_000)), ("TypeSystem.xml", ONE_TYPE)]
        ),
        "xmi_of_a_long_text": lambda folder: zipped(
            folder / "a.zip", [("a.xmi", xmi(1, "a" * 9_900_000)), ("TypeSystem.xml", ONE_TYPE)]
        ),
        "types_below_themselves": lambda folder: zipped(
            folder / "a.zip", _pair(type_system([("t.T", "t.S", ["value"]), ("t.S", "t.T", [])]))
        ),
        "types_by_the_thousand": lambda folder: zipped(
            folder / "a.zip", _pair(type_system((f"t.T{at}", ANNOTATION, ["a"]) for at in range(50_000)))
        ),
        "cas_json_of_objects": lambda folder: cas_zip(folder, cas(",".join(["{}"] * 25_000_000))),
        "cas_json_of_some_objects": lambda folder: cas_zip(folder, cas(",".join(["{}"] * 5_000_000))),
        "cas_json_of_a_long_text": lambda folder: cas_zip(
            folder, cas(f"{SOFA},{SPAN}".replace('"a"', f'"{"a" * 15_000_000}"'))
        ),
        "cas_json_of_texts": lambda folder: cas_zip(
            folder, cas(",".join([SOFA.replace("1,", '1, "@sofaArray": 7,', 1)] * 20_000))
        ),
        "cas_json_without_offsets": lambda folder: cas_zip(
            folder, cas(f"{SOFA},{SPAN}".replace('"begin": 0', '"begin": null'))
        ),
        "cas_json_with_halves_of_offsets": lambda folder: cas_zip(
            folder, cas(f"{SOFA},{SPAN}".replace('"begin": 0', '"begin": 0.5'))
        ),
        "cas_json_in_lists": lambda folder: cas_zip(folder, "[" * 10_000_000),
    },
    "webanno-tsv": {
        "tsv_of_columns": lambda folder: zipped(
            folder / "a.zip", [("a.tsv", f"{TSV}#T_SP=x.T|{'|' * 10_000_000}\n\n\n#Text=a\n1-1\t0-1\ta\t_\n")]
        ),
        "tsv_of_a_long_text": lambda folder: zipped(
            folder / "a.zip", [("a.tsv", f"{TSV}#T_SP=x.T|v\n\n\n#Text={'a' * 15_000_000}\n1-1\t0-1\ta\t_\n")]
        ),
    },
    "datasets": {
        "parquet_of_a_long_row": lambda folder: parquet(folder, {"tokens": of_one_value(50_000_000, 1)}),
        "parquet_of_a_row_below_the_limit": lambda folder: parquet(
            folder, {"tokens": of_one_value(1_900_000, 1), "tags": of_one_value(1_900_000, 1)}
        ),
        "parquet_of_rows": lambda folder: parquet(folder, {"tokens": of_one_value(1_900_000, 1_900_000)}),
        "parquet_of_a_long_text": lambda folder: parquet(
            folder, {"tokens": of_one_value(100_000, 10, "a" * 1_000_000)}, compression="zstd"
        ),
        "arrow_of_a_long_text": lambda folder: arrow(folder, {"tokens": of_one_value(1_000_000, 100, "a" * 1_000_000)}),
        "arrow_that_is_compressed": lambda folder: arrow(folder, {"tokens": [["a" * 100_000_000]]}, compression="zstd"),
        "jsonl_of_a_long_row": lambda folder: written(
            folder / "a.jsonl", '{"tokens":[' + ",".join(['"a"'] * 4_000_000) + "]}"
        ),
    },
    "spacy": {
        "docbin_of_lists": lambda folder: docbin(folder, cats=[[]] * 60_000_000),
        "docbin_of_some_lists": lambda folder: docbin(folder, cats=[[]] * 11_000_000),
        "docbin_of_documents": lambda folder: docbin(folder, lengths=bytes(60_000_000)),
        "docbin_of_zeros": lambda folder: written(folder / "a.spacy", zlib.compress(bytes(1 << 27), 1)),
        "docbin_of_an_array_in_a_list": lambda folder: docbin(folder, tokens=[{}] * 20_000_000),
    },
}
ATTACKS |= {name: (tool, write) for tool, attacks in PLAIN.items() for name, write in attacks.items()}


def made(name: str, folder: Path) -> tuple[str, Path]:
    """Return the tool and the file of an attack, which is written into a folder."""
    tool, write = ATTACKS[name]
    return tool, write(folder)
