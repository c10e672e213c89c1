"""A run that is killed and resumed ends in the same model as one that is not, for every learner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from model_files import contents, write

from tagweave.learning import loop
from tagweave.models.storage import load_model
from tagweave.training.recipe import LEARNERS

ITERATIONS = 5

# each training is a process of its own, forked from one that has loaded everything, and kills itself with SIGKILL:
# after the checkpoint of iteration 3, or in the middle of writing it
KILLED = """
import os, signal, sys
from pathlib import Path
from tagweave.cli.main import application
from tagweave.learning import loop

common, runs = sys.argv[1].split("|"), [run.split("|") for run in sys.argv[2:]]

for _, *options in runs:  # the kernels are loaded once, here
    application()([*common, *options, "--iterations", "1"], standalone_mode=False)
    Path(options[1]).unlink()

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

original, loop.INTERVAL = loop.save_checkpoint, 0
def save(path, state, best, run):
    if state.iteration == 3 and when == "between":  # of the run that this process is
        Path.replace = lambda *_: kill()
    original(path, state, best, run)
    if state.iteration == 3:
        kill()
loop.save_checkpoint = save

for when, *options in runs:
    process = os.fork()
    if not process:
        application()([*common, *options])
    assert os.WTERMSIG(os.waitpid(process, 0)[1]) == signal.SIGKILL
"""


def options_of(learner, corpora):
    """The options of a learner, some with development data."""
    dev = ["--dev", str(corpora / "dev.txt"), "--patience", "4"]
    return dev if learner in ("adagrad", "rprop") else ["--set", "restart=2"] if learner == "cg" else []


def test_a_killed_run_is_resumed_to_the_same_model(run, corpora, tmp_path):
    """After a checkpoint, for every learner; while one is written, for two of them, since none writes its own."""
    train = write(tmp_path / "train.txt", (corpora / "train.txt").read_text("utf-8").splitlines()[:20])
    common = ["train", str(train), "--iterations", str(ITERATIONS), "--seed", "5"]
    killed, straight = tmp_path / "killed", tmp_path / "straight"
    killed.mkdir()
    straight.mkdir()
    cases = [(learner, "after") for learner in LEARNERS] + [("adagrad", "between"), ("lbfgs", "between")]
    options = {
        (learner, when): ["-o", str(killed / f"{learner}-{when}"), "--learner", learner, *options_of(learner, corpora)]
        for learner, when in cases
    }
    subprocess.run(
        [sys.executable, "-c", KILLED, "|".join(common), *("|".join([case[1], *options[case]]) for case in cases)],
        check=True,
        capture_output=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    for learner in LEARNERS:
        run(*common, *options[learner, "after"][2:], "-o", straight / learner)
    for learner, when in cases:
        model = killed / f"{learner}-{when}"
        assert model.with_name(f"{model.name}.checkpoint").exists() and not model.exists()
        resumed = run(*common, *options[learner, when], "--resume")
        done = 3 if when == "after" else 2
        numbers = [line.split()[1] for line in resumed.stderr.splitlines() if line.startswith("iteration ")]
        assert numbers[:1] == [f"{done + 1}/{ITERATIONS}"]
        assert contents(model) == contents(straight / learner), model.name
    assert sorted(path.name for path in killed.iterdir()) == sorted("-".join(case) for case in cases)


# as above; each run kills itself when it has saved a checkpoint so many times, or while it saves the next one
KILLED_IN_STAGES = """
import os, signal, sys
from pathlib import Path
from tagweave.cli.main import application
from tagweave.learning import loop

common, runs = sys.argv[1].split("|"), [run.split("|") for run in sys.argv[2:]]

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

original, saved, loop.INTERVAL = loop.save_checkpoint, [], 0

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


def test_a_killed_run_of_two_models_is_resumed_to_the_same_model(run, corpora, tmp_path):
    """In the first model, at its end, in the second one; with the part of a checkpoint that was being written.

    Or of three: a narrowed coupled model is that of two taggers, too.
    """
    few = {name: (corpora / f"{name}.txt").read_text("utf-8").splitlines()[:20] for name in ("train", "words")}
    train, words = (write(tmp_path / f"{name}.txt", lines) for name, lines in few.items())
    common = ["train", f"ctb={train}", "--source", f"pd={words}", "--iterations", "3", "--seed", "5"]
    of_pairs = ["--sample", "10,15"]
    methods = {"narrowed": of_pairs, "coupled": [*of_pairs, "--narrow", "0"], "stacked": ["--method", "stacked"]}
    parts = {"narrowed": ("source-1", 9), "coupled": ("mapping", 6), "stacked": ("source", 6)}
    killed, straight = tmp_path / "killed", tmp_path / "straight"
    killed.mkdir()
    straight.mkdir()
    moments = [(2, "after"), (3, "after"), (4, "between")]
    cases = [(name, times, when, killed / f"{name}-{times}-{when}") for name in methods for times, when in moments]
    runs = ["|".join([str(times), when, "-o", str(model), *methods[name]]) for name, times, when, model in cases]
    command = [sys.executable, "-c", KILLED_IN_STAGES, "|".join(common), *runs]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "COLUMNS": "100"})
    for name, options in methods.items():
        run(*common, *options, "-o", straight / name)
    for name, times, _, model in cases:
        assert not model.exists()
        part, iterations = parts[name]
        assert (killed / f"{model.name}.checkpoint.{part}").exists()
        resumed = run(*common, *methods[name], "-o", model, "--resume")
        assert sum(line.startswith("iteration ") for line in resumed.stderr.splitlines()) == iterations - times
        assert contents(model) == contents(straight / name), model.name
    assert sorted(killed.iterdir()) == sorted(model for *_, model in cases)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_keeps_the_model_and_the_state(run, corpora, tmp_path, sent, code):
    """Long before a checkpoint is due, to a process that trains; what goes on ends in the model of a straight run."""
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


def test_no_checkpoint(run, corpora, tmp_path, monkeypatch):
    def written(*_):
        raise AssertionError

    monkeypatch.setattr(loop, "save_checkpoint", written)
    common = ("train", corpora / "train.txt", "--iterations", 2, "--no-checkpoint", "-o", tmp_path / "m")
    run(*common)
    assert "--no-checkpoint" in run(*common, "--resume", code=2).stderr
