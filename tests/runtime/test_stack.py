"""Room on the stack: a call costs the same however deep it is."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator

import pytest

from firesteel.runtime.stack import allow_chain, with_room

CALLS = 500
DEPTH = 300


def _leaf() -> None:
    return None


# A larger frame than most, so that at many a depth it does not fit into the rest of a chunk.
_leaf.__code__ = _leaf.__code__.replace(co_stacksize=500)


def _deep(depth: int) -> None:
    """Call a function many times at each of `depth` depths."""
    for _ in range(CALLS):
        _leaf()
    if depth > 1:
        _deep(depth - 1)


def _faults(work: Callable[[], object]) -> int:
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    work()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def test_no_depth_maps_memory_for_each_call() -> None:
    def steps() -> Iterator[None]:
        yield _deep(DEPTH)

    assert _faults(lambda: next(with_room(steps()))) < CALLS


def test_every_step_runs_until_the_end() -> None:
    assert list(with_room(iter([0, None, "", 3]))) == [0, None, "", 3]


def test_what_a_step_raises_comes_out() -> None:
    def steps() -> Iterator[int]:
        yield 1
        raise ValueError("second")

    stepping = with_room(steps())
    assert next(stepping) == 1
    with pytest.raises(ValueError, match="second"):
        next(stepping)


def test_a_long_chain_may_call_deeper_than_python_lets_it() -> None:
    before = sys.getrecursionlimit()
    try:
        allow_chain(1000)
        assert sys.getrecursionlimit() >= 11_000
        allow_chain(1)
        assert sys.getrecursionlimit() >= 11_000
    finally:
        sys.setrecursionlimit(before)
