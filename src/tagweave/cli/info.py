"""`tagweave info`: what a corpus or a model is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.printing import show
from tagweave.corpus.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.corpus.describe import LayerDescription

_SHOWN = 10  # labels of a layer


def info(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Corpora ([G=]FILE[#LAYER]) and models.")],
    format: options.InputFormat = None,  # noqa: A002
    as_json: options.AsJson = False,
) -> None:
    """Tell what files are: corpora (how much of each layer is known, ambiguous, unknown) and models.

    With --json one object a line for each file.
    """
    from tagweave.evaluation.console import table_console

    console = table_console()
    for file in files:
        described = _model(file) if _is_model(file) else _corpus(file, format)
        if as_json:
            typer.echo(json.dumps(described, ensure_ascii=False))
        else:
            _show(described, console)


def _is_model(path: str) -> bool:
    """Whether the file begins as safetensors files do: the length of a JSON header, and the header."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        start = file.read(9)
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < Path(path).stat().st_size


def _model(path: str) -> dict[str, Any]:
    from tagweave.models.storage import describe_model

    description = describe_model(path)
    if description["kind"] == "tree":
        return _parser(path, description)
    *sides, joint = description["space"]["views"]
    weighted = zip([*sides, joint], description["weighted"], strict=True)
    guide, taggers = description["encoder"].get("guide"), description["encoder"].get("taggers", [])
    return {
        "file": path,
        "kind": "model",
        "task": description["task"],
        "coding": description["coding"],
        "version": description["version"],
        "labels": {view["guideline"]: view["names"] for view in sides or [joint]},
        "bundles": len(joint["names"]) if sides else None,
        "weighted": [view["guideline"] for view, has_weights in weighted if has_weights],
        "guide": guide and guide["space"]["views"][0]["guideline"],
        "taggers": [tagger["space"]["views"][0]["guideline"] for tagger in taggers],
        "templates": description["encoder"].get("templates", []),
        "about": description["about"],
        "bytes": Path(path).stat().st_size,
    }


def _parser(path: str, description: dict[str, Any]) -> dict[str, Any]:
    """What there is to tell of a parser; its labels are relations."""
    return {
        "file": path,
        "kind": "model",
        "task": description["task"],
        "coding": description["coding"],
        "version": description["version"],
        "labels": {description["guideline"]: description.get("relations", [])},
        "bundles": None,
        "weighted": [description["guideline"]],
        "guide": description["guide"]["guideline"] if "guide" in description else None,
        "taggers": [],
        "templates": description["templates"],
        "about": description["about"],
        "bytes": Path(path).stat().st_size,
    }


def _corpus(argument: str, format: str | None) -> dict[str, Any]:  # noqa: A002
    from tagweave.corpus.describe import describe
    from tagweave.corpus.load import load

    corpus = load(argument, format)
    numbers = describe(corpus)
    return {
        "file": corpus.path,
        "kind": "corpus",
        "guideline": corpus.guideline,
        "unit": corpus.unit,
        "covered": corpus.covered,
        "sentences": numbers.sentences,
        "tokens": numbers.tokens,
        "forms": numbers.forms,
        "layers": {name: _layer(layer) for name, layer in numbers.layers.items()},
        "heads": {name: _layer(layer) for name, layer in numbers.heads.items()},
    }


def _layer(layer: LayerDescription) -> dict[str, Any]:
    return {
        "full": layer.full,
        "ambiguous": layer.ambiguous,
        "unknown": layer.unknown,
        "labels": dict(layer.labels),
        "candidates": dict(layer.candidates),
    }


def _show(described: dict[str, Any], console: Console) -> None:
    if described["kind"] == "model":
        _show_model(described)
    else:
        _show_corpus(described, console)


def _show_model(model: dict[str, Any]) -> None:
    about = model["about"]
    coding = f" ({model['coding']})" if model["coding"] else ""
    show(f"{model['file']}: model, task {model['task']}{coding}, of tagweave {model['version']}")
    for guideline, names in model["labels"].items():
        show(f"  {len(names)} labels of {guideline}: {' '.join(names)}")
    if model["bundles"]:
        show(f"  {model['bundles']:,} bundles of these labels; target guideline {next(iter(model['labels']))}")
    if model["guide"]:
        show(f"  guided by a model of {model['guide']}, which is part of it")
    if model["taggers"]:
        show(f"  of pieces that taggers of {' and '.join(model['taggers'])} cut, which are parts of it")
    sizes = about.get("weights", {})
    weights = (f"{name} {sizes[name]:,}" if name in sizes else name for name in model["weighted"])
    show(f"  weights: {', '.join(weights)}")
    show(f"  {len(model['templates'])} templates, {model['bytes']:,} bytes")
    plan = about.get("plan", {})
    of_method = plan.get("options", {})
    for corpus in (*plan.get("target", ()), *plan.get("sources", ())):
        show(f"  trained on {corpus['path']}: {corpus['size']:,} sentences, sha256 {corpus['sha256'][:12]}")
    for tried in about.get("rounds", ()):
        way = "filtered" if of_method.get("filter") else f"predict-self {tried['predict_self']:g}"
        show(f"  round {tried['round']}, {way}: dev score {tried['dev_score']:.4f}")
    if "dev_scores" in about:
        show(f"  dev: {', '.join(f'{name} {score:.4f}' for name, score in about['dev_scores'].items())}")
    for lexicon in plan.get("lexicons", ()):
        show(f"  with {lexicon['path']}: {lexicon['size']:,} words, sha256 {lexicon['sha256'][:12]}")
    facts = [f"{about['iterations']} iterations"] if "iterations" in about else []
    facts += [f"dev score {about['dev_score']:.4f}"] if about.get("dev_score") is not None else []
    facts += [f"learner {about['recipe']['learner']}"] if "recipe" in about else []
    facts += [f"method {plan['method']}"] if plan else []
    facts += [f"round {about['round']}"] if "round" in about else []
    facts += [f"{rounds} rounds"] if "round" not in about and (rounds := of_method.get("rounds", 1)) > 1 else []
    facts += [f"mapping {' '.join(mapping)}"] if (mapping := of_method.get("mapping")) else []
    facts += [about["date"]] if "date" in about else []
    show(f"  {', '.join(facts)}")


def _show_corpus(corpus: dict[str, Any], console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    numbers = (f"{corpus[key]:,} {key}" for key in ("sentences", "tokens", "forms"))
    unit = "characters" if corpus["unit"] == "character" else "words"
    show(f"{corpus['file']}: corpus of {unit}, {', '.join(numbers)}")
    layers = {**corpus["layers"], **corpus["heads"]}
    if not layers:
        show("  no layers: nothing is annotated but the words")
        return
    table = Table("layer", "one label", "ambiguous", "unknown", "most frequent")
    for name, layer in layers.items():
        frequent = " ".join(f"{label} {count:,}" for label, count in list(layer["labels"].items())[:_SHOWN])
        shares = (_share(layer[key], corpus["tokens"]) for key in ("full", "ambiguous", "unknown"))
        table.add_row(*(Text(printable(cell)) for cell in (name, *shares, frequent)))
    console.print(table)


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.1f} %)" if total else "0"
