"""The mapping functions of li-2015, section 3.1, for any two corpora.

| mapping | here |
|---|---|
| automatic | pairs that meet when the baseline labels the source corpus, unless they are rare (`often`) |
| relaxed | the pairs of the shipped mapping of CTB and PD |
| tight | of these, those that make up 90% of one of their tags |

A tag that a mapping does not name may stand beside every tag (`TagMapping.allowed`), which would make the tight mapping
a loose one; so the tags that the shipped mapping does not name have the partners that they have in the automatic one.
"""

from __future__ import annotations

from tagweave.labels.mapping import CTB_PD, TagMapping, read_mapping
from tagweave.training.cascades.coupled import often


def mappings(name: str, counted: TagMapping) -> tuple[TagMapping, ...]:
    """What a mapping function is called, and the pairs that met -> the mappings of a coupling."""
    if name == "automatic":
        return (often(counted),)
    shipped = read_mapping(CTB_PD)
    if name == "tight":
        return (completed(shipped.tight(), counted.tight()),)
    return (completed(shipped, often(counted)),)


def completed(mapping: TagMapping, by: TagMapping) -> TagMapping:
    """A mapping, and the pairs of another one of the tags that it does not name."""
    first, second = ({pair[side] for pair in mapping.counts} for side in (0, 1))
    more = {pair: n for pair, n in by.counts.items() if pair[0] not in first or pair[1] not in second}
    return TagMapping(mapping.first, mapping.second, {**mapping.counts, **more})
