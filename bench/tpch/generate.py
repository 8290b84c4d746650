"""Writes the tables and the queries of TPC-H: `python generate.py SCALE FOLDER`, with DuckDB's extension installed.

Each table is a folder of Parquet files, its rows dealt to two files in turn, so that each of two subtasks has one;
`queries.json` has the texts of the queries, by their numbers. This module runs in an environment of its own.
"""

import json
import sys
from pathlib import Path

import duckdb
import duckdb_extension_tpch

FILES = 2


def main() -> None:
    """Write the tables of a scale to a folder that is there."""
    scale, folder = float(sys.argv[1]), Path(sys.argv[2])
    kept = folder / "tables.duckdb"  # large tables do not fit into memory beside their sorted copies
    with duckdb.connect(kept, config={"allow_unsigned_extensions": "true"}) as database:
        (extension,) = Path(duckdb_extension_tpch.__file__).parent.rglob("*.duckdb_extension")
        database.execute(f"LOAD '{extension}'")
        database.execute(f"CALL dbgen(sf = {scale})")
        for (table,) in database.execute("SHOW TABLES").fetchall():
            target = folder / table
            target.mkdir()
            for file in range(FILES):
                rows = f"SELECT * FROM {table} WHERE rowid % {FILES} = {file} ORDER BY rowid"
                database.execute(f"COPY ({rows}) TO '{target}/part-{file}.parquet' (FORMAT parquet)")
        queries = database.execute("SELECT query_nr, query FROM tpch_queries()").fetchall()
    kept.unlink()
    (folder / "queries.json").write_text(json.dumps(dict(queries), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
