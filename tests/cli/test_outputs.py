"""What commands write: never over what they read, and nothing half written after a signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from model_files import write

MAIN = (sys.executable, "-m", "tagweave")
COMMANDS = {
    "train": "train {x} -o {x}",
    "train, with an argument": "train g={x}#tag -o {x}",
    "train, source": "train {y} --source {x} -o {x}",
    "train, dev": "train {y} --dev {x} -o {x}",
    "train, log": "train {x} -o {m} --log {x}",
    "tag": "tag {m} {x} -o {x}",
    "tag, by a link": "tag {m} {x} -o {link}",
    "tag, of a link": "tag {m} {link} -o {x}",
    "tag, over the model": "tag {x} {y} -o {x}",
    "complete": "complete {m} {x} -o {x}",
    "convert": "convert {m} {x} -o {x}",
    "label": "label {x} --functions {y} -o {x}",
    "label, over the functions": "label {y} --python {x} --functions {x} -o {x}",
    "harvest lexicon": "harvest lexicon {y} --lexicon {x} -o {x}",
    "harvest markup": "harvest markup {x} --format html -o {x}",
    "annotate export": "annotate export --store sqlite:///{x} -o {x} --format jsonl",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_read_is_never_replaced(run, tagger, tmp_path, name):
    x, y = write(tmp_path / "x.txt", ["a/N b/V"]), write(tmp_path / "y.txt", ["a/N b/V"])
    (tmp_path / "link").symlink_to("x.txt")
    files = {"x": x, "y": y, "link": tmp_path / "link", "m": tagger, "o": tmp_path / "o"}
    if "-o {m}" in COMMANDS[name]:
        files["m"] = tmp_path / "m"
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    told = run(*(word.format(**files) for word in COMMANDS[name].split()), code=2).stderr
    assert "found a file that is read as the output, expected another name" in told
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_two_outputs_of_one_name(run, tmp_path):
    given = write(tmp_path / "x.txt", ["a/N"])
    words = ("check", given, "-o", tmp_path / "o", "--believed", tmp_path / "o")
    assert "found one file for two outputs" in run(*words, code=2).stderr


def ended(process: subprocess.Popen[bytes], is_begun, seconds: float = 240) -> None:
    """End a process by SIGTERM as soon as it has begun its work."""
    last = time.monotonic() + seconds
    while not is_begun():
        assert process.poll() is None and time.monotonic() < last
        time.sleep(0.05)
    process.terminate()
    assert process.wait(seconds) == -signal.SIGTERM


def test_tagging_that_is_terminated_leaves_nothing(segmenter, tmp_path):
    command = [*MAIN, "tag", str(segmenter), "-", "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write("我们看着\n".encode())  # a line, and nothing more for now
        process.stdin.flush()
        ended(process, lambda: list(tmp_path.glob("out.*.part")))
        assert process.stderr.read().endswith(b"tagweave: interrupted\n")
    assert not list(tmp_path.iterdir())


UNWRITABLE = {
    "train": "train {x} -o {bad}",
    "train, log": "train {x} -o {t}/m --log {bad}",
    "distill": "distill {m} {x} -o {bad}",
    "tag": "tag {m} {x} -o {bad}",
    "evaluate": "evaluate {x} {x} --errors {bad}.tsv",
    "check": "check {x} --believed {bad}",
    "label": "label {x} --functions {x} -o {bad}",
    "aggregate": "aggregate {x} -o {t}/o --report {bad}.csv",
    "harvest lexicon": "harvest lexicon {x} --lexicon {x} -o {bad}",
    "import": "import doccano {x} -o {bad}",
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_cannot_be_written_is_told_before_anything_is_read(run, tagger, tmp_path, name):
    x = tmp_path / "x.txt"
    x.write_bytes(b"\xff: neither a corpus nor anything else")
    for bad in (tmp_path / "none" / "file", "/dev/full"):
        if name in ("aggregate", "evaluate") and bad == "/dev/full":
            continue
        words = UNWRITABLE[name].format(x=x, m=tagger, t=tmp_path, bad=bad).split()
        told = run(*words, code=2).stderr
        assert str(bad) in told and "UTF-8" not in told, told
        assert list(tmp_path.iterdir()) == [x]


def test_files_come_before_the_output_whose_reader_may_be_gone(corpora, tmp_path):
    words = ["evaluate", corpora / "dev.txt", corpora / "dev.txt", "--errors", tmp_path / "page.html"]
    with subprocess.Popen([*MAIN, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
    assert (tmp_path / "page.html").stat().st_size
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run([*MAIN, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (process.returncode, process.stderr) == (2, b"tagweave: standard output: No space left on device\n")
