"""A sink that drops everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext


class DiscardingSink(Sink[Any]):
    """Takes records and drops them (Flink: DiscardingSink).

    >>> DiscardingSink().create_committer().commit([])
    """

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return _Writer()

    def create_committer(self) -> Committer:
        return _Committer()


class _Writer(SinkWriter[Any]):
    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        pass

    def prepare_commit(self) -> Sequence[Any]:
        return ()


class _Committer(Committer):
    def commit(self, committables: Sequence[Any]) -> None:
        pass
