"""Rows of the messages that can be decoded, where others among them cannot."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.types import RowKind
from firesteel.connectors.tables.messages.message_format import BadMessage, Decoded, MessageDecoder
from firesteel.functions.columns.endpoints import Kinds

_FEW: Final = 16
"""Messages that are decoded together behind a bad one; twice as many with each that are all good."""


def salvaged(decoder: MessageDecoder, messages: pa.Array) -> tuple[Decoded, dict[int, str]]:
    """Return the rows of the messages that can be decoded; of the others, by their places, why they cannot."""
    found = decoder.decode(messages)
    if not isinstance(found, BadMessage):
        return found, {}
    parts: list[Decoded] = []
    bad: dict[int, str] = {}
    begin, count = 0, _FEW
    while begin < len(messages):
        found = decoder.decode(messages.slice(begin, count))
        if isinstance(found, Decoded):
            parts.append(found._replace(messages=found.places() + begin))
            begin, count = begin + count, count * 2
        elif found.index:
            count = found.index
        else:
            bad[begin] = found.why
            begin, count = begin + 1, _FEW
    return _together(parts, decoder), bad


def _together(parts: list[Decoded], decoder: MessageDecoder) -> Decoded:
    if not parts:
        none = decoder.decode(pa.array([], pa.binary()))
        assert isinstance(none, Decoded)
        return none._replace(messages=np.array([], np.int64))
    rows = pa.concat_batches([part.rows for part in parts])
    kinds = None if all(part.kinds is None for part in parts) else np.concatenate([*map(_kinds, parts)])
    return Decoded(rows, kinds, np.concatenate([part.places() for part in parts]))


def _kinds(part: Decoded) -> Kinds:
    inserts: Kinds = np.full(part.rows.num_rows, RowKind.INSERT.value, np.int8)
    return inserts if part.kinds is None else part.kinds
