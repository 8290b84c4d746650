"""Sealing: an emitted value is safe from what the user's code does to it afterwards.

Flink serialises a record when it leaves a function, so `yield self.buffer; self.buffer.clear()` emits what
was in the buffer. Operators here hand batches on without serialising, so a value is copied at emission
unless it is made of immutable atoms only. The check costs about 0.1 µs for a flat tuple; the copy is what
Flink would have paid anyway.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pickle
import uuid
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Final

import cloudpickle

from firesteel.common.errors import SerializationError
from firesteel.common.types import Row, copy_row

ATOMS: Final = frozenset(
    {
        type(None), bool, int, float, complex, str, bytes, decimal.Decimal, uuid.UUID,
        dt.date, dt.time, dt.datetime, dt.timedelta, type, range,
    }
)  # fmt: skip

Seal = Callable[[Any], Any]


def seal(value: Any) -> Any:
    """Return `value` if nobody can change it, else a copy that nobody else holds.

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
    return value if _is_frozen(value) else _copy(value)


def _is_frozen(value: Any) -> bool:
    """Whether `value` is a frozen dataclass of atoms."""
    parameters = getattr(value, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen or not is_dataclass(value):
        return False
    return ATOMS.issuperset(type(getattr(value, each.name)) for each in fields(value))


def _copy(value: Any) -> Any:
    try:
        try:
            return pickle.loads(pickle.dumps(value, 5))
        except (pickle.PicklingError, AttributeError, TypeError):
            return pickle.loads(cloudpickle.dumps(value, 5))
    except Exception as error:  # whatever a value's own __reduce__ raises
        raise SerializationError(
            "emits records that are copied, as Flink serialises them, so each must be picklable",
            got=f"a {type(value).__name__}: {error}",
            hint="emit plain values (tuples, rows, numbers, strings) and keep handles such as sockets in open()",
        ) from error
