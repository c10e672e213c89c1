"""What a model tells of itself: of what is read again, the types. The rest is anything."""

from __future__ import annotations

from tagweave.encoding.rules import flag, list_of, mapping_of, nullable, number, record, text, whole

_FILE = {"path": text, "sha256": text}
ABOUT = record(
    {},
    {
        "corpora": list_of(record({**_FILE, "sentences": whole()}, others=True)),
        "lexicons": list_of(record({**_FILE, "words": whole()}, others=True)),
        "rounds": list_of(record({"round": whole(), "predict_self": number(), "dev_score": number()}, others=True)),
        "filter": flag,
        "weights": mapping_of(whole()),
        "mapping": list_of(text),
        "recipe": record({"learner": text}, others=True),
        "iterations": whole(),
        "round": whole(),
        "dev_score": nullable(number()),
        "dev_scores": mapping_of(number()),
        "method": text,
        "date": text,
    },
    others=True,
)
"""The rule for `about`."""
