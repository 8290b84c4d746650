"""The filesystem connector reads and writes the format raw as real Flink does (tables/flink/raw.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

ANSWERS = json.loads((Path(__file__).parent / "tables" / "flink" / "raw.json").read_text())


def asked(what: str) -> list[dict[str, Any]]:
    return [answer for answer in ANSWERS if answer["ask"] == what]


def made(path: Path, answer: dict[str, Any], keys: str = "") -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    options = {"connector": "filesystem", "format": "raw", "path": str(path), **answer.get("options", {})}
    texts = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    env.execute_sql(f"CREATE TABLE t ({answer.get('columns', 'v STRING, k STRING')}) {keys} WITH ({texts})")
    return env


def rows(env: TableEnvironment, query: str) -> Any:
    with executing(), env.execute_sql(query).collect() as found:
        return [[None if value is None else str(value) for value in row] for row in found]


def written(env: TableEnvironment, query: str, path: Path) -> Any:
    with executing():
        env.execute_sql(f"INSERT INTO t {query}").wait()
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(("_", "."))]
    return sorted([str(file.parent.relative_to(path)), file.read_bytes().hex()] for file in files)


@pytest.mark.parametrize("answer", asked("read"), ids=lambda answer: f"{answer['columns']} {answer['data']}")
def test_lines_are_read_as_flink_reads_them(answer: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(bytes.fromhex(answer["data"]))
    query = f"SELECT {answer['shown']} FROM t"
    if isinstance(answer["rows"], dict):
        with pytest.raises(FiresteelError):
            rows(made(path, answer), query)
    else:
        assert rows(made(path, answer), query) == answer["rows"]


@pytest.mark.parametrize(
    "answer", asked("write"), ids=lambda answer: f"{answer['columns']} {answer['query']}"
)
def test_values_are_written_as_flink_writes_them(answer: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "written"
    if isinstance(answer["files"], dict):
        with pytest.raises(FiresteelError):
            written(made(path, answer), answer["query"], path)
    else:
        assert written(made(path, answer), answer["query"], path) == answer["files"]


def test_a_table_with_partitions_has_their_columns_besides(tmp_path: Path) -> None:
    (answer,) = asked("partitions")
    env = made(tmp_path / "p", answer, "PARTITIONED BY (k)")
    assert written(env, answer["query"], tmp_path / "p") == answer["files"]
    assert rows(env, "SELECT v, k FROM t ORDER BY v") == answer["rows"]
