"""Sealed values equal what was given, share nothing that can be changed, and are of the same types."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from firesteel.common import Row
from firesteel.common.sealing import seal


class Plain:
    """An object with whatever attributes it is given."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Slots:
    __slots__ = ("one", "two")

    def __init__(self) -> None:
        self.one, self.two = [1], [2]


class HalfSlots(Slots):
    """Has slots and a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.three = [3]


class Restores:
    """Does not pickle all of itself."""

    def __init__(self) -> None:
        self.kept, self.cached = [1], [2]

    def __getstate__(self) -> Any:
        return {"kept": self.kept}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state, cached=None)


class Words(list[str]):
    """A list with an attribute."""


@dataclass
class Point:
    x: int
    y: list[int]


def words() -> Words:
    made = Words(["a"])
    made.note = ["b"]  # type: ignore[attr-defined]
    return made


VALUES = [
    [1, [2]], {"a": [1]}, {1, 2}, (1, [2]), Row(1, [2]), bytearray(b"a"),
    Plain(), Plain(a=1, b=(1, "x"), c=None), Plain(a=[1, 2]), Plain(a={"b": 1}), Plain(a={1}), Plain(a={"b": [1]}),
    Plain(a=[1], b=[2]), Plain(a=[[1]]), Plain(a=Plain(b=[1])), Point(1, [2]), Slots(), HalfSlots(), Restores(),
    words(),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:40])
def test_a_sealed_value_is_a_copy_as_pickle_makes_it(value: Any) -> None:
    before = pickle.dumps(value)
    sealed = seal(value)
    assert type(sealed) is type(value)
    assert _parts(sealed) == _parts(pickle.loads(before))
    mine, theirs = _mutables(sealed), _mutables(value)
    assert not set(map(id, mine)) & set(map(id, theirs))


def test_one_collection_under_two_names_stays_one() -> None:
    items = [1]
    sealed = seal(Plain(one=items, two=items))
    assert sealed.one is sealed.two is not items


def _parts(value: Any) -> Any:
    """All that an object holds, comparable."""
    if isinstance(value, (Plain, Slots, Restores, Point)):
        slots = [getattr(value, name) for name in getattr(type(value), "__slots__", ())]
        return type(value), _parts(getattr(value, "__dict__", {})), slots
    if isinstance(value, dict):
        return {key: _parts(part) for key, part in value.items()}
    if isinstance(value, Words):
        return [*value], vars(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, Row):
        return [_parts(part) for part in value]
    return value


def _mutables(value: Any) -> list[Any]:
    """All that can be changed in a value, kept alive so that ids can be compared."""
    memo: dict[int, Any] = {}
    copy.deepcopy(value, memo)
    return [found for found in memo.get(id(memo), []) if not isinstance(found, tuple)]
