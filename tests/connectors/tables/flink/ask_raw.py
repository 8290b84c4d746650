"""Ask real Flink what the filesystem connector reads and writes in the format raw; the answers are written to a file.

    /path/to/venv/bin/python tests/connectors/tables/flink/ask_raw.py raw.json

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
Bytes are hexadecimal digits. An answer `{"error": ...}` is the last cause of the failure.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

LATIN = {"raw.charset": "ISO-8859-1"}
LITTLE = {"raw.endianness": "little-endian"}
READ: list[tuple[str, dict[str, str], bytes, str]] = [
    ("v STRING", {}, b"a\nb", "v"),
    ("v STRING", {}, b"a\n\nb\r\n\rc\n", "v"),
    ("v STRING", {}, "\u00e9\n".encode() + b"\xff\n", "v"),
    ("v STRING", LATIN, b"\xe9\n", "v"),
    ("v STRING", {}, b"", "v"),
    ("v BYTES", {}, b"a\x00\xff\nb\n", "DECODE(v, 'ISO-8859-1')"),
    ("v INT", {}, b"\x00\x00\x00\x07\n\xff\xff\xff\xff\n", "v"),
    ("v INT", LITTLE, b"\x07\x00\x00\x00\n", "v"),
    ("v INT", {}, b"\x00\x00\x07\n", "v"),
    ("v BOOLEAN", {}, b"\x00\n\x01\n\x02\n", "v"),
    ("v DOUBLE", {}, b"\x3f\xf8\x00\x00\x00\x00\x00\x00\n", "v"),
    ("v STRING", {}, b"a\nb\n", "COUNT(*)"),
    ("v STRING, w STRING", {}, b"a\n", "v"),
    ("v DATE", {}, b"a\n", "v"),
    ("v STRING", {"raw.charset": "nonsense"}, b"a\n", "v"),
]
WRITTEN: list[tuple[str, dict[str, str], str]] = [
    ("v STRING", {}, "VALUES 'a', '', 'b'"),
    ("v STRING", {}, "VALUES U&'\\00e9'"),
    ("v STRING", LATIN, "VALUES U&'\\00e9'"),
    ("v STRING", {}, "VALUES CAST(NULL AS STRING)"),
    ("v BYTES", {}, "VALUES X'00ff'"),
    ("v INT", {}, "VALUES 7, 10"),
    ("v INT", LITTLE, "VALUES 7"),
    ("v BOOLEAN", {}, "VALUES TRUE"),
    ("v DOUBLE", {}, "VALUES CAST(1.5 AS DOUBLE)"),
    ("v STRING, w STRING", {}, "VALUES ('a', 'b')"),
]


def cause(error: Exception) -> str:
    """Return the last cause of an error of Java."""
    found = error
    java = getattr(found, "java_exception", None)
    while java is not None and java.getCause() is not None:
        java = java.getCause()
    return str(found if java is None else java.toString()).splitlines()[0]


def table(env: TableEnvironment, columns: str, path: Path, options: dict[str, str], keys: str = "") -> None:
    """Make the table `t`."""
    given = {"connector": "filesystem", "format": "raw", "path": str(path), **options}
    texts = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql("DROP TEMPORARY TABLE IF EXISTS t")
    env.execute_sql(f"CREATE TEMPORARY TABLE t ({columns}) {keys} WITH ({texts})")


def rows(env: TableEnvironment, query: str) -> Any:
    """Return the rows of a query, or its error."""
    try:
        with env.execute_sql(query).collect() as found:
            return [[None if value is None else str(value) for value in row] for row in found]
    except Exception as error:
        return {"error": cause(error)}


def insert(env: TableEnvironment, query: str, path: Path) -> Any:
    """Return what an INSERT writes: the sorted files by their directories, or its error."""
    try:
        env.execute_sql(f"INSERT INTO t {query}").wait()
    except Exception as error:
        return {"error": cause(error)}
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(("_", "."))]
    return sorted([str(file.parent.relative_to(path)), file.read_bytes().hex()] for file in files)


def main() -> None:
    """Write the answers."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for key, value in {"parallelism.default": "1", "restart-strategy.type": "none"}.items():
        env.get_config().set(key, value)
    answers: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for number, (columns, options, data, shown) in enumerate(READ):
            path = Path(place) / f"read{number}"
            path.write_bytes(data)
            table(env, columns, path, options)
            found = rows(env, f"SELECT {shown} FROM t")
            known = {"columns": columns, "options": options}
            answers.append({"ask": "read", **known, "data": data.hex(), "shown": shown, "rows": found})
        for number, (columns, options, query) in enumerate(WRITTEN):
            path = Path(place) / f"written{number}"
            table(env, columns, path, options)
            known = {"columns": columns, "options": options}
            answers.append({"ask": "write", **known, "query": query, "files": insert(env, query, path)})
        path = Path(place) / "partitioned"
        table(env, "v STRING, k STRING", path, {}, "PARTITIONED BY (k)")
        query = "VALUES ('a', 'x'), ('b', 'y')"
        files = insert(env, query, path)
        found = rows(env, "SELECT v, k FROM t ORDER BY v")
        answers.append({"ask": "partitions", "query": query, "files": files, "rows": found})
    Path(sys.argv[1]).write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
