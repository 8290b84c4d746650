"""Jobs from JSON lines to Parquet, in one epoch and in many."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

ROWS = 3_000


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("epoch_records", [400, 100_000])
def test_json_lines_become_parquet(tmp_path: Path, parallelism: int, epoch_records: int) -> None:
    (tmp_path / "in").mkdir()
    for part in range(2):
        lines = [json.dumps({"id": n, "name": f"n{n}", "extra": None}) for n in range(part, ROWS, 2)]
        (tmp_path / "in" / f"{part}.json").write_text("\n".join(lines))
    with executing(parallelism=parallelism, epoch_records=epoch_records):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql(
            "CREATE TABLE a (id BIGINT, name STRING, f STRING METADATA FROM 'file.name') WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'json')"
        )
        tables.execute_sql(
            "CREATE TABLE b (id BIGINT, u STRING, f STRING) WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'parquet')"
        )
        tables.execute_sql("INSERT INTO b SELECT id, UPPER(name), f FROM a WHERE MOD(id, 3) = 0").wait()
    rows = [
        (row["id"], row["u"], row["f"])
        for path in (tmp_path / "out").glob("part-*")
        for row in pq.read_table(path).to_pylist()
    ]
    assert sorted(rows) == [(n, f"N{n}", f"{n % 2}.json") for n in range(0, ROWS, 3)]
