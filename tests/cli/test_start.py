"""The command starts fast: help and the package itself load nothing heavy."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from typer import Context
from typer.main import get_command

from tagweave import __version__
from tagweave.cli.main import COMMANDS, GROUPS, application
from tagweave.cli.train import SETTINGS
from tagweave.options import declared
from tagweave.training.methods import METHODS
from tagweave.training.plan import Plan

resource = pytest.importorskip("resource", reason="not on Windows")

HEAVY = ("numba", "scipy", "matplotlib", "sklearn", "numpy", "safetensors", "rich")


def loaded(code: str) -> set[str]:
    """The heavy modules that a fresh interpreter has after running the code."""
    text = f"import sys\n{code}\nprint('loaded', *[name for name in {HEAVY!r} if name in sys.modules])"
    output = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout
    return {*output.splitlines()[-1].split()} - {"loaded"}


def test_imports_and_help_load_nothing_heavy() -> None:
    code = f"""
import tagweave, tagweave.cli.main
for arguments in {[[], *([command] for command in COMMANDS)]!r}:
    try:
        tagweave.cli.main.application()([*arguments, "--help"])
    except SystemExit as end:
        assert end.code == 0, arguments
"""
    assert loaded(code) == set()
    assert loaded("import tagweave.models.chain_predictor") >= {"numba", "numpy"}


def test_a_line_is_tagged_without_linear_algebra_once_kernels_are_compiled(run, tagger: str) -> None:
    """Nor is what Numba compiles with loaded: that would take longer than all the rest."""
    code = f"""
import sys
from tagweave.cli.main import application
application()(["tag", {str(tagger)!r}], standalone_mode=False)
print(*[name for name in ("scipy.linalg", "numba.np.arraymath") if name in sys.modules])
"""
    line = "医院 的 墙\n"
    compiled = run("tag", tagger, stdin=line).stdout
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, check=True, capture_output=True, text=True, input=line).stdout == f"{compiled}\n"


def test_systems_without_modules_of_unix() -> None:
    """Windows has neither; memory is not told there, and no model is trained beside the server."""
    code = """
import sys
sys.modules["fcntl"] = sys.modules["resource"] = None
from pathlib import Path
from tagweave.annotate.retraining import take
from tagweave.training.fit.chain_problem import peak_bytes
print(peak_bytes())
try:
    take("none")
except OSError as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.startswith("0\nfound no fcntl, expected a system with its locks")


def test_help_is_fast() -> None:
    """Beside the start of the library that it is written with, taken in turn: a busy machine is slow for both."""

    def seconds(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    taken = [(seconds("-m", "tagweave", "--help"), seconds("-c", "import typer")) for _ in range(2)]
    ours, library = map(min, zip(*taken, strict=True))
    assert ours < 5 * library  # 3 times on a quiet machine; NumPy with Numba would be 10


def test_version(run) -> None:
    assert run("--version").stdout == f"tagweave {__version__}\n"


def test_without_arguments_the_help(run) -> None:
    result = run(code=2)
    assert "Usage:" in result.stdout + result.stderr
    for command in COMMANDS:
        assert command in result.stdout + result.stderr


@pytest.mark.parametrize("group", [(), ("harvest",), ("annotate",)])
def test_no_summary_is_cut(run, group: tuple[str, ...]) -> None:
    listed = run(*group, "--help").stdout.partition(".\n\n")[2]
    assert listed.count("\n  ") > 3
    assert "..." not in listed


def test_train_help_shows_what_people_use_and_help_all_everything(run) -> None:
    usual, everything = (
        re.findall(r"^  (?:-o, )?--([\w-]+)", run("train", flag).stdout.partition("Arguments:")[2], re.MULTILINE)
        for flag in ("--help", "--help-all")
    )
    group = get_command(application(["train"]))
    command = group.get_command(Context(group), "train")
    params = [each for each in command.params if each.param_type_name == "option"]
    assert len(usual) <= 15 and {*usual} < {*everything}
    assert sorted(everything) == sorted(["help", *(each.opts[-1].removeprefix("--") for each in params)])
    of_classes = declared({"": Plan} | {each.name: each.options for each in METHODS.values()})
    by_field = {"target": "corpora", "sources": "source", "settings": "setting"}
    names = {"corpora", *SETTINGS, *(each.name for each in params)}
    assert {by_field.get(each.name, each.name) for each in of_classes} <= names
    listed = run("train", "--help-all").stdout
    assert len(everything) <= 33 and all(f"  {name}=" in listed for name in SETTINGS)


def test_commands_stand_in_groups(run) -> None:
    shown = run("--help").stdout
    titles = re.findall(r"^(\w[\w ]*):$", shown, re.MULTILINE)
    assert titles == ["Options", *GROUPS]
    listed = re.findall(r"^  (\w+) ", shown.partition("--help ")[2], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_a_shell_completes_commands() -> None:
    environment = {**os.environ, "_TAGWEAVE_COMPLETE": "complete_bash", "COMP_WORDS": "tagweave eva", "COMP_CWORD": "1"}
    code = "from tagweave.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["evaluate"]
