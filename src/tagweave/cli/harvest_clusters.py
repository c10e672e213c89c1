"""`tagweave harvest clusters`: clusters of words from raw text, for features."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.harvest.options import ClusterOptions


def clusters(
    raw: Annotated[
        list[str], typer.Argument(metavar="RAW", help="Words, in any format; their labels are not looked at.")
    ],
    output: options.Output,
    classes: Annotated[int, typer.Option(min=2, metavar="N", help="How many clusters.")] = ClusterOptions.classes,
    minimum_count: Annotated[
        int, typer.Option(min=1, metavar="N", help="Words that occur less often get no cluster.")
    ] = ClusterOptions.minimum_count,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """Cluster words by their neighbours in raw text (Brown et al. 1992): features for `train --clusters`.

    Each line is a bit string, a word and its count. Words whose bit strings begin alike are alike.
    """
    from tagweave.cli.progress import counted
    from tagweave.front.clusters import harvest_clusters_files

    check_outputs([output], raw)
    own = {"classes": classes, "minimum_count": minimum_count}
    made = harvest_clusters_files(raw, output, format, counted, **own)
    say(f"{output}: {len(made):,} words in {made.classes:,} clusters")
