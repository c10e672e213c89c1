"""From `pip install` to the first model, as somebody new takes the way: `python -m benchmarks.arrivals [NAME ...]`.

Every arrival has a new environment with a wheel of this checkout, a home folder without compiled code, files as its
tool would have exported them, and the commands of docs/arrivals.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import ROOT, publish
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence

SENTENCES = 3_000
"""Of entities, and of raw text."""
_SMALL = 200
"""Sentences that somebody has segmented."""
_TRAIN = "tagweave train train.col --task spans --dev dev.col -o names.model"
_PYTHON_CRF = """\
from tagweave.estimators import ChainCRF

def tokens(path):
    sentences = open(path, encoding="utf-8").read().strip().split("\\n\\n")
    return [[line.split("\\t") for line in sentence.split("\\n")] for sentence in sentences]

def features(sentence, i):
    word = sentence[i][0]
    found = {"bias": 1.0, "word": word.lower(), "suffix": word[-3:], "title": word.istitle(), "digit": word.isdigit()}
    if i:
        found["before"] = sentence[i - 1][0].lower()
    if i + 1 < len(sentence):
        found["after"] = sentence[i + 1][0].lower()
    return found

def prepared(path):
    sentences = tokens(path)
    X = [[features(sentence, i) for i in range(len(sentence))] for sentence in sentences]
    return X, [[label for _, label in sentence] for sentence in sentences]

crf = ChainCRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
crf.fit(*prepared("train.col"))
with open("test.found", "w", encoding="utf-8") as out:
    for sentence, labels in zip(tokens("test.col"), crf.predict(prepared("test.col")[0])):
        out.writelines(f"{word}\\t{label}\\n" for (word, _), label in zip(sentence, labels))
        out.write("\\n")
"""
_PYTHON_SPACY = """\
import spacy

nlp = spacy.blank("en")
nlp.add_pipe("tagweave", config={"model": "names.model"})
print(nlp("Ann Bell left Graz.").ents)
"""


@dataclass(frozen=True)
class Arrival:
    """Somebody who comes from a tool.

    Attributes:
        name: of the tool.
        extras: of the package that they install.
        prepare: writes their files into a folder.
        commands: what they do, up to the first model.
        score: the command that prints a score of it.
    """

    name: str
    extras: str
    prepare: Callable[[Path], None]
    commands: tuple[str, ...]
    score: str


def _entities(folder: Path) -> None:
    """Columns of words and labels, of which an export is made."""
    for part, count in (("train", SENTENCES), ("dev", 1_000), ("test", None)):
        corpus = tw.load(str(corpora_folder() / "en" / "conll2003" / f"{part}.txt"))
        rows = ("".join(_rows(each)) for each in islice(corpus, count))
        (folder / f"{part}.col").write_text("\n".join(rows), "utf-8")


def _rows(sentence: Sentence) -> Iterator[str]:
    (layer,) = sentence.layers.values()
    for form, labels in zip(sentence.forms, layer, strict=True):
        yield f"{form}\t{labels[0] if labels else '_'}\n"


def _treebank(folder: Path) -> None:
    for part in ("train", "dev", "test"):
        (folder / f"{part}.conllu").symlink_to(corpora_folder() / "en" / "ewt" / f"{part}.conllu")


def _exported(name: str, file: str, folder: Path) -> None:
    _entities(folder)
    corpus = tw.load(str(folder / "train.col"))
    tw.write_documents(name, corpus, str(folder / file))
    (folder / "train.col").unlink()


def _doccano(folder: Path) -> None:
    _exported("doccano", "export.jsonl", folder)


def _spacy(folder: Path) -> None:
    _exported("spacy", "train.spacy", folder)
    (folder / "pipeline.py").write_text(_PYTHON_SPACY, "utf-8")


def _label_studio(folder: Path) -> None:
    """What was suggested is what somebody annotated."""
    _exported("label-studio", "export.json", folder)
    tasks: list[dict[str, Any]] = json.loads((folder / "export.json").read_text("utf-8"))
    for number, task in enumerate(tasks, 1):
        task |= {"id": number, "annotations": [{"completed_by": 1, "result": task.pop("predictions")[0]["result"]}]}
    (folder / "export.json").write_text(json.dumps(tasks), "utf-8")


def _sklearn(folder: Path) -> None:
    _entities(folder)
    (folder / "train.py").write_text(_PYTHON_CRF, "utf-8")


def _jieba(folder: Path) -> None:
    """A dictionary as jieba has it, raw text, and a few segmented sentences."""
    parts = {
        part: tw.load(str(corpora_folder() / "zh" / "udc" / f"{part}.conllu")) for part in ("train", "dev", "test")
    }
    forms = [[each.forms for each in corpus] for corpus in parts.values()]
    words = sorted({form for sentence in forms[0] for form in sentence if len(form) > 1})
    (folder / "dict.txt").write_text("".join(f"{word} 3 n\n" for word in words), "utf-8")
    raw = forms[0][_SMALL : _SMALL + SENTENCES]
    (folder / "text.raw").write_text("".join("".join(each) + "\n" for each in raw), "utf-8")
    for part, sentences in (("mine", forms[0][:_SMALL]), ("dev", forms[1]), ("test", forms[2])):
        tw.save(Corpus(tuple(map(Sentence, sentences)), part), str(folder / f"{part}.seg"))


_SPANS = "tagweave tag names.model test.col --retag -o test.found && tagweave evaluate --json test.col test.found"
ARRIVALS = (
    Arrival(
        "Universal Dependencies",
        "",
        _treebank,
        ("tagweave train train.conllu --dev dev.conllu -o tags.model",),
        "tagweave tag tags.model test.conllu --retag -o out.conllu && tagweave evaluate --json test.conllu out.conllu",
    ),
    Arrival(
        "sklearn-crfsuite", "[sklearn]", _sklearn, ("python train.py",), "tagweave evaluate --json test.col test.found"
    ),
    Arrival(
        "doccano",
        "",
        _doccano,
        (
            "tagweave import doccano export.jsonl --tokens blanks -o train.col",
            _TRAIN,
        ),
        _SPANS,
    ),
    Arrival(
        "Label Studio",
        "",
        _label_studio,
        (
            "tagweave import label-studio export.json --tokens blanks -o train.col",
            _TRAIN,
        ),
        _SPANS,
    ),
    Arrival(
        "spaCy",
        "[spacy]",
        _spacy,
        (
            "tagweave import spacy train.spacy -o train.col",
            _TRAIN,
            "python pipeline.py",
        ),
        _SPANS,
    ),
    Arrival(
        "jieba",
        "",
        _jieba,
        (
            "tagweave harvest lexicon --lexicon dict.txt text.raw -o found.kytea",
            "tagweave train mine.seg found.kytea --task segment --dev dev.seg --incomplete posterior -o words.model",
        ),
        "tr -d ' ' <test.seg | tagweave tag words.model -o out && tagweave evaluate --json test.seg out",
    ),
)


def arrive(arrival: Arrival, wheel: Path, folder: Path) -> dict[str, Any]:
    """Install, and do what the page says. Returns seconds of each step, of the clock and of the processor."""
    work = folder / "work"
    work.mkdir()
    arrival.prepare(work)
    environment = {"HOME": str(folder), "PATH": f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "NUMBA_", "UV_"))}
    install = f"{quote(sys.executable)} -m venv ../venv && pip install --quiet {quote(f'{wheel}{arrival.extras}')}"
    steps = [("install", install), *(("train", command) for command in arrival.commands), ("score", arrival.score)]
    found: dict[str, Any] = {"name": arrival.name, "commands": len(arrival.commands)}
    for name, command in steps:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        shell = ["bash", "-c", command]
        done = subprocess.run(shell, cwd=work, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{arrival.name}: {command} failed:\n{done.stderr[-3000:]}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found[name] = found.get(name, 0) + time.monotonic() - begin
        found[f"{name}_processor"] = found.get(f"{name}_processor", 0) + processor
    found["test"] = told(json.loads(done.stdout))
    print(arrival.name, found, file=sys.stderr)
    return found


def told(report: dict[str, Any]) -> str:
    """The usual score of what was evaluated: accuracy of tags, or F of spans or words."""
    of_layer = next(iter(report["layers"].values())) if "layers" in report else report
    (system,) = of_layer["systems"].values()
    for kind in ("spans", "words"):
        if system.get(kind):
            return f"F of {kind} {system[kind]['f']:.1%}"
    return f"accuracy {system['accuracy']['value']:.1%}"


def page(found: list[dict[str, Any]]) -> list[str]:
    lines = [
        "# From `pip install` to the first model",
        "",
        f"Written by `python -m benchmarks.arrivals` ({platform.machine()}, Python {platform.python_version()}).",
        "Every row has a new virtual environment and a home folder without compiled code, files as the tool exports",
        "them, and the commands of [its section](../arrivals.md). Times include compiling, which happens once; seconds",
        f"of the clock, in brackets of the processor. Entities are {SENTENCES:,} sentences of CoNLL-2003, the treebank",
        f"is EWT; for jieba {_SMALL} sentences of UD Chinese are segmented, and {SENTENCES:,} raw.",
        "",
        "| from | install | commands | to the first model | its score on test data |",
        "| --- | --- | --- | --- | --- |",
    ]
    for each in found:
        times = [f"{each[name]:.0f} ({each[f'{name}_processor']:.0f})" for name in ("install", "train")]
        lines.append(f"| {each['name']} | {times[0]} | {each['commands']} | {times[1]} | {each['test']} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of arrivals; by default all, and the page is written")
    names = parser.parse_args().names
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", str(ROOT), "--out-dir", name]
        subprocess.run(build, check=True)
        (wheel,) = folder.glob("*.whl")
        found = []
        for arrival in ARRIVALS:
            if not names or arrival.name in names:
                (folder / arrival.name).mkdir()
                found.append(arrive(arrival, wheel, folder / arrival.name))
    publish("arrivals", page(found), found, bool(names))


if __name__ == "__main__":
    main()
