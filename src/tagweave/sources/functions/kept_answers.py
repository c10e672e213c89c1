"""What a labelling function said of sentences, kept in a file from one run to the next.

The file is called by the digest of the function. It has a line for each sentence: the digest of its contents, and the
fields of its labels as they stand in column files, `null` where nothing is known.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from tagweave.corpus.alternatives import format_candidates, parse_candidates
from tagweave.corpus.sentence import Layer
from tagweave.corpus.text_file import written


@dataclass
class KeptAnswers:
    """What a function said, by the digest of the sentence.

    Attributes:
        path: the file; `None`: nothing is kept.
        layers: the answers.
        before: how many of them were in the file.
    """

    path: Path | None = None
    layers: dict[str, Layer] = field(default_factory=dict)
    before: int = 0

    @classmethod
    def of(cls, name: str, digest: str | None, folder: Path | None) -> KeptAnswers:
        """The answers in the file of a function. What is no answer is left out, and will be asked for again."""
        if folder is None or digest is None:
            return cls()
        path = folder / f"{''.join(each if each.isalnum() else '_' for each in name)}-{digest[:32]}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
        layers = dict(entry for entry in map(_entry, lines) if entry is not None)
        return cls(path, layers, len(layers))

    def save(self) -> None:
        """Write the file, if there is something new. Raises OSError if it cannot be written."""
        if self.path is None or len(self.layers) == self.before:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with written(str(self.path)) as stream:
            for key, layer in self.layers.items():
                fields = [None if each is None else format_candidates(each) for each in layer]
                stream.write(json.dumps([key, fields], ensure_ascii=False) + "\n")


def _entry(line: str) -> tuple[str, Layer] | None:
    try:
        key, fields = json.loads(line)
        return str(key), tuple(None if each is None else parse_candidates(each) for each in fields)
    except (ValueError, TypeError):
        return None
