"""The annotation server as a process of its own, which can be killed and started again."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tagweave.corpus import sample

_TAGWEAVE = Path(sys.executable).with_name("tagweave")
_HOST = "127.0.0.1"


class Server:
    """A server of a store, on a port of loopback that stays the same from start to start.

    Attributes:
        base: where its pages are.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self._port = _free_port()
        self.base, self._log = f"http://{_HOST}:{self._port}", folder / f"serve-{self._port}.log"
        arguments = ("--model", "model", "--corpus", "raw.seg", "--store", url, "--port", str(self._port))
        self._command, self._folder = (str(_TAGWEAVE), "annotate", "serve", *arguments), folder

    def start(self) -> None:
        """Start, and wait until it listens."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log)
        while not self._listens():
            if self._process.poll() is not None:
                raise SystemExit(f"the server did not start:\n{self._log.read_text(encoding='utf-8')[-3000:]}")
            time.sleep(0.02)

    def _listens(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex((_HOST, self._port)) == 0

    def kill(self) -> None:
        """End it as a power cut would, in the middle of whatever it does."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it in order."""
        self._process.terminate()
        self._process.wait()

    def seconds(self) -> float:
        """Of the processor, that it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def folder_with_model() -> Iterator[Path]:
    """A folder with what `serve` asks for: a model of the sample, and a sentence that it does not noise twice."""
    with tempfile.TemporaryDirectory(prefix="tagweave-") as name:
        corpus = str(sample.path("ctb.txt"))
        words = ("train", f"ctb={corpus}", "-o", "model", "--iterations", "3")
        done = subprocess.run((str(_TAGWEAVE), *words), cwd=name, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"tagweave train failed:\n{done.stderr}")
        first = Path(corpus).read_text(encoding="utf-8").splitlines()[0]
        Path(name, "raw.seg").write_text(re.sub(r"/[A-Za-z]*", "", first) + "\n", encoding="utf-8")
        yield Path(name)


def _free_port() -> int:
    with socket.create_server((_HOST, 0)) as listening:
        return int(listening.getsockname()[1])
