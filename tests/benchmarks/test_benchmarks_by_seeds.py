"""Benchmarks make their pages: on a dozen sentences, or with `--quick` on real corpora."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PEOPLE, PLACES = ("Ana Ruiz", "Bo Lind", "Cy Marsh"), ("Arden", "Bexhill", "Corby", "Dunmore")
TYPES = {"PER": PEOPLE, "LOC": PLACES, "ORG": ("Orlo Works", "Pax"), "MISC": ("Dunish",)}


def text(first: int, wrong: bool = False) -> str:
    """A dozen sentences in columns, from some number on; some labels are wrong on request."""
    lines = []
    for at in range(first, first + 12):
        names = [(kind, names[at % len(names)]) for kind, names in TYPES.items()]
        for kind, name in names[at % 2 :: 2]:
            for number, word in enumerate(name.split()):
                label = "O" if wrong and at % 3 == 0 else f"{'I' if number else 'B'}-{kind}"
                lines.append(f"{word}\t{label}")
            lines.append("walks\tO" if at % 3 else "sleeps\tO")
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("check", ["llm"]),
        ("race", ["CrossNER science, CoNLL-2003: entities"]),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_benchmark_makes_its_page(
    name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("en/conll2003", "en/crossner/science"):
        for first, file in enumerate(("train", "dev", "test")):
            write(tmp_path / folder / f"{file}.txt", text(first))
    for first, file in enumerate(("clean.train", "clean.dev", "clean.test", "noise_llm.train")):
        write(tmp_path / "en/noisebench" / f"{file}.txt", text(first % 3, "noise" in file))
    monkeypatch.setenv("TAGWEAVE_CORPORA", str(tmp_path))
    module = import_module(f"benchmarks.{name}")
    module.main([*words, "--seeds", "1"])
    page = capsys.readouterr().out
    assert page.startswith("# ") and "| --- |" in page.replace("|---", "| --- ") and "nan" not in page


@pytest.mark.parametrize("name", ["serve", "spacy_pipeline", "speed", "torch_exactness"])
def test_a_quick_run(name: str, real_corpora: Path) -> None:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "# " in done.stdout


def write(path: Path, content: str) -> None:
    """Write a file into a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
