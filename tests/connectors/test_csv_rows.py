"""CSV records of rows and arrays: the expected values are those of real Flink (PyFlink 2.3, flink-csv 2.3.0)."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import TypeMismatchError, UnsupportedError
from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema

INNER = Types.ROW([Types.STRING(), Types.INT()])
OUTER = Types.ROW([Types.INT(), INNER])
ONE = Types.ROW([Types.INT(), Types.ROW([Types.STRING()])])
ARRAY = Types.ROW([Types.INT(), Types.OBJECT_ARRAY(Types.STRING())])


def writer(row_type: TypeInformation, null: str | None = None, delimiter: str | None = None) -> Any:
    builder = CsvRowSerializationSchema.Builder(row_type)
    if null is not None:
        builder.set_null_literal(null)
    if delimiter is not None:
        builder.set_array_element_delimiter(delimiter)
    return builder.build()


def reader(
    row_type: TypeInformation, null: str | None = None, delimiter: str | None = None, *, ignore: bool = False
) -> Any:
    builder = CsvRowDeserializationSchema.Builder(row_type).set_ignore_parse_errors(ignore)
    if null is not None:
        builder.set_null_literal(null)
    if delimiter is not None:
        builder.set_array_element_delimiter(delimiter)
    return builder.build()


def plain(value: Any) -> Any:
    """Return a value with rows as tuples: without the names of their fields."""
    return tuple(map(plain, value)) if isinstance(value, Row) else value


@pytest.mark.parametrize(
    ("row_type", "null", "value", "text"),
    [
        (OUTER, None, Row(1, Row("a", 2)), "1,a;2"),
        (OUTER, None, Row(1, None), "1,"),
        (OUTER, None, Row(1, Row(None, 2)), "1,;2"),
        (OUTER, None, Row(1, Row("a;b", 2)), "1,a;b;2"),
        (OUTER, None, Row(1, Row('q"x', 2)), '1,"q""x;2"'),
        (OUTER, None, Row(1, Row("a,b", 2)), '1,"a,b;2"'),
        (OUTER, "n/a", Row(1, None), "1,n/a"),
        (OUTER, "n/a", Row(1, Row(None, 2)), "1,n/a;2"),
        (OUTER, "n/a", Row(None, Row("a", None)), "n/a,a;n/a"),
        (ONE, "n/a", Row(1, Row(None)), "1,n/a"),
        (ONE, "n/a", Row(1, Row("")), "1,"),
        (ARRAY, None, Row(1, ["a", None]), "1,a;"),
        (ARRAY, "n/a", Row(1, ["a", None]), "1,a;n/a"),
        (ARRAY, "n/a", Row(1, []), "1,"),
        (ARRAY, "n/a", Row(1, None), "1,n/a"),
    ],
)
def test_rows_and_arrays_are_written_as_flink_does(
    row_type: TypeInformation, null: str | None, value: Row, text: str
) -> None:
    assert writer(row_type, null).serialize(value) == f"{text}\n".encode()


@pytest.mark.parametrize(
    ("row_type", "null", "text", "value"),
    [
        (OUTER, None, "1,a;2", Row(1, Row("a", 2))),
        (OUTER, None, "1,", Row(1, None)),
        (OUTER, None, "1,;2", Row(1, Row("", 2))),
        (OUTER, None, '1,"a,b;2"', Row(1, Row("a,b", 2))),
        (OUTER, "n/a", "1,n/a;2", Row(1, Row(None, 2))),
        (OUTER, "n/a", "1,a;n/a", Row(1, Row("a", None))),
        (ONE, None, "1,a", Row(1, Row("a"))),
        (ONE, "n/a", "1,", Row(1, None)),
        (ONE, "n/a", "1,n/a", Row(1, Row(None))),
        (ARRAY, None, "1,a;", Row(1, ["a", ""])),
        (ARRAY, None, "1,", Row(1, [])),
        (ARRAY, None, "1,;", Row(1, ["", ""])),
        (ARRAY, "n/a", "1,a;n/a", Row(1, ["a", None])),
        (ARRAY, "n/a", "1,n/a", Row(1, [None])),
    ],
)
def test_rows_and_arrays_are_read_as_flink_does(
    row_type: TypeInformation, null: str | None, text: str, value: Row
) -> None:
    assert plain(reader(row_type, null).deserialize(text.encode())) == plain(value)


def test_rows_within_rows_have_the_names_of_their_type() -> None:
    named = Types.ROW_NAMED(
        ["id", "who"], [Types.INT(), Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])]
    )
    assert reader(named).deserialize(b"1,a;2").who.age == 2
    assert reader(OUTER).deserialize(b"1,a;2").f1.f0 == "a"


def test_another_delimiter() -> None:
    assert writer(OUTER, delimiter="|").serialize(Row(1, Row("a", 2))) == b"1,a|2\n"
    assert plain(reader(OUTER, delimiter="|").deserialize(b"1,a|2")) == (1, ("a", 2))


@pytest.mark.parametrize("text", ["1,a", "1,a;2;3", "1,a;x"])
def test_a_row_that_does_not_fit_is_an_error(text: str) -> None:
    with pytest.raises(TypeMismatchError, match="fields that fit"):
        reader(OUTER).deserialize(text.encode())


@pytest.mark.parametrize(
    ("text", "inner"), [("1,a", Row("a", None)), ("1,a;x", Row("a", None)), ("1,a;2;3", Row("a", 2))]
)
def test_errors_within_a_row_can_be_ignored_part_by_part(text: str, inner: Row) -> None:
    assert plain(reader(OUTER, ignore=True).deserialize(text.encode())) == (1, plain(inner))


@pytest.mark.parametrize(
    "column",
    [
        Types.ROW([Types.STRING(), INNER]),
        Types.ROW([Types.OBJECT_ARRAY(Types.INT())]),
        Types.OBJECT_ARRAY(INNER),
        Types.ROW([Types.PRIMITIVE_ARRAY(Types.BYTE())]),
    ],
)
def test_parts_are_of_simple_types(column: TypeInformation) -> None:
    with pytest.raises(UnsupportedError, match="simple types"):
        reader(Types.ROW([column])).deserialize(b"a")
    with pytest.raises(UnsupportedError, match="simple types"):
        writer(Types.ROW([column])).serialize(Row(None))
