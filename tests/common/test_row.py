from __future__ import annotations

import copy
import pickle
from typing import Any

import cloudpickle
import pytest

from firesteel.common import Row, RowKind
from firesteel.common.errors import UnsupportedError
from firesteel.common.types import copy_row, field_names, make_row


def test_values_by_position_name_and_attribute() -> None:
    row = Row(name="Alice", age=11)
    assert (row.name, row["age"], row[0], row[0:2], list(row), len(row)) == (
        "Alice",
        11,
        "Alice",
        ["Alice", 11],
        ["Alice", 11],
        2,
    )
    row["age"] = 12
    row[0] = "Bob"
    assert row == Row(name="Bob", age=12)
    assert "name" in row
    assert "Bob" not in row
    assert "Bob" in Row("Bob")


def test_a_row_of_names_makes_rows() -> None:
    person = Row("name", "age")
    assert person("Alice", 11) == Row(name="Alice", age=11)
    assert repr(person) == "<Row('name', 'age')>"
    assert repr(person("Alice", 11)) == "Row(name='Alice', age=11)"
    with pytest.raises(ValueError, match="expected 2 values"):
        person(1, 2, 3)


@pytest.mark.parametrize(
    ("get", "error"),
    [
        (lambda row: row.missing, AttributeError),
        (lambda row: row["missing"], ValueError),
        (lambda row: row.__setitem__("missing", 1), ValueError),
        (lambda row: row._hidden, AttributeError),
        (lambda row: Row(1)["x"], AttributeError),
        (lambda row: Row(1).x, AttributeError),
        (lambda row: Row(1).__setitem__("x", 1), KeyError),
        (lambda row: setattr(row, "other", 1), AttributeError),
        (lambda row: Row(1, x=2), ValueError),
        (lambda row: Row(1).as_dict(), TypeError),
        (lambda row: row.get_fields_by_names(["a", "z"]), ValueError),
    ],
)
def test_what_is_not_there_raises_as_in_pyflink(get: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        get(Row(a=1, b=2))


def test_dicts_and_fields_by_names() -> None:
    row = Row(key=1, value=Row(a=[Row(b=2)], c={"d": Row(e=3)}))
    assert row.as_dict() == {"key": 1, "value": Row(a=[Row(b=2)], c={"d": Row(e=3)})}
    assert row.as_dict(recursive=True) == {"key": 1, "value": {"a": [{"b": 2}], "c": {"d": {"e": 3}}}}
    assert Row(a=1, b=2).get_fields_by_names(["b", "a"]) == [2, 1]
    assert Row(1, 2).get_fields_by_names(["b", "a"]) == [1, 2]
    plain = Row(1, 2)
    plain.set_field_names(["x", "y"])
    assert plain.y == 2


def test_equality_counts_kind_names_and_values() -> None:
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert Row(a=1, b=2) != Row(a=2, b=1)
    assert Row(a=1) != Row(1)
    assert Row(1) != (1,)
    assert Row(1) != Row.of_kind(RowKind.DELETE, 1)
    assert hash(Row(a=1)) == hash(Row(1)) == hash((1,))
    with pytest.raises(TypeError):
        hash(Row([1]))


def test_kinds() -> None:
    row = Row.of_kind(RowKind.UPDATE_BEFORE, a=1)
    assert row.get_row_kind() is RowKind.UPDATE_BEFORE
    row.set_row_kind(RowKind.UPDATE_AFTER)
    assert str(row.get_row_kind()) == "+U"
    assert [(kind.name, kind.value) for kind in RowKind] == [
        ("INSERT", 0),
        ("UPDATE_BEFORE", 1),
        ("UPDATE_AFTER", 2),
        ("DELETE", 3),
    ]
    with pytest.raises(UnsupportedError):
        RowKind.INSERT.to_j_row_kind()


@pytest.mark.parametrize(
    "row", [Row(), Row(1, "a"), Row(a=1, b=[Row(2)]), Row.of_kind(RowKind.DELETE, a=1)], ids=repr
)
def test_copies_are_equal_and_independent(row: Row) -> None:
    for twin in (
        pickle.loads(pickle.dumps(row)),
        cloudpickle.loads(cloudpickle.dumps(row)),
        copy.deepcopy(row),
    ):
        assert twin == row
        assert twin.get_row_kind() is row.get_row_kind()
        assert field_names(twin) == field_names(row)


def test_shallow_copies_share_no_list_of_values() -> None:
    row = Row(a=1)
    for twin in (copy.copy(row), copy_row(row, row)):
        twin[0] = 2
        assert row == Row(a=1)


def test_rows_made_of_lists_keep_them() -> None:
    values = [1]
    row = make_row(["a"], values, RowKind.DELETE)
    values[0] = 2
    assert row == Row.of_kind(RowKind.DELETE, a=2)
