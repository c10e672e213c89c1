"""Training plans as JSON, and what is refused in them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tagweave.errors import PlanError
from tagweave.training.methods import METHODS, read_plan, typed
from tagweave.training.methods.adaptation import IterateOptions
from tagweave.training.methods.coupled import CoupledOptions
from tagweave.training.plan import SCHEMA, FileReference, Options, Plan, Source
from tagweave.training.resolve import checked
from tagweave.training.retraining import like

PLAN = Plan(
    (Source("a b.txt", "0" * 64, 7, None, "g", None, 2.0, "all"),),
    (Source("p.conllu", layer="xpos", sample=3),),
    Source("d"),
    lexicons=(FileReference("words"),),
    settings={"rate": 0.5, "batch": 4},
    method="coupled",
    options=CoupledOptions(mapping=("ctb-pd",), narrow=0.1),
    iterations=3,
)


@pytest.mark.parametrize("plan", [Plan(), PLAN, replace(PLAN, method=None, options={"narrow": 0.1})])
def test_a_plan_survives_json(plan: Plan) -> None:
    values = json.loads(json.dumps(plan.to_json()))
    assert values["schema"] == SCHEMA
    assert read_plan(values) == plan


def test_files_keep_the_roles_that_they_had(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(PLAN, lexicons=(), target=(Source("a.txt"), Source("b.txt")))
    about = {"about": {"plan": plan.to_json()}}
    monkeypatch.setattr("tagweave.training.retraining.describe_model", lambda path: about)

    def roles(*paths: str, sources: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
        files = ([Source(path) for path in each] for each in (paths, sources))
        made = like("m", *files, None)
        return [each.path for each in made.target], [each.path for each in made.sources]

    assert roles("x", "y", "z") == (["x", "y"], ["z"])  # by their order
    assert roles("new/p.conllu", "b.txt", "a.txt") == (["b.txt", "a.txt"], ["new/p.conllu"])  # by their names
    assert roles("x", sources=("y",)) == (["x"], ["y"])
    assert roles("x", "y") == (["x", "y"], [])
    assert roles("p.conllu", "a.txt") == (["a.txt"], ["p.conllu"])
    for paths in (("x", "y", "z", "w"), ("p.conllu",)):
        with pytest.raises(PlanError, match=r"with the sources p.conllu|only files that were sources"):
            roles(*paths)


@pytest.mark.parametrize("method", METHODS)
def test_options_of_every_method_survive_json(method: str) -> None:
    plan = Plan(method=method, options=METHODS[method].options())
    assert read_plan(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"schema": 2}, "found a plan of schema 2, expected 1"),
        ({"colour": 1}, "plan: found the field 'colour', expected target, sources"),
        ({"target": [{"paths": "x"}]}, "plan.target: found the field 'paths', expected path"),
        ({"target": ["x"]}, "plan.target: found str, expected an object"),
        ({"seed": "x"}, "found `seed=x`, expected a whole number from 0"),
        ({"options": 3}, "plan.options: found int, expected an object"),
        ({"options": {"folds": 2}}, "found `folds` with the method coupled, expected subword"),
        ({"options": {"views": "x"}}, "unknown views 'x', expected one of both, joint, separate"),
        ({"options": {"narrow": 2}}, "found `narrow=2`, expected a number from 0 to 1"),
    ],
)
def test_what_is_no_plan_is_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(PlanError, match=expected):
        checked(read_plan({**PLAN.to_json(), **change}))


@pytest.mark.parametrize("values", [None, 3, [], "plan"])
def test_other_json_is_refused(values: object) -> None:
    with pytest.raises(PlanError, match="expected a plan: an object"):
        read_plan(values)


def test_more_rounds_leave_the_identity_as_it_is() -> None:
    assert IterateOptions(rounds=2).identity() == IterateOptions().identity() != IterateOptions(filter=True).identity()


@pytest.mark.parametrize("method", METHODS)
def test_every_option_says_what_it_is_for(method: str) -> None:
    for each in fields(METHODS[method].options):
        assert each.metadata["help"].endswith(".")
    assert METHODS[method].options() == typed(METHODS[method], {}) and isinstance(METHODS[method].options(), Options)


def test_a_corpus_is_its_argument() -> None:
    for argument in ("x.txt", "g=x.txt", "g=x.txt#upos", "x.txt#upos"):
        assert Source.of(argument).argument == argument


def test_a_mapping_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("NN\tn\n", "utf-8")
    options = CoupledOptions(mapping=(str(path),))
    options.check_files()
    path.unlink()
    assert options.files[0][1].pairs == {("NN", "n")}
    assert options.identity()["pairs"]
