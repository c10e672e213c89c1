"""Annotators and curators as rows of the store. They sign in with a password or a one-time link."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, bindparam, insert, select, update

from tagweave.annotate.database import StorePart, annotators, invitations

ROLES = ("annotator", "curator")
LONGEST = 200
"""Characters of a name: PostgreSQL cannot look up thousands."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person who may sign in."""

    id: int
    name: str
    role: str
    password_hash: str | None  # None: they can sign in only by a link
    created: float
    admitted: float | None  # since when they need no training phase: passed it, were admitted, or are a curator
    session_epoch: int  # sessions of an earlier epoch are over


class People(StorePart):
    """The people of a store."""

    def add_annotator(self, name: str, role: str = "annotator", password_hash: str | None = None) -> Annotator:
        """Add a person with the role `annotator` or `curator`. Curators are admitted at once."""
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise ValueError(f"found the name {name[:LONGEST]!r}, expected 1 to {LONGEST} printable characters")
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r}, expected one of {', '.join(ROLES)}")
        now = self._clock()
        row = {"name": name, "role": role, "password_hash": password_hash, "created": now}
        new = insert(annotators).values(**row, admitted=now if role == "curator" else None).returning(annotators)
        with self._database.writing() as connection:
            if find(connection, name) is not None:
                raise ValueError(f"found the name {name!r} in use, expected a new one")
            return Annotator(*connection.execute(new).one())

    def annotator(self, who: int | str) -> Annotator | None:
        """Return the annotator with a number or a name."""
        with self._database.reading() as connection:
            return find(connection, who)

    def annotators(self) -> list[Annotator]:
        """Return all annotators and curators, by name."""
        with self._database.reading() as connection:
            return [Annotator(*row) for row in connection.execute(select(annotators).order_by(annotators.c.name))]

    def change_password(self, annotator: int, password_hash: str | None) -> None:
        """Change a password, and end all sessions."""
        with self._database.writing() as connection:
            _end_sessions(connection, annotator, password_hash=password_hash)

    def end_sessions(self, annotator: int) -> None:
        """End all sessions of an annotator, by a new `session_epoch`."""
        with self._database.writing() as connection:
            _end_sessions(connection, annotator)

    def admit(self, annotator: int) -> None:
        """Admit an annotator, whatever their results in training."""
        with self._database.writing() as connection:
            admit(connection, annotator, self._clock())

    def invite(self, annotator: int, token: str, seconds: float) -> None:
        """Let a token sign an annotator in, once, within so many seconds; the store keeps a digest of the token."""
        row = {"digest": _digest(token), "annotator": annotator, "expires": self._clock() + seconds}
        with self._database.writing() as connection:
            connection.execute(insert(invitations).values(**row))

    def is_invited(self, token: str) -> bool:
        """Return whether a token is valid now; somebody else may use it up before it is redeemed."""
        chosen = select(invitations.c.annotator).where(_is_valid(token, self._clock()))
        with self._database.reading() as connection:
            return connection.execute(chosen).scalar_one_or_none() is not None

    def redeem(self, token: str, password_hash: str) -> Annotator | None:
        """Use up a token and set its annotator's password; `None` if the token is unknown, used or too old."""
        now = self._clock()
        use = update(invitations).where(_is_valid(token, now)).values(used=now).returning(invitations.c.annotator)
        with self._database.writing() as connection:
            number = connection.execute(use).scalar_one_or_none()
            if number is None:
                return None
            _end_sessions(connection, number, password_hash=password_hash)
            return find(connection, number)


_NAMED, _NUMBERED = (
    select(annotators).where(column == bindparam("who")) for column in (annotators.c.name, annotators.c.id)
)


def find(connection: Connection, who: int | str) -> Annotator | None:
    """Return the annotator with a number or a name. No name contains NUL, which PostgreSQL would reject."""
    if isinstance(who, str) and "\0" in who:
        return None
    row = connection.execute(_NAMED if isinstance(who, str) else _NUMBERED, {"who": who}).one_or_none()
    return None if row is None else Annotator(*row)


def admit(connection: Connection, number: int, now: float) -> None:
    """End the training phase of an annotator."""
    is_new = (annotators.c.id == number) & annotators.c.admitted.is_(None)
    connection.execute(update(annotators).where(is_new).values(admitted=now))


def _end_sessions(connection: Connection, number: int, **changes: str | None) -> None:
    epoch = annotators.c.session_epoch + 1
    connection.execute(update(annotators).where(annotators.c.id == number).values(session_epoch=epoch, **changes))


def _is_valid(token: str, now: float) -> ColumnElement[bool]:
    return (invitations.c.digest == _digest(token)) & invitations.c.used.is_(None) & (invitations.c.expires > now)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
