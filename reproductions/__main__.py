"""`python -m reproductions NAME ...` runs a study, `python -m reproductions --list` names them all."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    """The studies: every folder beside this file that has a module `study`, but the lab."""
    folders = (path.parent.name for path in Path(__file__).parent.glob("*/study.py"))
    return sorted(name.replace("_", "-") for name in folders if name != "lab")


def main(words: Sequence[str] | None = None) -> None:
    """Run a study; only its own modules are imported.

    A study is a package with a module `study`, whose `main` takes the words that follow its name.
    """
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    parser.add_argument("--list", action="store_true", help="the names of all studies, and what each is about")
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME", help=f"one of {', '.join(names())}")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="its options: NAME --help has them")
    chosen = parser.parse_args(words)
    if chosen.list:
        for name in names():
            about = import_module(f"reproductions.{name.replace('-', '_')}").__doc__ or ""
            print(f"{name:<17} {about.splitlines()[0]}")
    elif chosen.name is None:
        parser.error("expected the NAME of a study; --list has all")
    else:
        import_module(f"reproductions.{chosen.name.replace('-', '_')}.study").main(chosen.options)


if __name__ == "__main__":
    main()
