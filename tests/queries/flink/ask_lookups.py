"""Asks real Flink what rows are looked up: `python ask_lookups.py`, with apache-flink 2.3 on the path, and Java.

FLINK_JARS has the jars of the connector jdbc and of Derby, with its tools, separated by semicolons, as
`bench.environments.flink_jars` gives them. The lines of lookups.jsonl are as those of answers.jsonl.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import ask_answers
from lookup_tables import IN_DATABASES, definitions, values
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]
from statements import queries

LOOKUPS = Path(__file__).parent / "lookups.jsonl"
JARS = os.environ["FLINK_JARS"]


def database(directory: Path) -> Path:
    """Write the tables to an archive of Derby, which several class loaders can read."""
    folder, archive = directory / "side", directory / "side.jar"
    tables = [f"CREATE TABLE {name} ({columns})" for name, columns in IN_DATABASES.items()]
    rows = [f"INSERT INTO {name} VALUES {values(name)}" for name in IN_DATABASES]
    script = [f"CONNECT 'jdbc:derby:{folder};create=true'", *tables, *rows]
    script += ["CONNECT 'jdbc:derby:;shutdown=true'", "EXIT;\n"]
    path = os.pathsep.join(urlparse(jar).path for jar in JARS.split(";"))
    said = subprocess.run(
        ["java", "-cp", path, "org.apache.derby.tools.ij"],
        input=";\n".join(script),
        text=True,
        check=True,
        cwd=directory,
        stdout=subprocess.PIPE,
    ).stdout
    assert "ERROR 42" not in said, said
    with zipfile.ZipFile(archive, "w") as packed:
        for part in sorted(folder.rglob("*")):
            packed.write(part, Path("side") / part.relative_to(folder))
    return archive


def environment(settings: Any, archive: Path) -> Any:
    env = TableEnvironment.create(settings)
    config = env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    config.set("pipeline.jars", JARS).set("python.executable", sys.executable)
    url = f"'url' = 'jdbc:derby:jar:({archive})side', 'driver' = 'org.apache.derby.jdbc.EmbeddedDriver'"
    for statement in definitions(url):
        env.execute_sql(statement)
    return env


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        archive = database(Path(scratch))
        streaming = environment(EnvironmentSettings.in_streaming_mode(), archive)
        batch = environment(EnvironmentSettings.in_batch_mode(), archive)
        with LOOKUPS.open("w", encoding="utf-8") as file:
            for subject, query in queries("lookups.sql"):
                given = {"subject": subject, "query": query, **ask_answers.asked(streaming, batch, query)}
                print(subject, "|", query, flush=True)
                file.write(json.dumps(given, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
