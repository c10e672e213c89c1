"""How exact the losses in PyTorch are: `python -m benchmarks.torch_exactness [--quick]`.

Nothing that they are compared with uses their arithmetic: sums over all outputs in float64, with PyTorch's gradients,
the sums in logarithms of the NumPy engine, pytorch-crf, and torch-struct if it is installed (`benchmarks.torch_losses`
says how).
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterable
from importlib.metadata import version
from importlib.util import find_spec

import torch

from benchmarks import torch_exactness_errors as errors
from benchmarks.torch_exactness_cases import chain_case, tree_case
from benchmarks.torch_exactness_errors import Errors

BARS = {torch.float32: 1e-6, torch.float64: 1e-10}
"""What no error may exceed."""
_CASES = 2000

COMPARISONS: dict[str, Callable[[int, torch.dtype], Errors]] = {
    "Chains beside all label sequences": lambda seed, dtype: errors.enumerated(chain_case(seed, dtype)),
    "Trees beside all trees": lambda seed, dtype: errors.enumerated(tree_case(seed, dtype)),
    "Chains beside the NumPy engine": lambda seed, dtype: errors.by_engine(chain_case(seed, dtype)),
    "Chains beside pytorch-crf": errors.beside_crf,
    "All trees beside the determinant of the Laplacian": errors.by_laplacian,
}
"""Each takes a seed and a type to the errors of a case."""
if find_spec("torch_struct") is not None:
    COMPARISONS["Projective trees beside torch-struct"] = errors.beside_torch_struct


def worst(errors_of: Callable[[int, torch.dtype], Errors], dtype: torch.dtype, seeds: Iterable[int]) -> Errors:
    """The largest error of each quantity."""
    found: Errors = {}
    for seed in seeds:
        for name, error in errors_of(seed, dtype).items():
            found[name] = max(found.get(name, 0.0), error)
    return found


def page(found: dict[str, dict[str, Errors]], cases: int) -> list[str]:
    """The lines of the page."""
    lines = [
        "# Exactness of losses in PyTorch",
        "",
        f"Written by `python -m benchmarks.torch_exactness` ({platform.machine()}, PyTorch {version('torch')},",
        f"pytorch-crf {version('pytorch-crf')}): the largest errors in {cases:,} random cases of each comparison.",
        "What is compared with is in float64. Errors are relative to the exact number, or to 1 if that is larger. A",
        "loss and its gradient are differences: if what is subtracted from is larger still, errors are relative to",
        "that.",
        "",
        "Chains have up to 4 labels and 5 positions, trees up to 4 words, in up to 3 rows. Masks are random, and",
        "`-100` is anywhere. Evidence is ids and `-1`, sets, likelihoods and posteriors by turns. Some transitions",
        "are forbidden, except with posteriors. Trees are projective, projective with siblings (without",
        "posteriors), and all trees by turns; the root has one child, or any number. Emissions and arcs are normal",
        "with a deviation of 2. In half of the cases rows have weights. The error of `decode` and `topk` is how",
        "much less than the best their outputs score; that of an output which the evidence excludes is inf.",
        "",
        "Beside pytorch-crf, rows are padded to the right, have up to 29 positions and 11 labels, and all labels are",
        "known. The last rows of that table are its own errors in the same type.",
        "",
    ]
    for name, by_type in found.items():
        lines += [f"## {name}", "", f"| | {' | '.join(by_type)} |", "|---|" + "---|" * len(by_type)]
        for each in next(iter(by_type.values())):
            lines += [f"| {each} | " + " | ".join(_shown(own[each]) for own in by_type.values()) + " |"]
        lines += [""]
    return lines[:-1]


def _shown(error: float) -> str:
    return f"{error:.0e}" if error else "0"


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundred cases of each")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)  # threads wait for each other, on rows as short as these
    cases = 100 if quick else _CASES
    found = {
        name: {str(dtype).removeprefix("torch."): worst(each, dtype, range(cases)) for dtype in BARS}
        for name, each in COMPARISONS.items()
    }
    print("\n".join(page(found, cases)))


if __name__ == "__main__":
    main()
