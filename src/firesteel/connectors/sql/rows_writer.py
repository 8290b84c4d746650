"""Writers of rows that are in the order of the target's columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from firesteel.connectors.sql.rows import RowReader, Values
from firesteel.functions.sink import SinkWriter


class RowsWriter(SinkWriter[Any]):
    """Writes records, or rows that are made of them; `reader` makes rows."""

    reader: RowReader

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self.put(map(self.reader.read, values))

    @abstractmethod
    def put(self, changes: Iterable[tuple[bool, Values]]) -> None:
        """Write rows in order, each with whether it deletes."""
