from __future__ import annotations

import datetime as dt
import enum
import math
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import KeyEncodingError
from firesteel.common.time import Instant
from firesteel.common.types import Row, RowKind
from firesteel.state.keys.groups import (
    decode_key,
    encode_key,
    key_group,
    key_group_range,
    state_key,
    state_key_bytes,
    state_key_of,
    subtask_of,
    user_key,
)


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    label: str


@dataclass(frozen=True)
class Account:
    owner: str
    numbers: tuple[int, ...]


@dataclass
class Mutable:
    owner: str


class Name(str):
    """A string that prints as something else."""

    def __str__(self) -> str:
        return "a name"


class Number(int):
    def __int__(self) -> int:
        return -1


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    "key",
    [
        Name("a"),
        Name(""),
        Number(5),
        Number(2**70),
        Level.LOW,
        bytearray(b"a"),
        frozenset(),
        (Name("a"), frozenset({1})),
    ],
)
def test_keys_arrive_as_the_type_they_had(key: Any) -> None:
    found = decode_key(encode_key(key))
    assert (type(found), found) == (type(key), key)
    assert repr(found) == repr(key)


@given(st.lists(st.one_of(st.integers(), st.text(), st.booleans(), st.tuples(st.text(), st.none()))))
def test_equal_sets_give_equal_bytes(items: list[Any]) -> None:
    one, other = frozenset(items), frozenset(reversed(items))
    distinct = {state_key_bytes(state_key(item)) for item in items}
    if len(one) == len(distinct):  # 1 and True are one element of a set, and two keys
        assert encode_key(one) == encode_key(other)
        assert decode_key(encode_key(one)) == one


def test_a_subclass_is_another_key_than_the_plain_value() -> None:
    keys = ["a", Name("a"), 5, Number(5), 1, Level.LOW, True, b"a", bytearray(b"a")]
    assert len(set(map(encode_key, keys))) == len(keys)


SCRIPT = """
import dataclasses, enum, sys, typing
from firesteel.state.keys.groups import decode_key, encode_key

class Colour(enum.Enum):
    RED = 1

class Point(typing.NamedTuple):
    x: int
    names: frozenset

@dataclasses.dataclass(frozen=True)
class Account:
    owner: str

class Name(str):
    pass

keys = [Colour.RED, Point(1, frozenset(["a", "b", "c", "d"])), Account("x"), Name("n")]
encoded = [encode_key(key).hex() for key in keys]
if len(sys.argv) > 1:
    assert sys.argv[1:] == encoded
    assert [decode_key(bytes.fromhex(text)) for text in sys.argv[1:]] == keys
    assert [type(decode_key(bytes.fromhex(text))) for text in sys.argv[1:]] == list(map(type, keys))
print(*encoded)
"""


def test_classes_of_the_script_itself_are_the_same_keys_in_every_process(run_python: Any) -> None:
    first = run_python("-c", SCRIPT, PYTHONHASHSEED="1")
    assert first.returncode == 0, first.stderr
    second = run_python("-c", SCRIPT, *first.stdout.split(), PYTHONHASHSEED="2")
    assert second.returncode == 0, second.stderr


def by_type_and_value(key: Any) -> Any:
    """The key with the type of each part beside it, so that == compares both."""
    if isinstance(key, float):
        return float, "nan" if math.isnan(key) else key
    if isinstance(key, Row):
        return Row, key.get_row_kind(), key._fields, [by_type_and_value(item) for item in key]
    if isinstance(key, (tuple, list)):
        return type(key), [by_type_and_value(item) for item in key]
    if isinstance(key, Decimal):
        return Decimal, str(key)
    return type(key), key


ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, 2**64 - 1, 2**64, -(2**63), -(2**64), -(2**64) - 1, 2**200, -(2**200)]),
    st.floats(),
    st.text(),
    st.text(st.characters(codec=None)),  # with lone surrogates
    st.text("\0\1\xff"),
    st.binary(),
    st.decimals(allow_nan=False).filter(lambda key: not (key.is_zero() and key.is_signed())),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.datetimes(timezones=st.just(dt.UTC)),
    st.timedeltas(),
    st.uuids(),
    st.sampled_from([Colour.RED, Colour.BLUE, Rights.READ, Rights.READ | Rights.WRITE]),
    st.builds(Point, st.integers(), st.text()),
    st.builds(Account, st.text(), st.lists(st.integers()).map(tuple)),
    st.builds(Instant, st.integers(), st.integers(0, 999_999_999)),
)
KEYS = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=4),
        st.lists(parts, max_size=4).map(tuple),
        st.lists(parts, max_size=3).map(lambda items: Row.of_kind(RowKind.DELETE, *items)),
        parts.map(lambda item: Row(name=item)),
    ),
    max_leaves=6,
)


@given(KEYS)
def test_a_key_is_restored_with_its_type_and_value(key: Any) -> None:
    assert by_type_and_value(decode_key(encode_key(key))) == by_type_and_value(key)


@given(KEYS, KEYS)
def test_two_keys_have_the_same_bytes_only_if_type_and_value_are_the_same(one: Any, two: Any) -> None:
    assert (encode_key(one) == encode_key(two)) == (by_type_and_value(one) == by_type_and_value(two))


@given(KEYS)
def test_the_encoding_of_a_restored_key_is_the_same(key: Any) -> None:
    assert encode_key(decode_key(encode_key(key))) == encode_key(key)


@given(KEYS)
def test_a_state_key_is_a_dict_key_that_leads_back_to_the_key(key: Any) -> None:
    found = state_key(key)
    assert type(found) in (str, int, bytes)
    assert state_key_bytes(found) == encode_key(key)
    assert state_key_of(encode_key(key)) == found
    assert by_type_and_value(user_key(found)) == by_type_and_value(key)


def test_numbers_of_different_types_are_different_keys() -> None:
    assert len({state_key(1), state_key(1.0), state_key(True), state_key(Decimal(1)), state_key("1")}) == 5


def test_both_zeros_are_one_key_and_all_nan_are_one_key() -> None:
    assert encode_key(-0.0) == encode_key(0.0)
    assert encode_key((-0.0, "a")) == encode_key((0.0, "a"))
    assert encode_key([float("-nan")]) == encode_key([math.nan])
    assert encode_key((float("-nan"),)) == encode_key((math.nan,))
    assert encode_key(Decimal("-0")) == encode_key(Decimal("0"))


def test_decimals_of_different_scale_are_different_keys_as_in_java() -> None:
    assert encode_key(Decimal("1.0")) != encode_key(Decimal("1.00"))


def test_a_point_in_time_is_one_key_in_every_zone() -> None:
    east = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=3)))
    assert encode_key(east) == encode_key(east.astimezone(dt.UTC))
    assert decode_key(encode_key(east)).tzinfo is dt.UTC


@given(st.integers(), st.integers())
def test_integers_are_ordered_by_their_bytes(one: int, two: int) -> None:
    for shift in (0, 60, 64, 100):
        low, high = one << shift, two << shift
        assert (encode_key(low) < encode_key(high)) == (low < high)


@given(st.text(), st.text())
def test_strings_are_ordered_by_their_bytes(one: str, two: str) -> None:
    assert (encode_key(one) < encode_key(two)) == (one < two)


def test_numpy_scalars_are_the_python_values_they_hold() -> None:
    np = pytest.importorskip("numpy")
    assert state_key(np.int64(5)) == 5
    assert type(state_key(np.int64(5))) is int
    assert state_key(np.str_("a")) == "a"
    assert encode_key(np.float64(1.5)) == encode_key(1.5)
    assert encode_key((np.int32(1), "a")) != encode_key([1, "a"])
    assert decode_key(encode_key((np.int32(1), np.bool_(True)))) == (1, True)


def test_the_bytes_of_keys_never_change() -> None:
    assert encode_key("a").hex() == "0961"
    assert encode_key(258).hex() == "060000000000000102"
    assert encode_key(-1).hex() == "05ffffffffffffffff"
    assert encode_key(2**64).hex() == "0700000009010000000000000000"
    assert encode_key(("a", 1, None)).hex() == "0b93a16101c0"
    assert encode_key(1.5).hex() == "083ff8000000000000"
    assert encode_key(uuid.UUID(int=1)).hex() == "15" + "0" * 31 + "1"
    assert encode_key(Row(a=1)).hex() == (
        "0e" + "00000009" + "060000000000000000" + "00000004" + "0b91a161" + "00000009" + "060000000000000001"
    )
    assert [key_group(key, 128) for key in ("a", 258, b"\x03")] == GROUPS


def attributed() -> Name:
    name = Name("a")
    name.note = "lost if it were taken"  # type: ignore[attr-defined]
    return name


GROUPS = [55, 119, 109]


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ({"a": 1}, "a dict: {'a': 1}"),
        ({1}, "a set: {1}"),
        (memoryview(b"a"), "a memoryview"),
        (1j, "a complex: 1j"),
        (object(), "a object: <object object"),
        (Mutable("a"), "Mutable(owner='a')"),
        (dt.time(1, tzinfo=dt.UTC), "a datetime.time"),
        (("a", {1: 2}), "a dict: {1: 2}"),
        (Row(name=[{}]), "a dict: {}"),
        (type("Text", (str,), {})("a"), "Text: 'a'"),
        (attributed(), "Name: 'a'"),
    ],
)
def test_a_value_that_cannot_be_a_key_is_named(key: Any, named: str) -> None:
    with pytest.raises(KeyEncodingError) as caught:
        state_key(key)
    assert named in str(caught.value)


def test_a_class_the_workers_cannot_import_is_refused() -> None:
    class Local(enum.Enum):
        A = 1

    with pytest.raises(KeyEncodingError, match=r"move .*Local into a module"):
        encode_key(Local.A)


@given(st.integers(1, 300), st.data())
def test_ranges_of_key_groups_partition_all_groups(max_parallelism: int, data: st.DataObject) -> None:
    parallelism = data.draw(st.integers(1, max_parallelism))
    ranges = [key_group_range(subtask, parallelism, max_parallelism) for subtask in range(parallelism)]
    assert [group for groups in ranges for group in groups] == list(range(max_parallelism))
    for subtask, groups in enumerate(ranges):
        assert all(subtask_of(group, parallelism, max_parallelism) == subtask for group in groups)


@given(KEYS, st.integers(1, 32768))
def test_a_key_group_depends_on_the_canonical_bytes_alone(key: Any, max_parallelism: int) -> None:
    group = key_group(state_key(key), max_parallelism)
    assert 0 <= group < max_parallelism
    assert group == key_group(state_key(decode_key(encode_key(key))), max_parallelism)
