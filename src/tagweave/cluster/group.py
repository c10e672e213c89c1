"""Groups: objects that live on workers, one for every item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from tagweave.cluster.executor import Failure, attempt

Arrays = Mapping[str, NDArray[Any]]
Reply = tuple[Arrays, Any]
"""What methods of the objects return: arrays by name, and plain data."""

PAUSE = 0.1
"""Seconds between calls of `while_waiting`."""


def nothing() -> None:
    """Do nothing."""


class Group(Protocol):
    """Objects on workers."""

    def __len__(self) -> int: ...

    def call(
        self, method: str, arrays: Arrays, *plain: Any, while_waiting: Callable[[], None] = nothing
    ) -> Iterator[Reply]:
        """Call a method of all objects; yields their replies in the order of the items.

        A method takes the arrays and the plain arguments. The objects must give the same reply whenever they are asked
        the same: a call whose worker died is repeated on a new one.

        Args:
            method: its name.
            arrays: read-only for the method; they travel once to every machine.
            plain: other arguments.
            while_waiting: called several times a second; an exception that it raises ends the call.

        Raises:
            Exception: what the method raised.
            ClusterError: a call that ended its worker again and again.
        """
        ...


class Resident:
    """The worker's side of a group: its object, which is made when it is first needed.

    Args:
        function: makes the object.
        item: its argument.
    """

    def __init__(self, function: Callable[[Any], Any], item: Any) -> None:
        self._function, self._item = function, item
        self._held: Any = None

    def call(self, method: str, arrays: Arrays, plain: tuple[Any, ...]) -> Reply | Failure:
        """The reply of a method of the object, or what it raised."""
        reply: Reply | Failure = attempt(lambda name: getattr(self._object(), name)(arrays, *plain), method)
        return reply

    def _object(self) -> Any:
        if self._held is None:
            self._held = self._function(self._item)
        return self._held
