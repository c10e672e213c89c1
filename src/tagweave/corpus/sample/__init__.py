"""The sample corpus: 300 Chinese sentences under the CTB and the PD guideline, written for this project (CC0).

Small enough to ship and large enough to learn from: 120 sentences under each guideline, and 60 under both. The tag sets
and the annotation policies are in the README.md beside this file.
"""

from __future__ import annotations

from pathlib import Path

NAMES = ("ctb.txt", "pd.txt", "both.tsv")
"""The files of the sample: `word_TAG` under CTB, `word/TAG` under PD, and columns `form ctb pd`."""


def path(name: str) -> Path:
    """The path of a file of the sample.

    Args:
        name: one of `NAMES`.

    Raises:
        FileNotFoundError: there is no file of that name in the sample.
    """
    if name not in NAMES:
        raise FileNotFoundError(f"no file {name!r} in the sample corpus; there are {', '.join(NAMES)}")
    return Path(__file__).with_name(name)
