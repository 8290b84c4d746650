"""Jobs from JSON lines to Parquet and Avro, in one epoch and in many."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
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


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("epoch_records", [300, 100_000])
def test_avro_becomes_avro(tmp_path: Path, parallelism: int, epoch_records: int) -> None:
    fields = [
        {"name": name, "type": kind} for name, kind in (("gone", "string"), ("n", "int"), ("s", "string"))
    ]
    schema = {"type": "record", "name": "any.Name", "fields": fields}
    (tmp_path / "in").mkdir()
    for part in range(2):
        records = [{"gone": "g", "n": n, "s": f"s{n}"} for n in range(part, ROWS, 2)]
        with (tmp_path / "in" / f"{part}.avro").open("wb") as file:
            fastavro.writer(file, schema, records, sync_interval=1000)
    with executing(parallelism=parallelism, epoch_records=epoch_records):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql(
            "CREATE TABLE a (n BIGINT, s STRING, more DOUBLE) WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'avro')"
        )
        tables.execute_sql(
            "CREATE TABLE b (s STRING, n BIGINT NOT NULL) WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'avro', 'avro.codec' = 'deflate')"
        )
        tables.execute_sql("INSERT INTO b SELECT s, n FROM a WHERE n >= 5 AND more IS NULL").wait()
    rows = []
    for path in (tmp_path / "out").glob("part-*"):
        with path.open("rb") as found:
            rows += [(row["n"], row["s"]) for row in fastavro.reader(found)]
    assert sorted(rows) == [(n, f"s{n}") for n in range(5, ROWS)]
