"""RAND and RAND_INTEGER with a seed give the numbers that Flink 2.3 gives, which are those of Java."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.runtime.columns.kernel.functions import draws
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "SELECT RAND(1), RAND(1), RAND_INTEGER(5, 100) FROM (VALUES 1, 2, 3) AS t (a)": [
        (0.7308781907032909, 0.7308781907032909, 87),
        (0.41008081149220166, 0.41008081149220166, 92),
        (0.20771484130971707, 0.20771484130971707, 74),
    ],
    "SELECT a, RAND(a), RAND_INTEGER(a, 10) FROM (VALUES 1, 2, 3, 1) AS t (a)": [
        (1, 0.7308781907032909, 5),
        (2, 0.7311469360199058, 8),
        (3, 0.731057369148862, 4),
        (1, 0.7308781907032909, 5),
    ],
    "SELECT RAND(CAST(NULL AS INT)), RAND_INTEGER(CAST(NULL AS INT), 5), RAND_INTEGER(1, CAST(NULL AS INT))": [
        (None, None, None)
    ],
    "SELECT RAND(a) FROM (VALUES 1, CAST(NULL AS INT)) AS t (a)": [(0.7308781907032909,), (None,)],
    "SELECT CASE WHEN a > 1 THEN RAND(7) ELSE -1 END, RAND(7) FROM (VALUES 1, 2, 3) AS t (a)": [
        (-1.0, 0.7306990420600421),
        (0.7306990420600421, 0.7491696031336331),
        (0.7491696031336331, 0.34830970303125697),
    ],
    "SELECT RAND_INTEGER(3, a) FROM (VALUES 10, 100, 1000, 65536) AS t (a)": [(4,), (60,), (210,), (52772,)],
}


def session(*, batch: bool = True) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    return TableEnvironment.create(settings)


@pytest.mark.parametrize("query", ANSWERS)
def test_numbers_are_those_of_flink(query: str) -> None:
    with executing(parallelism=1), session().execute_sql(query).collect() as results:
        assert [tuple(row) for row in results] == ANSWERS[query]


@pytest.mark.parametrize("call", ["RAND_INTEGER(7, a)", "RAND_INTEGER(a, a)", "RAND_INTEGER(a)"])
def test_a_bound_is_positive(call: str) -> None:
    query = f"SELECT {call} FROM (VALUES 0) AS t (a)"
    with executing(parallelism=1), pytest.raises(FiresteelError, match="requires a bound that is positive"):
        session().execute_sql(query).wait()


def test_a_sequence_goes_on_from_epoch_to_epoch_and_is_forgotten_with_the_job(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("".join(f"{number}\n" for number in range(20)))
    files = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}'"
    with executing(parallelism=1, epoch_records=3):
        env = session(batch=False)
        env.execute_sql(f"CREATE TABLE given (a INT) WITH ({files})")
        with env.execute_sql("SELECT RAND(42) FROM given WHERE a % 2 = 0").collect() as results:
            found = [row[0] for row in results]
    random = draws.JavaRandom(42)
    assert found == [random.next_double() for _ in range(10)]
    assert not draws._sequences
