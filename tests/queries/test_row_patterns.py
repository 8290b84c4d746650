"""MATCH_RECOGNIZE where a table of Flink's answers does not reach: long matches, all rows of matches, the clock."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.queries.arriving import Arrival, Query

COLUMNS = "k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
BY_CLOCK = "k STRING, v BIGINT, pt AS PROCTIME()"


def rows(**values: list[int]) -> dict[str, list[Arrival]]:
    """One split for each key, with a row every second."""
    return {
        key: [Arrival(0, key, value, 1000 * place) for place, value in enumerate(mine)]
        for key, mine in values.items()
    }


LONG = rows(
    a=[0, *range(1, 301), -1, 0, *range(1, 71), -1], b=[0, 1, -1, 5, 0, 1, 2, -1], c=[0, *range(1, 100)]
)
LONG_MATCHES = """SELECT * FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
    MEASURES FIRST(A.v) AS f, LAST(A.v, 1) AS l, COUNT(A.v) AS n, SUM(A.v) AS s, AVG(A.v) AS m, B.v AS b
    AFTER MATCH SKIP PAST LAST ROW PATTERN (S A+ B)
    DEFINE S AS S.v = 0, B AS B.v < 0 AND SUM(A.v) > 0,
    A AS (A.v > LAST(A.v, 1) OR LAST(A.v, 1) IS NULL AND A.v > S.v) AND FIRST(A.v) = 1 AND SUM(A.v) < 50000)"""
LONG_ANSWER = Counter(
    {
        ("a", "1", "299", "300", "45150", "150", "-1"): 1,
        ("a", "1", "69", "70", "2485", "35", "-1"): 1,
        ("b", "1", "", "1", "1", "1", "-1"): 1,
        ("b", "1", "1", "2", "3", "1", "-1"): 1,
    }
)


@pytest.mark.parametrize(
    "way",
    [
        {},
        {"epoch_records": 16},
        {"parallelisms": (3,), "epoch_records": 40},
        {"parallelisms": (2, 1, 3, 2), "epochs": 4, "epoch_records": 20},
    ],
    ids=["one epoch", "many epochs", "wider", "rescaled"],
)
def test_a_long_match_goes_on_from_epoch_to_epoch(tmp_path: Path, way: dict[str, Any]) -> None:
    run = Query(LONG, COLUMNS, LONG_MATCHES).run(tmp_path, **way)
    assert run.rows == LONG_ANSWER
    assert run.late == 0
    if "epoch_records" in way:
        assert len(run.commits) > 9


RISES = rows(a=[5, 1, 2, 3, 1, 9, 9])
ALL_ROWS = """SELECT * FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {}
    ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN ({}) SUBSET U = (A, C)
    DEFINE B AS B.v > A.v, C AS C.v < B.v)"""


@pytest.mark.parametrize(
    ("measures", "pattern", "expected"),
    [
        (
            "SUM(v) AS r, FINAL SUM(v) AS f, COUNT(B.v) AS n, FINAL COUNT(B.v) AS m",
            "A B+ C",
            [
                ("1", "1", "7", "0", "2"),
                ("2", "3", "7", "1", "2"),
                ("3", "6", "7", "2", "2"),
                ("1", "7", "7", "2", "2"),
            ],
        ),
        (
            "LAST(v) AS l, LAST(v, 1) AS p, FIRST(B.v) AS b, FINAL LAST(B.v) AS f, C.v AS c",
            "A B+ C",
            [
                ("1", "1", "", "", "3", ""),
                ("2", "2", "1", "2", "3", ""),
                ("3", "3", "2", "2", "3", ""),
                ("1", "1", "3", "2", "3", "1"),
            ],
        ),
        ("COUNT(*) AS n, MAX(U.v) AS u", "A {- B+ -} C", [("1", "1", "1"), ("1", "4", "1")]),
        ("FINAL COUNT(U.v) AS n, MIN(B.v) AS b", "{- A -} B+ {- C -}", [("2", "2", "2"), ("3", "2", "2")]),
    ],
)
def test_all_rows_of_a_match_have_the_values_up_to_each(
    tmp_path: Path, measures: str, pattern: str, expected: list[tuple[str, ...]]
) -> None:
    names = [part.split(" AS ")[1] for part in measures.split(", ") if " AS " in part]
    query = f"SELECT v, {', '.join(names)} FROM ({ALL_ROWS.format(measures, pattern)})"
    assert Query(RISES, COLUMNS, query).run(tmp_path).rows == Counter(expected)


def test_all_rows_begin_with_the_columns_of_the_partition_and_of_the_order(tmp_path: Path) -> None:
    run = Query(RISES, COLUMNS, ALL_ROWS.format("A.v AS x", "A B C")).run(tmp_path)
    times = [f"1970-01-01 00:00:0{place}.000" for place in (2, 3, 4)]
    assert run.rows == Counter(("a", time, str(v), "2") for time, v in zip(times, (2, 3, 1), strict=True))


def test_further_columns_order_rows_of_one_time(tmp_path: Path) -> None:
    one_time = {"x": [Arrival(0, "a", v, 1000) for v in (3, 1, 2)], "y": [Arrival(0, "a", 9, 2000)]}
    query = """SELECT a, b, c FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, v{}
        MEASURES A.v AS a, B.v AS b, C.v AS c PATTERN (A B C) DEFINE A AS v < 9)"""
    for order, expected in (
        ("", {("1", "2", "3"), ("2", "3", "9")}),
        (" DESC", {("3", "2", "1"), ("2", "1", "9")}),
    ):
        run = Query(one_time, COLUMNS, query.format(order)).run(tmp_path / f"o{order.strip()}", (2,))
        assert run.rows == Counter(expected)


PAIRS = """SELECT k, x, y FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY pt MEASURES A.v AS x, B.v AS y
    PATTERN (A B) WITHIN INTERVAL '1' SECOND DEFINE A AS MOD(A.v, 2) = 1, B AS B.v = A.v + 1)"""
ARRIVALS = {
    "first": [Arrival(100, "a", 1), Arrival(800, "b", 3), Arrival(3000, "a", 5), Arrival(4500, "a", 6)],
    "second": [Arrival(700, "a", 2), Arrival(1200, "b", 4), Arrival(5000, "b", 7), Arrival(6500, "b", 8)],
}


@pytest.mark.parametrize(("parallelisms", "epochs"), [((1,), 0), ((3,), 0), ((2, 1, 3), 2)])
def test_time_passes_with_the_clock(tmp_path: Path, parallelisms: tuple[int, ...], epochs: int) -> None:
    run = Query(ARRIVALS, BY_CLOCK, PAIRS).run(tmp_path, parallelisms, epochs=epochs)
    assert run.rows == Counter({("a", "1", "2"): 1, ("b", "3", "4"): 1})


def test_a_condition_that_can_fail_is_asked_only_where_the_pattern_asks(tmp_path: Path) -> None:
    # 10 / v fails for a row that can only be the first one of a match.
    query = """SELECT a, b FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a, B.v AS b
        PATTERN (A B) DEFINE A AS A.v = 0, B AS 10 / B.v > 1 AND UPPER(CAST(A.v AS STRING)) || 'X' = '0X')"""
    assert Query(rows(a=[7, 0, 4, 7]), COLUMNS, query).run(tmp_path).rows == Counter({("0", "4"): 1})


def test_a_match_without_the_row_that_it_skips_to_is_an_error(tmp_path: Path) -> None:
    query = """SELECT * FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a
        AFTER MATCH SKIP TO LAST B PATTERN (A B? C) DEFINE A AS A.v = 1, B AS B.v = 2, C AS C.v = 3)"""
    with pytest.raises(Exception, match="skips to 'B', which must be in every match"):
        Query(rows(a=[1, 3, 1]), COLUMNS, query).run(tmp_path)


# Payments (odd) and their confirmations (one more), which may come within three seconds.
PAYMENTS = rows(a=[1, 2, 3, 0, 0, 0, 4, 5, 9], b=[7, 0, 8, 7], c=[0, 5, 6])
UNCONFIRMED = """SELECT * FROM source MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
    MEASURES P.v AS p, C.v AS c, COUNT(O.v) AS others, MATCH_TIMED_OUT() AS late, MATCH_ROWTIME() AS rt
    ONE ROW PER MATCH WITH TIMED OUT MATCHES PATTERN (P O*? C) WITHIN INTERVAL '3' SECOND
    DEFINE P AS MOD(P.v, 2) = 1, C AS C.v = P.v + 1)"""
ANSWERED = Counter(
    {
        ("a", "1", "2", "0", "FALSE", "1970-01-01 00:00:01.000"): 1,
        ("a", "3", "", "2", "TRUE", "1970-01-01 00:00:05.000"): 1,
        ("a", "5", "", "1", "TRUE", "1970-01-01 00:00:10.000"): 1,
        ("a", "9", "", "0", "TRUE", "1970-01-01 00:00:11.000"): 1,
        ("b", "7", "8", "1", "FALSE", "1970-01-01 00:00:02.000"): 1,
        ("b", "7", "", "0", "TRUE", "1970-01-01 00:00:06.000"): 1,
        ("c", "5", "6", "0", "FALSE", "1970-01-01 00:00:02.000"): 1,
    }
)


@pytest.mark.parametrize(
    "way",
    [
        {},
        {"epoch_records": 2},
        {"parallelisms": (3,), "epoch_records": 4},
        {"parallelisms": (2, 1, 3), "epochs": 2, "epoch_records": 2},
    ],
    ids=["one epoch", "many epochs", "wider", "rescaled"],
)
def test_matches_that_have_timed_out_are_rows(tmp_path: Path, way: dict[str, Any]) -> None:
    assert Query(PAYMENTS, COLUMNS, UNCONFIRMED).run(tmp_path, **way).rows == ANSWERED


def test_rows_of_matches_that_have_timed_out(tmp_path: Path) -> None:
    query = UNCONFIRMED.replace("ONE ROW", "ALL ROWS").replace("SELECT *", "SELECT k, v, p, c, others, late")
    run = Query(rows(a=[3, 0, 5, 6]), COLUMNS, query).run(tmp_path)
    assert run.rows == Counter(
        [
            ("a", "3", "3", "", "0", "TRUE"),
            ("a", "0", "3", "", "1", "TRUE"),
            ("a", "5", "3", "", "2", "TRUE"),
            ("a", "5", "5", "", "0", "FALSE"),
            ("a", "6", "5", "6", "0", "FALSE"),
        ]
    )


def test_matches_time_out_by_the_clock(tmp_path: Path) -> None:
    query = PAIRS.replace("PATTERN", "ONE ROW PER MATCH WITH TIMED OUT MATCHES PATTERN")
    run = Query(ARRIVALS, BY_CLOCK, query).run(tmp_path, (2, 1, 3), epochs=2)
    assert run.rows == Counter({("a", "1", "2"): 1, ("b", "3", "4"): 1, ("a", "5", ""): 1, ("b", "7", ""): 1})
