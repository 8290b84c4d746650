"""Room on the interpreter's stack, so that the cost of a call does not depend on its depth.

CPython keeps the frames of a thread in chunks of 16 KiB (Python/pystate.c, push_chunk). A call that does not fit into
the last chunk maps another one, and the return from it unmaps that one. A chain of operators is a deep stack of frames;
in an operator whose frame is at the end of a chunk every call for a record would pay for both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")

_SLOTS: Final = 65_536
"""Slots of the frame that asks for room: a chunk's size is a power of two, and just above half a MiB leaves the rest
of one MiB to the calls inside. Pages of it that nobody touches cost nothing.
"""

_BASE: Final = 1000
_PER_OPERATOR: Final = 10
"""The frames that the engine and a user's function may need, and those that each operator of a chain adds (seven)."""

_END: Final = object()


def _roomy(call: Callable[..., Any], *arguments: object) -> Any:
    return call(*arguments)


_roomy.__code__ = _roomy.__code__.replace(co_stacksize=_SLOTS)


def with_room(iterator: Iterator[T]) -> Iterator[T]:
    """Yield the items of `iterator`; each step of it runs with half a MiB of stack that is already mapped.

    >>> list(with_room(iter("ab")))
    ['a', 'b']
    """
    while (item := _roomy(next, iterator, _END)) is not _END:
        yield item


def allow_chain(operators: int) -> None:
    """Raise the recursion limit for a chain of this many operators; never lower it.

    Python's own limit of 1,000 frames ends a chain of about 140.

    >>> allow_chain(1)
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _BASE + _PER_OPERATOR * operators))
