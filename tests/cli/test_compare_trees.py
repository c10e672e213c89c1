"""`tagweave compare` of treebanks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tagweave.corpus.load import load
from tagweave.evaluation.divergence import counted_trees
from tagweave.evaluation.divergence_page import page

if TYPE_CHECKING:
    from conftest import Run

_ROWS = "{n}\t{form}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n"


def write(file: Path, *sentences: str) -> Path:
    """Each sentence is `form/head/relation`s."""
    blocks = []
    for text in sentences:
        rows = (token.split("/") for token in text.split())
        blocks.append("".join(_ROWS.format(n=n, form=f, head=h, relation=r) for n, (f, h, r) in enumerate(rows, 1)))
    file.write_text("\n".join([*blocks, ""]), encoding="utf-8")
    return file


@pytest.fixture
def trees(tmp_path: Path) -> tuple[str, str]:
    """Arguments that name two treebanks."""
    one = write(tmp_path / "one.conllu", "sit/0/root in/3/case boats/1/obl", "we/2/nsubj sit/0/root")
    other = write(tmp_path / "other.conllu", "sit/0/root in/1/udep boats/2/comp", "you/2/subj sit/0/root")
    return f"ud={one}#head", f"sud={other}#head"


def test_relations_and_heads_are_shown(trees: tuple[str, str], run: Run) -> None:
    text = run("compare", *trees).stdout
    said = " ".join(text.split())
    assert said.startswith("Sentences of ud and sud with the same tokens: 1; left out: 1 of ud, 1 of sud.")
    assert "The same head: 33.3 % of 3 tokens. The same head and relation: 33.3 % of 3 tokens." in said
    assert "udep 100.0" in text
    assert "reversed 100.0" in text
    assert "grandparent 100.0" in text


def test_a_page_besides(trees: tuple[str, str], run: Run, tmp_path: Path) -> None:
    run("compare", *trees, "--html", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page(counted_trees(*map(load, trees)))


def test_the_real_pair_has_function_words_as_heads(run: Run, french: tuple[Path, Path]) -> None:
    text = run("compare", *(f"{name}={file}#head" for name, file in zip(("ud", "sud"), french, strict=True))).stdout
    assert "with the same tokens: 415; left out: 1 of ud, 1 of sud." in text
    assert "reversed 99.0" in text  # of the arcs of adpositions


@pytest.fixture
def french(real_corpora: Path) -> tuple[Path, Path]:
    """The test sentences of UD and SUD French GSD."""
    return real_corpora / "fr/gsd-ud/test.conllu", real_corpora / "fr/gsd-sud/test.conllu"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("{t}/one.conllu#head", "{t}/other.conllu#head"), "{t}/other.conllu: found the guideline 'head' in"),
        (("ud={t}/one.conllu#head", "sud={t}/other.conllu"), "{t}/other.conllu: found no heads, expected a head layer"),
        (("ud={t}/one.conllu", "sud={t}/other.conllu#head"), "{t}/one.conllu: found no heads, expected a head layer"),
        (("ud={t}/one.conllu#head", "sud={t}/other.conllu#head", "--model", "m"), "found --model with head layers"),
    ],
)
def test_one_clear_line(
    trees: tuple[str, str], run: Run, tmp_path: Path, arguments: tuple[str, ...], line: str
) -> None:
    result = run("compare", *(each.format(t=tmp_path) for each in arguments), code=2)
    assert result.stderr.splitlines()[-1].startswith(f"tagweave: {line.format(t=tmp_path)}")
