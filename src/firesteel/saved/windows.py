"""Windows as the values of a table's `namespace` column.

======== ============================ =========================================================
field    of                           holds
======== ============================ =========================================================
kind     all windows                  ``time``, ``count``, ``global`` or ``other``
start    time windows                 the first millisecond
end      time windows                 the millisecond after the last one
id       count windows                the number of the window
text     all windows                  the window as Python shows it; it is not read again
raw      windows of ``other`` kinds   their stored bytes
======== ============================ =========================================================

A struct of `start` and `end` alone is a time window.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from firesteel.functions.windows import WINDOW_CODEC, CountWindow, GlobalWindow, TimeWindow

WINDOW: Final = pa.struct(
    [
        ("kind", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("id", pa.int64()),
        ("text", pa.string()),
        ("raw", pa.binary()),
    ]
)
"""The type of the column."""


def window_column(window: Any) -> dict[str, Any] | None:
    """Return a window as the value of a namespace column; None stays None.

    >>> window_column(CountWindow(3))
    {'kind': 'count', 'id': 3, 'text': 'CountWindow(id=3)'}
    """
    if window is None:
        return None
    text = repr(window)
    kind = type(window)
    if kind is TimeWindow:
        return {"kind": "time", "start": window.start, "end": window.end, "text": text}
    if kind is CountWindow:
        return {"kind": "count", "id": window.id, "text": text}
    if kind is GlobalWindow:
        return {"kind": "global", "text": text}
    return {"kind": "other", "text": text, "raw": WINDOW_CODEC.encode(window)}


def is_window_type(found: pa.DataType) -> bool:
    """Return whether a column of this type can hold windows."""
    if not pa.types.is_struct(found):
        return False
    names = {field.name for field in found}
    return {"start", "end"} <= names or "kind" in names


def window_of(value: dict[str, Any]) -> Any:
    """Return the window that is the value of a namespace column; None if its fields do not describe one.

    Raises StateCorruptedError for raw bytes that are no window's.

    >>> window_of({"start": 0, "end": 5}), window_of({"kind": "count", "id": 3})
    (TimeWindow(start=0, end=5), CountWindow(id=3))
    """
    start, end, number, raw = map(value.get, ("start", "end", "id", "raw"))
    match value.get("kind") or "time":
        case "time" if start is not None and end is not None:
            return TimeWindow(start, end)
        case "count" if number is not None:
            return CountWindow(number)
        case "global":
            return GlobalWindow.get()
        case "other" if raw is not None:
            return WINDOW_CODEC.decode(raw)
    return None
