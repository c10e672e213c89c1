"""The model of a part of a pipeline, which is saved with the pipeline: its file is copied into it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tagweave.front.loading import load_model
from tagweave.models.storage import ModelFileError
from tagweave.pipelines.errors import PipelineError

if TYPE_CHECKING:
    from tagweave.front.model import Model

_FILE = "tagweave.model"
_META = "tagweave"


class KeptModel:
    """A model that comes from its file, or with the pipeline.

    Args:
        path: the file; `None`: it comes with the pipeline.
        threads: how many threads share the work.
    """

    def __init__(self, path: str | None, threads: int = 1) -> None:
        self.path, self.threads = path, threads
        self._model: Model | None = None

    def open(self, nlp: Any) -> bool:
        """Read the file, unless it comes with the pipeline: whether it is there.

        The pipeline notes its files among its meta data, so that it needs none of them where it is read.

        Raises:
            ModelFileError, OSError: as `tagweave.load_model`.
        """
        known = nlp.meta.setdefault(_META, [])
        if self.path is None or self.path in known:
            return False
        self._model = self._read(self.path)
        known.append(self.path)
        return True

    @property
    def model(self) -> Model:
        """The model.

        Raises:
            PipelineError: it has not come yet.
            ModelFileError, OSError: as `tagweave.load_model`.
        """
        if self._model is None:
            if self.path is None:
                raise PipelineError(
                    "found no model, expected the file of one (model), or a pipeline that was saved with it"
                )
            self._model = self._read(self.path)
        return self._model

    def to_disk(self, path: Path | str) -> None:
        """Write the model into a folder. Raises OSError."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save(folder / _FILE)

    def from_disk(self, path: Path | str) -> None:
        """Read the model from the folder. Raises as `tagweave.load_model`."""
        self._model = self._read(str(Path(path) / _FILE))

    def to_bytes(self) -> bytes:
        """The bytes of the model's file."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            return (Path(folder) / _FILE).read_bytes()

    def from_bytes(self, data: bytes) -> None:
        """Read the model from the bytes of its file. Raises ModelFileError."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / _FILE
            file.write_bytes(data)
            try:
                self._model = self._read(str(file))
            except ModelFileError as error:
                raise ModelFileError(str(error).replace(str(file), "bytes of a pipeline")) from None
            self._model.name = "the model"

    def _read(self, path: str) -> Model:
        return load_model(path, self.threads)
