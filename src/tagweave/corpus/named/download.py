"""Downloads that go on where they were broken off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tagweave.corpus.named.errors import DataError
from tagweave.corpus.named.registry import RemoteFile

_SECONDS = 30  # without a byte
_BLOCK = 1 << 16
_PARTIAL, _COMPLETE = 206, 200
_NOT_FOUND, _BEYOND_THE_END = 404, 416


class Download:
    """A download: what arrives is kept in a partial file, from whose end the next attempt goes on."""

    def __init__(self, partial: Path, file: RemoteFile) -> None:
        self.partial, self.file = partial, file

    def receive(self) -> None:
        """Complete the partial file.

        Raises:
            DataError: there is no network or no such file, or the transfer broke off.
        """
        try:
            import requests
        except ImportError:
            wanted = "the extra data: pip install '.[data]' in a checkout of tagweave"
            raise self._error("no requests, which fetches files", wanted) from None
        url = self.file.url
        try:
            with requests.Session() as session:
                total = self._receive(session, url)
        except requests.RequestException as error:
            raise self._error(f"no answer of {url} ({type(error).__name__})", self._instead()) from error
        size = self.partial.stat().st_size
        if size < total:
            raise self._error(f"{size:,} of {total:,} bytes of {url}", "all; the same command goes on with the rest")
        if size > total:
            self.partial.unlink()
            raise self._error(f"{size:,} bytes of {url}, written by two programs", f"{total:,}; try again")

    def _receive(self, session: Any, url: str) -> int:
        """Append to the partial file what it lacks; returns the size of the whole."""
        have = self.partial.stat().st_size if self.partial.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with session.get(url, headers=headers, stream=True, timeout=_SECONDS) as answer:
            if answer.status_code == _BEYOND_THE_END:
                self.partial.unlink()
                raise self._error(f"a partial file longer than {url}", "a beginning of it; try again")
            if answer.status_code == _NOT_FOUND:
                raise self._error(f"no file at {url}", "a corpus, release and split that exist")
            if answer.status_code not in (_COMPLETE, _PARTIAL):
                raise self._error(f"the answer {answer.status_code} of {url}", f"{_COMPLETE}")
            answer.raw.enforce_content_length = False  # otherwise the last block of what broke off is lost
            goes_on = answer.status_code == _PARTIAL
            rest = int(answer.headers.get("Content-Length", -1))
            with self.partial.open("ab" if goes_on else "wb") as part:
                for block in answer.iter_content(_BLOCK):
                    part.write(block)
            begin = have if goes_on else 0
            return begin + rest if rest >= 0 else self.partial.stat().st_size

    def _error(self, found: str, expected: str) -> DataError:
        return DataError(str(self.file.name), found, expected)

    def _instead(self) -> str:
        return f"a network, or the file as {self.partial.with_suffix('')}"
