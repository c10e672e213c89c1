"""`tagweave harvest lexicon --gazetteer`: marks phrases with types among words, as evidence for spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say


def mark_phrases(inputs: Sequence[str], gazetteers: Sequence[str], output: str, **options: Any) -> None:
    """Harvest with fields of `GazetteerOptions`, and tell how each input was read, and what was found."""
    from tagweave.cli.progress import counted
    from tagweave.front.gazetteers import RAW, harvest_gazetteer_files

    check_outputs([output], [*inputs, *gazetteers, *options["stop"]])
    counts = harvest_gazetteer_files(inputs, gazetteers, output, counted, **options)
    for path, name in zip(inputs, counts.formats, strict=True):
        say(f"{path} is read as {'raw text, cut into tokens' if name == RAW else name}")
    if not counts.phrases:
        say("no phrase was found: entries are TYPE TAB phrase, with a tab, and case counts without --fold")
    say(f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.phrases:,} phrases found")
