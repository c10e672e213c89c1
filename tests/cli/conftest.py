"""Small corpora from the sample, small models trained on them by the command itself, and a way to run it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from model_files import write
from typer.main import get_command
from typer.testing import CliRunner

from tagweave.cli.main import application
from tagweave.corpus.load import load
from tagweave.corpus.sample import path
from tagweave.labels.mapping import count_pairs
from tagweave.learning import loop
from tagweave.learning import run as runs
from tagweave.models.storage import save_model
from tagweave.training.cascades.coupled import Coupling, fit_coupled
from tagweave.training.fit.recipe import Recipe

Run = Callable[..., Any]


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Runs `tagweave` with arguments, `stdin` and the exit code it is to have; gives the result."""
    app = application()
    command = get_command(app)  # it would be built anew for each run, which takes longer than most runs

    def call(*arguments: object, stdin: str | None = None, code: int = 0) -> Any:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, (result.stdout, result.stderr)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", lambda _: command)
        yield call


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AbstractContextManager[None]]:
    """A block in which Control-C comes after the n-th checkpoint, of all or of those with a suffix."""

    @contextmanager
    def block(number: int, suffix: str = "") -> Iterator[None]:
        saved, save = [], loop.save_checkpoint

        def saving(path: Path, *arguments: Any) -> None:
            save(path, *arguments)
            if suffix in ("", path.suffix):
                saved.append(path)
                if len(saved) == number:
                    raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(loop, "save_checkpoint", saving)
            yield

    return block


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt and dev.txt (CTB tags), words.txt (PD tags), and dev.seg, dev.raw without labels."""
    folder = tmp_path_factory.mktemp("corpora")
    lines = path("ctb.txt").read_text("utf-8").splitlines()
    write(folder / "train.txt", lines[:60])
    write(folder / "dev.txt", lines[60:80])
    write(folder / "words.txt", path("pd.txt").read_text("utf-8").splitlines()[:60])
    words = [[token.rpartition("_")[0] for token in line.split(" ")] for line in lines[60:80]]
    write(folder / "dev.seg", map(" ".join, words))
    write(folder / "dev.raw", map("".join, words))
    return folder


@pytest.fixture(scope="session")
def tagger(corpora: Path, run: Run) -> Path:
    """A model of words, of the guideline ctb."""
    return trained(run, corpora, "tagger", f"ctb={corpora / 'train.txt'}")


@pytest.fixture(scope="session")
def segmenter(corpora: Path, run: Run) -> Path:
    """A model that segments."""
    return trained(run, corpora, "segmenter", corpora / "words.txt", "--task", "segment")


@pytest.fixture(scope="session")
def segtagger(corpora: Path, run: Run) -> Path:
    """A model that segments and tags."""
    return trained(run, corpora, "segtagger", corpora / "words.txt", "--task", "segtag")


def trained(run: Run, corpora: Path, name: str, *arguments: object) -> Path:
    model = corpora / f"{name}.model"
    run("train", *arguments, "-o", model, "--iterations", 4)
    return model


@pytest.fixture(scope="session")
def coupled(corpora: Path) -> Path:
    """A model of words, of the guidelines ctb and pd."""
    corpora_of_both = [load(f"ctb={corpora / 'train.txt'}"), load(f"pd={corpora / 'words.txt'}")]
    both = count_pairs("ctb", "pd", load(f"{path('both.tsv')}#ctb"))
    fitted = fit_coupled(corpora_of_both, Recipe(), Coupling((both,)), run=runs.Run(runs.Schedule(5)))
    save_model(fitted.model, corpora / "coupled.model")
    return corpora / "coupled.model"
