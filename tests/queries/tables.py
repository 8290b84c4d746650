"""Tables as the tests compare them: multisets of rows of texts, folded from changes; and Flink's answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import firesteel.table.udf
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.catalog import CatalogBaseTable, ObjectPath
from tests.queries.flink.functions import functions
from tests.queries.flink.statements import HERE, definitions

ANSWERS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (HERE / "answers.jsonl").read_text(encoding="utf-8").splitlines()
]
FUNCTIONS: Final = functions(firesteel.table)
DIFFERENT_HERE: Final = {
    # Flink computes this one when it plans, and so has a row for no input, which it has not for others like it.
    "SELECT COUNT(*) FROM t WHERE FALSE",
    # Flink sends the first row of each partition again whenever there is another one, and never takes one back; in
    # BATCH mode it has the table that is expected here, too.
    "SELECT a, b FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) = 1",
    (
        "SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE "
        "n >= 1 AND n <= 2 AND n <> 2"
    ),
    (
        "SELECT x.k, x.v, y.b FROM (SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS "
        "n FROM bid) WHERE n = 1) AS x LEFT JOIN (SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER "
        "BY b DESC, e, c) AS n FROM t) WHERE n = 1) AS y ON x.k = y.a"
    ),
    (
        "SELECT DISTINCT c FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) AS n FROM t) WHERE "
        "n = 1"
    ),
    # Flink leaves the bound out; in BATCH mode it has the table that is expected here, too.
    (
        "SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE "
        "n <= 1.5"
    ),
    # To Flink, that is n <= a; in BATCH mode it has the table that is expected here, too.
    "SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n < a",
    # As above: Flink has the first row of a partition twice.
    (
        "SELECT a, n FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS r FROM t) AS x, "
        "LATERAL TABLE(up_to(a)) AS u(n) WHERE r <= 1"
    ),
    # Flink leaves rows without a partner in the table when they have gone from the left side.
    (
        "SELECT a, m, n FROM (SELECT a, MAX(b) AS m, CAST(COUNT(*) AS INT) AS k FROM t GROUP BY a) LEFT JOIN LATERAL "
        "TABLE(up_to(k - 2)) AS u(n) ON TRUE"
    ),
    # To Flink, there is no row around a query without rows, whose COUNT has none in STREAMING mode.
    "SELECT k, k IN (SELECT a FROM t WHERE a > 100) FROM bid",
    "SELECT a, b FROM t WHERE b > ALL (SELECT v FROM bid WHERE k > 100)",
}
"""The queries whose table in STREAMING mode is another one here."""

DIFFERENT_IN_BOTH_MODES: Final = {
    # Flink finds no rows for a NULL in a column that the subquery speaks of with an OR.
    "SELECT a, (SELECT MAX(v) FROM bid WHERE k = a OR v = t.b) FROM t",
    # Flink finds no partner of a NULL.
    (
        "SELECT x.a, x.m FROM (SELECT a, MAX(b) AS m FROM t GROUP BY a) AS x WHERE EXISTS (SELECT 1 FROM (SELECT c, "
        "MAX(a) AS k FROM t GROUP BY c) AS y WHERE y.k IS NOT DISTINCT FROM x.a)"
    ),
    # Flink loses the condition of the inner query.
    (
        "SELECT DISTINCT a FROM t AS x WHERE NOT EXISTS (SELECT 1 FROM bid AS y WHERE y.v > 50 AND NOT EXISTS "
        "(SELECT 1 FROM t AS z WHERE z.a = x.a AND z.a = y.k))"
    ),
    # Flink forgets SUBSET: there are no rows of U.
    (
        "SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(U.id) AS a PATTERN (A B) SUBSET "
        "U = (A, B) DEFINE A AS A.v < 8)"
    ),
    # Flink loses the condition of WHERE.
    "SELECT a, n FROM t, LATERAL (SELECT a + v AS n FROM bid WHERE k = a)",
    # Flink has no row for an aggregate of no rows, though there is one without GROUP BY.
    "SELECT a, n FROM t, LATERAL (SELECT COUNT(*) AS n FROM bid WHERE k = a)",
    "SELECT a, n FROM t, LATERAL (SELECT MAX(v + b) AS n FROM bid WHERE k = a)",
    # Flink numbers the rows of all partitions together.
    (
        "SELECT a, v FROM (SELECT DISTINCT a FROM t), LATERAL (SELECT v, ROW_NUMBER() OVER (ORDER BY v) AS r FROM bid "
        "WHERE k = a) WHERE r = 1"
    ),
    # To Flink, NULL equals NULL there.
    (
        "SELECT customer, id FROM (SELECT DISTINCT customer FROM orders) AS c, LATERAL (SELECT id FROM orders AS o "
        "WHERE o.customer = c.customer ORDER BY id DESC LIMIT 2)"
    ),
}
"""The queries whose table is another one here: that of standard SQL."""

_NOT_PLANNED: Final = (
    "RANK() on streaming table is not supported",
    "RANK() function is not supported on Window TopN",
    "unexpected correlate variable",
    "correlation variable is not found",
    "only support the count of one field",
    "not enough rules to produce a node",
    "StreamPhysicalOverAggregate doesn't support consuming",
    "The window can only be ordered by a single time column",
    "Non-time attribute sort is not supported for bounded OVER window",
    "LEAD Function is not supported in stream mode",
    "Unmaterialized BinaryRawValueData cannot be compared",
    "Rank end should not less than zero",
    "LogicalAggregate cannot be cast to class org.apache.calcite.rel.logical.LogicalProject",
    "This method is a placeholder and should not be called",
    "Python correlate does not support conditions in left join",
    "Index 0 out of bounds for length 0",
    "equivalence.get(p",
    "The from should be a positive number greater than 0",
    "Unsupported call: RUNNING",
    "Columns ambiguously defined: {}",
    "All rows per match mode is not supported yet",
    "CEP doesn't support '{-' '-}' patterns",
    "APPROX_COUNT_DISTINCT aggregate function does not support",
)
"""What Flink says about queries that mean something and that it cannot plan."""

SUPPORTED_HERE: Final = {
    given["query"]
    for given in ANSWERS
    if any(message in given.get("refused", "") for message in _NOT_PLANNED)
} | {
    # Flink does not cast the text of a key of a join, though it does so in other conditions.
    "SELECT x.a FROM t AS x JOIN bid AS y ON x.c = y.k",
    "SELECT a FROM t WHERE a IN (SELECT c FROM t)",
    # Flink cannot plan MATCH_RECOGNIZE there, or such an order of it.
    (
        "SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts, v DESC NULLS FIRST, id MEASURES A.id AS a, B.id AS b "
        "PATTERN "
        "(A B) DEFINE A AS A.name = 'b')"
    ),
    (
        "SELECT m.q, m.a + 1 FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) "
        "DEFINE A AS A.v < 8) AS m(q, a)"
    ),
    (
        "SELECT id FROM event WHERE id IN (SELECT a FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES "
        "A.id AS a PATTERN (A B) DEFINE A AS A.v < 8))"
    ),
    # Flink compares a number with a text of its own making.
    "SELECT a, b FROM t WHERE a <> ANY (SELECT k FROM bid)",
    "SELECT a, b FROM t WHERE a = ALL (SELECT k FROM bid)",
    # Flink has no rank with a constant bound and one of a column.
    (
        "SELECT q, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY q ORDER BY v, ts) AS n FROM "
        "(SELECT CAST(k AS BIGINT) AS q, v, ts FROM bid)) WHERE n <= q AND n <= 3"
    ),
}
"""The queries that Flink refuses, and that have an answer here."""

REFUSED_HERE: Final = {
    # These rows come when a window ends, and have times before: what Flink joins with them depends on how often
    # watermarks come.
    (
        "SELECT o.id, r.rate FROM orders AS o LEFT JOIN latest_of_last FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = "
        "r.product"
    ),
    (
        "SELECT o.id, r.rate FROM orders AS o LEFT JOIN last_in_window FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = "
        "r.product AND r.window_start = FLOOR(o.ts TO MINUTE) AND r.window_end = CEIL(o.ts TO MINUTE)"
    ),
    # Flink takes the name of the table for that of a variable without rows, and so finds nothing.
    (
        "SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS "
        "event.v < 8)"
    ),
    # Flink takes the time of any row of a match for a time attribute, though the watermark may have passed it.
    (
        "SELECT k, COUNT(*) FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS r PATTERN (A B) "
        "DEFINE A AS A.v < 8) GROUP BY k, TUMBLE(r, INTERVAL '20' SECOND)"
    ),
    # Flink ignores the anchors.
    (
        "SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (^ A B) DEFINE A "
        "AS A.v < 8)"
    ),
    (
        "SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B $) DEFINE A "
        "AS A.v < 8)"
    ),
    # Flink takes the bound of the row of a partition that comes first for all others.
    "SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY c ORDER BY b, e, c) AS n FROM t) WHERE n <= a",
}
"""The queries that have an answer in Flink, and not here."""

ACCEPTED: Final = [
    given
    for given in ANSWERS
    if "refused" not in given and given["query"] not in (DIFFERENT_IN_BOTH_MODES | REFUSED_HERE)
]

SORTED_ANYHOW: Final = re.compile(
    r"MATCH_RECOGNIZE \((PARTITION BY k )?ORDER BY seen|event MATCH_RECOGNIZE \(ORDER BY ts M"
)
"""Matches of rows with one time, which Flink's sort leaves in any order in BATCH mode."""

Table = Counter[tuple[Any, ...]]


def folded(changes: Iterable[tuple[str, tuple[Any, ...]]]) -> Table:
    """Return the table after changes, each with its kind (+I, -U, +U, -D); it must be a table after each of them.

    >>> folded([("+I", ("a",)), ("-U", ("a",)), ("+U", ("b",))])
    Counter({('b',): 1})
    """
    rows: Table = Counter()
    for kind, row in changes:
        rows[row] += 1 if kind[0] == "+" else -1
        assert rows[row] >= 0, f"{kind} {row} takes a row away that is not there"
    return +rows


def table_of(env: TableEnvironment, query: str) -> Table:
    """Return the table that a query ends with."""
    with env.sql_query(query).execute().collect() as results:
        return folded((str(row.get_row_kind()), tuple(row)) for row in results)


ONE_SUBTASK: Final = "execution.batch.adaptive.auto-parallelism.enabled"
"""The option that lets small inputs have one subtask in BATCH mode; off where subtasks are tested."""


DATABASE: Final = ("default_catalog", "default_database")


@cache
def tables_and_views() -> dict[str, CatalogBaseTable]:
    """Return what Flink was asked about, which is parsed and bound once: no session changes a definition."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("table.local-time-zone", "UTC")
    for statement in definitions():
        env.execute_sql(statement)
    catalog, database = env.get_catalog(DATABASE[0]), DATABASE[1]
    assert catalog is not None
    return {name: catalog.get_table(ObjectPath(database, name)) for name in catalog.list_tables(database)}


def session(*, batch: bool = False, options: Mapping[str, str] | None = None) -> TableEnvironment:
    """Return a session, with options, that has the tables that Flink was asked about; all inputs have all subtasks."""
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    for key, value in {"table.local-time-zone": "UTC", ONE_SUBTASK: "false", **(options or {})}.items():
        env.get_config().set(key, value)
    catalog = env.get_catalog(DATABASE[0])
    assert catalog is not None
    for name, table in tables_and_views().items():
        catalog.create_table(ObjectPath(DATABASE[1], name), table, ignore_if_exists=False)
    for name, function in FUNCTIONS.items():
        env.create_temporary_function(name, function)
    return env


def texts(names: Sequence[str]) -> list[str]:
    """Return the columns of these names as texts."""
    return [f"CAST(`{name}` AS STRING)" for name in names]


def rounded(rows: Iterable[Sequence[str | None]], kinds: Sequence[str]) -> Table:
    """Return the rows with their floating point numbers rounded, whose last digits depend on the order of sums."""
    digits = [12 if kind.startswith("DOUBLE") else 6 if kind.startswith("FLOAT") else None for kind in kinds]
    return Counter(
        tuple(
            cell if known is None or cell is None else f"{float(cell):.{known}g}"
            for cell, known in zip(row, digits, strict=True)
        )
        for row in rows
    )


def expected(given: dict[str, Any], *, batch: bool = False) -> Table:
    """Return Flink's answer."""
    rows = given.get("batch", given["rows"]) if batch else given["rows"]
    return rounded(rows, given["types"])


def compared(*, batch: bool = False) -> list[dict[str, Any]]:
    """Return what Flink answered to the queries that have the same table here, in a mode."""
    if not batch:
        return [given for given in ACCEPTED if given["query"] not in DIFFERENT_HERE]
    return [
        given
        for given in ACCEPTED
        if not isinstance(given.get("batch"), dict)
        and "SESSION(TABLE" not in given["query"]  # refused, as in Flink
        and not given["query"].endswith("MAX(price) FROM orders WHERE id < 0")  # one row, as in Flink
        and not SORTED_ANYHOW.search(given["query"])
    ]


def in_turn(ways: Collection[str]) -> dict[str, str]:
    """Return the way of each query: one of those whose mode compares it, for the next query the next of its own."""
    queries = {batch: {given["query"] for given in compared(batch=batch)} for batch in (False, True)}
    found: dict[str, str] = {}
    for number, given in enumerate(ACCEPTED):
        query = given["query"]
        if own := [way for way in ways if query in queries[way.startswith("batch")]]:
            found[query] = own[number % len(own)]
    return found


def described(env: TableEnvironment, query: str) -> tuple[list[str], list[str]]:
    """Return the names and the types of the columns of a query, which is the view `answered` from then on."""
    env.create_temporary_view("answered", env.sql_query(query))
    with env.execute_sql("DESCRIBE answered").collect() as columns:
        found = [(column[0], f"{column[1]}{'' if column[2] else ' NOT NULL'}") for column in columns]
    return [name for name, _ in found], [kind for _, kind in found]


def plain(kinds: list[str]) -> list[str]:
    """Return types without the mark of time attributes, which Flink leaves on results that are none any more."""
    return [kind.replace(" *ROWTIME*", "") for kind in kinds]
