"""A run that is killed and resumed ends in the same model as one that is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from model_files import contents, write

from tagweave.models.storage import load_model

# each training is a process of its own, forked from one that has loaded everything, and kills itself with SIGKILL
# when it has saved a checkpoint so many times, or while it saves the next one
KILLED = """
import os, signal, sys
from pathlib import Path
from tagweave.cli.main import application
from tagweave.learning import loop

common, runs = sys.argv[1].split("|"), [run.split("|") for run in sys.argv[2:]]

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

original, saved, loop.SHARE = loop.save_checkpoint, [], float("inf")

def killing(times, between):
    def save(*arguments):
        if between and len(saved) == times:
            Path.replace = kill
        original(*arguments)
        saved.append(1)
        if len(saved) == times and not between:
            kill()
    return save

for run in runs:  # the kernels are loaded once, here
    application()([*common, *run[2:], "--iterations", "1"], standalone_mode=False)
    Path(run[3]).unlink()

for times, between, *options in runs:
    process = os.fork()
    if not process:
        loop.save_checkpoint = killing(int(times), between == "between")
        application()([*common, *options])
    assert os.WTERMSIG(os.waitpid(process, 0)[1]) == signal.SIGKILL
"""


@pytest.mark.parametrize(
    ("options", "part", "iterations"),
    [
        pytest.param("--dev {dev} --set patience=4", "", 3, marks=pytest.mark.slow),
        pytest.param("--learner lbfgs", "", 3, marks=pytest.mark.slow),
        pytest.param("--source {words} --sample 10,15", ".source-1", 9, marks=pytest.mark.slow),
        pytest.param(
            "--source {words} --sample 10,15 --set narrow=0 --set guided=0", ".mapping", 6, marks=pytest.mark.slow
        ),
        ("--source {words} --method stacked", ".source", 6),
    ],
    ids=["adagrad", "lbfgs", "narrowed", "coupled", "stacked"],
)
def test_a_killed_run_is_resumed_to_the_same_model(run, corpora, tmp_path, options, part, iterations):
    """In the first of two models, at its end, in the second one; with the part of a checkpoint that was being written.

    A narrowed coupled model is that of two taggers, too. Each learner is stopped in `training/test_resumed_fits.py`.
    """
    few = {name: (corpora / f"{name}.txt").read_text("utf-8").splitlines()[:20] for name in ("train", "words")}
    train, words = (write(tmp_path / f"{name}.txt", lines) for name, lines in few.items())
    options = options.format(words=f"pd={words}", dev=f"ctb={corpora / 'dev.txt'}").split()
    common = ["train", f"ctb={train}", "--iterations", "3", "--seed", "5"]
    moments = [(2, "after"), (3, "after"), (4, "between")] if part else [(1, "after"), (2, "after"), (1, "between")]
    cases = [(times, when, tmp_path / f"{times}-{when}") for times, when in moments]
    runs = ["|".join([str(times), when, "-o", str(model), *options]) for times, when, model in cases]
    command = [sys.executable, "-c", KILLED, "|".join(common), *runs]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "COLUMNS": "100"})
    run(*common, *options, "-o", tmp_path / "straight")
    for times, _, model in cases:
        assert not model.exists()
        assert model.with_name(f"{model.name}.checkpoint{part}").exists()
        resumed = run(*common, *options, "-o", model, "--resume")
        assert sum(line.startswith("iteration ") for line in resumed.stderr.splitlines()) == iterations - times
        assert contents(model) == contents(tmp_path / "straight"), model.name
    names = {path.name for path in tmp_path.iterdir()} - {"train.txt", "words.txt", "straight"}
    assert names == {model.name for *_, model in cases}


@pytest.mark.parametrize(
    ("sent", "code"), [pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_a_signal_keeps_the_model_and_the_state(run, corpora, tmp_path, sent, code):
    """To a process that trains; what goes on from its checkpoint ends in the model of a straight run."""
    log, model, said = tmp_path / "log", tmp_path / "m", tmp_path / "said"
    heeding = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a suite in the background does not
    )
    program = f"{heeding}; from tagweave.cli.main import main; main()"
    common = ["train", corpora / "train.txt", "-o"]
    command = [sys.executable, "-c", program, *common, model, "--iterations", "1000000", "--log", log]
    with said.open("wb") as stream, subprocess.Popen(list(map(str, command)), stderr=stream) as process:
        while process.poll() is None and (not log.exists() or len(log.read_text("utf-8").splitlines()) < 3):
            time.sleep(0.02)
        while process.poll() is None:  # Python drops an interrupt that comes while it finalises an object
            process.send_signal(sent)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
    errors = said.read_text("utf-8")
    assert process.returncode == code
    assert errors.splitlines()[-1] == "interrupted: the same command with --resume goes on" and "Trace" not in errors
    done = load_model(model).about["iterations"]
    assert done >= 3 and (tmp_path / "m.checkpoint").exists()
    run(*common, model, "--resume", "--iterations", done + 2)
    run(*common, tmp_path / "straight", "--iterations", done + 2)
    assert model.read_bytes() == (tmp_path / "straight").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "m", "said", "straight"]
