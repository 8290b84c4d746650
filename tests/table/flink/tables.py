"""The tables of operations.txt, and what the operations are written with; for PyFlink and for Firesteel alike."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

from pyflink.common import Row, RowKind
from pyflink.table import DataTypes, ExplainDetail, Schema, Table, TableDescriptor, TableEnvironment
from pyflink.table import expressions as E
from pyflink.table.expression import (
    JsonOnNull,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from pyflink.table.window import Over, Session, Slide, Tumble

HERE = Path(__file__).parent
MODE = re.compile(r"changelogMode=\[([\w,]+)\]")


def names_of(env: TableEnvironment, directory: Path) -> dict[str, Any]:
    """Return what the text of an operation can use: three tables, expressions, windows."""
    given = {name: value for name, value in vars(E).items() if not name.startswith("_")}
    return {
        **given,
        **{kind.__name__: kind for kind in (DataTypes, Over, Session, Slide, Tumble, TimeIntervalUnit)},
        **{kind.__name__: kind for kind in (JsonOnNull, JsonValueOnEmptyOrError, TimePointUnit)},
        "E": E,
        "env": env,
        "t": things(env),
        "u": uses(env),
        "v": visits(env, directory),
    }


def things(env: TableEnvironment) -> Table:
    """Return a table with a column of most types."""
    row = DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.BIGINT()),
            DataTypes.FIELD("name", DataTypes.STRING()),
            DataTypes.FIELD("price", DataTypes.DOUBLE()),
            DataTypes.FIELD("doc", DataTypes.STRING()),
            DataTypes.FIELD("long", DataTypes.STRING()),
            DataTypes.FIELD("list", DataTypes.ARRAY(DataTypes.INT())),
            DataTypes.FIELD(
                "person",
                DataTypes.ROW(
                    [
                        DataTypes.FIELD("first", DataTypes.STRING()),
                        DataTypes.FIELD("age", DataTypes.INT()),
                    ]
                ),
            ),
            DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)),
        ]
    )
    names, words = ["a", "b", "a", "c"], ["banana", "bandana", "nab", "ab"]
    prices = [2.5, 3.5, 4.25, None]
    rows = [
        (
            number + 1,
            names[number],
            prices[number],
            f'{{"n": {number}, "l": [1, {number}]}}',
            words[number],
            [number, number * 10],
            Row(words[number][:3], 20 + number),
            dt.datetime(2020, 1, 1 + number // 2, 10, 30 * (number % 2), 5),
        )
        for number in range(4)
    ]
    return env.from_elements(rows, row)


def uses(env: TableEnvironment) -> Table:
    """Return a table to join with."""
    return env.from_elements([(1, "tea"), (3, "jam"), (3, "oil"), (9, "salt")], ["uid", "what"])


def visits(env: TableEnvironment, directory: Path) -> Table:
    """Return a table with an event time."""
    lines = [(0, "a", 1), (3, "b", 2), (4, "a", 3), (9, "a", 4), (11, "b", 5), (14, "a", 6), (27, "a", 7)]
    file = directory / "visits.csv"
    file.write_text("".join(f"2020-01-01 00:00:{second:02},{key},{value}\n" for second, key, value in lines))
    schema = Schema.new_builder().column("ts", DataTypes.TIMESTAMP(3)).column("k", DataTypes.STRING())
    schema.column("v", DataTypes.INT()).watermark("ts", "ts - INTERVAL '1' SECOND")
    described = TableDescriptor.for_connector("filesystem").schema(schema.build())
    return env.from_descriptor(described.option("path", str(file)).format("csv").build())


def operations(file: str = "operations.txt") -> dict[str, str]:
    """Return the operations by their names."""
    found = {}
    for part in f"\n{(HERE / file).read_text()}".split("\n== ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = text.strip()
    return found


def streaming_operations() -> dict[str, str]:
    """Return what is asked in STREAMING mode: operations on whole tables, and those of streams alone."""
    known = operations()
    names = list(known)
    return {name: known[name] for name in names[names.index("alias") :]} | operations("streaming.txt")


def answer(env: TableEnvironment, names: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the columns of an operation, and its rows as they are printed, sorted."""
    table = eval(text, names)
    schema = table.get_resolved_schema()
    columns = [
        f"{name} {kind}"
        for name, kind in zip(
            schema.get_column_names(), map(str, schema.get_column_data_types()), strict=True
        )
    ]
    with table.execute().collect() as rows:
        return {"columns": columns, "rows": sorted(shown(list(row)) for row in rows)}


def streamed(
    env: TableEnvironment, names: dict[str, Any], text: str, *, in_order: bool = False
) -> dict[str, Any]:
    """Return the columns of an operation, whether it only adds rows, and the table at the end of its changes."""
    table = eval(text, names)
    columns = list(table.get_resolved_schema().get_column_names())
    plan = table.explain(ExplainDetail.CHANGELOG_MODE).split("== Optimized Physical Plan ==")[1]
    modes = MODE.findall(plan)
    found: list[str] = []
    with table.execute().collect() as rows:
        for row in rows:
            text = shown(list(row))
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                found.append(text)
            else:
                found.remove(text)
    return {"columns": columns, "grows": modes[0] == "I", "rows": found if in_order else sorted(found)}


def shown(value: Any) -> str:
    """Return a value as text, the same for PyFlink's values and Firesteel's."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{shown(key)}: {shown(one)}" for key, one in value.items())) + "}"
    if isinstance(value, list | tuple | Row):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)
