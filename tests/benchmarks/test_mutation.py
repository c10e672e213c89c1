"""What mutation names exists: modules, and the tests that have to notice their mutants."""

from __future__ import annotations

from benchmarks.mutation import ROOT, _annotations, _configuration


def test_modules_and_their_tests_exist() -> None:
    configuration = _configuration()
    modules = [module for group in configuration["core"] for module in group["modules"]]
    tests = {test.partition("::")[0] for group in configuration["core"] for test in group["tests"] + group["wider"]}
    assert len(modules) == len({*modules})
    assert {each["module"] for each in configuration["equivalent"]} <= {*modules}
    assert [
        path for path in [*(f"src/tagweave/{each}" for each in modules), *tests] if not (ROOT / path).exists()
    ] == []


def test_equivalent_mutants_are_of_lines_that_stand() -> None:
    gone = [
        (each["module"], each["line"])
        for each in _configuration()["equivalent"]
        if each["line"] not in map(str.strip, (ROOT / "src/tagweave" / each["module"]).read_text("utf-8").splitlines())
    ]
    assert gone == []


def test_types_and_decorators_are_no_place_for_a_mutant() -> None:
    assert _annotations("@a + b\ndef f(x: int | None) -> C | D: ...\n") == [
        ((2, 24), (2, 29)),
        ((1, 1), (1, 6)),
        ((2, 9), (2, 19)),
    ]
