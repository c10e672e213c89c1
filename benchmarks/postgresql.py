"""A throw-away PostgreSQL, which tests use, too: in a temporary folder, on a socket there, of an unprivileged user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root
_MEMORY = Path("/dev/shm")  # noqa: S108  # folders of random names are made in it


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: of the newest PostgreSQL of Debian, or on the path; `None` without one."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    found = str(debian[-1]) if debian else shutil.which("initdb")
    return Path(found).parent if found else None


def temporary_folder(durable: bool = False) -> Path:
    """A new folder, in memory where it need not last; its path is short, as that of a socket must be."""
    return Path(tempfile.mkdtemp(prefix="tagweave-", dir=_MEMORY if _MEMORY.is_dir() and not durable else None))


@contextmanager
def running(folder_of_programs: Path, durable: bool = False) -> Iterator[str]:
    """The URL of a database while the block runs.

    `durable` waits for the disk at every commit, which tests of anything else need not do.
    """
    user = _UNPRIVILEGED if os.getuid() == 0 else None
    folder = temporary_folder(durable)
    if user:
        shutil.chown(folder, user)

    def run(*words: str) -> None:
        done = subprocess.run(words, user=user, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")

    data, log = str(folder / "data"), str(folder / "log")
    control = [str(folder_of_programs / "pg_ctl"), "--pgdata", data, "--wait"]
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync={'on' if durable else 'off'}"
    try:
        initdb = str(folder_of_programs / "initdb")
        run(initdb, "--no-sync", "--pgdata", data, "--username", "tester", "--auth", "trust", "--encoding", "UTF8")
        # its output goes to a file, as the server outlives the program that starts it
        run(*control, "--log", log, "--options", options, "start")
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            run(*control, "--mode", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
