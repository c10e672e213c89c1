"""The page of a part: a table for every setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproductions.lab.page import opening, significance, table

_TITLES = {
    "full": "Entities and phrases from complete annotation",
    "missing": "Entities from some of the entities",
    "distant": "Entities from distant annotation",
    "gazetteer": "Chemicals and diseases from dictionaries",
}
_CHOSEN = {
    "full": "Chunks have no development data: training takes the usual number of iterations; few templates and the"
    " slower rate were chosen on a tenth of the training data. For entities the rate was chosen on development data.",
    "missing": "Margin and weight of the ratio, and how far spans are believed, were chosen on the development data of"
    " these corpora, one value for all.",
    "distant": "How far labels are believed was chosen on the development data.",
    "gazetteer": "The stop list of the 100 most frequent words of the raw text was chosen on development data. Where"
    " a setting has no development data, training takes its usual number of iterations.",
}
_HEAD = ["way", "options", "F, test", "P", "R", "F, dev", "iterations", "CPU s", "difference", "p"]


def lines(found: dict[str, Any], trials: int) -> Iterator[str]:
    """The lines of a page."""
    yield from opening(_TITLES[found["part"]], found["command"])
    yield "F, precision and recall of exact spans on test, in percent: the mean over seeds, in brackets each seed. The"
    yield "entity ratio is that of the development data, which also choose the iteration."
    yield _CHOSEN[found["part"]]
    yield "CPU seconds are those of a training, the reading of corpora and the tagging of the test set.\n"
    yield "Every training: `--set batch=16 --patience 3`, a third of the time of the defaults.\n"
    yield from [significance(trials), "  Differences are to the first row of each table.", ""]
    for setting in found["settings"]:
        yield f"## {setting['title']}\n"
        yield f"`{setting['folder']}`, `{setting['train']}`.\n"
        if "leaks" in setting:
            yield from _leaks(setting["lists"], **{name.replace(" ", "_"): n for name, n in setting["leaks"].items()})
        yield from table(_HEAD, (_row(row) for row in setting["rows"]))


def _leaks(lists: str, names: int, listed: int, new: int, new_listed: int) -> Iterator[str]:
    yield f"`{lists}` has {100 * listed / names:.1f} % of the {names:,} different names of the test data; of the"
    yield f"{new:,} that no other text of the corpus has, {100 * new_listed / new:.1f} %.\n"


def _row(row: dict[str, Any]) -> list[str]:
    scores = [f"**{row['f']['mean']:.2f}** ({', '.join(f'{f:.2f}' for f in row['f']['values'])})"]
    scores += [f"{row[name]:.2f}" for name in ("precision", "recall")]
    scores += [
        "-" if row["dev"] is None else f"{row['dev']:.2f}",
        str(row["iterations"] or "-"),
        f"{row['seconds']:.0f}",
    ]
    against = row["against"]
    tested = ["", ""] if against is None else [f"{against['difference']:+.2f}", f"{against['p_all']:.4f}"]
    return [row["name"], f"`{row['options']}`" if row["options"] else "", *scores, *tested]
