"""The annotation tools themselves, from the folder that `make test-tools` fills; without it nothing is collected."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import requests
from typer.testing import CliRunner

from tagweave.cli.main import application

TOOLS = Path(os.environ.get("TAGWEAVE_TOOLS", ""))
_SECONDS = 240

if not (TOOLS / "doccano").is_dir():
    collect_ignore_glob = ["test_*.py"]


class Running(NamedTuple):
    """A tool that answers at an address, with somebody who may do everything."""

    address: str
    session: requests.Session
    folder: Path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def program(folder: Path, environment: Mapping[str, str], *command: str) -> Iterator[None]:
    """A program that runs in a folder, and ends with all of its processes."""
    own = {**os.environ, **environment, "HOME": str(folder)}
    own.pop("PYTHONPATH", None)
    with (folder / f"{Path(command[0]).name}.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, env=own, stdout=log, stderr=log, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def await_answer(session: requests.Session, address: str) -> None:
    """Wait until a server answers."""
    begin = time.monotonic()
    while time.monotonic() - begin < _SECONDS:
        try:
            session.get(address, timeout=10)
            return
        except requests.RequestException:
            time.sleep(0.2)
    raise TimeoutError(f"{address} does not answer")


@pytest.fixture(scope="session")
def doccano(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """doccano, its queue of tasks, and the users ann, who may do everything, and bob."""
    folder, port = tmp_path_factory.mktemp("doccano"), free_port()
    command = str(TOOLS / "doccano" / "bin" / "doccano")
    environment = {**os.environ, "HOME": str(folder)}
    for words in (
        ["init"],
        *(["createuser", "--username", name, "--password", f"{name}-1234"] for name in ("ann", "bob")),
    ):
        subprocess.run([command, *words], cwd=folder, env=environment, check=True, capture_output=True)
    with ExitStack() as stack, requests.Session() as session:
        stack.enter_context(program(folder, {}, command, "webserver", "--port", str(port)))
        stack.enter_context(program(folder, {}, command, "task"))
        address = f"http://127.0.0.1:{port}"
        await_answer(session, address)
        yield Running(address, session, folder)


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Label Studio, which may call servers of this machine."""
    folder, port, token = tmp_path_factory.mktemp("label_studio"), free_port(), "0123456789abcdef" * 2 + "01234567"
    environment = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "ML_BLOCK_LOCAL_IP": "false",
        "SSRF_PROTECTION_ENABLED": "false",
        "COLLECT_ANALYTICS": "false",
    }
    command = [str(TOOLS / "label-studio" / "bin" / "label-studio"), "start", "--no-browser", "--port", str(port)]
    command += ["--username", "ann@example.com", "--password", "ann-1234", "--user-token", token]
    with program(folder, environment, *command), requests.Session() as session:
        session.headers["Authorization"] = f"Token {token}"
        await_answer(session, f"http://127.0.0.1:{port}/api/projects")
        yield Running(f"http://127.0.0.1:{port}", session, folder)


@pytest.fixture
def run() -> Callable[..., None]:
    """Runs `tagweave` with arguments."""

    def call(*arguments: object) -> None:
        result = CliRunner().invoke(application(), [str(each) for each in arguments], catch_exceptions=False)
        assert result.exit_code == 0, (result.stdout, result.stderr)

    return call
