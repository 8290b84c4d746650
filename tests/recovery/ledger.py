"""A sink that keeps its rows in this process: exactly once, and it would show a row that came twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext
from tests.recovery import crashing

_LEDGERS: dict[str, dict[tuple[int, str], list[Any]]] = {}


def rows(name: str) -> list[Any]:
    """What a ledger holds, epoch by epoch."""
    return [row for key in sorted(_LEDGERS.get(name, {})) for row in _LEDGERS[name][key]]


def forget(name: str) -> None:
    """Begin a new ledger."""
    _LEDGERS.pop(name, None)


class LedgerSink(Sink[Any]):
    """Rows are booked under the epoch and the attempt they belong to: two attempts of one would be told apart."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return _Writer((context.epoch, f"{context.operator_id}/{context.attempt}"))

    def create_committer(self) -> Committer:
        return _Committer(self.name)


class _Writer(SinkWriter[Any]):
    def __init__(self, key: tuple[int, str]) -> None:
        self._key = key
        self._rows: list[Any] = []

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        crashing.reach("writing rows")
        self._rows.extend(values)

    def prepare_commit(self) -> Sequence[Any]:
        return [(self._key, self._rows)]


class _Committer(Committer):
    def __init__(self, name: str) -> None:
        self._name = name

    def commit(self, committables: Sequence[Any]) -> None:
        ledger = _LEDGERS.setdefault(self._name, {})
        crashing.around("booking", lambda: ledger.update(committables))
