"""Programs over batches: rows, kinds and order; what costs nothing; errors that name expression and row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import RecordError
from firesteel.common.logical_types import STRING, BigIntType, BooleanType, IntType, RowType
from firesteel.functions.columns.program import Formula, Program, marked_reason
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel import statement as module
from firesteel.runtime.columns.kernel.query import Times
from firesteel.runtime.columns.kernel.statement import Statement

ROW = RowType.of({"n": BigIntType(), "s": STRING}, nullable=False)
N = Formula('"0"', "n", BigIntType(), 0)
S = Formula('"1"', "s", STRING, 1)
MORE = Formula('"0" + 1', "n + 1", BigIntType())
LARGE = Formula('"0" > 1', "n > 1", BooleanType())


def batch(numbers: list[int | None], kinds: list[int] | None = None) -> ColumnBatch:
    texts = [None if number is None else f"t{number}" for number in numbers]
    rows = pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64()), pa.array(texts)], names=["n", "s"])
    return ColumnBatch(rows, None if kinds is None else np.array(kinds, np.int8))


def program(*columns: Formula, condition: Formula | None = None) -> Program:
    output = RowType.of({f"c{place}": column.type for place, column in enumerate(columns)}, nullable=False)
    return Program(ROW, output, columns, condition)


def test_kinds_and_order_follow_the_rows_that_are_kept() -> None:
    found = Statement(program(S, MORE, condition=LARGE), "calc").run(batch([3, None, 1, 2], [0, 1, 2, 3]))
    assert found.rows.to_pylist() == [{"c0": "t3", "c1": 4}, {"c0": "t2", "c1": 3}]
    assert found.kinds is not None
    assert found.kinds.tolist() == [0, 3]


def test_a_large_batch_keeps_its_order() -> None:
    numbers = np.random.default_rng(7).integers(0, 5, 60_000)
    found = Statement(program(N, MORE, condition=LARGE), "calc").run(batch(numbers.tolist()))
    kept = numbers[numbers > 1]
    assert found.rows.column(0).to_numpy().tolist() == kept.tolist()
    assert found.rows.column(1).to_numpy().tolist() == (kept + 1).tolist()


def test_no_rows_give_no_rows_of_the_right_columns() -> None:
    for given in (batch([]), batch([0, 1])):
        found = Statement(program(S, MORE, condition=LARGE), "calc").run(given)
        assert len(found) == 0
        assert found.rows.schema.names == ["c0", "c1"]


def test_columns_that_are_passed_on_are_the_inputs_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Query", None)  # nothing may be prepared
    given = batch([1, 2], [0, 3])
    found = Statement(program(S, N, S), "calc").run(given)
    assert found.rows.column(1).buffers()[1].address == given.rows.column(0).buffers()[1].address
    assert found.kinds is given.kinds


def test_a_number_out_of_range_is_computed_carefully() -> None:
    wrapped = Formula('CAST("0" + 1 AS TINYINT)', "n + 1", IntType(), careful="-1::INTEGER")
    statement = Statement(program(wrapped), "calc")
    assert statement.run(batch([1])).rows["c0"].to_pylist() == [2]
    assert statement.run(batch([1, 127])).rows["c0"].to_pylist() == [-1, -1]


@pytest.mark.parametrize("place", [0, 1, 777, 1999])
def test_an_error_names_operator_expression_and_row(place: int) -> None:
    failing = Formula(
        f"""CASE WHEN "0" = 5 THEN error('{marked_reason("division by zero")}') ELSE 1 END""",
        "1 / m",
        IntType(),
    )
    numbers: list[int | None] = [1] * 2000
    numbers[place] = 5
    with pytest.raises(RecordError) as raised:
        Statement(program(MORE, failing), "calc 'x'").run(batch(numbers))
    assert str(raised.value) == "calc 'x' cannot compute 1 / m: division by zero; got the row (n=5, s=t5)"


def test_functions_of_the_current_time_see_the_operators() -> None:
    now = Formula('epoch_ms("now")', "NOW()", BigIntType())
    watermark = Formula('epoch_ms("watermark")', "CURRENT_WATERMARK(t)", BigIntType())
    statement = Statement(program(now, watermark), "calc")
    assert statement.run(batch([1, 2]), Times(17)).rows.to_pylist() == [{"c0": 17, "c1": None}] * 2
    assert statement.run(batch([1]), Times(17, 5)).rows.to_pylist() == [{"c0": 17, "c1": 5}]
