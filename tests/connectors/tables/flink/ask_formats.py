"""Ask real Flink what it reads from files, and what it writes; the answers are added to a file.

    /path/to/venv/bin/python tests/connectors/tables/flink/ask_formats.py formats.jsonl

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
Each text is read from a file of its own. All are read by one query that skips errors; a text without a value there is
read alone, once more, without skipping. An answer `{"error": true}` means that Flink's job fails.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from csv_cases import CSV_LINES, CSV_OPTION_TEXTS, CSV_OPTIONS, CSV_VALUES
from json_cases import JSON_LINES, JSON_VALUES
from pyflink.table import EnvironmentSettings, TableEnvironment
from written_cases import WRITTEN, WRITTEN_OPTIONS

HERE = Path(__file__).parent
MOST_ALONE = 5
"""How many texts of one type are read alone; a strict answer of None means that Flink was not asked."""

ISO = {"json.timestamp-format.standard": "ISO-8601"}


class Asker:
    """Creates tables over directories, and reads and writes them."""

    def __init__(self) -> None:
        self.env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self.env.get_config().set("parallelism.default", "1")
        self.env.get_config().set("table.local-time-zone", "UTC")
        self.env.get_config().set("restart-strategy.type", "none")
        self.count = 0

    def table(self, columns: str, path: str, options: dict[str, str], metadata: bool) -> str:
        """Create a table and return its name."""
        self.count += 1
        name = f"t{self.count}"
        given = {"connector": "filesystem", "path": path, **options}
        texts = ", ".join(
            f"'{key}' = '{value.replace(chr(39), chr(39) * 2)}'" for key, value in given.items()
        )
        extra = ", `the_file` STRING NOT NULL METADATA FROM 'file.name' VIRTUAL" if metadata else ""
        self.env.execute_sql(f"CREATE TEMPORARY TABLE {name} ({columns}{extra}) WITH ({texts})")
        return name

    def read(
        self, columns: str, path: str, options: dict[str, str], shown: list[str]
    ) -> dict[str, list[Any]]:
        """Return the rows of each file as text."""
        name = self.table(columns, path, options, True)
        fields = ", ".join(f"CAST({field} AS STRING)" for field in shown)
        found: dict[str, list[Any]] = {}
        with self.env.execute_sql(f"SELECT `the_file`, {fields} FROM {name}").collect() as rows:
            for row in rows:
                found.setdefault(row[0], []).append(list(row)[1:])
        return found

    def ask(
        self, kind: str, columns: str, shown: list[str], texts: list[str], options: dict[str, str]
    ) -> list[dict]:
        """Return an answer for each text."""
        directory = Path(tempfile.mkdtemp())
        for number, content in enumerate(texts):
            (directory / f"{number:03d}").write_bytes(content.encode("utf-8", "surrogatepass"))
        form = {"format": kind, **options}
        lenient: dict[str, list[Any]] | None
        try:
            lenient = self.read(
                columns, str(directory), {**form, f"{kind}.ignore-parse-errors": "true"}, shown
            )
        except Exception as error:
            print("lenient failed", kind, columns, str(error).splitlines()[0][:200], flush=True)
            lenient = None
        answers = []
        asked = 0
        for number, content in enumerate(texts):
            if lenient is None:
                try:
                    path = str(directory / f"{number:03d}")
                    one = {**form, f"{kind}.ignore-parse-errors": "true"}
                    skipped: Any = self.read(columns, path, one, shown).get(f"{number:03d}", [])
                except Exception:
                    skipped = {"error": True}
            else:
                skipped = lenient.get(f"{number:03d}", [])
            strict: Any = skipped
            odd = isinstance(skipped, dict) or not skipped or any(None in row for row in skipped)
            if odd and asked >= MOST_ALONE:
                strict = None
            elif odd:
                asked += 1
                try:
                    strict = self.read(columns, str(directory / f"{number:03d}"), form, shown).get(
                        f"{number:03d}", []
                    )
                except Exception:
                    strict = {"error": True}
            answers.append(
                {
                    "ask": "read",
                    "format": kind,
                    "columns": columns,
                    "options": options,
                    "text": content,
                    "strict": strict,
                    "lenient": skipped,
                }
            )
        shutil.rmtree(directory)
        return answers

    def write(self, kind: str, data_type: str, expressions: list[str], options: dict[str, str]) -> list[dict]:
        """Return the text of each row that is written, up to its last field, which is the number of the row."""
        directory = Path(tempfile.mkdtemp())
        texts: Any = {}
        try:
            given = {"format": kind, **options}
            name = self.table(f"v {data_type}, z INT", str(directory / "out"), given, False)
            rows = " UNION ALL ".join(f"SELECT {one}, {900 + place}" for place, one in enumerate(expressions))
            self.env.execute_sql(f"INSERT INTO {name} {rows}").wait()
            files = [path for path in (directory / "out").rglob("*") if path.is_file()]
            whole = "".join(path.read_bytes().decode() for path in files)
            parts = re.split(r"(9\d\d)(?=}?\n)}?\n", whole)
            texts = {int(number) - 900: text for text, number in zip(parts[0::2], parts[1::2], strict=False)}
        except Exception as error:
            print("write failed", kind, data_type, str(error).splitlines()[0][:200], flush=True)
        shutil.rmtree(directory)
        return [
            {
                "ask": "write",
                "format": kind,
                "type": data_type,
                "options": options,
                "expression": expression,
                "text": texts.get(place, {"error": True}),
            }
            for place, expression in enumerate(expressions)
        ]


def main() -> None:
    """Write the answers."""
    asker = Asker()
    with Path(sys.argv[1]).open("a") as file:

        def keep(answers: list[dict]) -> None:
            file.writelines(json.dumps(answer, ensure_ascii=True) + "\n" for answer in answers)
            file.flush()
            print(asker.count, answers[-1]["format"], flush=True)

        keep(asker.ask("json", "a INT, b STRING", ["a", "b"], JSON_LINES, {}))
        keep(
            asker.ask(
                "json", "a INT, b STRING", ["a", "b"], JSON_LINES[:4], {"json.fail-on-missing-field": "true"}
            )
        )
        for data_type, values in JSON_VALUES.items():
            lines = [f'{{"v": {value}}}' for value in values]
            keep(asker.ask("json", f"v {data_type}", ["v"], lines, {}))
            if "TIMESTAMP" in data_type:
                keep(asker.ask("json", f"v {data_type}", ["v"], lines, ISO))
        keep(asker.ask("csv", "a INT, b STRING", ["a", "b"], CSV_LINES, {}))
        for data_type, values in CSV_VALUES.items():
            keep(
                asker.ask(
                    "csv", f"v {data_type}, z STRING", ["v", "z"], [f"{value},z" for value in values], {}
                )
            )
        for options in CSV_OPTIONS:
            mark = options.get("csv.field-delimiter", ",").replace("\\t", "\t")
            for data_type, values in CSV_OPTION_TEXTS.items():
                texts = [f"{value}{mark}z" for value in values]
                keep(asker.ask("csv", f"v {data_type}, z STRING", ["v", "z"], texts, options))
        for kind, given in WRITTEN_OPTIONS.items():
            for number, options in enumerate(given):
                for data_type, expressions in WRITTEN.items():
                    if number == 0 or data_type.startswith(("STRING", "TIMESTAMP", "DECIMAL", "ARRAY")):
                        keep(asker.write(kind, data_type, expressions, options))


if __name__ == "__main__":
    main()
