"""The redistribution of operator state: each subtask's share of what the subtasks reported in the last epoch.

Lists (`firesteel.state.live.operator_lists`) are distributed as in Flink (RoundRobinOperatorStateRepartitioner). While
the parallelism stays the same each subtask gets its own list back. Otherwise all elements, in the order of the old
subtasks, are cut into shares whose sizes differ by at most one. Every subtask gets all elements of a union list, in
that order. The state of any other operator is opaque: each subtask gets its own back, and the remaining subtasks
inherit from the removed ones.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeVar

from firesteel.checkpoint.manifest import OperatorSnapshot
from firesteel.common.errors import StateMismatchError
from firesteel.state.live.operator_lists import ListMode, ListSnapshot, OperatorLists

T = TypeVar("T")


def own_states(snapshot: OperatorSnapshot, parallelism: int, who: str) -> dict[int, Any]:
    """Return the state that each subtask of the operator `who` gets as its own at this parallelism, by subtask.

    Raises StateMismatchError if subtasks saved different things under one name.
    """
    states = [None if blob is None else pickle.loads(blob) for blob in snapshot.operator_state]
    if snapshot.holds_lists:
        try:
            states = redistribute(states, parallelism)
        except StateMismatchError as error:
            error.who = f"{who}: {error.who}"
            raise
    return {subtask: state for subtask, state in enumerate(states[:parallelism]) if state is not None}


def inherited_states(snapshot: OperatorSnapshot, parallelism: int) -> dict[int, list[Any]]:
    """Return the states of subtasks that do not exist at this parallelism, by the subtask that inherits them."""
    if snapshot.holds_lists:  # these are redistributed
        return {}
    inherited: dict[int, list[Any]] = defaultdict(list)
    for subtask, blob in enumerate(snapshot.operator_state[parallelism:], start=parallelism):
        state = None if blob is None else pickle.loads(blob)
        if state is not None:
            inherited[subtask % parallelism].append(state)
    return dict(inherited)


def redistribute(before: Sequence[OperatorLists | None], parallelism: int) -> list[OperatorLists | None]:
    """Return the lists that each of `parallelism` subtasks gets, given those that the old subtasks saved.

    A union list is one object that all subtasks share, so that an epoch's plan holds it only once. If subtasks share a
    union list, or the parallelism changed, the result has no version: no live instance continues, and all are
    initialised from it. In Flink all subtasks get a union list at the same time, and a function may rely on that when
    it picks its part. If one subtask alone moved to another worker, it could pick elements that another one still
    holds. Raises StateMismatchError if subtasks saved different things under one name.
    """
    names = sorted({name for lists in before if lists is not None for name in lists.lists})
    parts = {name: _parts(name, before) for name in names}
    unions = [name for name in names if _first(parts[name]).mode is ListMode.UNION]
    changed = len(before) != parallelism
    if not changed and (not unions or parallelism == 1):
        return list(before)
    result: list[dict[str, ListSnapshot]] = [{} for _ in range(parallelism)]
    start = 0
    for name in names:
        if name in unions:
            shares = _union(parts[name], parallelism)
        elif changed:
            shares, start = _split(parts[name], parallelism, start)
        else:
            shares = parts[name]
        for lists, share in zip(result, shares, strict=True):
            if share is not None:
                lists[name] = share
    return [OperatorLists(lists, None) for lists in result]


def deal(elements: Sequence[T], parallelism: int, start: int) -> tuple[list[Sequence[T]], int]:
    """Cut elements into a share for each subtask; also return where to start with the next list.

    The shares go to the subtasks in order, beginning with `start`; longer shares come first.

    >>> deal("abcde", 3, 1)
    (['e', 'ab', 'cd'], 0)
    """
    size, odd = divmod(len(elements), parallelism)
    shares: list[Sequence[T]] = [elements[:0]] * parallelism
    position = 0
    for turn in range(parallelism):
        end = position + size + (turn < odd)
        shares[(start + turn) % parallelism] = elements[position:end]
        position = end
    return shares, (start + odd) % parallelism


def _split(
    parts: list[ListSnapshot | None], parallelism: int, start: int
) -> tuple[list[ListSnapshot | None], int]:
    first = _first(parts)
    shares, start = deal(_elements(parts), parallelism, start)
    return [ListSnapshot(first.mode, first.schema, list(share)) for share in shares], start


def _union(parts: list[ListSnapshot | None], parallelism: int) -> list[ListSnapshot | None]:
    """Give all elements to every subtask; each subtask saves only the range that it takes over from old subtasks."""
    first, elements = _first(parts), _elements(parts)
    ends = [0, *accumulate(0 if part is None else len(part.elements) for part in parts)]
    old = len(parts)
    bounds = [ends[-(-subtask * old // parallelism)] for subtask in range(parallelism + 1)]
    return [
        ListSnapshot(first.mode, first.schema, elements, (bounds[subtask], bounds[subtask + 1]))
        for subtask in range(parallelism)
    ]


def _parts(name: str, before: Sequence[OperatorLists | None]) -> list[ListSnapshot | None]:
    """Return one list as each old subtask saved it."""
    parts = [None if lists is None else lists.lists.get(name) for lists in before]
    first = _first(parts)
    for part in parts:
        if part is not None and (part.mode, part.schema) != (first.mode, first.schema):
            raise StateMismatchError(
                "was saved as a list of one kind in one subtask",
                who=f"list state '{name}'",
                got="one of another kind or type in another subtask",
                hint="declare it in the same way in all subtasks",
            )
    return parts


def _first(parts: Sequence[ListSnapshot | None]) -> ListSnapshot:
    return next(part for part in parts if part is not None)


def _elements(parts: Sequence[ListSnapshot | None]) -> list[bytes]:
    return [element for part in parts if part is not None for element in part.elements]
