"""Pages of results: each names a command that is there, and its commit."""

from __future__ import annotations

from reproductions.__main__ import MODULES
from reproductions.results import MEASURED, ROOT, command_of, pages, stamped


def test_every_page_names_a_command_that_is_there_and_its_commit() -> None:
    every = pages()
    assert len(every) <= 25 and set(MODULES) <= set(every)
    for name, path in every.items():
        text = path.read_text(encoding="utf-8")
        _, _, module, *rest = command_of(text).split()
        if module == "reproductions":
            assert rest == [name] and name in MODULES
        else:
            assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file() or module == "benchmarks", path
        assert len(MEASURED.findall(text)) == 1, path


def test_a_commit_is_noted_below_the_title_once() -> None:
    page = stamped("# A\n\nWritten by\n", "abc1234")
    assert page.startswith("# A\n\nMeasured for ") and page.endswith("at commit abc1234.\n\nWritten by\n")
    assert stamped(page, "def5678", 2.5).count("Measured") == 1
