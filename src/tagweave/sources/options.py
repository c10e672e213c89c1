"""The aggregation methods by name, which help lists without loading the methods themselves."""

SILENCE = "Sources are silent where they find nothing, as labelling functions are: silence is evidence, too."

DEFAULT = "blend"
AGGREGATIONS = ("majority", "dawid-skene", "bsc", DEFAULT)
"""From the weakest assumptions to the strongest, and a blend of two."""

CHAT, CHAT_ANSWERS = "chat:", "chat.jsonl"
"""What an address begins with that stands for a labelling function, and where this keeps its answers."""
