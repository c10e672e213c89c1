"""What is wrong with a corpus, said so that the reader of the message can mend the file."""

from __future__ import annotations

_SHOWN = 160  # characters of what was found


class CorpusError(ValueError):
    """A corpus file, or a sentence, that cannot be read as what it claims to be.

    The message names the place (`path:line`), what was found there (long text without its middle) and what was
    expected.
    """

    def __init__(self, found: str, expected: str, path: str = "", line: int = 0) -> None:
        self.found, self.expected, self.path, self.line = found, expected, path, line
        place = f"{path or 'sentence'}:{line}: " if line else f"{path}: " if path else ""
        super().__init__(f"{place}found {_shortened(found)}, expected {expected}")


def _shortened(found: str) -> str:
    """The beginning and the end of a long text: a line may have megabytes."""
    half = _SHOWN // 2
    return found if len(found) <= _SHOWN else f"{found[:half]} … {found[-half:]}"
