"""The table that q13 looks up: in SQLite for Firesteel, and in Derby for Flink, whose connector does not know SQLite.

Both databases run within the processes of the system that asks them.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import urlparse

ROWS: Final = 10_000
_TABLE: Final = "CREATE TABLE side_input (id BIGINT PRIMARY KEY, label VARCHAR(20))"
_AT_ONCE: Final = 1_000


def rows() -> Iterator[tuple[int, str]]:
    """Yield the rows of the table."""
    for key in range(ROWS):
        yield key, f"value-{key}"


def write_sqlite(target: Path) -> None:
    """Write the table to a file of SQLite, if it is not there."""
    if target.exists():
        return
    draft = target.with_name(f".{target.name}-{os.getpid()}")
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(draft)) as database, database:
        database.execute(_TABLE)
        database.executemany("INSERT INTO side_input VALUES (?, ?)", rows())
    draft.replace(target)


def write_derby(target: Path, jars: str) -> None:
    """Write the table to an archive of Derby, if it is not there; its classes are in `jars` (see `flink_jars`)."""
    if target.exists():
        return
    draft = target.with_name(f".{target.name}-{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    values = [f"({key}, '{value}')" for key, value in rows()]
    inserts = [
        f"INSERT INTO side_input VALUES {', '.join(values[start : start + _AT_ONCE])}"
        for start in range(0, ROWS, _AT_ONCE)
    ]
    shutdown = "CONNECT 'jdbc:derby:;shutdown=true'"
    script = ";\n".join([f"CONNECT 'jdbc:derby:{draft};create=true'", _TABLE, *inserts, shutdown, "EXIT"])
    path = os.pathsep.join(urlparse(jar).path for jar in jars.split(";"))
    command = ["java", "-cp", path, "org.apache.derby.tools.ij"]
    with tempfile.TemporaryDirectory() as scratch:  # for Derby's log
        said = subprocess.run(
            command, input=f"{script};\n", text=True, check=True, cwd=scratch, stdout=subprocess.PIPE
        ).stdout
    if "ERROR 42" in said:  # of a statement, after which the tool goes on
        raise RuntimeError(f"Derby requires another script: {said[-500:]}")
    packed = draft.with_suffix(".jar")  # which several class loaders can read, each with a Derby of its own
    with zipfile.ZipFile(packed, "w") as archive:
        for part in sorted(draft.rglob("*")):
            archive.write(part, Path("side") / part.relative_to(draft))
    shutil.rmtree(draft)
    packed.replace(target)
