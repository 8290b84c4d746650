"""Let real Flink write files of Avro and ORC, which tests read (`written*`), and read one of ours.

    /path/to/venv/bin/python tests/connectors/tables/flink/write_files.py FORMAT JARS [OURS]

The interpreter must have `apache-flink` installed (2.3.0 for the files that are kept); Java 17 must be on the PATH.
JARS has, with colons between them, flink-sql-avro or flink-sql-orc of the same version, from Maven; ORC also needs
Hadoop's client, which pyspark has among its jars. OURS is a file that Firesteel has written with the same columns: its
rows are printed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
COLUMNS = (
    "id INT NOT NULL, b BOOLEAN, t TINYINT, l BIGINT, f FLOAT, d DOUBLE, c STRING, y BYTES, ts TIMESTAMP(3), da DATE, "
    "de DECIMAL(10, 2), r ROW<x INT, y STRING>, a ARRAY<STRING>, m MAP<STRING, BIGINT>"
)
ROWS = """
    SELECT 1, TRUE, CAST(-3 AS TINYINT), 9223372036854775807, CAST(1.5 AS FLOAT), -2.25e0, 'aé', x'00ff',
        TIMESTAMP '2020-01-02 03:04:05.123', DATE '1969-01-01', 12345678.91,
        ROW(7, 'z'), ARRAY['p', ''], MAP['k', CAST(5 AS BIGINT)]
    UNION ALL SELECT 2, CAST(NULL AS BOOLEAN), CAST(NULL AS TINYINT), CAST(NULL AS BIGINT), CAST(NULL AS FLOAT),
        CAST(NULL AS DOUBLE), CAST(NULL AS STRING), CAST(NULL AS BYTES), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS DATE),
        CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS ROW<x INT, y STRING>),
        CAST(NULL AS ARRAY<STRING>), CAST(NULL AS MAP<STRING, BIGINT>)
"""
LATER = {
    "avro": (
        "id INT NOT NULL, ts TIMESTAMP(3), ti TIME",
        "SELECT 1, TIMESTAMP '2020-01-02 03:04:05.123', TIME '01:02:03'",
        {"avro.timestamp_mapping.legacy": "false", "avro.codec": "deflate"},
    ),
    "orc": (
        "id INT NOT NULL, ts TIMESTAMP(9)",
        "SELECT 1, TIMESTAMP '2020-01-02 03:04:05.123456789'",
        {"orc.compress": "SNAPPY"},
    ),
}


def table(env: Any, name: str, columns: str, path: Path | str, form: str, more: dict[str, str]) -> None:
    options = {"connector": "filesystem", "path": str(path), "format": form, **more}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({given})")


def main() -> None:
    """Write the files, and print the rows of one."""
    form, jars, *ours = sys.argv[1:]
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    env.get_config().set("pipeline.jars", ";".join(Path(jar).resolve().as_uri() for jar in jars.split(":")))
    with tempfile.TemporaryDirectory() as folder:
        for name, (columns, query, more) in {
            "written": (COLUMNS, ROWS, {}),
            "written_later": LATER[form],
        }.items():
            path = Path(folder) / name
            table(env, name, columns, path, form, more)
            env.execute_sql(f"INSERT INTO {name} {query}").wait()
            (found,) = [part for part in path.rglob("*") if part.is_file() and part.name[0] not in "._"]
            (HERE / f"{name}.{form}").write_bytes(found.read_bytes())
    for path in ours:
        table(env, "ours", COLUMNS, Path(path).resolve(), form, {})
        env.execute_sql("SELECT * FROM ours").print()


if __name__ == "__main__":
    main()
