"""Ask real Flink what queries with process table functions give: see AskProcessTables.java.

    FLINK_JARS=/path/to/pyflink/lib python tests/table/flink/process_tables/ask_process_tables.py

The directory has the jars of the `apache-flink` package (2.3.0 for the answers that are kept); a JDK 17 must be on the
PATH. Each line of the answers has a query, the calls of functions in its plan, the names of its columns, and its rows
with their kinds, in the order in which they come. What Flink refuses has its message instead; `fails` is whether it
does so when the job runs.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
_OPENED = ("java.lang", "java.time", "java.util")


def main() -> None:
    """Write the answers."""
    jars = ":".join(map(str, sorted(Path(os.environ["FLINK_JARS"]).glob("*.jar"))))
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    files = [str(HERE / name) for name in ("tables.sql", "queries.sql", "answers.jsonl")]
    with tempfile.TemporaryDirectory() as classes:
        program = str(HERE / "AskProcessTables.java")
        subprocess.run(["javac", "-parameters", "-cp", jars, "-d", classes, program], check=True, timeout=120)
        java = ["java", "-Xmx700m", *opened, "-cp", f"{classes}:{jars}", "AskProcessTables", *files]
        subprocess.run(java, check=True, timeout=1200)


if __name__ == "__main__":
    main()
