"""Ask real Flink what it reads from files of changes, and what it writes; the answers are the file `changes.jsonl`.

    /path/to/venv/bin/python tests/connectors/tables/flink/ask_changes.py changes.jsonl

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
Each text is a file of its own. `strict` and `lenient` are the changes that Flink reads, with and without failing for
what does not fit: a kind, and the columns as texts. `{"error": true}` means that Flink's job fails. Only what is not in
the file is asked.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from change_cases import CHANGES, COLUMNS, READ, WRITING, WRITTEN
from pyflink.table import EnvironmentSettings, TableEnvironment


class Asker:
    """Creates tables over directories, and reads and writes them."""

    def __init__(self) -> None:
        self.env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in {
            "parallelism.default": "1",
            "table.local-time-zone": "UTC",
            "restart-strategy.type": "none",
        }.items():
            self.env.get_config().set(key, value)
        self.count = 0

    def table(self, columns: str, path: str, options: dict[str, str]) -> str:
        """Create a table and return its name."""
        self.count += 1
        name = f"t{self.count}"
        given = {"connector": "filesystem", "path": path, **options}
        texts = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        self.env.execute_sql(f"CREATE TEMPORARY TABLE {name} ({columns}) WITH ({texts})")
        return name

    def read(self, path: Path, options: dict[str, str]) -> Any:
        """Return the changes in the files of a path."""
        name = self.table(COLUMNS, str(path), options)
        names = ["id", "name", "weight", "`at`"]
        fields = ", ".join(f"CAST({field} AS STRING)" for field in names)
        try:
            with self.env.execute_sql(f"SELECT {fields} FROM {name}").collect() as rows:
                return [[row.get_row_kind().name, *row] for row in rows]
        except Exception:
            return {"error": True}

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return a question with its answer."""
        kind, options = question["format"], question["options"]
        if question["ask"] == "write":
            return {**question, "lines": self.written(kind, options)}
        path = Path(tempfile.mkdtemp()) / "file"
        path.write_text(question["text"])
        strict = {"format": kind, **options}
        lenient = {**strict, f"{kind}.ignore-parse-errors": "true"}
        return {**question, "strict": self.read(path, strict), "lenient": self.read(path, lenient)}

    def written(self, kind: str, options: dict[str, str]) -> list[str]:
        """Return the lines that are written for some changes."""
        directory = Path(tempfile.mkdtemp())
        (directory / "in").write_text("\n".join(CHANGES))
        given = self.table(WRITTEN, str(directory / "in"), {"format": "debezium-json"})
        named = {f"{kind}.{key}": value for key, value in options.items()}
        name = self.table(WRITTEN, str(directory / "out"), {"format": kind, **named})
        self.env.execute_sql(f"INSERT INTO {name} SELECT * FROM {given}").wait()
        files = [path for path in (directory / "out").rglob("*") if path.is_file()]
        return "".join(path.read_text() for path in files).splitlines()


def questions() -> Iterator[dict[str, Any]]:
    """Yield what is asked."""
    for kind in ("debezium-json", "canal-json", "maxwell-json"):
        for options in WRITING:
            yield {"ask": "write", "format": kind, "options": options}
    for kind, options, texts in READ:
        for text in texts:
            yield {"ask": "read", "format": kind, "options": options, "text": text}


def main() -> None:
    """Write the answers."""
    asker = Asker()
    known = []
    if Path(sys.argv[1]).exists():
        answers = map(json.loads, Path(sys.argv[1]).read_text().splitlines())
        known = [
            {key: one[key] for key in ("ask", "format", "options", "text") if key in one} for one in answers
        ]
    with Path(sys.argv[1]).open("a") as file:
        for question in questions():
            if question not in known:
                print(json.dumps(asker.answer(question)), file=file, flush=True)


if __name__ == "__main__":
    main()
