"""Random queries that mean the same in Flink's SQL and in DuckDB's, and random tables with the changes that made them.

Every relation has the columns a, b (INT) and c (STRING), whose values are few, so that much is equal, and often NULL.
The events have a row time, too, which no two of them share, and are in views with windows: to DuckDB, these are plain
columns.
What the two systems do differently is left out: division, floating point numbers, ties that an order leaves open,
orders that do not say where NULL is, queries that are values and may have several rows, and COUNT without GROUP BY of
what may have no rows (in STREAMING mode there is no such row, as in Flink).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

_Choice = TypeVar("_Choice")
Row = tuple[int | None, int | None, str | None]

COLUMNS: Final = "a INT, b INT, c STRING"
EVENTS: Final = "e"
TABLES: Final = ("r", "s", "u", EVENTS)
APPENDED: Final = ("s", EVENTS)
"""The tables that only grow."""

_TIMED: Final = f"{COLUMNS}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"
WINDOWS: Final = {
    "tumble": "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND)",
    "hop": "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
    "cumulate": "CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
}
"""The views of events with windows."""

_STARTS: Final = {
    "tumble": "floored(ts, 5) AS window_start, floored(ts, 5) + 5 AS window_end FROM e",
    "hop": "floored(ts, 5) - n AS window_start, floored(ts, 5) - n + 15 AS window_end "
    "FROM e, (VALUES (0), (5), (10)) v(n)",
    "cumulate": "floored(ts, 15) AS window_start, floored(ts, 15) + n AS window_end "
    "FROM e, (VALUES (5), (10), (15)) v(n) WHERE floored(ts, 15) + n > epoch(ts)",
}

_TEXTS: Final = ("x", "y", "z", None)
_ALL: Final = "{0}.a, {0}.b, {0}.c"
_JOINS: Final = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_SETS: Final = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
_RANKS: Final = ("RANK()", "DENSE_RANK()")
_ROWS: Final = (
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
_RANGES: Final = (
    "",
    "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)


def random_changes(chance: random.Random, *, grows: bool) -> tuple[list[dict[str, Any]], list[Row]]:
    """Return the changes of a table as Debezium has them, and its rows at the end."""
    rows: list[Row] = []
    changes: list[dict[str, Any]] = []
    for _ in range(chance.randint(0, 24)):
        fresh = (_number(chance), _number(chance), chance.choice(_TEXTS))
        what = "c" if grows or not rows else chance.choice("cccud")
        before = None if what == "c" else rows.pop(chance.randrange(len(rows)))
        after = None if what == "d" else fresh
        rows += [] if after is None else [after]
        changes.append({"before": _record(before), "after": _record(after), "op": what})
    return changes, rows


def written(
    path: Path, name: str, changes: list[dict[str, Any]], rows: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[str, str]]:
    """Write a table's changes and its rows to files; yield the mode and the statement that creates it."""
    for mode, lines, form in (
        ("streaming", changes, "debezium-json"),
        ("batch", [_record(row) for row in rows], "json"),
    ):
        if name in APPENDED:
            lines, form = [_record(row) for row in rows], "json"
        file = path / f"{name}.{mode}"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        options = f"'connector' = 'filesystem', 'path' = '{file}', 'format' = '{form}'"
        yield mode, f"CREATE TABLE {name} ({_TIMED if name == EVENTS else COLUMNS}) WITH ({options})"


def timed(chance: random.Random, rows: list[Row]) -> list[tuple[Any, ...]]:
    """Return rows with times, which are within a minute."""
    quarters = chance.sample(range(240), len(rows))
    return [
        (*row, f"2020-01-01 00:00:{at // 4:02}.{at % 4 * 250:03}")
        for row, at in zip(rows, quarters, strict=True)
    ]


def in_duckdb() -> Iterator[str]:
    """Yield the statements that make DuckDB's views of events, whose windows are in seconds."""
    yield "CREATE MACRO floored(ts, size) AS CAST(FLOOR(epoch(ts) / size) * size AS BIGINT)"
    for name, columns in _STARTS.items():
        yield f"CREATE VIEW {name} AS SELECT a, b, c, ts, {columns}"


def _number(chance: random.Random) -> int | None:
    return None if chance.random() < 0.15 else chance.randint(0, 4)


def _record(row: tuple[Any, ...] | None) -> dict[str, Any] | None:
    return None if row is None else dict(zip(("a", "b", "c", "ts"), row, strict=False))


class Relations:
    """Makes queries by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._names = 0

    def query(self) -> str:
        """Return a query with the columns a, b, c, and perhaps a further one."""
        alias = self._alias()
        more = f", {self._value(alias)} AS d" if self._chance.random() < 0.4 else ""
        where = self._where(alias, 2)
        return f"SELECT {_ALL.format(alias)}{more} FROM {self._relation(3)} AS {alias}{where}"

    def _relation(self, depth: int) -> str:
        if depth <= 0 or self._chance.random() < 0.2:
            return self._one(*TABLES)
        make = self._one(
            self._filtered, self._joined, self._joined, self._chain, self._grouped, self._grouped, self._set,
            self._ranked, self._framed, self._distinct, self._lateral, self._unnested, self._windowed, self._windowed,
            self._window_joined, self._near, self._over, self._last,
        )  # fmt: skip
        return f"({make(depth - 1)})"

    def _filtered(self, depth: int) -> str:
        alias = self._alias()
        first = self._one(f"{alias}.a", f"{alias}.b", f"{alias}.a + {alias}.b", f"COALESCE({alias}.a, 7)")
        where = f" WHERE {self._condition(alias, depth)}"
        return f"SELECT {first} AS a, {alias}.b, {alias}.c FROM {self._relation(depth)} AS {alias}{where}"

    def _joined(self, depth: int) -> str:
        one, two = self._alias(), self._alias()
        kind = self._one(*_JOINS)
        sides = f"{self._relation(depth)} AS {one} {kind} {self._relation(depth)} AS {two}"
        return f"SELECT {one}.a, {two}.b, {self._one(one, two)}.c FROM {sides} ON {self._on(one, two, kind)}"

    def _chain(self, depth: int) -> str:
        """Return a join of three to five tables."""
        names = [self._alias() for _ in range(self._chance.randint(3, 5))]
        text = f"{self._one(*TABLES)} AS {names[0]}"
        for place, name in enumerate(names[1:], 1):
            other, column = self._one(*names[:place]), self._one("a", "b")
            kind = self._one("JOIN", "LEFT JOIN")
            text += (
                f" {kind} {self._one(*TABLES)} AS {name} ON {other}.{column} = {name}.{self._one('a', 'b')}"
            )
            text += f" AND {other}.c = {name}.c"
        return f"SELECT {names[0]}.a, {names[-1]}.b, {names[1]}.c FROM {text}"

    def _on(self, one: str, two: str, kind: str) -> str:
        equal = self._one(
            f"{one}.a = {two}.a", f"{one}.a = {two}.b", f"{one}.c = {two}.c", f"{one}.a + 1 = {two}.b",
            f"{one}.a = {two}.a AND {one}.c = {two}.c", f"{one}.b IS NOT DISTINCT FROM {two}.b",
        )  # fmt: skip
        if kind == "FULL JOIN":  # others are too much for DuckDB
            return equal
        more = self._one(
            "", "", f" AND {one}.b < {two}.b", f" AND {one}.b > 1", f" AND {two}.c <> 'x'",
            f" AND ({one}.b = {two}.b OR {one}.c = {two}.c)",
        )  # fmt: skip
        return self._one(equal + more, equal + more, f"{one}.a < {two}.b")

    def _grouped(self, depth: int) -> str:
        alias = self._alias()
        key, call = self._one("a", "b"), self._call(alias)
        having = self._one("", "", " HAVING COUNT(*) > 1", f" HAVING MAX({alias}.b) >= 2")
        return (
            f"SELECT {alias}.{key} AS a, CAST({call} AS INT) AS b, {self._one('MIN', 'MAX')}({alias}.c) AS c "
            f"FROM {self._relation(depth)} AS {alias}{self._where(alias, depth)} GROUP BY {alias}.{key}{having}"
        )

    def _call(self, alias: str) -> str:
        """Return an aggregate."""
        return self._one(
            "COUNT(*)", "COUNT({0}.b)", "SUM({0}.b)", "MIN({0}.a)", "MAX({0}.b)", "COUNT(DISTINCT {0}.c)",
            "SUM(DISTINCT {0}.b)", "COUNT(*) FILTER (WHERE {0}.b > 1)",
        ).format(alias)  # fmt: skip

    def _set(self, depth: int) -> str:
        one, two = self._relation(depth), self._relation(depth)
        return f"SELECT a, b, c FROM {one} {self._one(*_SETS)} SELECT a, b, c FROM {two}"

    def _distinct(self, depth: int) -> str:
        return (
            f"SELECT DISTINCT {self._one('a, b', 'a, a AS b', 'b AS a, b')}, c FROM {self._relation(depth)}"
        )

    def _ranked(self, depth: int) -> str:
        order = self._one("b ASC NULLS FIRST", "b DESC NULLS LAST", "c DESC NULLS FIRST, b ASC NULLS LAST")
        rank = self._one(*_RANKS)
        if self._chance.random() < 0.5:  # rows that are equal in all columns may change places
            rank, order = "ROW_NUMBER()", f"{order}, a ASC NULLS FIRST, b ASC NULLS FIRST, c ASC NULLS FIRST"
        partition = self._one("PARTITION BY a", "PARTITION BY c", "PARTITION BY a, c")
        bound = self._one("n = 1", "n <= 2", "n <= 3", "n BETWEEN 2 AND 3")
        second = self._one("b", "CAST(n AS INT)")
        return (
            f"SELECT a, {second} AS b, c FROM (SELECT a, b, c, {rank} OVER ({partition} ORDER BY {order}) AS n "
            f"FROM {self._relation(depth)}) WHERE {bound}"
        )

    def _framed(self, depth: int) -> str:
        """Return calls with OVER; those of ROWS have an order of all columns, as equal rows may change places."""
        order = self._one("b ASC NULLS FIRST", "b DESC NULLS LAST", "a ASC NULLS LAST")
        call = self._one("SUM(b)", "COUNT(*)", "COUNT(b)", "MIN(a)", "MAX(b)")
        frame = self._one(*_RANGES)
        if self._chance.random() < 0.6:
            order = f"{order}, a ASC NULLS FIRST, b ASC NULLS FIRST, c ASC NULLS FIRST"
            frame = self._one(*_ROWS)
        if "ROWS" in frame and self._chance.random() < 0.3:
            call, frame = (
                self._one("LAG(a)", "LEAD(b)", "LAG(b, 2, 9)", "ROW_NUMBER()", "RANK()", "NTILE(2)"),
                "",
            )
        partition = self._one("", "PARTITION BY a ", "PARTITION BY c ", "PARTITION BY a, c ")
        over = f"{call} OVER ({partition}ORDER BY {order} {frame})"
        return f"SELECT a, CAST({over} AS INT) AS b, c FROM {self._relation(depth)}"

    def _lateral(self, depth: int) -> str:
        one, two, inner = self._alias(), self._alias(), self._alias()
        rows = f"{self._one(*TABLES)} AS {inner} WHERE {self._correlated(one, inner)}"
        column, order = self._one("a", "b"), self._one("ASC NULLS FIRST", "DESC NULLS LAST")
        query = self._one(
            f"SELECT {inner}.b AS b, {inner}.c AS c FROM {rows}",
            f"SELECT CAST(COUNT(*) AS INT) AS b, MAX({inner}.c) AS c FROM {rows}",
            f"SELECT {inner}.{column} AS b, MIN({inner}.c) AS c FROM {rows} GROUP BY {inner}.{column}",
            f"SELECT {inner}.b AS b, {inner}.c AS c FROM {rows} ORDER BY {inner}.b {order}, {inner}.c {order} LIMIT 2",
        )
        kind, on = self._one(("CROSS JOIN", ""), ("LEFT JOIN", " ON TRUE"))
        sides = f"{self._relation(depth)} AS {one} {kind} LATERAL ({query}) AS {two}{on}"
        return f"SELECT {one}.a, {two}.b, {two}.c FROM {sides}"

    def _unnested(self, depth: int) -> str:
        one, two = self._alias(), self._alias()
        kind, on = self._one(("CROSS JOIN", ""), ("LEFT JOIN", " ON TRUE"))
        array = f"ARRAY[{one}.a, {one}.b, 9]"
        return (
            f"SELECT {one}.a, {two}.x AS b, {one}.c FROM {self._relation(depth)} AS {one} "
            f"{kind} UNNEST({array}) AS {two}(x){on}"
        )

    def _windowed(self, _: int) -> str:
        """Return groups, or the first rows, of windows."""
        alias, window = self._alias(), self._one(*WINDOWS)
        where = self._where(alias, 0)
        key = self._one("a", "b", "c")
        if self._chance.random() < 0.3:
            order = (
                f"{alias}.b DESC NULLS LAST, {alias}.a ASC NULLS FIRST, {alias}.c ASC NULLS FIRST, {alias}.ts"
            )
            partition = f"{alias}.window_start, {alias}.window_end, {alias}.{key}"
            return (
                f"SELECT a, b, c FROM (SELECT {_ALL.format(alias)}, ROW_NUMBER() OVER (PARTITION BY {partition} "
                f"ORDER BY {order}) AS n FROM {window} AS {alias}{where}) WHERE n <= 2"
            )
        call, having = self._call(alias), self._one("", " HAVING COUNT(*) > 1")
        if key == "c":
            first, text, keys = f"CAST(COUNT({alias}.a) AS INT)", f"{alias}.c", f"{alias}.c, "
        else:
            first, text, keys = f"{alias}.{key}", f"MIN({alias}.c)", f"{alias}.{key}, "
        return (
            f"SELECT {first} AS a, CAST({call} AS INT) AS b, {text} AS c FROM {window} AS {alias}{where} "
            f"GROUP BY {keys}{alias}.window_start, {alias}.window_end{having}"
        )

    def _window_joined(self, _: int) -> str:
        one, two, window = self._alias(), self._alias(), self._one(*WINDOWS)
        equal = self._one("{0}.a = {1}.a", "{0}.a = {1}.b", "{0}.c = {1}.c").format(one, two)
        on = f"{one}.window_start = {two}.window_start AND {one}.window_end = {two}.window_end AND {equal}"
        sides = f"{window} AS {one} {self._one(*_JOINS)} {window} AS {two}"
        return f"SELECT {one}.a, {two}.b, {self._one(one, two)}.c FROM {sides} ON {on}"

    def _near(self, _: int) -> str:
        """Return a join of events whose times are near each other."""
        one, two = self._alias(), self._alias()
        equal = self._one("{0}.a = {1}.a", "{0}.a = {1}.b", "{0}.c = {1}.c").format(one, two)
        more = self._one("", f" AND {one}.b < {two}.b")
        lower, upper = self._one((5, 3), (0, 9), (20, -2))
        near = f"BETWEEN {one}.ts - INTERVAL '{lower}' SECOND AND {one}.ts + INTERVAL '{upper}' SECOND"
        sides = f"{EVENTS} AS {one} {self._one('JOIN', 'LEFT JOIN', 'RIGHT JOIN')} {EVENTS} AS {two}"
        return f"SELECT {one}.a, {two}.b, {self._one(one, two)}.c FROM {sides} ON {equal}{more} AND {two}.ts {near}"

    def _over(self, _: int) -> str:
        alias, key = self._alias(), self._one("a", "c")
        frame = self._one(
            "", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            "RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        )  # fmt: skip
        call = self._one("COUNT(*)", "COUNT({0}.b)", "SUM({0}.b)", "MIN({0}.b)", "MAX({0}.a)").format(alias)
        if self._chance.random() < 0.2:
            call, frame = self._one(f"LAG({alias}.b)", f"LAG({alias}.b, 2)"), ""
        over = f"PARTITION BY {alias}.{key} ORDER BY {alias}.ts {frame}"
        return (
            f"SELECT {alias}.a, CAST({call} OVER ({over}) AS INT) AS b, {alias}.c "
            f"FROM {EVENTS} AS {alias}{self._where(alias, 0)}"
        )

    def _last(self, _: int) -> str:
        """Return the first or the last event of each key."""
        alias, key, order = self._alias(), self._one("a", "b", "c"), self._one("ASC", "DESC")
        number = f"ROW_NUMBER() OVER (PARTITION BY {alias}.{key} ORDER BY {alias}.ts {order})"
        rows = f"SELECT {_ALL.format(alias)}, {number} AS n FROM {EVENTS} AS {alias}{self._where(alias, 0)}"
        return f"SELECT a, b, c FROM ({rows}) WHERE n = 1"

    def _where(self, alias: str, depth: int) -> str:
        return f" WHERE {self._condition(alias, depth)}" if self._chance.random() < 0.5 else ""

    def _condition(self, alias: str, depth: int) -> str:
        if depth > 0 and self._chance.random() < 0.4:
            return self._asking(alias)
        form = self._one(
            "{0}.a > 1", "{0}.a = {0}.b", "{0}.b IS NULL", "{0}.c IN ('x', 'z')", "{0}.c IS NOT NULL",
            "{0}.a NOT IN (1, 2)", "{0}.b BETWEEN 1 AND 3", "{0}.a IS DISTINCT FROM {0}.b", "NOT ({0}.a < 2)",
            "({0}.a = 1 OR {0}.c = 'y')", "{0}.a <> 2 AND {0}.b <> 2",
        )  # fmt: skip
        return form.format(alias)

    def _asking(self, alias: str) -> str:
        inner = self._alias()
        rows = f"{self._relation(1)} AS {inner}"
        correlated = self._chance.random() < 0.6
        where = f" WHERE {self._correlated(alias, inner)}" if correlated else self._where(inner, 0)
        column, comparison = self._one("a", "b"), self._one("=", "<>", "<", "<=", ">", ">=")
        asked = self._one(
            f"{alias}.{column} IN (SELECT {inner}.b FROM {rows}{where})",
            f"{alias}.{column} NOT IN (SELECT {inner}.b FROM {rows}{where})",
            f"EXISTS (SELECT 1 FROM {rows}{where})",
            f"NOT EXISTS (SELECT 1 FROM {rows}{where})",
            f"{alias}.b {comparison} (SELECT {self._one('MAX', 'MIN', 'SUM')}({inner}.a) FROM {rows}{where})",
            f"{alias}.b {comparison} {self._one('ANY', 'ALL')} (SELECT {inner}.a FROM {rows}{where})",
        )
        return self._one("{0}", "{0}", "({0} OR {1}.b = 2)", "NOT ({0} AND {1}.a > 1)").format(asked, alias)

    def _correlated(self, outer: str, inner: str) -> str:
        return self._one(
            "{1}.a = {0}.a", "{1}.a = {0}.b", "{1}.c = {0}.c", "{1}.a = {0}.a AND {1}.c = {0}.c",
            "{1}.a < {0}.a", "{1}.a = {0}.a AND {1}.b > {0}.b", "({1}.a = {0}.a OR {1}.c = {0}.c)",
        ).format(outer, inner)  # fmt: skip

    def _value(self, alias: str) -> str:
        inner = self._alias()
        rows = f"{self._relation(1)} AS {inner} WHERE {self._correlated(alias, inner)}"
        return self._one(
            f"(SELECT COUNT(*) FROM {rows})",
            f"(SELECT MAX({inner}.b) FROM {rows})",
            f"COALESCE((SELECT SUM({inner}.a) FROM {rows}), -1)",
            f"CASE WHEN {self._asking(alias)} THEN 1 ELSE 0 END",
            f"{self._asking(alias)}",
            f"(SELECT MAX({inner}.c) FROM {rows} AND {inner}.b > {alias}.a)",
        )

    def _alias(self) -> str:
        self._names += 1
        return f"q{self._names}"

    def _one(self, *choices: _Choice) -> _Choice:
        return self._chance.choice(choices)
