"""The store that commands of `tagweave annotate` work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.annotate.settings import Settings
    from tagweave.annotate.store import Store

StoreUrl = Annotated[
    str,
    typer.Option("--store", metavar="URL", help="sqlite:///FILE or postgresql://...; created if it does not exist."),
]

Guideline = Annotated[
    str | None,
    typer.Option(metavar="G", help="The guideline of the answers, if the model has several. Default: its first."),
]
Share = Annotated[
    float,
    typer.Option(
        min=0, max=1, help="Ask about this share of the tokens (or sentences, for spans), the least certain ones."
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        metavar="marginal|entropy",
        help="What counts as uncertain: a low probability of the best label (default for tokens), or a high entropy of"
        " the labels (default for words of a list).",
    ),
]


def check_strategy(strategy: str | None) -> None:
    """Raise OptionError for an unknown strategy."""
    if strategy not in (None, "marginal", "entropy"):
        raise OptionError(f"unknown --strategy {strategy!r}, expected marginal or entropy")


@contextmanager
def opened(url: str, settings: Settings | None = None) -> Iterator[Store]:
    """The store of a URL, closed at the end of the block.

    Raises:
        OptionError: the URL is not that of a store, the store cannot be reached, or it refuses a value.
    """
    try:
        from sqlalchemy.exc import SQLAlchemyError

        from tagweave.annotate.store import Store
    except ModuleNotFoundError as error:
        raise OptionError(
            f"found no {error.name}, expected the extra annotate: pip install '.[annotate]' in a checkout of tagweave"
        ) from error

    try:
        store = Store.open(url, settings)
        try:
            yield store
        finally:
            store.close()
    except SQLAlchemyError as error:
        lines = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise OptionError(f"--store: {lines[0] if lines else error!r}") from error
    except ValueError as error:
        if type(error) is not ValueError:  # such an error already names its source
            raise
        raise OptionError(str(error)) from error
