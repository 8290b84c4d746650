"""A sink that keeps its rows in this process: exactly once, and a row that came twice is there twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext

Key = tuple[int, str]
"""An epoch, and the attempt to which rows belong: two attempts of one epoch would be told apart."""


class Ledger(Sink[Any]):
    """Books rows under a name; sinks with equal names share their rows.

    >>> Ledger("orders").rows()
    []
    """

    _booked: ClassVar[dict[str, dict[Key, list[Any]]]] = {}

    def __init__(self, name: str) -> None:
        self.name = name

    def rows(self) -> list[Any]:
        """Return what is booked, epoch by epoch."""
        booked = self._booked.get(self.name, {})
        return [row for key in sorted(booked) for row in booked[key]]

    def forget(self) -> None:
        """Remove what is booked."""
        self._booked.pop(self.name, None)

    def booked(self) -> dict[Key, list[Any]]:
        """Return the book itself."""
        return self._booked.setdefault(self.name, {})

    def key(self, context: WriterContext) -> Key:
        """Return under what a writer's rows are booked."""
        return context.epoch, f"{context.operator_id}/{context.attempt}"

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return LedgerWriter(self.key(context))

    def create_committer(self) -> Committer:
        return LedgerCommitter(self.booked())


class LedgerWriter(SinkWriter[Any]):
    """Keeps rows until they are committed."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._rows: list[Any] = []

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self._rows.extend(values)

    def prepare_commit(self) -> Sequence[Any]:
        return [(self._key, self._rows)]


class LedgerCommitter(Committer):
    """Books rows."""

    def __init__(self, booked: dict[Key, list[Any]]) -> None:
        self._booked = booked

    def commit(self, committables: Sequence[Any]) -> None:
        self._booked.update(committables)
