"""Messages as the lines of one block, for the readers of files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.connectors.tables.messages.message_format import BadMessage, Decoded, Places, earliest, moved

_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)


def present(messages: pa.Array) -> tuple[pa.Array, Places | None]:
    """Return the messages that have a value, and their places; None if all have.

    >>> kept, places = present(pa.array([None, b"a"]))
    >>> kept.to_pylist(), places.tolist()
    ([b'a'], [1])
    """
    if not messages.null_count:
        return messages, None
    there = messages.is_valid()
    return messages.filter(there), np.flatnonzero(there.to_numpy(zero_copy_only=False))


def decoded_texts(
    messages: pa.Array, option: str, lenient: bool, decode: Callable[[pa.Array], Decoded | BadMessage]
) -> Decoded | BadMessage:
    """Return what `decode` makes of the messages that have a value, if they are UTF-8.

    Others have no rows if `lenient`, which is what `option` says.
    """
    given, places = present(messages)
    wrong = _no_utf8(given)
    if not wrong:
        return moved(decode(given), places)
    if lenient:
        kept = np.delete(np.arange(len(given)), wrong)
        return moved(moved(decode(given.take(pa.array(kept))), kept), places)
    bad = BadMessage(wrong[0], given[wrong[0]].as_py(), "it is no UTF-8", option)
    return moved(earliest(bad, given, decode), places)


def _no_utf8(messages: pa.Array) -> list[int]:
    """Return the places of messages that are no UTF-8."""
    try:
        messages.cast(pa.string())
    except pa.ArrowInvalid:
        return [place for place, message in enumerate(messages.to_pylist()) if not _is_utf8(message)]
    return []


def _is_utf8(message: bytes) -> bool:
    try:
        message.decode()
    except UnicodeDecodeError:
        return False
    return True


def json_block(messages: pa.Array) -> bytes:
    """Return messages with JSON, none of them NULL, as lines.

    Ends of lines within a message become spaces, or escapes if they are within a text. JSON stays the same by that.

    >>> json_block(pa.array([b'{"a":\\n 1}', b""]))
    b'{"a":  1}\\n\\n'
    """
    lines = pc.binary_join_element_wise(messages, b"\n", b"")
    block = _data(lines)
    if block.count(b"\n") == len(lines) and b"\r" not in block:
        return block
    return b"".join(map(_one_line, messages.to_pylist()))


def csv_block(messages: pa.Array, quote: str | None) -> bytes | None:
    """Return messages, none of them NULL, as lines; None if one may be no line, is empty, or leaves a quote open.

    >>> csv_block(pa.array([b"1,a", b'2,"b"']), '"'), csv_block(pa.array([b'1,"a', b'b"']), '"')
    (b'1,a\\n2,"b"\\n', None)
    """
    block = _data(pc.binary_join_element_wise(messages, b"\n", b""))
    if block.count(b"\n") != len(messages) or b"\r" in block or b"\n\n" in block or block.startswith(b"\n"):
        return None
    if quote and quote.encode() in block:
        counts = pc.count_substring(messages, quote.encode())
        if pc.any(pc.equal(pc.bit_wise_and(counts, 1), 1)).as_py():
            return None
    return block


def _data(lines: pa.Array) -> bytes:
    _, offsets, data = lines.buffers()
    if data is None or not len(lines):
        return b""
    ends = np.frombuffer(offsets, np.int32, len(lines) + 1, lines.offset * 4)
    return bytes(memoryview(data)[int(ends[0]) : int(ends[-1])])


def _one_line(message: bytes) -> bytes:
    if b"\n" in message or b"\r" in message:
        message = _TEXT.sub(_escaped, message).replace(b"\n", b" ").replace(b"\r", b" ")
    return message + b"\n"


def _escaped(found: re.Match[bytes]) -> bytes:
    return found[0].replace(b"\n", b"\\n").replace(b"\r", b"\\r")
