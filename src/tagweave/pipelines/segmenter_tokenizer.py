"""A tokenizer of spaCy that cuts text by a segmenter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from tagweave.pipelines.errors import PipelineError
from tagweave.pipelines.kept_model import KeptModel

if TYPE_CHECKING:
    from pathlib import Path

    from tagweave.front.segmenter import Segmenter

_BATCH = 1_000  # texts


class SegmenterTokenizer:
    """Cuts texts into the words of a segmenter; blanks that spaCy cannot imply are tokens, as in its own tokenizers.

    Args:
        vocab: of the pipeline.
        kept: the model.
    """

    def __init__(self, vocab: Any, kept: KeptModel) -> None:
        self.vocab, self._kept = vocab, kept

    @property
    def segmenter(self) -> Segmenter:
        """The model.

        Raises:
            PipelineError: no model, or another one than a segmenter.
        """
        from tagweave.front.segmenter import Segmenter

        model = self._kept.model
        if not isinstance(model, Segmenter):
            expected = 'a segmenter; other models are components: nlp.add_pipe("tagweave")'
            raise PipelineError(f"{model.name}: found a model of words, expected {expected}")
        return model

    def __call__(self, text: str) -> Any:
        """The document of a text."""
        return self._doc(text, self.segmenter.cut(text))

    def pipe(self, texts: Iterable[str], batch_size: int = _BATCH) -> Iterator[Any]:
        """The documents of texts, many at a time, which is faster."""
        several = iter(texts)
        while batch := list(islice(several, batch_size)):
            lines = [each.splitlines() for each in batch]
            words = self.segmenter.cut_all(line for each in lines for line in each)
            for text, own in zip(batch, lines, strict=True):
                yield self._doc(text, [word for found in islice(words, len(own)) for word in found])

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder. Raises OSError."""
        self._kept.to_disk(path)

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> SegmenterTokenizer:
        """Read the model from its folder. Raises as `segmenter`, and as `tagweave.load_model`."""
        self._kept.from_disk(path)
        _ = self.segmenter
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The bytes of the model's file."""
        return self._kept.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SegmenterTokenizer:
        """Read the model from the bytes of its file. Raises as `from_disk`."""
        self._kept.from_bytes(data)
        _ = self.segmenter
        return self

    def _doc(self, text: str, words: Sequence[str]) -> Any:
        from spacy.tokens import Doc
        from spacy.util import get_words_and_spaces

        forms, blanks = get_words_and_spaces(words, text)
        return Doc(self.vocab, words=forms, spaces=blanks)
