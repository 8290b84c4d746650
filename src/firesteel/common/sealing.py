"""Sealing: protects a value that is emitted or stored in state from later changes by user code.

Flink serialises a record when it leaves a function, so `yield self.buffer; self.buffer.clear()` emits the content of
the buffer. It also serialises a value on its way into state and out of it. Firesteel passes objects on without
serialising them, so it copies a value unless it consists of immutable atoms only. The check costs about 0.1 µs for a
flat tuple; Flink would pay for the copy anyway.
"""

from __future__ import annotations

import copyreg
import datetime as dt
import decimal
import enum
import pickle
import uuid
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

from firesteel.common import pickles
from firesteel.common.errors import SerializationError
from firesteel.common.types import Row, copy_row

ATOMS: Final = frozenset(
    {
        type(None), bool, int, float, complex, str, bytes, decimal.Decimal, uuid.UUID,
        dt.date, dt.time, dt.datetime, dt.timedelta, type, range,
    }
)  # fmt: skip

_PICKLING: Final = ("__new__", "__reduce_ex__", "__reduce__", "__getstate__")
_PICKLING_OF_ITS_OWN: Final = ("__setstate__", "__getnewargs__", "__getnewargs_ex__")
_COLLECTIONS: Final = frozenset({list, dict, set})

Seal = Callable[[Any], Any]


def seal(value: Any) -> Any:
    """Return `value` if it is immutable, else a copy that nobody else refers to.

    >>> buffer = [1]
    >>> sealed = seal(("a", buffer))
    >>> buffer.clear()
    >>> sealed
    ('a', [1])
    """
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is tuple:
        return value if ATOMS.issuperset(map(type, value)) else tuple(map(seal, value))
    if kind is list:
        return value.copy() if ATOMS.issuperset(map(type, value)) else list(map(seal, value))
    if kind is dict:
        if ATOMS.issuperset(map(type, value.values())):
            return value.copy()
        return {key: seal(item) for key, item in value.items()}
    if kind is Row:
        return copy_row(value, map(seal, value))
    return _seal_object(value)


def _seal_object(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value
    if isinstance(value, tuple) and ATOMS.issuperset(map(type, value)):  # a NamedTuple of atoms
        return value
    if _is_frozen(value):
        return value
    plain = _is_plain(type(value))  # type: ignore[arg-type]  # a class is hashable
    return _copy_of_flat(value) if plain else _copy(value)


def _is_frozen(value: Any) -> bool:
    """Return whether `value` is a frozen dataclass of atoms."""
    parameters = getattr(value, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen or not is_dataclass(value):
        return False
    return ATOMS.issuperset(type(getattr(value, each.name)) for each in fields(value))


@lru_cache(1 << 10)
def _is_plain(kind: type) -> bool:
    """Return whether the `__dict__` of an object holds all of its data, for pickle as well."""
    return (
        all(getattr(kind, method) is getattr(object, method) for method in _PICKLING)
        and not any(hasattr(kind, method) for method in _PICKLING_OF_ITS_OWN)
        and kind.__dictoffset__ != 0
        and not any(base.__dict__.get("__slots__") for base in kind.__mro__)
        and kind not in copyreg.dispatch_table
    )


def _copy_of_flat(value: Any) -> Any:
    """Copy a plain object of atoms, one of them possibly a collection of atoms; pickling takes five times as long.

    Two collections could be the same object, which only pickle would preserve.
    """
    collection = None
    for name, item in value.__dict__.items():
        kind = type(item)
        if kind in ATOMS or (kind is tuple and ATOMS.issuperset(map(type, item))):
            continue
        if collection is not None or kind not in _COLLECTIONS or not ATOMS.issuperset(map(type, item)):
            return _copy(value)
        if kind is dict and not ATOMS.issuperset(map(type, item.values())):
            return _copy(value)
        collection = name
    copied = object.__new__(type(value))
    copied.__dict__.update(value.__dict__)
    if collection is not None:
        copied.__dict__[collection] = value.__dict__[collection].copy()
    return copied


def _copy(value: Any) -> Any:
    try:
        try:
            return pickle.loads(pickle.dumps(value, 5))
        except (pickle.PicklingError, AttributeError, TypeError):
            return pickle.loads(pickles.dumps(value))
    except Exception as error:  # a value's own __reduce__ may raise anything
        raise SerializationError(
            "copies what it emits, as Flink serialises it, so each must be picklable",
            got=f"a {type(value).__name__}: {error}",
            hint="use plain values (tuples, rows, numbers, strings) and keep handles such as sockets in open()",
        ) from error
