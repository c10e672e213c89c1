"""Models to and from the Hugging Face hub."""

from __future__ import annotations

import shutil
from os import PathLike, fspath

from tagweave import __version__
from tagweave.corpus.whole_file import whole_file
from tagweave.models.hub import CARD, MODEL, endpoint, fetched, hub_name, told
from tagweave.models.storage import describe_model


def push(model: str | PathLike[str], name: str, card: str, private: bool = False) -> str:
    """Upload a model and its card, as one commit; the repository is made unless it is there.

    Args:
        model: its file.
        name: the repository, `OWNER/NAME`.
        card: the text of the card (`model_card`), which replaces that of the repository.
        private: whether a new repository is private.

    Returns:
        The address of the commit.

    Raises:
        ModelFileError, OSError: not a model.
        HubError: no network, or no token that may write.
    """
    describe_model(fspath(model))
    target = hub_name(name)
    with told(str(target)) as hub:
        api = hub.HfApi(endpoint=endpoint())
        api.create_repo(target.repository, private=private, exist_ok=True)
        files = {MODEL: fspath(model), CARD: card.encode()}
        commit = api.create_commit(
            target.repository,
            [hub.CommitOperationAdd(each, content) for each, content in files.items()],
            commit_message=f"A model of tagweave {__version__}",
            revision=target.revision,
        )
        return str(commit.commit_url)


def pull(name: str, output: str | PathLike[str]) -> None:
    """Download a model to a file, which appears whole or not at all.

    Args:
        name: the repository, `[hf:]OWNER/NAME[@REVISION]`.
        output: the file.

    Raises:
        HubError: no such repository, no model in it, or no network.
        ModelFileError: not a model.
        OSError: the file cannot be written.
    """
    path = fetched(hub_name(name))
    describe_model(path)
    with whole_file(fspath(output)) as part:
        shutil.copyfile(path, part)
