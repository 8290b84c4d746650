"""Process table functions against the answers of real Flink: rows with their kinds, names, plans, and refusals."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter, defaultdict
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from firesteel.testing import executing
from tests.table.flink.process_tables.ask_process_tables import HERE
from tests.table.flink.process_tables.functions import FUNCTIONS

ANSWERS = [json.loads(line) for line in (HERE / "answers.jsonl").read_text().splitlines()]
CALL = re.compile(r"ProcessTableFunction\(.*changelogMode=\[[\w,]*\]\)")
TYPES = re.compile(r"_UTF-16LE|, rowType=\[.*?\)\]|(?<=null):[A-Z_]+(\(\d+\) CHARACTER SET \"UTF-16LE\")?")
"""What plans say of types, in which they differ."""

ACCEPTED_HERE = {
    # Flink plans this call, and then cannot compile the conversion of the last argument.
    "SELECT * FROM Optional(TABLE events PARTITION BY k, 3, 'w', 1.5)",
}
REFUSED_HERE = {
    # Flink leaves an argument out whose name it does not know.
    "SELECT * FROM Optional(r => TABLE events PARTITION BY k, factr => 1, word => 'w')",
}


@pytest.fixture(scope="module")
def env() -> TableEnvironment:
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found.get_config().set_local_timezone("UTC")
    for function in FUNCTIONS:
        found.create_temporary_system_function(function.signature.name, function)
    for statement in (HERE / "tables.sql").read_text().split(";\n"):
        found.execute_sql(statement.replace("{here}", str(HERE)))
    return found


def rows(env: TableEnvironment, query: str) -> list[list[str]]:
    with env.sql_query(query).execute().collect() as results:
        return [[str(row.get_row_kind()), *map(text, row)] for row in results]


def text(value: Any) -> str:
    """Return a value as Java prints it."""
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return "null" if value is None else str(value)


def comparable(query: str, found: list[list[str]]) -> Any:
    """Return what two runs of a query have in common: the rows of each first value, in the order in which they come.

    An aggregate gives the changes of a batch of rows as one, so that of one in the query the table at its end counts,
    as with a union, and of one below the function which kinds of changes the function is told of.
    """
    if "GROUP BY" in query or "UNION" in query:
        table: Counter[tuple[str, ...]] = Counter()
        for kind, *row in found:
            table[tuple(row)] += 1 if kind in ("+I", "+U") else -1
        return +table
    if "summed" in query:
        return {row[-1].split()[-1] for row in found}
    sets: dict[str, list[list[str]]] = defaultdict(list)
    for row in found:
        sets[row[1]].append(row)
    return sets


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["query"] for answer in ANSWERS])
@pytest.mark.parametrize(
    ("parallelism", "epoch_records"), [(1, 1000), pytest.param(3, 2, marks=pytest.mark.long)]
)
def test_flink_answers_the_same(
    env: TableEnvironment, answer: dict[str, Any], parallelism: int, epoch_records: int
) -> None:
    query = answer["query"]
    with executing(parallelism=parallelism, epoch_records=epoch_records):
        if query in ACCEPTED_HERE:
            assert len(rows(env, query)) == 9
            return
        if "refused" in answer or query in REFUSED_HERE:
            with pytest.raises(FiresteelError):
                rows(env, query)
            return
        assert env.sql_query(query).get_schema().get_field_names() == answer["names"]
        assert comparable(query, rows(env, query)) == comparable(query, answer["rows"])
    plan = env.explain_sql(query, ExplainDetail.CHANGELOG_MODE)
    wanted = [TYPES.sub("", call) for call in answer["calls"]]
    assert [TYPES.sub("", call) for call in CALL.findall(plan)] == wanted


@pytest.mark.parametrize("third", ["NULL", "'a'", "DESCRIPTOR()", "DEFAULT"])
def test_a_descriptor_names_columns(env: TableEnvironment, third: str) -> None:
    with pytest.raises(FiresteelError):
        env.execute_sql(f"EXPLAIN SELECT * FROM Describing(`first` => DESCRIPTOR(a), third => {third})")
