"""Mutants of the core that no test notices: `nice -n 19 python -m benchmarks.mutation`.

It clones the last commit into a temporary folder, changes one operator or number there at a time (cosmic-ray's
operators), and runs the tests that `mutation.toml` names for the module: first those closest to it, then, if they pass,
the wider ones. Which mutants are drawn is a function of the seed and the text of the module. `mutation.toml` also lists
mutants that no test can notice, with the reason. Arguments are modules, if not all: `kernels/chain.py`.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
CONFIGURATION = Path(__file__).with_suffix(".toml")

_ORDER = "(Eq|NotEq|Lt|LtE|Gt|GtE)"
_OPERATORS = re.compile(
    "AddNot|NumberReplacer|Replace(True|False|And|Or|Break|Continue)With|Delete_(Not|USub)|USub_UAdd"
    "|BinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|Mod_Mul|FloorDiv_Mul|Pow_Mul|BitAnd_BitOr|BitOr_BitAnd|MatMul_Mul)"
    f"|ComparisonOperator_({_ORDER}_{_ORDER}|Is_IsNot|IsNot_Is|In_NotIn|NotIn_In)$"
)
"""Changes that a hand might make; others, such as a shift of a float, raise an error at once."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        line: the number of the line.
        old, new: the line before and after.
        code: the whole module.
    """

    line: int
    old: str
    new: str
    code: str


@dataclass
class Tally:
    """What became of the mutants of a module."""

    killed: int = 0
    equivalent: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def mutants(self) -> int:
        """How many there were, without equivalent ones."""
        return self.killed + len(self.survivors)


def mutants(code: str, seed: int) -> Iterator[Mutant]:
    """Yield mutants of a module in random order, at most one for each place in the text."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    places, lines = sorted(_places(code).items()), code.splitlines()
    generator = np.random.default_rng(seed)
    for at in generator.permutation(len(places)):
        choices = places[at][1]
        name, occurrence = choices[generator.integers(len(choices))]
        mutated = str(mutate_code(code, plugins.get_operator(name)(), occurrence))
        pairs = enumerate(zip(lines, mutated.splitlines(), strict=False), start=1)
        for line, (old, new) in pairs:
            if old != new:
                yield Mutant(line, old.strip(), new.strip(), mutated)
                break


def _places(code: str) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return the operators that can change each place of a module, and which of their occurrences that is."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    places: dict[tuple[int, int], list[tuple[str, int]]] = {}
    skipped, nodes = _annotations(code), list(ast_nodes(get_ast(code)))
    for name in sorted(filter(_OPERATORS.search, plugins.operator_names())):
        operator = plugins.get_operator(name)()
        found = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, place in enumerate(found):
            if not any(low <= place < high for low, high in skipped):
                places.setdefault(place, []).append((name, occurrence))
    return places


def _annotations(code: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the places of type annotations and decorators, from and to: mutants of these change nothing."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(code)):
        given = (getattr(node, "annotation", None), getattr(node, "returns", None))
        found += [each for each in (*given, *getattr(node, "decorator_list", ())) if each is not None]
    return [((e.lineno, e.col_offset), (e.end_lineno or 0, e.end_col_offset or 0)) for e in found]


class Clone:
    """The last commit in a folder, where modules are mutated and tests run."""

    def __init__(self, folder: Path) -> None:
        self._root, self._kernels, self._kept = folder / "clone", folder / "kernels", folder / "kept"
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(self._root)], check=True)
        self._kernels.mkdir()
        self._environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self._root / "src"), os.environ.get("PYTHONPATH", "")]),
            "CI": "1",  # the examples of Hypothesis are the same in every run
            "NUMBA_OPT": "0",
            "NUMBA_CACHE_DIR": str(self._kernels),
        }

    def path(self, module: str) -> Path:
        """Return the file of a module."""
        return self._root / "src" / "tagweave" / module

    def passes(self, tests: Sequence[str], limit: float) -> bool:
        """Return whether tests pass within a number of seconds."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, cwd=self._root, env=self._environment, start_new_session=True, **silent) as run:
            try:
                return run.wait(limit) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:
                if run.poll() is None:
                    os.killpg(run.pid, signal.SIGKILL)

    def keep_kernels(self) -> None:
        """Keep the code compiled so far for the mutants."""
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(self._kernels, self._kept)

    def write(self, module: str, code: str) -> None:
        """Write a module; compiled kernels remain where neither they nor what they call has changed."""
        path = self.path(module)
        path.write_text(code, encoding="utf-8")
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
        if not module.startswith("kernels/") or not self._kept.exists():
            return
        shutil.rmtree(self._kernels)
        shutil.copytree(self._kept, self._kernels)
        ask = "from tagweave.kernels import compiled_code; print(compiled_code.folders()[0])"
        told = subprocess.run(
            [sys.executable, "-c", ask], env=self._environment, capture_output=True, text=True, check=False
        )
        if told.returncode:
            return
        edition = Path(told.stdout.strip())
        for before in list(edition.parent.glob("kernels-*")):
            before.rename(edition)
        for stem in self._callers(path.stem):
            for file in edition.glob(f"{stem}.*"):
                file.unlink()

    def _callers(self, stem: str) -> set[str]:
        """Return the names of the modules of kernels that import one, and its own."""
        texts = {path.stem: path.read_text(encoding="utf-8") for path in self.path("kernels").glob("*.py")}
        found, size = {stem}, 0
        while len(found) > size:
            size = len(found)
            names = "|".join(found)
            found |= {
                each
                for each, text in texts.items()
                if re.search(rf"tagweave\.kernels(\.| import.*\b)({names})\b", text)
            }
        return found


class Group:
    """Modules with the tests that have to notice their mutants."""

    def __init__(self, clone: Clone, entry: dict[str, Any]) -> None:
        self._clone, self._sets = clone, (entry["tests"], entry["wider"])
        self._limits: dict[int, float] = {}

    def notices(self, module: str, code: str) -> bool:
        """Return whether a test fails with this code of a module."""
        before = self._clone.path(module).read_text(encoding="utf-8")
        for number, tests in enumerate(self._sets):
            if number not in self._limits:
                self._clone.write(module, before)
                self._limits[number] = self._measured(tests)
            self._clone.write(module, code)
            passes = self._clone.passes(tests, self._limits[number])
            self._clone.write(module, before)
            if not passes:
                return True
        return False

    def _measured(self, tests: Sequence[str]) -> float:
        """Run tests without a mutant; return how many seconds mutants get."""
        start = time.monotonic()
        if not self._clone.passes(tests, 1200):
            raise SystemExit(f"found a failure of {' '.join(tests)} without a mutant, expected none")
        self._clone.keep_kernels()
        return 60 + 5 * (time.monotonic() - start)


def measure(clone: Clone, module: str, group: Group, seed: int, lines: int) -> Tally:
    """Draw mutants of a module and run tests on each."""
    code, tally = clone.path(module).read_text(encoding="utf-8"), Tally()
    count = max(2, round(len(code.splitlines()) / lines))
    for mutant, _ in zip(mutants(code, seed), range(count), strict=False):
        if _reason(module, mutant):
            tally.equivalent += 1
            continue
        dies = group.notices(module, mutant.code)
        tally.killed += dies
        tally.survivors += [mutant] * (not dies)
        print(
            f"{'dies' if dies else 'LIVES'} {module}:{mutant.line}\n    - {mutant.old}\n    + {mutant.new}", flush=True
        )
    return tally


def _reason(module: str, mutant: Mutant) -> str | None:
    """Return why no test can notice a mutant, or `None`."""
    for each in _configuration()["equivalent"]:
        if each["module"] == module and mutant.old == each["line"] and mutant.new == each.get("mutant", mutant.new):
            return str(each["reason"])
    return None


def _configuration() -> dict[str, Any]:
    return tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))


def main() -> None:
    """Mutate the modules of the core, or those given, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help="of the core, such as kernels/chain.py; all without"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw")
    parser.add_argument(
        "--lines", type=int, default=25, metavar="N", help="lines of a module for each mutant; at least 2"
    )
    options = parser.parse_args()
    tallies: dict[str, Tally] = {}
    with TemporaryDirectory() as folder:
        clone = Clone(Path(folder))
        for entry in _configuration()["core"]:
            group = Group(clone, entry)
            for module in entry["modules"]:
                if module in (options.modules or [module]):
                    tallies[module] = measure(clone, module, group, options.seed, options.lines)
    print("\n| module | mutants | killed | equivalent | survivors |\n| --- | ---: | ---: | ---: | ---: |")
    total: Counter[str] = Counter()
    for module, each in tallies.items():
        row = {
            "mutants": each.mutants,
            "killed": each.killed,
            "equivalent": each.equivalent,
            "survivors": len(each.survivors),
        }
        print(f"| `{module}` | {' | '.join(map(str, row.values()))} |")
        total.update(row)
    print(f"| all | {' | '.join(map(str, total.values()))} |")


if __name__ == "__main__":
    main()
