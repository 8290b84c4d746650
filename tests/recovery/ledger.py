"""A ledger that passes the points of a crasher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.functions.sink import Committer, SinkWriter, WriterContext
from firesteel.testing.contracts.ledger import Ledger, LedgerCommitter, LedgerWriter
from tests.recovery import crashing


def rows(name: str) -> list[Any]:
    """What a ledger holds, epoch by epoch."""
    return Ledger(name).rows()


def forget(name: str) -> None:
    """Begin a new ledger."""
    Ledger(name).forget()


class LedgerSink(Ledger):
    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return _Writer(self.key(context))

    def create_committer(self) -> Committer:
        return _Committer(self.booked())


class _Writer(LedgerWriter):
    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        crashing.reach("writing rows")
        super().write(values, timestamps)


class _Committer(LedgerCommitter):
    def commit(self, committables: Sequence[Any]) -> None:
        crashing.around("booking", lambda: super(_Committer, self).commit(committables))
