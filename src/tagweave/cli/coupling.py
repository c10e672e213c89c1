"""From options of the command line to what a coupled model bundles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tagweave.adapt.coupled import Coupling, with_attested
from tagweave.cli.errors import OptionError
from tagweave.corpus.corpus import Corpus
from tagweave.labels.mapping import SHIPPED, TagMapping, read_mapping

AUTOMATIC, COMPLETE = "automatic", "complete"
_VIEWS = {"both": (True, True), "joint": (True, False), "separate": (False, True)}


@dataclass(frozen=True)
class CouplingOptions:
    """Which tags may be bundled, and what has weights.

    Attributes:
        files: mappings that were read, by the names that the user gave them.
        automatic: whether there is an automatic mapping as well.
        minimum: how often the tags of a pair must have met (`TagMapping.at_least`); `None`: once in 10,000 tokens for
            the automatic mapping.
        tight: whether only the most frequent pairs of every tag are kept.
        views: `both`, `joint` or `separate`.
        prune: the probability from which a label of one side comes into question (`Pruning`); `None`: all do.
    """

    files: tuple[tuple[str, TagMapping], ...] = ()
    automatic: bool = False
    minimum: int | None = None
    tight: bool = False
    views: str = "both"
    prune: float | None = None

    def coupling(
        self, guidelines: Sequence[str], automatic: Sequence[TagMapping] = (), corpora: Sequence[Corpus] = ()
    ) -> Coupling:
        """The coupling of corpora of these guidelines, given their automatic mappings.

        Automatic mappings have all pairs that stand at one token of the corpora, however rare.

        Raises:
            OptionError: a mapping of other guidelines.
        """
        joint, separate = _VIEWS[self.views]
        read = [self._frequent(named(mapping, name, guidelines)) for name, mapping in self.files]
        read, found = ([each.tight() if self.tight else each for each in side] for side in (read, automatic))
        return Coupling((*read, *(with_attested(each, corpora) for each in found)), joint, separate)

    def _frequent(self, mapping: TagMapping) -> TagMapping:
        return mapping.at_least(self.minimum) if self.minimum else mapping

    def to_json(self) -> dict[str, Any]:
        """A plain description: what decides on a training run."""
        pairs = [[mapping.first, mapping.second, sorted(mapping.counts.items())] for _, mapping in self.files]
        return {**self.about(), "pairs": pairs}

    def about(self) -> dict[str, Any]:
        """What a model keeps of it."""
        names = [AUTOMATIC] * self.automatic + [name for name, _ in self.files]
        return {
            "mapping": names or [COMPLETE],
            "minimum": self.minimum,
            "tight": self.tight,
            "views": self.views,
            **({} if self.prune is None else {"prune": self.prune}),
        }


def coupling_options(
    mappings: Sequence[str] | None,
    minimum: int | None,
    tight: bool,
    views: str | None,
    task: str,
    prune: float | None = None,
) -> CouplingOptions:
    """The options as a whole; without a mapping it is the automatic one, or for boundaries alone the complete one.

    Raises:
        OptionError: values that do not exist or do not go together.
        CorpusError, OSError: a file that is no mapping, or cannot be read.
    """
    if views is not None and views not in _VIEWS:
        raise OptionError(f"unknown views {views!r}, expected one of {', '.join(_VIEWS)}")
    names = list(dict.fromkeys(mappings or [COMPLETE if task == "segment" else AUTOMATIC]))
    if COMPLETE in names and (len(names) > 1 or tight or minimum):
        found = f"found --mapping {COMPLETE} with another --mapping, --mapping-minimum or --mapping-tight"
        raise OptionError(f"{found}, expected it alone: it has all pairs")
    files = tuple((name, _read(name)) for name in names if name not in (AUTOMATIC, COMPLETE))
    return CouplingOptions(files, AUTOMATIC in names, minimum, tight, views or "both", prune)


def _read(name: str) -> TagMapping:
    if Path(name).exists():
        return read_mapping(name)
    if name not in SHIPPED:
        known = ", ".join((AUTOMATIC, COMPLETE, *SHIPPED))
        raise OptionError(f"found --mapping {name}, expected {known}, or a file")
    return read_mapping(SHIPPED[name])


def named(mapping: TagMapping, name: str, guidelines: Sequence[str]) -> TagMapping:
    """The mapping, if it is of two of these guidelines; one that names none is of the only two that there are.

    Raises:
        OptionError: another mapping.
    """
    if not (mapping.first or mapping.second) and len(guidelines) == 2:
        return replace(mapping, first=guidelines[0], second=guidelines[1])
    if not {mapping.first, mapping.second} <= set(guidelines):
        found = f"a mapping of {mapping.first} and {mapping.second}" if mapping.first else "a mapping of no guidelines"
        expected = f"two of {', '.join(guidelines)} (corpora can be named: GUIDELINE=FILE)"
        raise OptionError(f"--mapping {name}: found {found}, expected {expected}")
    return mapping
