"""`python -m reproductions PAGE` writes a page of results, `python -m reproductions --list` names all of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any

MODULES = {
    "entities-missing": "entities",
    "incomplete-tagging": "incomplete",
    "jiang-2015-models": "jiang_2015",
    "jiang-2015-parsing-models": "jiang_2015",
    "li-2015-narrowing": "li_2015",
    "li-2015-tagging": "li_2015",
    "liu-2014-raw-text": "liu_2014",
    "partial-trees": "partial_trees",
    "sources-training": "sources",
    "sun-wan-2012-stacking": "sun_wan_2012",
    "tsuboi-2008-chinese": "tsuboi_2008",
}
"""The module of the study that writes a page."""


def study(page: str) -> Any:
    """Return the study that writes a page; only its own module is imported."""
    return next(each for each in import_module(f"reproductions.{MODULES[page]}").STUDIES if each.page == page)


def main(words: Sequence[str] | None = None) -> None:
    """Run a study: what follows its name are its options."""
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    parser.add_argument("--list", action="store_true", help="the names of all pages, and what each is about")
    parser.add_argument("page", nargs="?", choices=MODULES, metavar="PAGE", help=f"one of {', '.join(MODULES)}")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="its options: PAGE --help has them")
    chosen = parser.parse_args(words)
    if chosen.list:
        for page, module in MODULES.items():
            print(f"{page:<26} {import_module(f'reproductions.{module}').__doc__}")
    elif chosen.page is None:
        parser.error("expected the name of a PAGE; --list has all")
    else:
        study(chosen.page).main(chosen.options)


if __name__ == "__main__":
    main()
