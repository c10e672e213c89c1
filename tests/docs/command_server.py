"""`tagweave` for the examples of the documentation, without a start of Python for each: a server forks for a command.

The server has imported the command line and loaded its compiled code once. A shell finds a program `tagweave` that
hands over its arguments, folder, environment and standard streams, and ends with the exit code that comes back; what
runs is the entry point of the command line, in a process of its own.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

# a line of #! cannot hold the name of a program with blanks: the shell finds it, and Python sees a text
_CLIENT = """#!/bin/sh
'''exec' "{python}" -ISE "$0" "$@"
' '''
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    order = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(order).to_bytes(8, "little")], [0, 1, 2])
    server.sendall(order)
    code = server.recv(4)
    sys.exit(int.from_bytes(code, "little") if code else 1)
"""


@contextmanager
def command_server() -> Iterator[str]:
    """The folder of a program `tagweave`, to stand first on the path, while the block runs."""
    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
        address, client = f"{folder}/socket", Path(folder, "bin", "tagweave")
        client.parent.mkdir()
        client.write_text(_CLIENT.format(python=sys.executable, address=address), encoding="utf-8")
        client.chmod(client.stat().st_mode | stat.S_IXUSR)
        with subprocess.Popen([sys.executable, "-W", "error", __file__, address], stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            try:
                yield str(client.parent)
            finally:
                server.kill()


def serve(address: str) -> None:
    """Take commands until the process is killed."""
    from tagweave.cli.main import main

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes: each sends its own exit code
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        _load()
        gc.freeze()  # what a collection looks at is copied for each process
        print("ready", flush=True)
        while True:
            client, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _run(client, main)
            client.close()


def _load() -> None:
    """Import what many commands import, and load compiled code, so that each command finds it there."""
    from tagweave.cli.demo import warm

    for module in ("tagweave.training.cascades.coupled", "tagweave.annotate.store", "tagweave.evaluation.report"):
        import_module(module)
    with redirect_stderr(io.StringIO()):
        warm()


def _run(client: socket.socket, main: Any) -> NoReturn:
    """Run one command in this process, a child of the server, and end it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as file:
        arguments, folder, environment = json.loads(file.read(int.from_bytes(length, "little")))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number, name in ((1, "stdout"), (2, "stderr")):  # the old ones believe that they are what the server has
        setattr(sys, name, open(number, "w", buffering=1, closefd=False))  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["tagweave", *arguments]
    code = _ended(main)
    client.sendall(code.to_bytes(4, "little"))
    os._exit(code)


def _ended(main: Any) -> int:
    """The exit code of the command line, after everything is written."""
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
