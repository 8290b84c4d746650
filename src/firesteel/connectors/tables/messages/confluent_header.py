"""Messages of another format behind the id of a schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.connectors.schema_registry.wire_format import HEADER
from firesteel.connectors.tables.messages.confluent import schema_ids
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    earliest,
    moved,
)
from firesteel.connectors.tables.messages.message_lines import present
from firesteel.functions.columns.endpoints import Kinds

Rest = Callable[[pa.Array], pa.Array | BadMessage]
"""Returns what is behind the header of messages, or the first that has something else there."""


def behind_header(messages: pa.Array) -> pa.Array | BadMessage:
    """Return what is behind the ids of schemas.

    >>> behind_header(pa.array([b"\\x00\\x00\\x00\\x00\\x07{}"])).to_pylist()
    [b'{}']
    """
    ids = schema_ids(messages)
    return ids if isinstance(ids, BadMessage) else pc.binary_slice(messages, HEADER, 1 << 31)


class HeadedDecoder(MessageDecoder):
    """Reads what is behind a header by another decoder. The registry is not asked: the data are read without it."""

    def __init__(self, inner: MessageDecoder, rest: Rest = behind_header) -> None:
        self._inner = inner
        self._rest = rest

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        """Return the rows of messages."""
        given, places = present(messages)
        return moved(self._decode(given), places)

    def _decode(self, messages: pa.Array) -> Decoded | BadMessage:
        rest = self._rest(messages)
        if isinstance(rest, BadMessage):
            return earliest(rest, messages, self._decode)
        found = self._inner.decode(rest)
        if isinstance(found, BadMessage):
            return replace(found, message=messages[found.index].as_py())
        return found


class HeadedEncoder(MessageEncoder):
    """Writes a header, which is asked for with the first rows, before what another encoder writes."""

    def __init__(self, inner: MessageEncoder, header: Callable[[], bytes]) -> None:
        self._inner = inner
        self._ask = header
        self._header: bytes | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_header": None}

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        """Return the message of each row."""
        if self._header is None:
            self._header = self._ask()
        data = self._inner.encode(rows, kinds)
        nothing = pa.scalar(b"", pa.binary())
        return pc.binary_join_element_wise(pa.scalar(self._header, pa.binary()), data, nothing)
