"""Reads stored values whose classes are Python's own, without running or importing anything of a program's.

A pickle can name any function, and unpickling calls it. A service that reads the state of many jobs must not.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Final

from firesteel.state.values.codecs import decode_untyped

_PICKLE: Final = 0x80

_KNOWN: Final = frozenset(
    {
        *(("builtins", name) for name in ("bytearray", "complex", "frozenset", "set", "range", "slice")),
        *(("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")),
        ("collections", "OrderedDict"),
        ("collections", "deque"),
        ("decimal", "Decimal"),
        ("uuid", "UUID"),
        ("uuid", "SafeUUID"),
        ("firesteel.common.types", "_restore"),
        ("firesteel.common.time", "Instant"),
        ("firesteel.functions.windows", "TimeWindow"),
        ("firesteel.functions.windows", "CountWindow"),
    }
)
"""The classes, and the function that makes a Row: none of them does anything but hold data."""


class HoldsObjects(Exception):  # noqa: N818 - an answer, not a failure
    """A value is, or has in it, an object of another class; it is named."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise HoldsObjects(f"{module}.{name}")
        return super().find_class(module, name)


def plain_value(data: bytes) -> Any:
    """Return an untyped value from its stored form. Raises HoldsObjects for one of another class.

    >>> plain_value(pickle.dumps({"a": [1.5]}, 5))
    {'a': [1.5]}
    >>> plain_value(pickle.dumps(print, 5))
    Traceback (most recent call last):
    ...
    firesteel.queryable.plain_pickles.HoldsObjects: builtins.print
    """
    if data[0] != _PICKLE:
        return decode_untyped(data)
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except HoldsObjects:
        raise
    except Exception as error:  # bytes that are no pickle can raise anything
        raise HoldsObjects(f"what cannot be read: {type(error).__name__}") from error
