"""Public corpora by name: what they are, and their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tagweave.corpus.named import DataName, data_name, files
from tagweave.corpus.named.files import known, registry, remote_file, splits_of


def known_corpora() -> dict[str, dict[str, Any]]:
    """List by name the corpora that are described, not only addressed: what they hold, their terms, their splits."""
    return {
        f"{prefix}:{name}": {"about": each.about, "licence": each.licence, "splits": list(each.splits)}
        for prefix, family in registry().items()
        for name, each in family.corpora.items()
    }


def describe_corpus(name: str) -> dict[str, Any]:
    """Describe `FAMILY:CORPUS[@VERSION][/SPLIT]` without fetching it.

    Returns:
        `page` and `licence` (`None`: see the page), and for every split in `files` its `url`, `path`, whether it is
        `kept`, its `sha256`, and who `vouches` for that: `registry`, `first use`, or nobody (`None`).
    """
    parsed = data_name(name)
    corpus, family = known(parsed), registry()[parsed.family]
    splits = (parsed.split,) if parsed.split else splits_of(parsed)
    return {
        "name": name,
        "about": corpus.about if corpus else "",
        "licence": corpus.licence if corpus else None,
        "page": family.page.format(corpus=parsed.corpus),
        "files": {split: _file(parsed._replace(split=split)) for split in splits if split},
    }


def fetch_corpus(name: str) -> dict[str, str]:
    """Fetch the files of a public corpus that are not there, and check all.

    Args:
        name: `FAMILY:CORPUS[@VERSION][/SPLIT]`; without SPLIT, all of them.

    Returns:
        The paths of its files by split.

    Raises:
        DataError: no such corpus, no network, or another file than expected.
        OSError: the folder cannot be written.
    """
    parsed = data_name(name)
    splits = (parsed.split,) if parsed.split else splits_of(parsed)
    return {split: str(files.fetched(parsed._replace(split=split))) for split in splits if split}


def _file(name: DataName) -> dict[str, Any]:
    file = remote_file(name)
    first = None if file.sha256 else files.first_digest(file)
    path: Path = files.kept(file)
    return {
        "url": file.url,
        "path": str(path),
        "kept": path.exists(),
        "sha256": file.sha256 or first,
        "vouches": "registry" if file.sha256 else "first use" if first else None,
    }
