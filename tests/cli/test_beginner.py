"""Wrong input that beginners give: each is refused, or trained with a warning; none is a traceback, none is silent."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest


def rows(*sentences: str) -> str:
    """Return a column file of sentences such as `Ann/B-PER left/O`."""
    blocks = ["".join(token.replace("/", "\t") + "\n" for token in each.split()) for each in sentences]
    return "\n".join(blocks)


def packed(**files: str) -> bytes:
    """Return a zip file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return data.getvalue()


PEOPLE, PLACES = rows(*["Ann/B-PER saw/O Graz/O"] * 30), rows(*["we/O saw/O Graz/B-LOC"] * 30)
NAMES = [f"Ann{n}/B-PER Bell{n}/I-PER left/O Graz{n}/B-LOC and/O then/O came/O back/O home/O ./O" for n in range(12)]
ENTITIES, OTHERS = rows(*NAMES[:8]), rows(*(each.replace("came", "went") for each in NAMES[8:]))
OUTSIDE = rows(*["we/O went/O home/O ./O"] * 60)
TAGS = [f"the/DT word{n}/NN is/VBZ word{n + 50}/NN ./." for n in range(30)]
SWAPPED = "".join(f"{tag}\t{form}\n" for line in TAGS for form, tag in (each.split("/") for each in line.split()))
UNMARKED = '{"text": "Ann left Graz.", "label": [[0, 3, "PER"]]}\n{"text": "Bob stays.", "label": []}\n'
SPANS = '{"text": "Ann left Graz.", "label": [[0, 3, "PER"]]}\n'
OVERLAP = '{"text": "Ann Bell left.", "label": [[0, 3, "PER"], [0, 8, "PER"]]}\n'
STUDIO = (
    '[{"data": {"text": "Ann left"}, "annotations": ['
    '{"completed_by": 1, "result": [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}]},'
    '{"completed_by": 2, "result": [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["LOC"]}}]}]}]'
)
UD = "1\tAnn\tAnn\tPROPN\tNNP\t_\t0\troot\t_\t_\n\n"

TRAIN = "train x.txt -o m --iterations 1"
DEV = f"{TRAIN} --dev y.txt"
REFUSED = [
    ("one ragged row", {"x.txt": "a\tDT\nb\tNN\tX\nc\tVB\n"}, TRAIN, "x.txt:2: found 3 columns, expected 2 columns"),
    ("ragged, blanks", {"x.txt": "a DT\n\n" + "b NN\n" * 20 + "b NN X\n"}, TRAIN, "x.txt:23: found 3 columns"),
    ("a missing column", {"x.txt": rows("a/DT b/NN", "c d/NN")}, TRAIN, "x.txt:4: found 1 columns, expected 2"),
    ("a ragged row, evaluated", {"x.txt": "a\tDT\nb\tNN\tX\n"}, "evaluate x.txt x.txt", "x.txt:2: found 3 columns"),
    ("titles of columns", {"x.txt": "token tag\n" + ENTITIES}, TRAIN, "x.txt:1: found titles of columns, token tag"),
    ("titles, described", {"x.col": "# Word\tPOS\tNER\na\tDT\tO\n"}, "info x.col", "`# columns = form POS NER`"),
    ("TRAIN as --dev", {"x.txt": ENTITIES}, f"{TRAIN} --dev x.txt", "x.txt: found TRAIN itself as development data"),
    ("a copy of TRAIN as --dev", {"x.txt": ENTITIES, "y.txt": ENTITIES}, DEV, "found TRAIN itself"),
    ("an empty file", {"x.txt": ""}, TRAIN, "x.txt: found no sentences"),
    ("an empty file, evaluated", {"x.txt": "", "y.txt": ENTITIES}, "evaluate x.txt y.txt", "x.txt"),
    ("binary data", {"x.txt": bytes(range(256))}, TRAIN, "x.txt:1: found a NUL"),
    ("UTF-16", {"x.txt": ENTITIES.encode("utf-16")}, TRAIN, "it looks like UTF-16"),
    ("Latin-1", {"x.txt": rows("Zoë/NN").encode("latin-1")}, TRAIN, "UTF-8: it looks like Windows-1252 (Latin-1)"),
    ("line ends of old Macs", {"x.txt": b"a\tDT\rb\tNN\r"}, TRAIN, "x.txt:1: found a carriage return"),
    ("a folder", {"x.txt/y.txt": ENTITIES}, TRAIN, "x.txt: Is a directory"),
    ("a document of Word", {"x.txt": packed(word_xml="<w/>")}, TRAIN, "looks like a zip file, such as those of Word"),
    ("a zip of a corpus", {"x.txt": packed(a_txt=ENTITIES)}, "info x.txt", "it looks like a zip file"),
    ("half a gzip file", {"x.txt": gzip.compress(ENTITIES.encode())[:40]}, TRAIN, "broken gzip data"),
    ("CSV", {"x.txt": "token,tag\nthe,DT\nword,NN\nends,VBZ\n"}, TRAIN, "x.txt:1: found the columns token, tag"),
    ("CSV with semicolons", {"x.csv": "the;DT\nword;NN\n.;.\n"}, "info x.csv", "x.csv:1: found the first row 'the;DT'"),
    ("JSON lines of one's own", {"x.txt": '{"word": "a", "tag": "N"}\n'}, TRAIN, "x.txt: found JSON"),
    ("a page", {"x.txt": "<!DOCTYPE html>\n<p>Ann left</p>\n"}, TRAIN, "x.txt: found XML or HTML"),
    ("text without labels", {"x.txt": "the word is here .\nand there\n"}, TRAIN, "x.txt: found no label"),
    ("columns without blank lines, segmented", {"x.txt": "a DT\nb NN\n" * 10}, TRAIN, "x.txt: found no label"),
    ("CoNLL-U without a column", {"x.conllu": UD.replace("\t_\n", "\n")}, "info x.conllu", "x.conllu:1: found 9"),
    ("one label", {"x.txt": rows(*["a/O b/O c/O d/O"] * 20)}, TRAIN, "found no evidence: every token allows"),
    ("one label, spans", {"x.txt": rows(*["a/O b/O"] * 9)}, f"{TRAIN} --task spans", "found no"),
    ("a PDF", {"x.txt": b"%PDF-1.4 \xe2\xe3\n"}, TRAIN, "it looks like a PDF"),
    ("a model as a corpus", {"x.txt": "{m}"}, TRAIN, "it looks like a model"),
    ("a corpus as a model", {"x.txt": ENTITIES}, "tag x.txt x.txt", "x.txt: found"),
    ("a model as --dev", {"x.txt": ENTITIES, "y.txt": "{m}"}, DEV, "it looks like a model"),
    ("the corpus as the output", {"x.txt": ENTITIES}, "train x.txt -o x.txt", "x.txt: found a file that is read"),
    ("an output in no folder, of tag", {"x.txt": "a b\n"}, "tag {m} x.txt -o none/y.txt", "none"),
    ("a negative number", {"x.txt": ENTITIES}, "train x.txt -o m --iterations -3", "Invalid value for '--iterations'"),
    ("letters for a number", {"x.txt": ENTITIES}, "train x.txt -o m --seed one", "Invalid value for '--seed'"),
    ("no --output", {"x.txt": ENTITIES}, "train x.txt", "found no --output"),
    ("spans of labels that are none", {"x.txt": rows("a/NN b/VB")}, f"{TRAIN} --task spans", "expected O, or one of B"),
    ("raw text for tags", {"x.raw": "他看书。\n"}, "train x.raw -o m", "expected words, for the task tag"),
    ("trees for columns", {"x.txt": ENTITIES}, f"{TRAIN} --task parse", "expected a layer 'head'"),
    ("spans of half words", {"x.jsonl": SPANS.replace("3", "2")}, "train x.jsonl -o m", "--misaligned widen"),
    ("documents that nobody marked", {"x.jsonl": UNMARKED}, "train x.jsonl -o m", "tagweave import doccano x.jsonl"),
    ("overlapping spans", {"x.jsonl": OVERLAP}, "info x.jsonl", "tagweave import doccano x.jsonl -o x.conll"),
    ("two annotators", {"x.json": STUDIO}, "evaluate x.json x.json", "x.json#annotator1, or a corpus of all"),
    ("a folder of brat", {"b/x.txt": "Ann", "b/x.ann": "T1\tPER 0 3\tAnn\n"}, "info b", "tagweave import brat b"),
    ("a folder as TRAIN", {"x.txt/x.txt": "Ann", "x.txt/x.ann": "T1\tPER 0 3\tAnn\n"}, TRAIN, "import brat x.txt"),
    ("a file of brat", {"x.txt": "Ann", "x.ann": "T1\tPER 0 3\tAnn\n"}, TRAIN, "tagweave import brat x.txt"),
]
WARNED = [
    ("labels in small letters", {"x.txt": ENTITIES.lower()}, TRAIN, "code spans (b-loc b-per i-per o), so the task is"),
    ("labels with colons", {"x.txt": ENTITIES.replace("-", ":")}, TRAIN, "not written so: B:PER"),
    ("columns swapped", {"x.txt": SWAPPED}, TRAIN, "are the columns swapped?"),
    ("no blank lines", {"x.txt": ENTITIES.replace("\n\n", "\n")}, TRAIN, "found 1 sentence of 80 tokens"),
    ("TRAIN in --dev", {"x.txt": ENTITIES, "y.txt": OTHERS + "\n" + rows(*NAMES[:4])}, DEV, "4 of 8 longer sentences"),
    ("TRAIN twice", {"x.txt": ENTITIES}, TRAIN.replace("x.txt", "x.txt x.txt"), "the same annotation as x.txt"),
    ("one typo in a label", {"x.txt": ENTITIES.replace("B-LOC", "B_LOC", 1)}, TRAIN, "B_LOC"),
    ("I after O", {"x.txt": ENTITIES.replace("B-", "I-", 1)}, f"{TRAIN} --task spans", "labels I that do not go on"),
    ("labels that TRAIN lacks", {"x.txt": ENTITIES, "y.txt": OTHERS.replace("LOC", "ORG")}, DEV, "ORG"),
    (
        "labels that --dev lacks",
        {"x.txt": ENTITIES, "y.txt": OUTSIDE},
        DEV,
        "lacks labels that the training",
    ),
    (
        "types in one corpus alone",
        {"x.txt": PEOPLE, "y.txt": PLACES},
        TRAIN.replace("x.txt", "x.txt y.txt"),
        "x.txt has no LOC, y.txt has no PER, which are frequent in another corpus: if annotators did not look for them"
        " there, train with --covers PER --covers LOC,",
    ),
    ("types in one corpus, described", {"x.txt": PEOPLE, "y.txt": PLACES}, "info x.txt y.txt", "--covers PER --covers"),
    ("entities for segment", {"x.txt": ENTITIES}, f"{TRAIN} --task segment", "its labels code spans"),
    ("columns for segment", {"x.txt": "a DT\nb NN\n" * 10}, f"{TRAIN} --task segment", "every line has 2 words"),
    ("tabs and blanks mixed", {"x.txt": ENTITIES.replace("\t", " ", 3)}, TRAIN, "is read as columns, layer tag"),
    ("Windows line ends", {"x.txt": ENTITIES.replace("\n", "\r\n")}, TRAIN, "first row: form=Ann0 tag=B-PER"),
    ("an export without a choice", {"x.jsonl": SPANS}, "train x.jsonl -o m --iterations 1", "an export of doccano"),
]


@pytest.fixture
def beginner(run, tagger, tmp_path, monkeypatch):
    """Run a command in a folder of these files, of texts or bytes; `{m}` is a model."""

    def call(files, command, code):
        monkeypatch.chdir(tmp_path)
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(tagger.read_bytes() if content == "{m}" else data)
        result = run(*command.replace("{m}", str(tagger)).split(), code=code)
        assert "Traceback" not in result.stderr
        return result

    return call


@pytest.mark.parametrize(("files", "command", "told"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_it_is_refused(beginner, tmp_path, files, command, told):
    assert told in " ".join(beginner(files, command, code=2).stderr.split())
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("files", "command", "told"), [row[1:] for row in WARNED], ids=[row[0] for row in WARNED])
def test_it_is_told(beginner, files, command, told):
    result = beginner(files, command, code=0)
    assert told in " ".join((result.stdout + result.stderr).split())


def test_the_layer_of_another_name_may_be_of_spans(beginner):
    told = beginner({"x.txt": f"# columns = form ner\n{ENTITIES}"}, TRAIN, code=0).stderr
    assert "so the task is spans" in told


def test_ordinary_corpora_give_no_warning(beginner):
    told = beginner({"x.txt": ENTITIES, "y.txt": OTHERS}, DEV, code=0).stderr
    assert "warning" not in told
