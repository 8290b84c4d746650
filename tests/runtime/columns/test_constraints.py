"""What the columns of a table demand of its rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import ConstraintError
from firesteel.common.logical_types import RowType, parse_type
from firesteel.functions.columns.sinks import Constraints, Lengths
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.constraints import ConstraintOperator
from tests.runtime.columns.columnar import Harness


def row_type(text: str) -> RowType:
    parsed = parse_type(text)
    assert isinstance(parsed, RowType)
    return parsed


def run(kind: str, values: list[Any], lengths: Lengths = "IGNORE", drop: bool = False) -> list[Any]:
    """The values of a column of this type that are passed on, with the kinds 0, 1, 2, ... as their changes."""
    row = row_type(f"ROW<x {kind}> NOT NULL")
    not_null = () if row.fields[0].type.nullable else (0,)
    arrow = pa.binary() if "BINARY" in kind else pa.string() if "CHAR" in kind else pa.int32()
    rows = pa.RecordBatch.from_arrays([pa.array(values, arrow)], names=["x"])
    harness = Harness(partial(ConstraintOperator, Constraints(row, not_null, drop, lengths)))
    return harness.rows(ColumnBatch(rows, np.arange(len(values), dtype=np.int8)))


def test_null_is_an_error_that_names_the_column_and_the_option() -> None:
    with pytest.raises(ConstraintError) as error:
        run("INT NOT NULL", [1, None])
    assert "'x', which is NOT NULL; got NULL" in str(error.value)
    assert "'table.exec.sink.not-null-enforcer' = 'DROP'" in str(error.value)


def test_rows_with_null_are_left_out_with_their_kinds() -> None:
    assert run("INT NOT NULL", [1, None, 3], drop=True) == [(0, 1), (2, 3)]
    assert run("INT NOT NULL", [None], drop=True) == []


def test_null_is_let_pass_where_it_may_be() -> None:
    assert run("INT", [None, 1]) == [(0, None), (1, 1)]


@pytest.mark.parametrize(
    ("kind", "given", "made"),
    [
        ("VARCHAR(3)", ["abcdef", "ab", None, "äöüß", ""], ["abc", "ab", None, "äöü", ""]),
        ("CHAR(3)", ["abcdef", "ab", None, "ß", ""], ["abc", "ab ", None, "ß  ", "   "]),
        ("BINARY(2)", [b"abc", b"a", None, b""], [b"ab", b"a\0", None, b"\0\0"]),
        ("VARBINARY(2)", [b"abc", b"a", None, b""], [b"ab", b"a", None, b""]),
    ],
)
def test_values_are_cut_and_filled_up(kind: str, given: list[Any], made: list[Any]) -> None:
    assert [value for _, value in run(kind, given, "TRIM_PAD")] == made
    assert [value for _, value in run(kind, given, "IGNORE")] == given


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("VARCHAR(3)", "abcd", "at most 3 characters for the column 'x'; got 'abcd', which has 4"),
        ("CHAR(3)", "ab", "values of 3 characters for the column 'x'; got 'ab', which has 2"),
        ("BINARY(2)", b"abc", "values of 2 bytes for the column 'x'; got b'abc', which has 3"),
    ],
)
def test_a_wrong_length_is_an_error(kind: str, value: Any, message: str) -> None:
    with pytest.raises(ConstraintError) as error:
        run(kind, [None, value], "ERROR")
    assert message in str(error.value)
    assert run(kind, [None], "ERROR") == [(0, None)]
