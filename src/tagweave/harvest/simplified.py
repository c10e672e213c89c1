"""Converting traditional Chinese characters to simplified ones, by OpenCC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tagweave.harvest.block import Block


class Simplifier:
    """Converts text one code point to one, so that spans stay valid.

    Raises:
        CorpusError: OpenCC is not installed.
    """

    def __init__(self) -> None:
        try:
            from opencc import OpenCC
        except ModuleNotFoundError as error:
            raise CorpusError(
                "no package 'opencc'", "it installed: pip install '.[markup]' in a checkout of tagweave"
            ) from error
        self._convert = OpenCC("t2s").convert

    def text(self, text: str) -> str:
        """The text in simplified characters, converted character by character if phrases would change its length."""
        converted = str(self._convert(text))
        return converted if len(converted) == len(text) else "".join(map(self._character, text))

    def _character(self, character: str) -> str:
        converted = str(self._convert(character))
        return converted if len(converted) == 1 else character

    def blocks(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks with their text converted."""
        return (block._replace(text=self.text(block.text)) for block in blocks)
