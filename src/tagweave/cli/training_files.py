"""Training corpora as the command line names them: loaded, of one guideline, with the digests that identify them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus

_OF_CHARACTERS = "segmentation"
"""The guideline of corpora for segmenters that do not name theirs: one name, whatever formats they have."""


@dataclass(frozen=True)
class CorpusFile:
    """A corpus, the argument that named it and the SHA-256 digest of its file."""

    argument: str
    corpus: Corpus
    sha256: str

    def about(self) -> dict[str, Any]:
        """What a model keeps of a corpus that it was trained on."""
        return {
            "path": self.corpus.path,
            "sha256": self.sha256,
            "guideline": self.corpus.guideline,
            "sentences": len(self.corpus),
            "weight": self.corpus.weight,
        }


def read_corpus(argument: str, task: str, format: str | None, weight: float = 1.0) -> CorpusFile:  # noqa: A002
    """Load a corpus for training or development.

    Raises:
        OptionError: standard input, which has no digest and cannot be read again when training is resumed.
        CorpusError, OSError: as `load`.
    """
    from tagweave.corpus.describe import digest
    from tagweave.corpus.load import load, parse_argument
    from tagweave.corpus.text_file import STANDARD_STREAM

    if parse_argument(argument).path == STANDARD_STREAM:
        raise OptionError("found standard input as a corpus, expected a file: its digest identifies the training run")
    corpus = load(argument, format, None if task == "tag" else _OF_CHARACTERS)
    return CorpusFile(argument, replace(corpus, weight=weight), digest(corpus.path))


def check_guidelines(files: Sequence[CorpusFile]) -> None:
    """Nothing, if all corpora share the first one's guideline.

    Raises:
        OptionError: another guideline.
    """
    first = files[0]
    for file in files[1:]:
        if file.corpus.guideline != first.corpus.guideline:
            raise OptionError(
                f"{file.corpus.path}: found the guideline {file.corpus.guideline!r}, expected"
                f" {first.corpus.guideline!r} as in {first.corpus.path}: coupled training on several guidelines is not"
                " in this version (corpora of one guideline can be named alike: NAME=FILE)"
            )


def run_identity(files: Sequence[CorpusFile], dev: CorpusFile | None, recipe: dict[str, Any], *settings: Any) -> str:
    """A digest of all that decides which weights an iteration reaches: corpora, development data, recipe, settings."""
    corpora = [[file.sha256, file.corpus.guideline, file.corpus.weight] for file in files]
    text = json.dumps([corpora, dev and [dev.sha256, dev.argument], recipe, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
