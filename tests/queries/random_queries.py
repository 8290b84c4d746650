"""Random queries over a small catalog: most of them have a meaning, some do not, all are well-formed."""

from __future__ import annotations

import random
from typing import Final, NamedTuple, TypeVar

_Choice = TypeVar("_Choice")

TABLES: Final = [
    """CREATE TABLE t (a INT, b BIGINT NOT NULL, s STRING, d DECIMAL(10, 2), f DOUBLE, x BOOLEAN, dt DATE,
      ts TIMESTAMP(3), l ARRAY<INT>, r ROW<n INT, w STRING>, now AS PROCTIME(), twice AS a * 2,
      WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
      WITH ('connector' = 'filesystem', 'path' = '{path}/t', 'format' = 'json')""",
    """CREATE TABLE u (a INT, s STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
      WITH ('connector' = 'filesystem', 'path' = '{path}/u', 'format' = 'json')""",
    "CREATE VIEW v AS SELECT a, s, COUNT(*) AS n, MAX(ts) AS latest FROM t GROUP BY a, s",
    "CREATE TABLE sunk (a INT, s STRING NOT NULL, n BIGINT) WITH ('connector' = 'blackhole')",
    """CREATE TABLE appended (a INT, s STRING)
      WITH ('connector' = 'filesystem', 'path' = '{path}-out', 'format' = 'csv')""",
]


class Scope(NamedTuple):
    """The columns of a source by their kinds; one of each kind at least."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    times: tuple[str, ...]
    truths: tuple[str, ...] = ("TRUE",)


_T: Final = Scope(("a", "b", "d", "f", "twice", "r.n", "l[1]"), ("s", "r.w"), ("ts", "now", "dt"), ("x",))
_U: Final = Scope(("a",), ("s",), ("ts",))
_V: Final = Scope(("a", "n"), ("s",), ("latest",))
_NUMBERS: Final = ("1", "2.5", "CAST(3 AS SMALLINT)", "1E0", "CAST(NULL AS INT)")
_TEXTS: Final = ("'x'", "'2020-01-01 00:00:00'", "'7'")
_TIMES: Final = ("TIMESTAMP '2020-01-01 00:00:00'", "CURRENT_TIMESTAMP", "DATE '2020-02-29'")
_AGGREGATES: Final = (
    "COUNT(*)", "COUNT({0})", "COUNT(DISTINCT {0})", "SUM({0})", "AVG({0})", "MIN({0})", "MAX({0})",
    "SUM(DISTINCT {0})", "LISTAGG({1})", "COLLECT({0})", "ARRAY_AGG({0})",
    "FIRST_VALUE({0})", "LAST_VALUE({0})", "STDDEV_POP({0})",
    "VAR_SAMP({0})", "COUNT({0}) FILTER (WHERE {2})", "JSON_OBJECTAGG(KEY {1} VALUE {0})", "JSON_ARRAYAGG({0})",
    "APPROX_COUNT_DISTINCT({0})",
)  # fmt: skip
_OVERS: Final = (
    "ROW_NUMBER()", "RANK()", "LAG({0})", "LEAD({0}, 2)", "SUM({0})", "COUNT(*)", "COUNT(DISTINCT {0})", "MAX({1})",
    "FIRST_VALUE({0})", "AVG({0})", "NTILE(2)",
)  # fmt: skip
_FRAMES: Final = (
    "", "", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)  # fmt: skip
_WINDOWS: Final = (
    "TUMBLE(TABLE {0}, DESCRIPTOR({1}), INTERVAL '10' SECOND)",
    "HOP(TABLE {0}, DESCRIPTOR({1}), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
    "CUMULATE(TABLE {0}, DESCRIPTOR({1}), INTERVAL '5' SECOND, INTERVAL '1' MINUTE)",
    "SESSION(TABLE {0} PARTITION BY a, DESCRIPTOR({1}), INTERVAL '5' SECOND)",
)
_GROUP_WINDOWS: Final = (
    "TUMBLE({0}, INTERVAL '10' SECOND)", "HOP({0}, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "SESSION({0}, INTERVAL '5' SECOND)", "TUMBLE({0}, 5)",
)  # fmt: skip


class Queries:
    """Makes queries by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._scope = _T

    def statement(self) -> str:
        """Return a query, or an INSERT."""
        roll = self._chance.random()
        if roll < 0.1:
            return f"INSERT INTO sunk SELECT CAST(a AS INT), s, CAST(a AS BIGINT) FROM {self._named(1)}"
        if roll < 0.2:
            return f"INSERT INTO appended SELECT CAST(a AS INT), s FROM {self._named(1)}"
        return self._query(2)

    def _query(self, depth: int) -> str:
        """Return a query with at most so many queries within each other."""
        roll = self._chance.random()
        if roll < 0.05:
            return f"VALUES (1, {self._one(*_TEXTS)}), ({self._one(*_NUMBERS)}, NULL)"
        if roll < 0.25:
            return self._windowed()
        return self._grouped(depth) if roll < 0.6 else self._plain(depth)

    def _named(self, depth: int) -> str:
        """Return a query with the columns a, s and ts."""
        source = self._source(depth)
        shape = self._one("plain", "plain", "grouped", "union", "join", "ranked")
        if shape == "ranked":
            rank = self._one("ROW_NUMBER()", "RANK()", "DENSE_RANK()")
            order, bound = (
                self._filled(self._one("{0}", "{1} DESC", "{0}, {1}")),
                self._one("= 1", "<= 2", "> 3"),
            )
            inner = f"SELECT *, {rank} OVER (PARTITION BY a ORDER BY {order}) AS place FROM {source}"
            time = self._one(*self._scope.times)
            self._scope = _U
            return f"(SELECT a, s, {time} AS ts FROM ({inner}) WHERE place {bound})"
        if shape == "join" and depth:
            first, second = self._named(depth - 1), self._named(depth - 1)
            kind = self._one("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
            on = self._one(
                "x.a = y.a", "x.s = y.s AND x.a < y.a", "x.a = y.s", "x.ts = y.ts", "x.a + 1 > y.a"
            )
            self._scope = _U
            return f"(SELECT x.a, y.s, x.ts FROM {first} AS x {kind} {second} AS y ON {on})"
        if shape == "union" and depth:
            first, word = self._named(depth - 1), self._one("UNION ALL", "UNION", "INTERSECT", "EXCEPT ALL")
            return f"(SELECT a, s, ts FROM {first} {word} SELECT a, s, ts FROM t)"
        if shape == "grouped":
            call = self._filled(self._one(*_AGGREGATES[:9]))
            key, time = self._one(*self._scope.texts), self._one(*self._scope.times)
            text = f"SELECT {call} AS a, {key} AS s, MAX({time}) AS ts FROM {source} GROUP BY {key}"
        else:
            time = self._one(*self._scope.times)
            text = f"SELECT {self._number(1)} AS a, {self._text(1)} AS s, {time} AS ts FROM {source}{self._where()}"
        self._scope = _U
        return f"({text})"

    def _plain(self, depth: int) -> str:
        source = self._source(depth)
        items = [self._value(2) for _ in range(self._chance.randint(1, 3))]
        if self._chance.random() < 0.3:
            time = self._one(*self._scope.times)
            order = self._one(time, time, time, "a", f"{time} DESC", f"{time}, a")
            partition = self._one("", "PARTITION BY a ", "PARTITION BY s, a ")
            call = self._filled(self._one(*_OVERS))
            items.append(f"{call} OVER ({partition}ORDER BY {order} {self._one(*_FRAMES)})")
        shown = ", ".join(f"{item} AS c{place}" for place, item in enumerate(items))
        distinct = self._one("", "", "", "DISTINCT ")
        selected = self._one(distinct + shown, distinct + shown, distinct + shown, "*")
        return f"SELECT {selected} FROM {source}{self._where()}{self._tail()}"

    def _grouped(self, depth: int) -> str:
        source = self._source(depth)
        time = self._one(*self._scope.times)
        window = f"a, {self._one(*_GROUP_WINDOWS).format(time)}"
        sets = self._one("ROLLUP (a, s)", "GROUPING SETS ((a), (s), ())", "CUBE (a, s)", "a + 1")
        keys = self._one("a", "s", "a, s", "", sets, window)
        items = [self._filled(self._one(*_AGGREGATES)) for _ in range(self._chance.randint(1, 3))]
        if keys in ("a", "s", "a, s"):
            items.insert(0, keys)
        having = self._filled(self._one("COUNT(*) > 1", "MAX({0}) > 2"))
        having = f" HAVING {having}" if self._chance.random() < 0.2 else ""
        group = f" GROUP BY {keys}" if keys else ""
        limit = self._one("", "", "", " ORDER BY 1", " LIMIT 2")
        return f"SELECT {', '.join(items)} FROM {source}{self._where()}{group}{having}{limit}"

    def _windowed(self) -> str:
        table, time, self._scope = self._one(
            ("t", "ts", _T), ("t", "now", _T), ("u", "ts", _U), ("t", "dt", _T), ("v", "latest", _V)
        )
        window = self._one(*_WINDOWS).format(table, time)
        bounds = "window_start, window_end"
        keys = self._one(bounds, f"{bounds}, a", "window_end", f"window_time, a, {bounds}")
        calls = ", ".join(self._filled(self._one(*_AGGREGATES)) for _ in range(self._chance.randint(1, 2)))
        if self._chance.random() < 0.2:
            return f"SELECT * FROM TABLE({window})"
        return f"SELECT {keys}, {calls} FROM TABLE({window}){self._where()} GROUP BY {keys}"

    def _source(self, depth: int) -> str:
        if depth and self._chance.random() < 0.3:
            return self._named(depth - 1)
        name, self._scope = self._one(("t", _T), ("t", _T), ("u", _U), ("v", _V))
        return name

    def _where(self) -> str:
        asked = self._one("a IN (SELECT a FROM u)", "NOT EXISTS (SELECT 1 FROM u AS other WHERE other.s = s)")
        condition = self._one(self._condition(1), self._condition(1), asked)
        return f" WHERE {condition}" if self._chance.random() < 0.3 else ""

    def _tail(self) -> str:
        order = self._one(
            "",
            "",
            "",
            "",
            " ORDER BY 1",
            f" ORDER BY {self._one(*self._scope.times)}",
            " ORDER BY a DESC NULLS LAST, s",
        )
        return order + self._one("", "", "", " LIMIT 2", " LIMIT 3 OFFSET 1")

    def _value(self, depth: int) -> str:
        kinds = (self._number, self._text, self._time, self._condition)
        return self._chance.choice(kinds)(depth)

    def _number(self, depth: int = 1) -> str:
        if depth <= 0 or self._chance.random() < 0.4:
            return self._one(*_NUMBERS, *self._scope.numbers, *self._scope.numbers)
        form = self._one(
            "({n} + {n})", "({n} / {n})", "({n} % {n})", "-{n}", "ABS({n})", "ROUND({n}, 1)", "CHAR_LENGTH({s})",
            "CAST({s} AS INT)", "TRY_CAST({s} AS DECIMAL(5, 2))", "EXTRACT(YEAR FROM {t})", "COALESCE({n}, {n})",
            "CASE WHEN {c} THEN {n} ELSE {n} END", "TIMESTAMPDIFF(DAY, {t}, {t})", "POWER({n}, 2)",
            "FLOOR({n})", "NULLIF({n}, 0)", "POSITION({s} IN {s})", "CAST({n} AS TINYINT)", "RAND_INTEGER(5)",
        )  # fmt: skip
        return self._expanded(form, depth)

    def _text(self, depth: int = 1) -> str:
        if depth <= 0 or self._chance.random() < 0.4:
            return self._one(*_TEXTS, *self._scope.texts, *self._scope.texts)
        form = self._one(
            "{s} || {s}", "SUBSTRING({s}, 1, 2)", "TRIM({s})", "CAST({n} AS STRING)", "DATE_FORMAT({t}, 'yyyy-MM')",
            "CAST({t} AS STRING)", "REGEXP_REPLACE({s}, '[a-c]', 'z')", "CASE WHEN {c} THEN {s} END",
            "LPAD({s}, 4, '0')", "CONCAT_WS('-', {s}, {s})", "SPLIT_INDEX({s}, '-', 0)", "CAST({s} AS CHAR(3))",
            "REPLACE({s}, 'a', {s})", "INITCAP({s})",
        )  # fmt: skip
        return self._expanded(form, depth)

    def _time(self, depth: int = 1) -> str:
        if depth <= 0 or self._chance.random() < 0.5:
            return self._one(*_TIMES, *self._scope.times, *self._scope.times)
        form = self._one(
            "{t} + INTERVAL '1' DAY", "FLOOR({t} TO HOUR)", "CEIL({t} TO MONTH)", "TO_TIMESTAMP({s})",
            "CAST({t} AS DATE)", "CAST({s} AS TIMESTAMP(3))", "TIMESTAMPADD(MONTH, 1, {t})",
            "CAST({t} AS TIMESTAMP_LTZ(3))", "TO_DATE({s})",
            "CAST({t} AS TIME)",
        )  # fmt: skip
        return self._expanded(form, depth)

    def _condition(self, depth: int = 1) -> str:
        form = self._one(
            "{n} > {n}", "{s} LIKE 'x%'", "{n} IS NULL", "{s} IN ('a', {s})", "{n} BETWEEN {n} AND {n}", "{t} < {t}",
            "{x}", "NOT {n} = {n}", "({n} > 1 OR {s} = 'x')", "{s} IS NOT NULL AND {n} < 10",
            "{n} IS DISTINCT FROM {n}",
            "{x} IS NOT TRUE", "{s} SIMILAR TO 'a+'",
        )  # fmt: skip
        return self._expanded(form, depth)

    def _expanded(self, form: str, depth: int) -> str:
        form = form.replace("{x}", self._one(*self._scope.truths))
        makers = {"{n}": self._number, "{s}": self._text, "{t}": self._time, "{c}": self._condition}
        for mark, make in makers.items():
            while mark in form:
                form = form.replace(mark, make(depth - 1), 1)
        return form

    def _filled(self, form: str, number: str | None = None) -> str:
        return form.format(number or self._number(1), self._text(0), self._condition(0))

    def _one(self, *choices: _Choice) -> _Choice:
        return self._chance.choice(choices)
