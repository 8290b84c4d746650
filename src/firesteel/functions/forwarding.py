"""Writers of sinks that write through others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from firesteel.functions.sink import SinkWriter

W = TypeVar("W", bound=SinkWriter[Any])


class ForwardingWriter(SinkWriter[Any], Generic[W]):
    """Asks another writer to do all that it is asked for, but does not say how records are written."""

    def __init__(self, writer: W) -> None:
        self._writer = writer

    def advance_watermark(self, watermark: int) -> None:
        self._writer.advance_watermark(watermark)

    def prepare_commit(self) -> Sequence[Any]:
        return self._writer.prepare_commit()

    def snapshot_state(self) -> Any:
        return self._writer.snapshot_state()

    def next_wakeup(self) -> int | None:
        return self._writer.next_wakeup()

    def abort(self) -> None:
        self._writer.abort()
