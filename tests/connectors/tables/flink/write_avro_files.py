"""Let real Flink write files of Avro, which tests read (`written.avro`, `written_legacy.avro`), and read one of ours.

    /path/to/venv/bin/python tests/connectors/tables/flink/write_avro_files.py JAR [OURS]

The interpreter must have `apache-flink` installed (2.3.0 for the files that are kept), JAR is flink-sql-avro of the
same version, from Maven; Java 17 must be on the PATH. OURS is a file that Firesteel has written with these columns:
its rows are printed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
LEGACY = (
    "id INT NOT NULL, b BOOLEAN, t TINYINT, l BIGINT, f FLOAT, d DOUBLE, c STRING, y BYTES, ts TIMESTAMP(3), da DATE, "
    "ti TIME, de DECIMAL(10, 2), r ROW<x INT, y STRING>, a ARRAY<STRING>, m MAP<STRING, BIGINT>"
)
LATER = "id INT NOT NULL, ts TIMESTAMP(3)"
ROWS = """
    SELECT 1, TRUE, CAST(-3 AS TINYINT), 9223372036854775807, CAST(1.5 AS FLOAT), -2.25e0, 'aé', x'00ff',
        TIMESTAMP '2020-01-02 03:04:05.123', DATE '1969-01-01', TIME '01:02:03', 12345678.91,
        ROW(7, 'z'), ARRAY['p', ''], MAP['k', CAST(5 AS BIGINT)]
    UNION ALL SELECT 2, CAST(NULL AS BOOLEAN), CAST(NULL AS TINYINT), CAST(NULL AS BIGINT), CAST(NULL AS FLOAT),
        CAST(NULL AS DOUBLE), CAST(NULL AS STRING), CAST(NULL AS BYTES), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS DATE),
        CAST(NULL AS TIME), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS ROW<x INT, y STRING>),
        CAST(NULL AS ARRAY<STRING>), CAST(NULL AS MAP<STRING, BIGINT>)
"""
LATER_ROWS = "SELECT 1, TIMESTAMP '2020-01-02 03:04:05.123'"


def main() -> None:
    """Write the files, and print the rows of one."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    env.get_config().set("pipeline.jars", Path(sys.argv[1]).resolve().as_uri())
    with tempfile.TemporaryDirectory() as folder:
        for name, columns, query, options in (
            ("written_legacy", LEGACY, ROWS, ""),
            (
                "written",
                LATER,
                LATER_ROWS,
                ", 'avro.timestamp_mapping.legacy' = 'false', 'avro.codec' = 'deflate'",
            ),
        ):
            path = f"{folder}/{name}"
            given = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = 'avro'{options}"
            env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({given})")
            env.execute_sql(f"INSERT INTO {name} {query}").wait()
            (found,) = [
                part for part in Path(path).rglob("*") if part.is_file() and not part.name.startswith("_")
            ]
            (HERE / f"{name}.avro").write_bytes(found.read_bytes())
    for ours in sys.argv[2:]:
        given = f"'connector' = 'filesystem', 'path' = '{Path(ours).resolve()}', 'format' = 'avro'"
        env.execute_sql(f"CREATE TABLE ours ({LEGACY}) WITH ({given})")
        env.execute_sql("SELECT * FROM ours").print()


if __name__ == "__main__":
    main()
