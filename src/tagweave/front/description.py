"""Describes corpora and models as plain data, and models as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave.corpus.describe import describe as corpus_counts
from tagweave.exchange.load import SourceFile
from tagweave.exchange.tokenization import Tokenization
from tagweave.labels import LAYERS
from tagweave.models import storage
from tagweave.models.hub import PREFIX, model_file
from tagweave.models.selective import costs
from tagweave.structures import CHAIN, TREE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.describe import LayerDescription


def describe(argument: str, format: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Describe a model file or a corpus `[GUIDELINE=]PATH[#LAYER]` as plain data for JSON.

    For a corpus, `reading` says how the file was read, and `warnings` what looks like a mistake.

    Raises:
        ModelFileError: a damaged model, or one of a newer version.
        CorpusError, OSError: the file cannot be read.
    """
    if is_model(argument):
        return describe_model(argument)
    from tagweave.training.inspection import suspicions  # who only asks `is_model` needs no training

    file = SourceFile(argument, format)
    corpus = file.corpus()
    how = {"reading": file.reading(corpus.layer), "warnings": [*suspicions(corpus)]}
    return {**describe_corpus(corpus), **how}


def warnings_beside(descriptions: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a warning if corpora lack types of spans that others of their guideline often have."""
    from tagweave.training.inspection import SpanCounts, uncovered_types

    yield from uncovered_types(
        [SpanCounts.described(description) for description in descriptions if description["kind"] == "corpus"]
    )


def is_model(path: str) -> bool:
    """Return whether a file begins like safetensors or like another program's model, or a name is one of the hub."""
    if not Path(path).is_file():
        return path.startswith(PREFIX)
    if storage.is_foreign(path):
        return True
    with Path(path).open("rb") as file:
        start = file.read(9)
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < Path(path).stat().st_size


def describe_model(path: str) -> dict[str, Any]:
    """Describe the model in a file without reading its weights. Raises ModelFileError as `load_model`."""

    description = storage.describe_model(path)
    return {
        "file": path,
        "kind": "model",
        "task": description["task"],
        "coding": description["coding"],
        "version": description["version"],
        **_FACTS_OF_KIND[description["kind"]](description),
        "about": description["about"],
        "bytes": Path(model_file(path)).stat().st_size,
    }


def _chain_facts(description: dict[str, Any]) -> dict[str, Any]:
    *sides, joint = description["space"]["views"]
    weighted = zip([*sides, joint], description.get("weighted") or [True] * (len(sides) + 1), strict=True)
    guide, taggers = description["encoder"].get("guide"), description["encoder"].get("taggers", [])
    return {
        "labels": {view["guideline"]: view["names"] for view in sides or [joint]},
        "bundles": len(joint["names"]) if sides else None,
        "weighted": [view["guideline"] for view, has_weights in weighted if has_weights],
        "guide": guide and guide["space"]["views"][0]["guideline"],
        "taggers": [tagger["space"]["views"][0]["guideline"] for tagger in taggers],
        "templates": description["encoder"].get("templates", []),
    }


def _tree_facts(description: dict[str, Any]) -> dict[str, Any]:
    return {
        "labels": {description["guideline"]: description.get("relations", [])},
        "bundles": None,
        "weighted": [description["guideline"]],
        "guide": description["guide"]["guideline"] if "guide" in description else None,
        "taggers": [],
        "templates": description["templates"],
    }


def _layered_facts(description: dict[str, Any]) -> dict[str, Any]:
    chains = zip(description["types"], description["chains"], strict=True)
    return {
        "labels": {
            name: [label for label in chain["space"]["names"] if label[2:] in ("", *kinds)]
            for types, chain in chains
            for name, kinds in types.items()
        },
        "bundles": None,
        "weighted": [view["guideline"] for chain in description["chains"] for view in chain["space"]["views"]],
        "guide": None,
        "taggers": [],
        "templates": description["encoder"]["templates"],
        "chains": {chain["space"]["views"][0]["guideline"]: chain["about"] for chain in description["chains"]},
    }


_FACTS_OF_KIND: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    CHAIN: _chain_facts,
    TREE: _tree_facts,
    LAYERS: _layered_facts,
}
"""The descriptions specific to each kind of model."""


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """Count known, ambiguous and unknown positions in each layer of a corpus; `covered` lists the annotated labels."""
    numbers = corpus_counts(corpus)
    covered_names = {name for sentence in corpus for name in sentence.covered or ()}
    return {
        "file": corpus.path,
        "kind": "corpus",
        "guideline": corpus.guideline,
        "unit": corpus.unit,
        "covered": sorted(covered_names) if covered_names else corpus.covered,
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
        **({"spans": dict(layer.spans)} if layer.spans else {}),
        **({"rejected": layer.rejected} if layer.rejected else {}),
    }


def parts_of(model: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return what is known about a model under the name "", and about each of its chains under its name."""
    return {"": model["about"], **model.get("chains", {})}


def calibration_line(facts: Mapping[str, Any]) -> str:
    """Say what probabilities were calibrated on, and what that changed there."""
    name = facts.get("file") or "the development data"
    errors = [_errors(facts, f"{facts.get('tokens', 0):,} tokens")]
    maps = [f"temperature {facts['temperature']:g}"]
    if spans := facts.get("spans"):
        errors.append(_errors(spans, f"{spans.get('count', 0):,} spans as wholes"))
        if "slope" in spans:
            maps.append(f"logits of spans times {spans['slope']:g} plus {spans.get('offset', 0):g}")
    return f"{', '.join(maps)}; expected calibration error on {name}: {'; '.join(errors)}"


def _errors(facts: Mapping[str, Any], what: str) -> str:
    return f"{facts.get('before', 0):.3f} before, {facts.get('after', 0):.3f} after ({what})"


def model_lines(model: dict[str, Any]) -> Iterator[str]:
    """The lines that `info` prints for a model."""
    about = model["about"]
    coding = f" ({model['coding']})" if model["coding"] else ""
    yield (f"{model['file']}: model, task {model['task']}{coding}, of tagweave {model['version']}")
    for guideline, names in model["labels"].items():
        yield (f"  {len(names)} labels of {guideline}: {' '.join(names)}")
    if model["bundles"]:
        yield (f"  {model['bundles']:,} bundles of these labels; target guideline {next(iter(model['labels']))}")
    if model["guide"]:
        yield (f"  guided by a model of {model['guide']}, which is part of it")
    if model["taggers"]:
        names = model["taggers"]
        parts = f"pieces that taggers of {' and '.join(names)} cut, which are parts of it"
        yield f"  of {parts if names[1:] else 'words that a segmenter cuts, which is part of it'}"
    sizes = about.get("weights", {})
    weights = (f"{name} {sizes[name]:,}" if name in sizes else name for name in model["weighted"])
    yield (f"  weights: {', '.join(weights)}")
    yield (f"  {len(model['templates'])} templates, {model['bytes']:,} bytes")
    if tokens := about.get("tokens"):
        yield f"  raw text is cut into tokens as in training: {Tokenization.from_json(tokens)}"
    plan = about.get("plan", {})
    method_options = plan.get("options", {})
    for corpus in (*plan.get("target", ()), *plan.get("sources", ())):
        yield (f"  trained on {corpus['path']}: {corpus['size']:,} sentences, sha256 {corpus['sha256'][:12]}")
    for task, step in about.get("steps", {}).items():
        score = "" if step["dev_score"] is None else f", dev score {step['dev_score']:.4f}"
        yield f"  step {task}: method {step['method']}, {step['iterations']} iterations{score}"
    for entry in about.get("rounds", ()):
        way = "filtered" if method_options.get("filter") else f"predict-self {entry['predict_self']:g}"
        yield (f"  round {entry['round']}, {way}: dev score {entry['dev_score']:.4f}")
    if "dev_scores" in about:
        yield (f"  dev: {', '.join(f'{name} {score:.4f}' for name, score in about['dev_scores'].items())}")
    for name, of_part in parts_of(model).items():
        of = f"  {name}: " if name else "  "
        if "calibration" in of_part:
            yield f"{of}probabilities: {calibration_line(of_part['calibration'])}"
        yield from (f"{of}{line}" for line in costs(of_part["selective"])) if "selective" in of_part else ()
    for field, what in (("lexicons", "words"), ("gazetteers", "phrases"), ("clusters", "words in clusters")):
        for file in plan.get(field, ()):
            yield (f"  with {file['path']}: {file['size']:,} {what}, sha256 {file['sha256'][:12]}")
    if ratio_corpus := plan.get("ratio_corpus"):
        file = f"{ratio_corpus['path']}: {ratio_corpus['size']:,} sentences, sha256 {ratio_corpus['sha256'][:12]}"
        yield f"  with the share of spans in {file}"
    facts = [f"{about['iterations']} iterations"] if "iterations" in about else []
    facts += [f"dev score {about['dev_score']:.4f}"] if about.get("dev_score") is not None else []
    facts += [f"learner {about['recipe']['learner']}"] if "recipe" in about else []
    facts += [f"method {plan['method']}"] if plan else []
    facts += [f"encoder {encoder}"] if (encoder := plan.get("encoder", "features")) != "features" else []
    facts += [f"round {about['round']}"] if "round" in about else []
    facts += [f"{rounds} rounds"] if "round" not in about and (rounds := method_options.get("rounds", 1)) > 1 else []
    facts += [f"mapping {' '.join(mapping)}"] if (mapping := method_options.get("mapping")) else []
    facts += [f"share of the guided tagger {about['guided']:g}"] if "guided" in about else []
    yield (f"  {', '.join(facts)}")
