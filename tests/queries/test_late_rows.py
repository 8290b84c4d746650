"""Rows that come too late are dropped and counted, at any parallelism and in any epochs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.queries.arriving import Arrival, Query

COLUMNS = "k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
TIMES = [1_000, 5_000, 13_000, 2_000, 9_500, 14_000, 25_000, 12_000, 24_500, 40_000]
"""The third and the eighth are too late for everything but a session or a window that has not ended."""

ROWS = [Arrival(0, "a", 1 << place, time) for place, time in enumerate(TIMES)]
TVF = "SELECT COUNT(*), SUM(v) FROM TABLE({}) GROUP BY window_start, window_end"
TUMBLE = "TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
QUERIES = {
    TVF.format("TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '10' SECOND)"): (
        [(2, 1 + 2), (2, 4 + 32), (2, 64 + 256), (1, 512)],
        3,
    ),
    "SELECT COUNT(*), SUM(v) FROM source GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)": (
        [(2, 1 + 2), (2, 4 + 32), (2, 64 + 256), (1, 512)],
        3,
    ),
    TVF.format("HOP(TABLE source, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"): (
        [
            *((1, 1), (2, 1 + 2), (4, 2 + 4 + 16 + 32), (2, 4 + 32)),
            *((1, 256), (2, 64 + 256), (1, 64), (1, 512), (1, 512)),
        ],
        2,
    ),
    "SELECT COUNT(*), SUM(v) FROM source GROUP BY k, SESSION(ts, INTERVAL '3' SECOND)": (
        [(1, 1), (1, 2), (1, 16), (2, 4 + 32), (2, 64 + 256), (1, 512)],
        2,
    ),
    "SELECT v, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM source": (
        [(1, 1), (2, 2), (4, 3), (32, 4), (256, 5), (64, 6), (512, 7)],
        3,
    ),
    f"""SELECT v, n FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM {TUMBLE})
    WHERE n = 1""": ([(2, 1), (32, 1), (256, 1), (512, 1)], 3),
    # Late rows are in the result of these, and meet what is still kept.
    """SELECT x.v, COALESCE(y.v, 0) FROM source AS x LEFT JOIN source AS y
    ON x.k = y.k AND x.v < y.v AND x.ts BETWEEN y.ts - INTERVAL '3' SECOND AND y.ts + INTERVAL '1' SECOND""": (
        [
            *((1, 0), (2, 0), (4, 32), (8, 0), (16, 0), (32, 0), (64, 256), (128, 0)),
            *((256, 0), (512, 0)),
        ],
        0,
    ),
}


@pytest.mark.parametrize("epoch_records", [None, 1, 3])
@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_late_rows_are_dropped_and_counted(
    tmp_path: Path, query: str, parallelism: int, epoch_records: int | None
) -> None:
    expected, late = QUERIES[query]
    run = Query({"only": ROWS}, COLUMNS, query).run(tmp_path, (parallelism,), epoch_records=epoch_records)
    assert run.rows == Counter(tuple(None if cell is None else str(cell) for cell in row) for row in expected)
    assert run.late == late


@pytest.mark.parametrize("epoch_records", [None, 1, 3])
def test_late_rows_of_both_sides_of_a_window_join_are_dropped_and_counted(
    tmp_path: Path, epoch_records: int | None
) -> None:
    query = f"""SELECT x.v, COALESCE(y.v, 0) FROM {TUMBLE} AS x LEFT JOIN {TUMBLE} AS y
    ON x.window_start = y.window_start AND x.window_end = y.window_end AND x.k = y.k AND x.v < y.v"""
    run = Query({"only": ROWS}, COLUMNS, query).run(tmp_path, epoch_records=epoch_records)
    expected = [(1, 2), (2, 0), (4, 32), (32, 0), (64, 256), (256, 0), (512, 0)]
    assert run.rows == Counter(tuple(map(str, row)) for row in expected)
    assert run.late == 2 * 3


@pytest.mark.parametrize("epoch_records", [None, 3])
def test_a_row_of_two_splits_is_in_its_window_or_counted_as_late(
    tmp_path: Path, epoch_records: int | None
) -> None:
    """How late it is depends on how far the other split has been read, as in Flink."""
    query = next(iter(QUERIES))
    splits = {"even": ROWS[::2], "odd": ROWS[1::2]}
    run = Query(splits, COLUMNS, query).run(tmp_path, (2,), epoch_records=epoch_records)
    in_windows = sum(int(count) for (count, _), times in run.rows.items() for _ in range(times))
    assert in_windows + run.late == len(ROWS)
