"""State whose types changed reads as what its values are when they are coerced to the new types, field by field."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common import Row, Types
from firesteel.common.errors import StateMismatchError
from firesteel.common.typeinfo import TypeInformation
from firesteel.common.types import RowKind
from firesteel.state.descriptors import (
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.conversion import compare_types
from firesteel.state.values.evolution import converter
from firesteel.state.values.schemas import type_text
from tests.common.test_type_codecs import TYPED
from tests.state.memory import MemoryStore

Evolution = tuple[TypeInformation, TypeInformation, st.SearchStrategy[Any], Callable[[Any], Any]]
"""An old and a new type, values of the old one, and what each of them shall become."""


def _kept(info: TypeInformation) -> Callable[[Any], Any]:
    """How a state of a type keeps a value, without the coercion of a float to 32 bits."""
    codec = ValueCodec(info, "a state")
    return lambda value: value if codec.coerce is None else codec.coerce(value)


WIDENING = [
    (Types.BYTE(), Types.SHORT()),
    (Types.BYTE(), Types.BIG_INT()),
    (Types.BYTE(), Types.FLOAT()),
    (Types.SHORT(), Types.INT()),
    (Types.SHORT(), Types.DOUBLE()),
    (Types.INT(), Types.LONG()),
    (Types.INT(), Types.DOUBLE()),
    (Types.INT(), Types.BIG_DEC()),
    (Types.LONG(), Types.BIG_INT()),
    (Types.LONG(), Types.BIG_DEC()),
    (Types.BIG_INT(), Types.BIG_DEC()),
    (Types.FLOAT(), Types.DOUBLE()),
    (Types.CHAR(), Types.STRING()),
]
_BITS = {Types.BYTE(): 8, Types.SHORT(): 16, Types.INT(): 32, Types.LONG(): 64}


def _values_of(info: TypeInformation) -> st.SearchStrategy[Any]:
    if info in _BITS:
        return st.integers(-(2 ** (_BITS[info] - 1)), 2 ** (_BITS[info] - 1) - 1)
    if info == Types.BIG_INT():
        return st.none() | st.integers()
    if info == Types.FLOAT():
        return st.floats(allow_nan=False)
    return st.characters(exclude_categories=["Cs"])


def _widening(old: TypeInformation, new: TypeInformation) -> Evolution:
    return old, new, _values_of(old), _kept(new)


LEAVES: st.SearchStrategy[Evolution] = st.sampled_from(WIDENING).map(
    lambda pair: _widening(*pair)
) | TYPED.map(lambda typed: (typed[0], typed[0], typed[1], lambda value: value))


def _optional(expected: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else expected(value)


@st.composite
def _rows(draw: st.DrawFn, evolutions: st.SearchStrategy[Evolution]) -> Evolution:
    old = dict(zip("abc", draw(st.lists(evolutions, min_size=1, max_size=3)), strict=False))
    kept = draw(st.lists(st.sampled_from(sorted(old)), min_size=1, unique=True))
    added = dict(zip("xy", draw(st.lists(TYPED, max_size=2)), strict=False))
    names = draw(st.permutations([*kept, *added]))
    types = [old[name][1] if name in old else added[name][0] for name in names]

    def expected(row: Row) -> Row:
        fields = [_optional(old[name][3])(row[name]) if name in old else None for name in names]
        expected_row = Row.of_kind(row.get_row_kind(), *fields)
        expected_row.set_field_names(list(names))
        return expected_row

    def make(kind: RowKind, *fields: Any) -> Row:
        row = Row.of_kind(kind, *fields)
        row.set_field_names(list(old))
        return row

    values = [st.none() | evolution[2] for evolution in old.values()]
    return (
        Types.ROW_NAMED(list(old), [evolution[0] for evolution in old.values()]),
        Types.ROW_NAMED(list(names), types),
        st.builds(make, st.sampled_from(RowKind), *values),
        expected,
    )


def _tuple(fields: list[Evolution]) -> Evolution:
    olds, news, values, expected = zip(*fields, strict=True)
    return (
        Types.TUPLE(olds),
        Types.TUPLE(news),
        st.tuples(*values),
        lambda value: tuple(one(item) for one, item in zip(expected, value, strict=True)),
    )


def _list(evolution: Evolution, nullable: bool) -> Evolution:
    old, new, values, expected = evolution
    return (
        Types.LIST(old),
        Types.OBJECT_ARRAY(new) if nullable else Types.LIST(new),
        st.lists(values, max_size=3),
        lambda value: [expected(item) for item in value],
    )


def _map(evolution: Evolution) -> Evolution:
    old, new, values, expected = evolution
    return (
        Types.MAP(Types.STRING(), old),
        Types.MAP(Types.STRING(), new),
        st.dictionaries(st.sampled_from("abc"), st.none() | values, max_size=3),
        lambda value: {key: _optional(expected)(item) for key, item in value.items()},
    )


def _containers(evolutions: st.SearchStrategy[Evolution]) -> st.SearchStrategy[Evolution]:
    # lists of bytes are bytes objects, which have a form of their own
    elements = evolutions.filter(lambda one: Types.BYTE() not in one[:2])
    return (
        _rows(evolutions)
        | st.lists(evolutions, min_size=1, max_size=3).map(_tuple)
        | st.builds(_list, elements, st.booleans())
        | evolutions.map(_map)
    )


EVOLUTIONS = st.recursive(LEAVES, _containers, max_leaves=6)


@given(EVOLUTIONS.flatmap(lambda one: st.tuples(st.just(one), one[2])))
def test_a_converted_value_is_the_one_coerced_field_by_field(example: tuple[Evolution, Any]) -> None:
    (old, new, _, expected), value = example
    before, after = ValueCodec(old, "state 'x'"), ValueCodec(new, "state 'x'")
    if value is None:
        return
    kept = _kept(old)(value)
    recorded = {"id": 7, "scope": "keyed", "name": "x", "kind": "value", "type": before.schema}
    converted = pickle.loads(pickle.dumps(converter(recorded, {"kind": "value", "type": after.schema}, 0)))
    data = converted.convert(b"\0\7\0\0\5a\0\1", before.encode(kept))
    assert after.decode(data) == expected(kept)
    if converted.keeps_bytes:
        assert data == before.encode(kept)


CHAINS = [
    ["BYTE", "SHORT", "INT", "LONG", "BIG_INT", "BIG_DEC"],
    ["BYTE", "SHORT", "FLOAT", "DOUBLE"],
    ["BYTE", "SHORT", "INT", "DOUBLE"],
]


@pytest.mark.parametrize("chain", CHAINS)
@given(value=st.integers(-128, 127))
def test_widening_step_by_step_is_widening_at_once(chain: list[str], value: int) -> None:
    schemas = [{"type": name} for name in chain]
    stepwise: Any = value
    for one, other in pairwise(schemas):
        convert = compare_types(one, other).convert
        stepwise = stepwise if convert is None else convert(stepwise)
        at_once = compare_types(schemas[0], other)
        assert not at_once.refusals
        straight = value if at_once.convert is None else at_once.convert(value)
        assert (type(stepwise), stepwise) == (type(straight), straight)
        assert compare_types(other, one).refusals


@given(TYPED)
def test_a_type_becomes_itself_without_being_touched(typed: tuple[TypeInformation, Any]) -> None:
    schema = typed[0].schema()
    assert compare_types(schema, schema) == (None, [], [])


REFUSED = [
    (Types.LONG(), Types.INT(), "LONG cannot become INT"),
    (Types.LONG(), Types.DOUBLE(), "LONG cannot become DOUBLE"),
    (Types.DOUBLE(), Types.FLOAT(), "DOUBLE cannot become FLOAT"),
    (Types.STRING(), Types.LONG(), "STRING cannot become LONG"),
    (Types.BOOLEAN(), Types.INT(), "BOOLEAN cannot become INT"),
    (Types.SQL_TIMESTAMP(), Types.SQL_DATE(), "SQL_TIMESTAMP cannot become SQL_DATE"),
    (Types.TUPLE([Types.INT()]), Types.TUPLE([Types.INT(), Types.INT()]), "which has 2 fields, not 1"),
    (Types.TUPLE([Types.INT()]), Types.ROW([Types.INT()]), r"TUPLE<INT> cannot become ROW<f0 INT>"),
    (
        Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
        Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.INT()]),
        r"value.b: STRING cannot become INT",
    ),
    (
        Types.ROW_NAMED(["a"], [Types.INT()]),
        Types.ROW_NAMED(["b"], [Types.INT()]),
        r"no field of ROW<a INT> is left in ROW<b INT>",
    ),
    (
        Types.MAP(Types.INT(), Types.INT()),
        Types.MAP(Types.LONG(), Types.INT()),
        "the keys of a map keep their type, INT cannot become LONG",
    ),
    (
        Types.OBJECT_ARRAY(Types.INT()),
        Types.LIST(Types.INT()),
        r"elements of OBJECT_ARRAY<INT> may be None, those of LIST<INT> may not",
    ),
    (Types.LIST(Types.BYTE()), Types.LIST(Types.INT()), "one of them is bytes"),
    (Types.LIST(Types.INT()), Types.INT(), r"LIST<INT> cannot become INT"),
]


@pytest.mark.parametrize(("old", "new", "reason"), REFUSED)
def test_what_cannot_be_converted_is_refused_with_both_types(
    old: TypeInformation, new: TypeInformation, reason: str
) -> None:
    store = MemoryStore()
    store.backend.value_state(ValueStateDescriptor("x", old))
    store.next_epoch()
    store.restart()
    with pytest.raises(StateMismatchError) as caught:
        store.backend.value_state(ValueStateDescriptor("x", new))
    message = str(caught.value)
    assert f"state 'x' was saved as ValueState<{type_text(old.schema())}>" in message
    assert f"got a descriptor for ValueState<{type_text(new.schema())}>" in message
    assert reason in message
    assert "give the new state another name" in message
    with pytest.raises(StateMismatchError):
        converter(store.schemas["keyed:x"], {"kind": "value", "type": new.schema()}, 0)


def test_a_state_of_another_kind_is_refused() -> None:
    store = MemoryStore()
    store.backend.value_state(ValueStateDescriptor("x", Types.LONG()))
    store.next_epoch()
    store.restart()
    with pytest.raises(StateMismatchError, match="a value state cannot become a reducing state"):
        store.backend.reducing_state(ReducingStateDescriptor("x", max, Types.LONG()))


def test_map_keys_keep_their_type() -> None:
    store = MemoryStore()
    store.backend.map_state(MapStateDescriptor("x", Types.INT(), Types.INT()))
    store.next_epoch()
    store.restart()
    with pytest.raises(StateMismatchError, match="map keys keep their type, INT cannot become LONG"):
        store.backend.map_state(MapStateDescriptor("x", Types.LONG(), Types.INT()))
