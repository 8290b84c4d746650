"""Properties of every type: coercion is idempotent, encoding gives the coerced value back, schemas round-trip."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import threading
from decimal import Decimal
from typing import Any

import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common import Instant, Row, RowKind, TypeInformation, Types
from firesteel.common.errors import (
    ConfigurationError,
    SerializationError,
    TypeMismatchError,
    UnsupportedError,
)
from firesteel.common.typeinfo import (
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    from_schema,
)

LOCAL = LocalTimeTypeInfo.TimeType
Typed = tuple[TypeInformation, st.SearchStrategy[Any]]


def _nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def _integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


_DATES = st.dates()
_TIMES = st.times()
_DATETIMES = st.datetimes()
_NUMBERS = st.floats(allow_nan=False)

LEAVES: list[Typed] = [
    (Types.STRING(), _nullable(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))),
    (Types.BYTE(), _integers(8)),
    (Types.BOOLEAN(), st.booleans() | st.integers(0, 255)),
    (Types.SHORT(), _integers(16)),
    (Types.INT(), _integers(32) | st.floats(-1e9, 1e9)),
    (Types.LONG(), _integers(64)),
    (Types.FLOAT(), _NUMBERS | _integers(64)),
    (Types.DOUBLE(), _NUMBERS | _integers(64)),
    (Types.CHAR(), st.characters(exclude_categories=["Cs"])),
    (Types.BIG_INT(), _nullable(st.integers())),
    (Types.BIG_DEC(), _nullable(st.decimals(allow_nan=False))),
    (Types.INSTANT(), _nullable(st.builds(Instant, _integers(40), st.integers(0, 10**9 - 1)))),
    (Types.SQL_DATE(), _nullable(_DATES)),
    (Types.SQL_TIME(), _nullable(_TIMES)),
    (Types.SQL_TIMESTAMP(), _nullable(_DATETIMES)),
    (LocalTimeTypeInfo(LOCAL.LOCAL_DATE), _nullable(_DATES)),
    (LocalTimeTypeInfo(LOCAL.LOCAL_TIME), _nullable(_TIMES)),
    (LocalTimeTypeInfo(LOCAL.LOCAL_DATE_TIME), _nullable(_DATETIMES)),
    (
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
        st.binary(max_size=5) | st.builds(bytearray, st.binary(max_size=5)),
    ),
    (Types.BASIC_ARRAY(Types.STRING()), st.lists(_nullable(st.just("s")), max_size=3)),
    (Types.PICKLED_BYTE_ARRAY(), st.lists(st.integers() | st.text(max_size=3), max_size=3) | st.none()),
]
_KEYS: list[Typed] = [
    leaf
    for leaf in LEAVES
    if not isinstance(leaf[0], (type(Types.PICKLED_BYTE_ARRAY()), type(LEAVES[-2][0])))
]


def _tuples(fields: list[Typed]) -> Typed:
    infos, values = zip(*fields, strict=True)
    return TupleTypeInfo(infos), st.tuples(*values)


def _rows(fields: list[Typed], named: bool) -> Typed:
    infos = [info for info, _ in fields]
    values = [_nullable(value) for _, value in fields]
    names = [f"n{index}" for index in range(len(fields))] if named else None
    return RowTypeInfo(infos, names), st.builds(Row.of_kind, st.sampled_from(RowKind), *values)


def _containers(typed: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    fields = st.lists(typed, min_size=1, max_size=3)
    return (
        fields.map(_tuples)
        | st.builds(_rows, fields, st.booleans())
        | typed.map(lambda one: (Types.LIST(one[0]), st.lists(one[1], max_size=3)))
        | typed.map(lambda one: (Types.OBJECT_ARRAY(one[0]), st.lists(_nullable(one[1]), max_size=3)))
        | st.tuples(st.sampled_from(_KEYS), typed).map(
            lambda pair: (
                Types.MAP(pair[0][0], pair[1][0]),
                st.dictionaries(pair[0][1].filter(_hashable), _nullable(pair[1][1]), max_size=3),
            )
        )
    ).filter(lambda one: one[0] != Types.LIST(Types.BYTE()))


def _hashable(value: Any) -> bool:
    return not isinstance(value, bytearray)


TYPED = st.recursive(st.sampled_from(LEAVES), _containers, max_leaves=6)
EXAMPLES = TYPED.flatmap(lambda typed: st.tuples(st.just(typed[0]), typed[1]))


@given(EXAMPLES)
def test_coercion_is_idempotent_and_encoding_gives_the_coerced_value_back(example: Any) -> None:
    info, value = example
    coerced = info.coerce(value)
    assert info.coerce(coerced) == coerced
    assert info.decode(info.encode(value)) == coerced
    assert isinstance(info.to_string(coerced), str)


@given(TYPED)
def test_schemas_and_pickles_give_the_type_back(typed: Typed) -> None:
    info = typed[0]
    info.compile_coercer()
    for copy in (
        from_schema(json.loads(json.dumps(info.schema()))),
        pickle.loads(pickle.dumps(info)),
        cloudpickle.loads(cloudpickle.dumps(info)),
    ):
        assert copy == info
        assert hash(copy) == hash(info)
        assert copy.schema() == info.schema()
        assert str(copy) == str(info)


def test_types_differ_by_structure() -> None:
    infos = [
        Types.INT(),
        Types.LONG(),
        Types.LIST(Types.INT()),
        Types.OBJECT_ARRAY(Types.INT()),
        Types.TUPLE([Types.INT()]),
        Types.ROW([Types.INT()]),
        Types.ROW([Types.LONG()]),
        Types.MAP(Types.INT(), Types.LONG()),
        Types.MAP(Types.LONG(), Types.INT()),
        Types.SQL_DATE(),
        LocalTimeTypeInfo(LOCAL.LOCAL_DATE),
        Types.PICKLED_BYTE_ARRAY(),
        ExternalTypeInfo(Types.INT()),
    ]
    assert len(set(infos)) == len(infos)
    assert Types.ROW([Types.INT()]) == Types.ROW_NAMED(["a"], [Types.INT()])


def test_nan_is_kept() -> None:
    for info in (Types.DOUBLE(), Types.FLOAT(), Types.TUPLE([Types.FLOAT()])):
        decoded = info.decode(
            info.encode((float("nan"),) if info == Types.TUPLE([Types.FLOAT()]) else float("nan"))
        )
        assert info.to_string(decoded) in ("NaN", "(NaN)")


def test_text_that_utf8_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeMismatchError, match="lone surrogate"):
        Types.STRING().encode("\ud800")


def test_objects_that_cannot_be_pickled_are_refused() -> None:
    with pytest.raises(SerializationError, match="can be pickled"):
        Types.PICKLED_BYTE_ARRAY().encode([threading.Lock()])


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="known type name"):
        from_schema({"type": "TENSOR"})


def test_an_external_type_does_what_the_type_within_does() -> None:
    info = ExternalTypeInfo(Types.ROW([Types.INT()]))
    assert info.to_string(info.coerce((True,))) == "+I[1]"
    assert info.decode(info.encode((1,))) == Row(f0=1)
    assert not info.is_pickled
    with pytest.raises(TypeMismatchError, match=r"at value\.f0"):
        info.coerce(("x",))


def test_internal_forms_are_pyflinks() -> None:
    row = Types.ROW_NAMED(["d", "n"], [Types.SQL_DATE(), Types.INT()])
    assert row.to_internal_type(Row(dt.date(1970, 1, 2), 5)) == (0, 1, 5)
    assert row.to_internal_type({"n": 5, "d": None}) == (0, None, 5)
    assert Types.TUPLE([Types.INSTANT()]).to_internal_type((Instant(1, 5_000_000),)) == (1_005_000,)
    assert Types.SQL_DATE().from_internal_type(1) == dt.date(1970, 1, 2)
    assert Types.SQL_TIME().to_internal_type(dt.time(0, 0, 1)) == 1_000_000
    assert Types.SQL_TIME().from_internal_type(1_000_000) == dt.time(0, 0, 1)
    moment = dt.datetime(2020, 1, 1, 2, 3, 4, 5)
    stamps = Types.SQL_TIMESTAMP()
    assert stamps.from_internal_type(stamps.to_internal_type(moment)) == moment
    assert Types.INT().to_internal_type(5) == 5
    assert [info.need_conversion() for info in (row, Types.INT(), Types.SQL_DATE(), Types.INSTANT())] == [
        True,
        False,
        True,
        True,
    ]
    assert Types.BIG_DEC().from_internal_type(Decimal(1)) == Decimal(1)


def test_there_is_no_java_type() -> None:
    with pytest.raises(UnsupportedError, match="no JVM object behind it"):
        Types.INT().get_java_type_info()
