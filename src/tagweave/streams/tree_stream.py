"""Streams of sentences with trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import HEAD
from tagweave.streams.output_format import check_holds_heads
from tagweave.streams.stream import Stream

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format


class TreeStream(Stream):
    """A stream whose output has trees, by default in CoNLL-U."""

    @property
    def default_format(self) -> Format:
        """CoNLL-U."""
        return conllu.FORMAT

    def check_format(self, form: Format) -> None:
        """Raise StreamError unless the format can hold heads."""
        check_holds_heads(form)

    def layer(self, form: Format) -> str:
        """The layer of heads."""
        return HEAD
