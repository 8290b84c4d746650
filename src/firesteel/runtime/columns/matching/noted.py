"""What is noted with the partial matches of MATCH_RECOGNIZE, so that they can be shown without their query."""

from __future__ import annotations

from typing import Final

import msgspec
import pyarrow as pa

from firesteel.common.decoders import msgpack_decoder
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.functions.columns.row_patterns import MatchRecognize

MATCHES: Final = "matches"
"""The arrangement of what keys have, as one value each: their summaries, their timers, and short matches."""

ENTRIES: Final = "entries"
"""The arrangement of the links and rows of long matches."""


class Noted(msgspec.Struct, frozen=True):
    """The shape of a pattern's automaton, the number of `keys` (columns of its partition), and what stays of rows.

    `rows` is the schema of what stays, serialised; its names are what the query says.
    """

    shape: list[str]
    keys: int
    rows: bytes

    @classmethod
    def of(cls, match: MatchRecognize, shape: list[str]) -> Noted:
        """Return what is noted of a pattern."""
        columns = match.events.columns[: match.kept]
        schema = pa.schema([pa.field(column.shown, to_arrow(column.type)) for column in columns])
        return cls(shape, len(match.keys), schema.serialize().to_pybytes())

    @classmethod
    def read(cls, data: bytes) -> Noted:
        """Return what was `encoded`."""
        return msgpack_decoder(cls).decode(data)

    def encoded(self) -> bytes:
        """Return it as bytes, for `Layout.note`."""
        return msgspec.msgpack.encode(self)

    @property
    def schema(self) -> pa.Schema:
        """The schema of what stays of rows."""
        return pa.ipc.read_schema(pa.py_buffer(self.rows))
