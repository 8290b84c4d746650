"""What a format does for connectors whose records are messages of bytes, with a key and a value.

Contract:

- `MessageFormat.decoder` and `MessageFormat.encoder` check options and types when a job is planned. What they return is
  pickled and used by one thread; it asks nobody before the first message.
- Messages are a binary column, one for each record; NULL is a message without a value, such as a tombstone. Most
  formats have no row for that.
- `decode` returns the rows in the order of their messages. A message may have no row, one or several. It returns the
  first message that cannot be decoded as a `BadMessage` instead; then those before it can be. Formats whose option
  says to ignore errors leave such messages out.
- `encode` returns one message for each row, in order.
- Nothing that is outside changes what bytes mean: messages that are read again have the same rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.errors import ConnectorError
from firesteel.common.logical_types import LogicalType, RowType
from firesteel.connectors.tables.options import Listed, Options
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.functions.columns.endpoints import Kinds

Places = npt.NDArray[np.int64]

_SHOWN: Final = 200


class Decoded(NamedTuple):
    """Rows of messages: the columns of the row type, then the metadata that was asked for.

    `kinds` are those of their changes (None: inserts). `messages` are the places of their messages, none of them before
    the place of an earlier row (None: each message has one row).
    """

    rows: pa.RecordBatch
    kinds: Kinds | None = None
    messages: Places | None = None

    def places(self) -> Places:
        """Return the place of each row's message.

        >>> Decoded(pa.record_batch({"n": [1, 2]})).places().tolist()
        [0, 1]
        """
        return np.arange(self.rows.num_rows) if self.messages is None else self.messages


@dataclass(frozen=True)
class BadMessage:
    """A message that cannot be decoded: its place, its bytes, why, and the option that skips such messages."""

    index: int
    message: bytes | None
    why: str
    option: str | None = None

    def error(self, who: str) -> ConnectorError:
        """Return the error; `who` says which message it is, such as \"the message at offset 7 of 'topic' [0]\"."""
        message = self.message or b""
        text = message[: _SHOWN + 1].decode("utf-8", "backslashreplace")
        shown = text if len(message) <= _SHOWN else f"{text[:_SHOWN]}..."
        hint = f"with '{self.option}' = 'true' such messages are skipped" if self.option else None
        return ConnectorError(
            "requires a message that is of the table's type",
            who=who,
            got=f"{shown!r} ({self.why})",
            hint=hint,
        )


class MessageDecoder(ABC):
    """Makes rows of messages. Picklable."""

    @abstractmethod
    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        """Return the rows of messages (a binary array), or the first message that is none.

        Raises ConnectorError if something that the format needs, such as a schema registry, is away.
        """


class MessageEncoder(ABC):
    """Makes messages of rows. Picklable."""

    @abstractmethod
    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        """Return a message (binary) for each row; `kinds` are those of their changes, which a format's `mode` has.

        Raises ConnectorError for a row that the format cannot write, or if something that it needs is away.
        """


class MessageFormat(ABC):
    """A format by the value of the option 'format', 'key.format' or 'value.format'."""

    name: str

    mode: ChangelogMode = ChangelogMode.inserts()
    """The kinds of changes that messages can say."""

    metadata: Mapping[str, LogicalType] = MappingProxyType({})
    """What messages can have besides their rows, by name."""

    by_name: bool = False
    """Whether fields are found by their names alone, so that a decoder of fewer fields reads the same of them."""

    options: Listed = ()
    """The options, as they are after 'format'."""

    @abstractmethod
    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows of a type, with some metadata. `options` are those of the format, as 'json.*'.

        Raises ConfigurationError for an option that is wrong, UnsupportedError for a type that the format lacks.
        """

    @abstractmethod
    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows of a type; `subject` is under which schemas are registered by default.

        Raises as `decoder` does.
        """


def earliest(
    bad: BadMessage, messages: pa.Array, decode: Callable[[pa.Array], Decoded | BadMessage]
) -> BadMessage:
    """Return the first bad message, if it is known of one only that it is bad: `decode` looks at those before it."""
    before = decode(messages[: bad.index]) if bad.index else bad
    return before if isinstance(before, BadMessage) else bad


def moved(found: Decoded | BadMessage, places: Places | None) -> Decoded | BadMessage:
    """Return what was decoded of the messages at some places (None: of all), with the places among all of them.

    >>> moved(Decoded(pa.record_batch({"n": [7, 8]}), None, np.array([0, 1])), np.array([3, 5])).places().tolist()
    [3, 5]
    """
    if places is None:
        return found
    if isinstance(found, BadMessage):
        return replace(found, index=int(places[found.index]))
    return found._replace(messages=places if found.messages is None else places[found.messages])
