"""Files that appear completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: Path | str) -> Iterator[Path]:
    """An empty temporary file, which becomes the file `path` when the block ends without an exception.

    A symbolic link stays, and the file that it points to is replaced. The new file has the permissions of the old one,
    or if there was none, those of any new file.

    Raises:
        OSError: the file cannot be written; an existing one stays as it was.
    """
    target = Path(os.path.realpath(path))
    before = _state(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        mode = (before or part.stat()).st_mode
        yield part
        part.chmod(mode & 0o777)  # a writer may have replaced the file
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _state(path: Path) -> os.stat_result | None:
    """What the file is; `None` if there is none. Asked once: another process may remove it in between."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
