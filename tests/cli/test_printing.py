"""What files hold never commands the terminal: reports spell control characters out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from model_files import write

from tagweave.corpus.characters import printable
from tagweave.models.storage import load_model, save_model

EVIL = "\x1b]0;x\x07\x1b[31mN\x9b2J\u202e"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = {
    "info": "info {corpus}",
    "info of a model": "info {model}",
    "evaluate": "evaluate {corpus} {other}",
    "evaluate, other words": "evaluate {corpus} {words}",
    "compare": "compare a={corpus} b={other}",
    "train": "train {corpus} --dev {words} -o {out} --iterations 1",
    "a layer that is none": "info {corpus}#x",
    "an unknown label": "tag {model} {corpus} --format tagged -o {out}",
    "a broken file": "info {broken}",
}


def test_text_that_a_terminal_may_have():
    assert printable("é\x1b[31m\n\x9b\u202e我") == r"é\x1b[31m\n\x9b\u202e我"


@pytest.mark.parametrize("name", COMMANDS)
def test_reports_spell_control_characters_out(run, tagger, tmp_path, name):
    model = load_model(tagger)
    (view,) = model.space.views
    view = replace(view, guideline=f"g{EVIL}", names=(EVIL + "\n", *view.names[1:]))
    parameters = replace(model.parameters, space=replace(model.space, names=view.names, views=(view,)))
    save_model(replace(model, parameters=parameters, about={**model.about, "date": EVIL}), tmp_path / "model")
    files = {
        "corpus": write(tmp_path / "corpus.txt", [f"a{EVIL}/V{EVIL} b/N"] * 3),
        "other": write(tmp_path / "other.txt", [f"a{EVIL}/W{EVIL} b/N"] * 3),
        "words": write(tmp_path / "words.txt", [f"b/{EVIL} b/N"] * 3),
        "broken": write(tmp_path / "broken.conllu", [f"1\ta\t_\t{EVIL}\t_\t_\tx{EVIL}\t_\t_\t_", ""]),
        "model": tmp_path / "model",
        "out": tmp_path / "out",
    }
    code = 2 if name in ("evaluate, other words", "a layer that is none", "an unknown label", "a broken file") else 0
    result = run(*(word.format(**files) for word in COMMANDS[name].split()), code=code)
    shown = result.stdout + result.stderr
    assert not CONTROL.findall(shown)
    assert r"\x1b" in shown or name == "a layer that is none"


def test_what_the_encoding_of_the_output_lacks_is_spelled_out(tmp_path):
    """As in a pipe on Windows, or with `LC_ALL=C` and no UTF-8."""
    corpus = write(tmp_path / "corpus.txt", ["我/代"])
    command = [sys.executable, "-m", "tagweave", "info", str(corpus)]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert r"\u4ee3" in done.stdout.decode("cp1252")
