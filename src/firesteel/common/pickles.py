"""Pickles of values that other processes may not be able to import, such as functions of a program."""

from __future__ import annotations

import io
from collections import ChainMap
from types import CodeType
from typing import Any, ClassVar, Final

import cloudpickle

__all__ = ["dumps"]

_PROTOCOL: Final = 5
_FILE: Final = 10
"""The place of `co_filename` among the arguments of CodeType, from Python 3.11 on."""


def dumps(value: object) -> bytes:
    """Return the pickle of a value, with functions and classes that cannot be imported elsewhere.

    Functions know the file that they are written in, as errors show its lines: cloudpickle leaves that out from 3.1.3
    on. Raises what pickling the value raises.

    >>> import pickle
    >>> double = lambda x: 2 * x
    >>> pickle.loads(dumps(double)).__code__.co_filename == double.__code__.co_filename
    True
    """
    with io.BytesIO() as file:
        _Pickler(file, protocol=_PROTOCOL).dump(value)
        return file.getvalue()


def _code(code: CodeType) -> tuple[Any, ...]:
    make, arguments = cloudpickle.Pickler.dispatch_table[CodeType](code)
    name = "".join(code.co_filename)  # a copy: shared strings would make pickles of equal values differ
    return make, (*arguments[:_FILE], name, *arguments[_FILE + 1 :])


_own, *_others = cloudpickle.Pickler.dispatch_table.maps


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    dispatch_table: ClassVar = ChainMap({**_own, CodeType: _code}, *_others)
