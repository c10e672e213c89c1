"""Digests of the weights of one model of every method and task: `python -m benchmarks.digests`.

Moving code must not move a weight. Run it before and after: `--out before.json`, then `--against before.json`, which
ends with exit code 1 where a digest differs. Digests hold for one machine, since sums in another order (of another BLAS
or processor) differ in their last digits; the norms hold anywhere, up to those.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import sample
from tagweave.models.storage import load_model

_TWO = ("ctb=ctb.txt", "--source", "pd=pd.txt")
_TREES = ("--task", "parse", "one=one.conllu")
_TWO_TREES = (*_TREES, "--source", "two=two.conllu")

CASES: dict[str, Sequence[str]] = {
    **{
        f"tag {learner}": ("ctb=ctb.txt", "--learner", learner) for learner in ("adagrad", "lbfgs", "sgd", "perceptron")
    },
    "tag float64 observed": ("ctb=ctb.txt", "--set", "precision=float64", "--set", "feature_weights=observed"),
    "tag dev": ("ctb=ctb.txt", "--dev", "ctb=dev.txt"),
    "tag partial": ("ctb=part.txt",),
    "tag sample": ("ctb=ctb.txt", "--source", "ctb=dev.txt", "--sample", "10,all", "--weights", "1,0.5"),
    "tag preset": ("ctb=ctb.txt", "--preset", "li-2015"),
    "segment": ("--task", "segment", "ctb=ctb.txt"),
    "segment lexicon": ("--task", "segment", "ctb=ctb.txt", "--lexicon", "words.txt"),
    "segtag": (
        "--task",
        "segtag",
        "ctb=ctb.txt",
        "--method",
        "single",
        "--learner",
        "perceptron",
        "--set",
        "coding=BI",
    ),
    **{f"tag {method}": (*_TWO, "--method", method) for method in ("coupled", "stacked", "merged", "transform")},
    "tag coupled dev": (*_TWO, "--dev", "ctb=dev.txt"),
    "tag coupled tight": (
        *_TWO,
        "--set",
        "mapping_tight=true",
        "--set",
        "views=separate",
        "--sample",
        "all,10",
    ),
    "tag stacked joined": (*_TWO, "--method", "stacked", "--set", "guide=joined"),
    "tag stacked rounds": (*_TWO, "--method", "stacked", "--set", "rounds=2"),
    "tag iterate": (*_TWO, "--method", "iterate", "--dev", "ctb=dev.txt"),
    "segment iterate": ("--task", "segment", *_TWO, "--method", "iterate", "--dev", "ctb=dev.txt"),
    "tag iterate filter": (
        *_TWO,
        "--method",
        "iterate",
        "--set",
        "rounds=2",
        "--set",
        "filter=true",
        "--dev",
        "ctb=dev.txt",
    ),
    **{
        f"segment {method}": ("--task", "segment", *_TWO, "--method", method)
        for method in ("coupled", "stacked", "merged", "transform")
    },
    "segtag subword": ("--task", "segtag", *_TWO, "--method", "subword", "--set", "folds=2"),
    "segtag subword retrain": (
        "--task",
        "segtag",
        *_TWO,
        "--method",
        "subword",
        "--set",
        "folds=2",
        "--set",
        "retrain=true",
    ),
    "segtag merged": ("--task", "segtag", *_TWO, "--method", "merged", "--learner", "perceptron"),
    "parse": _TREES,
    "parse perceptron": (*_TREES, "--learner", "perceptron", "--set", "drop_columns=0"),
    "parse non-projective": (*_TREES, "--set", "non_projective=true"),
    "parse dev": (*_TREES, "--dev", "one=dev.conllu"),
    **{f"parse {method}": (*_TWO_TREES, "--method", method) for method in ("merged", "stacked", "transform")},
    "parse iterate": (*_TWO_TREES, "--method", "iterate", "--set", "rounds=2", "--dev", "one=dev.conllu"),
    "parse stacked rounds": (*_TWO_TREES, "--method", "stacked", "--set", "rounds=2"),
}
"""Words of `tagweave train` by the name of a model; all of them train for two iterations."""


def write_corpora(folder: Path) -> None:
    """The training corpora of all cases, from the sample that comes with the package."""
    ctb, pd = (sample.path(f"{name}.txt").read_text("utf-8").splitlines() for name in ("ctb", "pd"))
    files = {"ctb.txt": ctb[:40], "dev.txt": ctb[40:60], "pd.txt": pd[:50]}
    files["part.txt"] = [*(" ".join(_partly(line.split(" "))) for line in ctb[:30]), *ctb[30:40]]
    files["words.txt"] = sorted({token.rpartition("_")[0] for line in ctb for token in line.split(" ")})
    files["one.conllu"] = [_tree(line, forwards=True) for line in ctb[:30]]
    files["dev.conllu"] = [_tree(line, forwards=True) for line in ctb[60:80]]
    files["two.conllu"] = [_tree(line, forwards=False) for line in ctb[30:60]]
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")


def _partly(tokens: Iterable[str]) -> Iterator[str]:
    """Every third token with its tag, every seventh with other candidates."""
    for at, token in enumerate(tokens):
        form, _, tag = token.rpartition("_")
        yield f"{form}_{tag}|{'NN' if tag != 'NN' else 'VV'}" if at % 7 == 0 else token if at % 3 == 0 else form


def _tree(line: str, forwards: bool) -> str:
    """A chain of heads, forwards or backwards, with a relation that depends on the tag."""
    rows, tokens = [], [token.rpartition("_") for token in line.split(" ")]
    for at, (form, _, tag) in enumerate(tokens, 1):
        head = (at + 1 if at < len(tokens) else 0) if forwards else at - 1
        relation = tag.lower() if head else "root"
        rows.append(f"{at}\t{form}\t_\t{tag[0]}\t{tag}\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n"


def weights(part: object) -> Iterator[NDArray[Any]]:
    """The weights of a model and of all models within it."""
    if isinstance(part, (list, tuple)):
        for each in part:
            yield from weights(each)
    elif is_dataclass(part) or hasattr(part, "__dict__"):
        names = [each.name for each in fields(part)] if is_dataclass(part) else sorted(vars(part))
        for name in names:
            value = getattr(part, name)
            if name == "weights" and isinstance(value, np.ndarray):
                yield value
            elif name != "about":
                yield from weights(value)


def measured(case: str, folder: Path) -> dict[str, Any]:
    """The digest, the number and the norm of the weights of a case."""
    words = CASES[case]
    command = [Path(sys.executable).with_name("tagweave"), "train", *words, "-o", "model", "--iterations", "2"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    found = [each.astype(np.float64).reshape(-1) for each in weights(load_model(folder / "model"))]
    digest = hashlib.sha256(b"".join(each.tobytes() for each in found)).hexdigest()
    numbers = np.concatenate(found)
    return {"digest": digest, "weights": len(numbers), "norm": float(np.linalg.norm(numbers))}


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.digests", description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file for the digests")
    parser.add_argument("--against", type=Path, help="a JSON file of digests before")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    options = parser.parse_args(words)
    before = json.loads(options.against.read_text()) if options.against else {}
    found, moved = {}, []
    with TemporaryDirectory() as folder:
        write_corpora(Path(folder))
        for case in options.only:
            found[case] = measured(case, Path(folder))
            is_same = case not in before or before[case]["digest"] == found[case]["digest"]
            moved += [] if is_same else [case]
            print(
                f"{case:28}{found[case]['digest'][:16]}  {found[case]['weights']:9,}{'' if is_same else '  MOVED'}",
                flush=True,
            )
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(bool(moved))


if __name__ == "__main__":
    main()
