"""What pages and help texts claim of defaults, methods and installation is what the program does."""

from __future__ import annotations

import re
from typing import Any

import typer
import yaml
from pages import ROOT, section, table, text_of

from tagweave.cli.main import application
from tagweave.features.templates import PRESETS, USUAL
from tagweave.structures import CHAIN, TREE
from tagweave.training.fit.recipe import LEARNERS
from tagweave.training.methods import METHODS, SINGLE, serving, usual
from tagweave.training.resolve import STRUCTURES

EVERY_PAGE = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def parameters(command: str) -> dict[str, Any]:
    """The parameters of a command by option."""
    found: Any = typer.main.get_command(application([command.split(maxsplit=1)[0]]))
    for word in command.split():
        found = found.get_command(typer.Context(found), word)
    return {option: each for each in found.params for option in (*each.opts, *each.secondary_opts)}


def test_help_names_every_method_learner_preset_and_task() -> None:
    help_of = {name: each.help for name, each in parameters("train").items()}
    metavar_of = {name: each.metavar for name, each in parameters("train").items()}
    assert metavar_of["--method"] == "|".join(METHODS)
    assert all(f"{each.name}: {each.summary}" in help_of["--method"] for each in METHODS.values())
    assert f"For parsers: {', '.join(serving(TREE))}." in help_of["--method"]
    assert help_of["--learner"].startswith(f"{', '.join(LEARNERS)}.")
    assert {*re.findall(r"[\w-]+", help_of["--preset"])} >= {*PRESETS} - {"characters-lexicon"}
    assert metavar_of["--task"] == "|".join(STRUCTURES)


def test_pages_name_the_default_methods() -> None:
    """A clause that calls methods the default names those of the registry, for parsers the parsers' one."""
    for clause in re.split(r"[.;|(]\s", " . ".join(map(text_of, EVERY_PAGE)).replace("\n", " ")):
        named = {*re.findall(r"`(\w+)`", clause)} & {*METHODS}
        if named and re.search(r"(the|is|as) default\b|\(default", clause) and "`--" not in clause:
            assert named <= {SINGLE, usual(CHAIN), usual(TREE)}, clause
            if len(named) > 1 and re.search(r"\b(trees|parsers)\b", clause):
                assert usual(TREE) in named, clause


def test_pages_name_the_default_presets() -> None:
    rows = {row[0].strip("`"): row[1] for row in table(section(text_of("docs/features.md"), "Presets"))}
    for task, preset in USUAL.items():
        assert re.search(rf"default of (`\w+` and )?`{task}`", rows[preset])


def test_every_page_is_in_the_navigation() -> None:
    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        return [page for each in (entry.values() if isinstance(entry, dict) else entry) for page in pages(each)]

    listed = pages(yaml.safe_load(text_of("mkdocs.yml"))["nav"])
    written = [each.removeprefix("docs/") for each in EVERY_PAGE if each.startswith("docs/")]
    made = [
        each.removesuffix(".ipynb") + ".md" for each in (f"notebooks/{p.name}" for p in ROOT.glob("docs/notebooks/*"))
    ]
    assert sorted(listed) == sorted(
        [*(page for page in written if page == "results/README.md" or "results/" not in page), *made]
    )


def test_rows_of_tables_have_as_many_cells_as_their_heads() -> None:
    for page in EVERY_PAGE:
        rows: list[tuple[int, int]] = []
        inside = False
        for number, line in enumerate([*text_of(page).splitlines(), ""], 1):
            inside ^= line.startswith("```")
            if line.startswith("|") and not inside:
                rows.append((number, len(re.findall(r"(?<!\\)\|", line))))
            elif rows:
                assert len({cells for _, cells in rows}) == 1, f"{page}: {rows}"
                assert len(rows) > 2, f"{page}:{number}: a table without a row"
                assert not line.strip(), f"{page}:{number}: a table ends with a blank line"
                rows = []


def test_nothing_says_that_the_package_is_on_pypi() -> None:
    """Until it is: a name that nobody has registered installs whatever somebody else puts there."""
    sources = [
        path
        for folder in ("src", "docs", "reproductions", "benchmarks", "deploy")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md")
    ]
    for path in [*sources, *ROOT.glob("*.md")]:
        found = re.search(r"uvx tagweave|pip install '?tagweave\b(?!-)", path.read_text("utf-8"))
        assert found is None, f"{path}: {found}"


def test_numbers_beside_links_to_results_are_on_those_pages() -> None:
    """Numbers that are links, everywhere; in tables of claims all numbers with a point of a row."""
    claims = text_of("README.md") + section(text_of("docs/results/README.md"), "What is claimed")
    for page, line in [(name, line) for name in EVERY_PAGE for line in text_of(name).splitlines()]:
        links = re.findall(r"\[([^\]]*)\]\((?!http)(?:\.\./)*(?:docs/)?(?:results/)?([\w-]+\.md)\)", line)
        links = [
            (text, name) for text, name in links if (ROOT / "docs/results" / name).exists() and name != "README.md"
        ]
        is_claim = line.startswith("|") and line in claims
        for text in [line] if is_claim else [text for text, _ in links]:
            for number in re.findall(r"(?<![\d.,])\d+\.\d+(?![\d.])", re.sub(r"\([^)]*\)", "", text)) if links else ():
                assert any(_has(name, number) for _, name in links), f"{page}: {number} is not in {links}"


def _has(page: str, number: str) -> bool:
    digits = len(number.partition(".")[2])
    found = re.findall(r"\d[\d,]*\.\d+|\d+", text_of(f"docs/results/{page}"))
    return any(f"{float(each.replace(',', '')):.{digits}f}" == number for each in found)
