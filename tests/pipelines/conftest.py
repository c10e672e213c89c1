"""Small models of every kind, for pipelines of spaCy."""

from __future__ import annotations

from pathlib import Path

import pytest

import tagweave as tw

NAMES = "Ann\tB-PER\nBell\tI-PER\nleft\tO\nGraz\tB-LOC\n.\tO\n\nBob\tB-PER\nstays\tO\nin\tO\nGraz\tB-LOC\n.\tO\n"
TREES = """1\tAnn\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n
1\tShe\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tsees\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n3\tBob\t_\tPROPN\tNNP\t_\t2\tobj\t_\t_\n
"""


@pytest.fixture(scope="session")
def piped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models names, upos, xpos, trees and words."""
    folder = tmp_path_factory.mktemp("piped")
    (folder / "names.col").write_text(NAMES, "utf-8")
    (folder / "trees.conllu").write_text(TREES, "utf-8")
    (folder / "words.txt").write_text("他 在 看书 。\n我 看书 。\n", "utf-8")
    trees = folder / "trees.conllu"
    for name, corpus, options in (
        ("names", str(folder / "names.col"), {"task": "spans", "iterations": 12}),
        ("upos", f"upos={trees}#upos", {}),
        ("xpos", f"xpos={trees}#xpos", {}),
        ("trees", str(trees), {"task": "parse"}),
        ("words", str(folder / "words.txt"), {"task": "segment"}),
    ):
        tw.train(corpus, **{"iterations": 4, **options}).save(folder / f"{name}.model")  # type: ignore[arg-type]
    return folder
