from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import SerializationError, TypeMismatchError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.common.types import Row
from firesteel.state.values.codecs import ValueCodec
from tests.conftest import RunPython

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.text(st.characters(codec=None)),
    st.binary(),
)
VALUES = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.lists(parts, max_size=3).map(tuple),
        st.dictionaries(st.text(), parts, max_size=3),
        st.frozensets(st.integers(), max_size=3),
    ),
    max_leaves=5,
)
UNTYPED = ValueCodec(None, "state 'x'")


def shape(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value), [shape(item) for item in value]
    return type(value), value


@given(VALUES)
def test_an_untyped_value_is_restored(value: Any) -> None:
    assert shape(UNTYPED.decode(UNTYPED.encode(value))) == shape(value)


@given(st.lists(VALUES, max_size=5))
def test_many_values_are_encoded_as_each_of_them(values: list[Any]) -> None:
    assert list(UNTYPED.encode_all(values)) == [UNTYPED.encode(value) for value in values]


def test_a_pickled_type_is_no_type() -> None:
    codec = ValueCodec(Types.PICKLED_BYTE_ARRAY(), "state 'x'")
    assert codec.schema is None
    assert codec.coerce is None


def test_a_typed_value_is_coerced_and_restored() -> None:
    codec = ValueCodec(Types.TUPLE([Types.STRING(), Types.INT()]), "state 'x'")
    assert codec.coerce is not None
    value = codec.coerce(["a", 1.5])
    assert value == ("a", 1)
    assert codec.decode(codec.encode(value)) == value
    assert list(codec.encode_all([value, value])) == [codec.encode(value)] * 2
    with pytest.raises(TypeMismatchError):
        codec.coerce(("a", "b"))


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (Types.FLOAT(), 0.1),
        (Types.TUPLE([Types.STRING(), Types.FLOAT()]), ("a", 0.1)),
        (Types.ROW([Types.FLOAT(), Types.TUPLE([Types.FLOAT()])]), Row(f0=0.1, f1=(0.2,))),
        (Types.ROW_NAMED(["type", "b"], [Types.FLOAT(), Types.LONG()]), Row(type=0.1, b=1)),
        (Types.LIST(Types.LIST(Types.FLOAT())), [[0.1], []]),
        (Types.MAP(Types.FLOAT(), Types.FLOAT()), {0.1: 0.2, 0.3: None}),
        (Types.PRIMITIVE_ARRAY(Types.FLOAT()), [0.1]),
    ],
)
def test_a_float_keeps_its_64_bits(declared: TypeInformation, value: Any) -> None:
    codec = ValueCodec(declared, "state 'x'")
    assert codec.coerce is not None
    assert codec.coerce(value) == value
    assert codec.decode(codec.encode(value)) == value
    assert codec.schema == declared.schema()


def test_a_map_value_may_be_none_whatever_its_type() -> None:
    for codec in (UNTYPED, ValueCodec(Types.LONG(), "state 'x'")):
        assert codec.decode_nullable(codec.encode_nullable(None)) is None
        assert codec.decode_nullable(codec.encode_nullable(7)) == 7


def test_an_object_of_a_local_class_is_restored() -> None:
    class Local:
        amount = Decimal("1.5")

    restored = UNTYPED.decode(UNTYPED.encode(Local()))
    assert type(restored) is Local


def test_a_value_that_cannot_be_pickled_is_named() -> None:
    with pytest.raises(
        SerializationError, match=r"state 'x' requires values that can be pickled; got a generator"
    ):
        UNTYPED.encode(number for number in range(3))


SCRIPT = """
import sys
import cloudpickle
from firesteel.state.values.codecs import ValueCodec

class Account:
    def __init__(self, owner):
        self.owner = owner

class Nested:
    class Part:
        pass

codec = ValueCodec(None, "state 'x'")
with open(sys.argv[1], "wb") as out:
    cloudpickle.dump((Account, Nested, [codec.encode(Account("a")), codec.encode([Account("b"), Nested.Part()])]), out)
assert type(codec.decode(codec.encode(Account("a")))) is Account
"""

WORKER = """
import sys
import cloudpickle
from firesteel.state.values.codecs import ValueCodec

with open(sys.argv[1], "rb") as data:
    Account, Nested, (one, several) = cloudpickle.load(data)
codec = ValueCodec(None, "state 'x'")
account = codec.decode(one)
assert type(account) is Account and account.owner == "a", account
other, part = codec.decode(several)
assert type(other) is Account and type(part) is Nested.Part
assert codec.encode(account) == one
assert len(one) < 120, len(one)
"""


def test_a_class_of_the_script_is_the_class_of_the_program_a_worker_was_handed(
    tmp_path: Path, run_python: RunPython
) -> None:
    for name, source in (("script.py", SCRIPT), ("worker.py", WORKER)):
        (tmp_path / name).write_text(source)
        done = run_python(str(tmp_path / name), str(tmp_path / "values"))
        assert done.returncode == 0, done.stderr


def test_a_class_the_program_no_longer_has_is_named() -> None:
    data = pickle.dumps(_Reference("Gone"), 5)
    with pytest.raises(SerializationError, match="requires the class Gone of your script"):
        UNTYPED.decode(data)


class _Reference:
    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        from firesteel.state.values.codecs import _main_class

        return _main_class, (self.name,)
