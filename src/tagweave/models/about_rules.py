"""Rules for `about`, a model's description of its training: the fields that are read again; others are free."""

from __future__ import annotations

from tagweave.features.rules import flag, list_of, mapping_of, nullable, number, record, text, whole

_OPTIONS = {"mapping": list_of(text), "filter": flag, "rounds": whole()}
_FILE = {"path": text, "sha256": text, "size": whole()}
_FILES = list_of(record(_FILE, others=True))
_PLAN = record(
    {
        "target": _FILES,
        "sources": _FILES,
        "lexicons": _FILES,
        "gazetteers": _FILES,
        "clusters": _FILES,
        "method": text,
        "options": record({}, _OPTIONS, others=True),
    },
    {"ratio_corpus": nullable(record(_FILE, others=True))},
    others=True,
)
ABOUT = record(
    {},
    {
        "plan": _PLAN,
        "rounds": list_of(record({"round": whole(), "predict_self": number(), "dev_score": number()}, others=True)),
        "weights": mapping_of(whole()),
        "layers": mapping_of(list_of(text)),
        "recipe": record({"learner": text}, others=True),
        "iterations": whole(),
        "round": whole(),
        "dev_score": nullable(number()),
        "dev_scores": mapping_of(number()),
        "parameters": record({}, {"threads": nullable(whole(0, 1 << 16))}, others=True),
    },
    others=True,
)
"""The rule for `about`."""
