"""docs/methods.md has the methods and their options as the program has them."""

from __future__ import annotations

import runpy

from pages import ROOT, text_of


def test_the_tables_are_those_of_the_methods() -> None:
    tables = runpy.run_path(str(ROOT / "docs/site.py"))["method_tables"]()
    assert text_of("docs/methods.md").endswith(tables), f"docs/methods.md must end in:\n{tables}"
