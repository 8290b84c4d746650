"""The format 'protobuf-confluent': messages of Protocol Buffers with the ids of their schemas, which Flink lacks.

Behind the id is which message of its file it is (see `formats.protobuf.registered`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.connectors.schema_registry.wire_format import HEADER
from firesteel.connectors.tables.formats.avro.lanes import Lanes, Malformed
from firesteel.connectors.tables.formats.protobuf.definitions import message_class
from firesteel.connectors.tables.formats.protobuf.registered import (
    PROTOBUF,
    Path,
    message_path,
    registered_text,
    written_path,
)
from firesteel.connectors.tables.messages.confluent import (
    Registry,
    RegistryOptions,
    registry,
    require_subject,
    schema_ids,
)
from firesteel.connectors.tables.messages.confluent_header import HeadedDecoder, HeadedEncoder
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
)
from firesteel.connectors.tables.messages.protobuf_messages import (
    Definition,
    ProtobufOptions,
    definition,
    protobuf_decoder,
    protobuf_encoder,
)
from firesteel.connectors.tables.options import Options

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

_NAME: Final = "protobuf-confluent"


class ConfluentProtobufFormat(MessageFormat):
    """Messages of the definition that options name, as for the format 'protobuf', behind the id of their schema.

    The registry is asked only to write: messages have their definition from the table.
    """

    name = _NAME
    options = (*RegistryOptions(_NAME).all, *ProtobufOptions(_NAME).all)

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        registry(options, _NAME, None)
        found = definition(options, row, _NAME)
        behind = _BehindPath(message_path(_descriptor(found)), found.name)
        return HeadedDecoder(protobuf_decoder(options, row, found, _NAME), behind)

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        known = registry(options, _NAME, subject)
        require_subject(known, options, _NAME)
        found = definition(options, row, _NAME)
        registered_text(_descriptor(found))  # which may be refused
        return HeadedEncoder(protobuf_encoder(options, row, found, _NAME), partial(_header, known, found))


def _descriptor(found: Definition) -> Descriptor:
    return message_class(found.descriptors, found.name).DESCRIPTOR


def _header(known: Registry, found: Definition) -> bytes:
    message = _descriptor(found)
    schema = known.schema or registered_text(message)
    return known.header(schema, PROTOBUF) + written_path(message_path(message))


@dataclass(frozen=True)
class _BehindPath:
    """Returns what is behind the id and the path, which must be the one of a message."""

    path: Path
    name: str

    def __call__(self, messages: pa.Array) -> pa.Array | BadMessage:
        ids = schema_ids(messages)
        if isinstance(ids, BadMessage):
            return ids
        try:
            lanes = Lanes.of(messages, HEADER)
            wrong = self._wrong(lanes)
            lanes.finish()
        except (Malformed, IndexError):
            wrong = np.array([self._wrong_alone(messages[at : at + 1]) for at in range(len(messages))])
        if wrong.any():
            index = int(np.argmax(wrong))
            return BadMessage(
                index, messages[index].as_py(), f"it is another message of its file than {self.name}"
            )
        return lanes.pieces(lanes.end - lanes.pos)

    def _wrong(self, lanes: Lanes) -> np.ndarray:
        """Return which lanes have another path, and move them behind it."""
        counts = lanes.longs()
        short = counts == 0
        wrong = np.zeros(len(lanes), np.bool_) if self.path == (0,) else short.copy()
        wrong |= ~short & (counts != len(self.path))
        rest = np.flatnonzero(~short & ~wrong)
        some = lanes.only(rest)
        for number in self.path:
            wrong[rest] |= some.longs() != number
        lanes.merge(rest, some)
        return np.asarray(wrong)

    def _wrong_alone(self, message: pa.Array) -> bool:
        try:
            lanes = Lanes.of(message, HEADER)
            found = bool(self._wrong(lanes).any())
            lanes.finish()
        except (Malformed, IndexError):
            return True
        return found
