"""What papers print and find: of methods that run, and true to their tables."""

from __future__ import annotations

from importlib import import_module

import pytest

from reproductions.lab.paper import paper

PAPERS = ("li_2015", "liu_2014", "sun_wan_2012")
PARTS = [(name, part) for name in PAPERS for part in paper(name).tables]


@pytest.mark.parametrize(("package", "part"), PARTS)
def test_pages_show_the_methods_that_run(package: str, part: str) -> None:
    settings = import_module(f"reproductions.{package}.settings").PARTS[part](None)
    tables = paper(package).tables[part]
    names = {method.name for setting in settings for method in setting.methods}
    for setting in settings:
        own = [each for each in tables if not each.settings or setting.name in each.settings]
        assert {method.name for table in own for method in table.methods} == {each.name for each in setting.methods}
        assert len({method.name for method in setting.methods}) == len(setting.methods)
    for table in tables:
        assert table.printed.keys() <= {method.name for method in table.methods}
        assert {len(cells) for cells in table.printed.values()} <= {len(table.head) or 3}
    for finding in paper(package).findings[part]:
        assert {finding.first.name, finding.second.name} <= names


@pytest.mark.parametrize("part", paper("sun_wan_2012").tables)
def test_findings_have_the_differences_of_the_tables(part: str) -> None:
    """The paper's differences are those of the F that it prints."""
    tables = paper("sun_wan_2012").tables[part]
    for each in paper("sun_wan_2012").findings[part]:
        printed = [table.printed for table in tables if table.gold == each.measure]
        known = {name: row[2] for rows in printed for name, row in rows.items()}
        names = each.first.name, each.second.name
        if each.difference is not None and all(name in known for name in names):
            assert each.difference == pytest.approx(float(known[names[0]]) - float(known[names[1]]), abs=0.006)
            assert each.sign in (0, 1 if each.difference > 0 else -1)
        elif each.difference is not None:
            pytest.fail(f"{each.text}: not in the tables")
