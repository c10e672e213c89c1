"""Loads the files that features look up, lexicons, gazetteers and word clusters, with their digests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tagweave.features.lookups import NOTHING, Lookups
from tagweave.labels.tasks import OF_CHARACTERS
from tagweave.training.errors import PlanError
from tagweave.training.plan import FileReference

if TYPE_CHECKING:
    from tagweave.training.plan import TrainingPlan

LOOKUPS = ("lexicons", "gazetteers", "clusters")
"""The fields of plans that name such files, with the options of the command line that set them."""


@dataclass(frozen=True)
class LookupFiles:
    """What features look up.

    Attributes:
        lookups: the content of all files.
        references: the files by field of the plan, with digests and sizes.
    """

    lookups: Lookups = NOTHING
    references: Mapping[str, tuple[FileReference, ...]] = field(default_factory=dict)

    @property
    def digests(self) -> tuple[str, ...]:
        """The SHA-256 digests of all files."""
        return tuple(each.sha256 for name in LOOKUPS for each in self.references.get(name, ()))


def read_lookups(plan: TrainingPlan) -> LookupFiles:
    """Load the files that a plan names for features.

    Raises:
        PlanError: files for another task; several files of clusters; or standard input, which has no digest and cannot
            be read again.
        CorpusError, OSError: as the `read` of `tagweave.harvest.lexicon`, `tagweave.corpus.gazetteer` and
            `tagweave.harvest.clusters`.
    """
    from tagweave.corpus import gazetteer
    from tagweave.harvest import clusters, lexicon

    if plan.lexicons and plan.task not in OF_CHARACTERS:
        expected = "segment or segtag: its words are of characters"
        raise PlanError(f"found `lexicons` with the task {plan.task}, expected {expected}")
    for name in ("gazetteers", "clusters"):
        if getattr(plan, name) and plan.task in OF_CHARACTERS:
            raise PlanError(f"found `{name}` with the task {plan.task}, expected a task of words: tag or spans")
    if len(plan.clusters) > 1:
        raise PlanError(
            f"found {len(plan.clusters)} files of clusters, expected one: their bit strings are of one tree"
        )
    lexicons, of_lexicons = _read(plan.lexicons, lexicon.read, "a lexicon")
    gazetteers, of_gazetteers = _read(plan.gazetteers, gazetteer.read, "a gazetteer")
    words = tuple(word for each in lexicons for word in each.words)
    read_clusters, of_clusters = _read(plan.clusters, clusters.read, "clusters")
    paths = {word: bits for each in read_clusters for word, bits in zip(each.words, each.paths, strict=True)}
    lookups = Lookups(words=words, gazetteer=gazetteer.joined(gazetteers), clusters=paths)
    return LookupFiles(lookups, {"lexicons": of_lexicons, "gazetteers": of_gazetteers, "clusters": of_clusters})


def _read(
    files: Sequence[FileReference], read: Callable[[str], Any], what: str
) -> tuple[list[Any], tuple[FileReference, ...]]:
    """The content of files, and their references."""
    from tagweave.corpus.describe import digest
    from tagweave.corpus.text_file import STANDARD_STREAM

    if STANDARD_STREAM in [each.path for each in files]:
        raise PlanError(f"found standard input as {what}, expected a file: its digest identifies the training run")
    contents = [read(each.path) for each in files]
    return contents, tuple(
        FileReference(each.path, digest(each.path), len(content)) for each, content in zip(files, contents, strict=True)
    )
