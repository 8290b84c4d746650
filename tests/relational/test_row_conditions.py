"""What Python answers about rows of a match is what the kernel answers."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.row_patterns import TotalOf, ValueAt
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.row_patterns import RowsTotal, RowValue
from firesteel.relational.translation import row_conditions
from firesteel.relational.translation.row_conditions import EventColumns
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.matching.plain_values import column_of, plain
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()
CATALOG.create(
    "CREATE TABLE q (a INT, l TINYINT, b BIGINT, c STRING, d DECIMAL(10, 2), e DOUBLE, k FLOAT, f BOOLEAN, g DATE, "
    "h TIME, i TIMESTAMP(3), ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', "
    "'path' = '/tmp/none', 'format' = 'json')"
)
VALUES = {
    "a": [None, 0, 1, -7, 2**31 - 1, -(2**31)],
    "l": [None, 0, 127, -128],
    "b": [None, 0, 3, 2**63 - 1, -(2**63)],
    "c": [None, "", "a", "ab", "B"],
    "d": [None, "0.00", "1.50", "-99.99"],
    "e": [None, 0.0, -0.0, 1.5, float("nan"), float("inf")],
    "k": [None, 0.5, 1.5],
    "f": [None, True, False],
    "g": [None, 0, 19_000],
    "h": [None, 0, 1000],
    "i": [None, 0, 86_400_000],
}
IN_PYTHON = [
    *(f"x.{name} {operator} LAST(y.{name})" for name in "acdefghi" for operator in ("=", "<>", "<", ">=")),
    "x.a + LAST(y.a) > 0",
    "x.a - LAST(y.a, 1) < x.l * LAST(y.l)",
    "x.b * LAST(y.b) = 0",
    "x.a > LAST(y.b)",
    "x.e + LAST(y.e) > 1.5E0",
    "x.e - LAST(y.e) < x.a",
    "x.k < LAST(y.k)",
    "NOT (x.a < LAST(y.a) OR x.f)",
    "NOT (x.a < LAST(y.a) AND LAST(y.f))",
    "NOT (x.a IS NULL) AND LAST(y.c) IS NOT NULL",
    "LAST(y.a) BETWEEN x.a AND 5",
    "COALESCE(LAST(y.a), x.a, 3) = 1",
    "CASE WHEN LAST(y.f) THEN x.a WHEN x.f THEN LAST(y.a) ELSE 0 END >= 0",
    "LAST(y.f) OR x.f",
    "LAST(y.f)",
    "NOT LAST(y.f)",
    "LAST(y.c) = 'ab' OR LAST(y.d) = 1.5 OR LAST(y.g) = DATE '1970-01-01'",
    "LAST(y.i) > TIMESTAMP '1970-01-01 10:00:00'",
    "UPPER(x.c) = LAST(y.c)",
    "x.d * 2 > LAST(y.d) AND CHAR_LENGTH(x.c) < LAST(y.a)",
]


def part_of(condition: str) -> tuple[MatchRecognize, EventColumns]:
    plan = CATALOG.query(
        f"SELECT * FROM q MATCH_RECOGNIZE (ORDER BY ts MEASURES x.a AS a PATTERN (y x) DEFINE x AS {condition})"
    )
    while not isinstance(plan, MatchRecognize):
        (plan,) = plan.inputs
    return plan, EventColumns(plan.input.row, "UTC")


def located(columns: EventColumns):
    def located(part: RowValue | RowsTotal) -> ValueAt | TotalOf:
        assert isinstance(part, RowValue)
        return ValueAt(part.rows, columns.place(part.column), part.offset)

    return located


def computed(columns: EventColumns, given: pa.RecordBatch) -> list[list[object]]:
    """The columns of the current rows."""
    names = [f"e{place}" for place in range(len(columns.expressions))]
    made = row_conditions.program(columns.given, columns.expressions, names)
    return [*map(plain, Statement(made, "test").run(ColumnBatch(given)).rows.columns)]


@pytest.mark.parametrize("condition", IN_PYTHON)
def test_python_answers_as_the_kernel(condition: str) -> None:
    plan, columns = part_of(condition)
    (definition,) = plan.definitions
    code = row_conditions._formula(definition.condition, columns, located(columns))
    kernel = row_conditions._program(definition.condition, columns, located(columns))
    assert isinstance(code.code, str)
    assert isinstance(kernel.code, Program)
    names = [name for name in VALUES if f"x.{name} " in f"{condition} ".replace(")", " ").replace(",", " ")]
    mine = list(product(*(VALUES[name] for name in names))) or [()]
    schema = to_arrow_schema(plan.input.row)
    rows = [dict(zip(names, values, strict=True)) for values in mine]
    given = pa.RecordBatch.from_arrays(
        [_column([row.get(field.name) for row in rows], field.type) for field in schema], schema=schema
    )
    current = computed(columns, given)
    types = [columns.expressions[value.column].type for value in code.values]
    theirs = list(product(*(VALUES[_name(columns, value)] for value in code.values)))
    names_of = {"C": current, "V": [lambda m, p, n=n: m[n] for n in range(len(types))]}
    test = eval(f"lambda p, m: {code.code}", {**names_of, "Decimal": row_conditions.Decimal})
    statement = Statement(kernel.code, "test")
    order = [code.values.index(value) for value in kernel.values]
    for values in theirs:
        made = [
            plain(_column([value], to_arrow_schema_of(kind)))[0]
            for value, kind in zip(values, types, strict=True)
        ]
        wanted = _kernel(
            statement, kernel.code, [current[place] for place in kernel.currents], [made[n] for n in order]
        )
        found = [bool(test(place, made)) for place in range(len(rows))]
        assert found == wanted, (rows, values)


def _kernel(
    statement: Statement, program: Program, currents: list[list[object]], values: list[object]
) -> list[bool]:
    schema = to_arrow_schema(program.input)
    count = len(currents[0]) if currents else 1
    columns = [*currents, *([value] * count for value in values)]
    made = [column_of(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    found = statement.run(ColumnBatch(pa.RecordBatch.from_arrays(made, schema=schema))).rows.column(0)
    return [value is True for value in found.to_pylist()]


def _name(columns: EventColumns, value: ValueAt | TotalOf) -> str:
    assert isinstance(value, ValueAt)
    column = columns.expressions[value.column]
    return columns.given.field_names[column.index]


def to_arrow_schema_of(kind) -> pa.DataType:
    from firesteel.common.logical_types.arrow import to_arrow

    return to_arrow(kind)


def _column(values: list[object], kind: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(kind):
        values = [None if value is None else row_conditions.Decimal(value) for value in values]
    return column_of(values, kind)


@pytest.mark.parametrize(
    "condition",
    [
        "x.d + LAST(y.d) > 1",
        "x.c || LAST(y.c) = 'ab'",
        "LAST(y.i) - INTERVAL '1' DAY < x.i",
        "x.a / LAST(y.a) = 1",
    ],
)
def test_the_kernel_answers_what_python_has_no_plain_counterpart_of(condition: str) -> None:
    plan, columns = part_of(condition)
    formula = row_conditions._formula(plan.definitions[0].condition, columns, located(columns))
    assert isinstance(formula.code, Program)


def test_what_looks_at_the_current_row_alone_is_a_column() -> None:
    plan, columns = part_of("x.a > 3 AND x.c LIKE 'a%' AND x.a > LAST(y.a) AND CAST(x.c AS INT) > 1")
    condition = row_conditions.row_condition(plan.definitions[0], columns, located(columns))
    assert condition.column is not None
    assert [type(formula.code) for formula in condition.formulas] == [str, Program]
