"""Models on the Hugging Face hub: `hf:OWNER/NAME[@REVISION]`, one file each, kept in the hub's own cache folder.

huggingface_hub handles tokens (its login or `HF_TOKEN`). None is read, written or named here, and errors are reported
in the words of this package, without requests and their headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tagweave.errors import TagweaveError

PREFIX = "hf:"
MODEL, CARD = "model.tagweave", "README.md"
"""The names of the two files of a repository."""
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_NAME = re.compile(rf"(?P<repository>{_PART}/{_PART})(?:@(?P<revision>[\w./-]+))?")
_REFUSED, _LOGIN = (401, 403), "(hf auth login, or HF_TOKEN)"
_FOUND = {  # what each error of huggingface_hub means; derived classes come first
    "GatedRepoError": "a repository whose terms nobody accepted, expected an accepted one",
    "RepositoryNotFoundError": f"no such repository, expected one, or a token that may read it {_LOGIN}",
    "RevisionNotFoundError": "no such revision, expected a branch, tag or commit of the repository",
    "LocalEntryNotFoundError": "no answer of the hub and no copy here, expected a network",
    "EntryNotFoundError": f"a repository without {MODEL}, expected one that `tagweave push` made",
    "LocalTokenNotFoundError": f"no token, expected one {_LOGIN}",
}


class HubError(TagweaveError):
    """A name of no repository, or a hub that does not answer as expected."""


class HubName(NamedTuple):
    """A repository, and the branch, tag or commit in it; `None`: the main branch."""

    repository: str
    revision: str | None = None

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def hub_name(text: str) -> HubName:
    """Return the parts of `[hf:]OWNER/NAME[@REVISION]`."""
    match = _NAME.fullmatch(text.removeprefix(PREFIX)) if isinstance(text, str) else None
    if match is None:
        raise HubError(f"found {text!r}, expected a repository: {PREFIX}OWNER/NAME[@REVISION]")
    return HubName(**match.groupdict())


def model_file(path: Path | str) -> str:
    """Return the path of a model's file, fetched if `path` is `hf:OWNER/NAME` and no file, or else `path` itself."""
    text = os.fspath(path)
    return text if not text.startswith(PREFIX) or Path(text).exists() else fetched(hub_name(text))


def fetched(name: HubName) -> str:
    """Return the file of a model on the hub, from the hub's folder of caches if it is there."""
    with told(str(name)) as hub:
        return str(hub.hf_hub_download(name.repository, MODEL, revision=name.revision, endpoint=endpoint()))


def endpoint() -> str | None:
    """Return the address of the hub; `None`: the usual one."""
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def told(what: str) -> Iterator[Any]:
    """Return the package huggingface_hub; its errors are raised as `HubError`."""
    try:
        import huggingface_hub as hub
    except ImportError:
        problem = f"{what}: found no huggingface_hub"
        raise HubError(f"{problem}, expected the extra hub: pip install '.[hub]' in a checkout of tagweave") from None
    from huggingface_hub import errors
    from huggingface_hub.utils import logging

    quiet: Any = logging.set_verbosity_error  # without types
    quiet()  # it would tell of every attempt
    try:
        yield hub
    except (errors.HfHubHTTPError, errors.LocalTokenNotFoundError, errors.EntryNotFoundError) as error:
        texts = (text for name, text in _FOUND.items() if isinstance(error, getattr(errors, name)))
        if (text := next(texts, None)) is None:
            status = getattr(getattr(error, "response", None), "status_code", "no status")
            expected = f"a token that may write {_LOGIN}" if status in _REFUSED else "one of success"
            text = f"the answer {status} of the hub, expected {expected}"
        raise HubError(f"{what}: found {text}") from None
    except (ConnectionError, errors.HTTPError):  # type: ignore[attr-defined]  # the base class of the client below
        raise HubError(f"{what}: found no answer of the hub, expected a network") from None
