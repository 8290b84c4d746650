"""Sorts a state's changed keys into the order of their composite keys, in the cheapest way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, Final

import numpy as np

from firesteel.state.keys.composite import TERMINATOR, Compose, GroupHeads, WindowedComposer, state_prefix
from firesteel.state.keys.encoding import STR_TAG
from firesteel.state.keys.groups import key_groups
from firesteel.state.keys.integers import Integers, integer_composites, integer_groups, integers

_BATCH: Final = 8192

_key_of: Final = itemgetter(0)
_namespace_of: Final = itemgetter(1)

OrderedBatch = tuple[list[bytes], list[Any]]
"""Sorted composite prefixes, and the `current` of each."""


def in_composite_order(
    currents: Collection[Any], compose: Compose, state_id: int, max_parallelism: int
) -> Iterator[OrderedBatch]:
    """Yield the value of a scope's `current` for each change, in the order of the composite keys, in batches.

    Plain string or integer keys are sorted directly within their key groups: their composites have the same order.
    Python compares strings three times faster than bytes, and numpy compares integers ten times faster.
    """
    kinds = set(map(type, currents))
    if kinds == {str}:
        return _strings(currents, compose, GroupHeads(state_id), max_parallelism)
    if kinds == {int}:
        numbers = integers(currents)
        if numbers is not None:
            return _integers(numbers, state_id, max_parallelism)
    if kinds == {tuple} and isinstance(compose, WindowedComposer):
        return _windowed(list(currents), compose, state_id, max_parallelism)
    return _any(currents, partial(map, compose))


def _windowed(
    currents: list[tuple[Any, Any]], compose: WindowedComposer, state_id: int, max_parallelism: int
) -> Iterator[OrderedBatch]:
    """Order pairs of state key and namespace; in bulk if keys are integers and all namespaces take equal room."""
    keys = [*map(_key_of, currents)]
    numbers = integers(keys) if set(map(type, keys)) == {int} else None
    if numbers is not None:
        segments = compose.segments(currents)
        if len(set(map(len, segments.values()))) == 1:
            yield from _integers_in_windows(currents, numbers, segments, state_id, max_parallelism)
            return
    yield from _any(currents, compose.all_of)


def _integers_in_windows(
    currents: list[tuple[Any, Any]],
    keys: Integers,
    segments: dict[Any, bytes],
    state_id: int,
    max_parallelism: int,
) -> Iterator[OrderedBatch]:
    ascending = sorted(set(segments.values()))
    ranks = {segment: rank for rank, segment in enumerate(ascending)}
    rank_of = {namespace: ranks[segment] for namespace, segment in segments.items()}
    table = np.frombuffer(b"".join(ascending), np.uint8).reshape(len(ascending), -1)
    spaces = np.fromiter(map(rank_of.__getitem__, map(_namespace_of, currents)), np.int64, len(currents))
    groups = integer_groups(keys, max_parallelism)
    order = np.lexsort((spaces, keys, groups))
    prefix = state_prefix(state_id)
    for start in range(0, len(order), _BATCH):
        some = order[start : start + _BATCH]
        composites = integer_composites(prefix, groups[some], keys[some], namespaces=table[spaces[some]])
        yield composites, [*map(currents.__getitem__, some.tolist())]


def _any(
    currents: Collection[Any], compose: Callable[[Collection[Any]], Iterable[bytes]]
) -> Iterator[OrderedBatch]:
    composites = dict(zip(compose(currents), currents, strict=True))
    ordered = sorted(composites)
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        yield batch, [composites[composite] for composite in batch]


def _strings(
    keys: Collection[str], compose: Compose, heads: GroupHeads, max_parallelism: int
) -> Iterator[OrderedBatch]:
    listed = list(keys)
    groups: dict[int, list[str]] = {}
    for key, group in zip(listed, key_groups(listed, max_parallelism), strict=True):
        if group in groups:
            groups[group].append(key)
        else:
            groups[group] = [key]
    for group in sorted(groups):
        members = groups.pop(group)
        members.sort()
        together = "".join(members)
        if together.isascii() and "\0" not in together:
            head = heads[group] + STR_TAG
            yield [head + key.encode() + TERMINATOR for key in members], members
        else:
            yield list(map(compose, members)), members


def _integers(keys: Integers, state_id: int, max_parallelism: int) -> Iterator[OrderedBatch]:
    groups = integer_groups(keys, max_parallelism)
    order = np.lexsort((keys, groups))
    keys, groups = keys[order], groups[order]
    prefix = state_prefix(state_id)
    for start in range(0, len(keys), _BATCH):
        members = keys[start : start + _BATCH]
        yield integer_composites(prefix, groups[start : start + _BATCH], members), members.tolist()
