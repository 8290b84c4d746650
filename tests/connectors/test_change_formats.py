"""Changes in files are what real Flink reads and writes (flink/changes.jsonl); blocks, ranges, metadata, errors."""

from __future__ import annotations

import datetime as dt
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.common.logical_types import LogicalType
from firesteel.common.logical_types.text import cast_to_string
from firesteel.common.types import Row
from firesteel.connectors.tables.filesystem import FORMATS, READABLE
from firesteel.connectors.tables.registry import connector_of
from firesteel.connectors.tables.values import rows_of
from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.functions.source import UNLIMITED
from tests.connectors.column_ends import request, row_type, write_changes
from tests.connectors.tables.flink.change_cases import CHANGES, COLUMNS, WRITTEN

ANSWERS = [
    json.loads(line)
    for line in (Path(__file__).parent / "tables" / "flink" / "changes.jsonl").read_text().splitlines()
]
READ = [answer for answer in ANSWERS if answer["ask"] == "read"]
WRITE = [answer for answer in ANSWERS if answer["ask"] == "write"]
KINDS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
FAILED = "failed"
ABSENT = {None, ""}
"""What Flink shows of a NULL in a column that is NOT NULL."""

BLANKS = "a line of spaces is none"
DIFFERENT = {text for answer in READ if "\r\n   \r\n" in (text := answer["text"])}


def source_of(path: Path, form: str, metadata: list[str] | None = None, **options: str) -> ColumnSource:
    known: dict[str, LogicalType] = {key: READABLE[key] for key in metadata or ()}
    columns = COLUMNS + "".join(f", `{key}` {kind}" for key, kind in known.items())
    given = {"path": str(path), "format": form, **{f"{form}.{key}": value for key, value in options.items()}}
    return connector_of("filesystem", "table 't'").source(request(columns, given, known)).source


def changes_in(source: ColumnSource, columns: str = COLUMNS) -> Any:
    """All changes as texts."""
    found: list[list[Any]] = []
    kinds_of = [field.type for field in row_type(columns).fields]
    for split in source.splits(frozenset()):
        for rows, kinds in source.read_columns(split, split.start, split.end or UNLIMITED):
            shown = [
                cast_to_string(column, kind).to_pylist()
                for column, kind in zip(rows.columns, kinds_of, strict=False)
            ]
            names = [KINDS[0 if kinds is None else int(kinds[place])] for place in range(rows.num_rows)]
            found += map(list, zip(names, *shown, strict=True))
    return found


def answered(path: Path, answer: dict[str, Any], lenient: bool) -> Any:
    options = {key.removeprefix(f"{answer['format']}."): value for key, value in answer["options"].items()}
    options["ignore-parse-errors"] = str(lenient).lower()
    try:
        return changes_in(source_of(path, answer["format"], **options))
    except ConnectorError:
        return FAILED


def expected(answer: Any) -> Any:
    """Flink's answer, where the column that is NOT NULL has NULL as it is here."""
    if isinstance(answer, dict):
        return FAILED
    return [[kind, first or None, *others] for kind, first, *others in answer]


@pytest.mark.parametrize("name", ["strict", "lenient"])
@pytest.mark.parametrize("form", ["debezium-json", "canal-json", "maxwell-json"])
def test_messages_are_read_as_by_flink(form: str, name: str, tmp_path: Path) -> None:
    wrong = []
    for answer in READ:
        if answer["format"] != form or answer["text"] in DIFFERENT:
            continue
        path = tmp_path / "file"
        path.write_text(answer["text"])
        got, wanted = answered(path, answer, name == "lenient"), expected(answer[name])
        if got != wanted:
            wrong.append(f"{answer['options']} {answer['text']}: {got}, Flink {wanted}")
    assert wrong == []


@pytest.mark.parametrize("form", ["debezium-json", "canal-json", "maxwell-json"])
def test_messages_say_the_same_among_others(form: str, tmp_path: Path) -> None:
    """Blocks are read in several ways; a message gives the same changes wherever it stands."""
    chosen = random.Random(7)
    for options in {json.dumps(answer["options"]) for answer in READ if answer["format"] == form}:
        answers = [
            answer
            for answer in READ
            if answer["format"] == form
            and answer["options"] == json.loads(options)
            and answer["text"] not in DIFFERENT
        ]
        for _ in range(5):
            mixed = chosen.choices(answers, k=80)
            path = tmp_path / "file"
            path.write_text("\n".join(answer["text"] for answer in mixed))
            wanted = [change for answer in mixed for change in expected(answer["lenient"])]
            assert answered(path, mixed[0], True) == wanted


@pytest.mark.parametrize("answer", WRITE, ids=[f"{one['format']} {one['options']}" for one in WRITE])
def test_changes_are_written_as_by_flink(answer: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\n".join(CHANGES))
    form = answer["format"]
    given = connector_of("filesystem", "table 't'").source(
        request(WRITTEN, {"path": str(tmp_path / "in"), "format": "debezium-json"})
    )
    options = {f"{form}.{key}": value for key, value in answer["options"].items()}
    path = tmp_path / "out"
    end = connector_of("filesystem", "table 't'").sink(
        request(WRITTEN, {"path": str(path), "format": form, **options})
    )
    [split] = given.source.splits(frozenset())
    changes = list(given.source.read_columns(split, split.start, split.end or UNLIMITED))
    write_changes(end.sink, *changes)
    [file] = [part for part in path.rglob("*") if part.is_file()]
    assert file.read_text().splitlines() == answer["lines"]


SOURCE = '"source":{"ts_ms":1596001099434,"db":"shop","schema":"inventory","table":"products","txId":601,"xmin":null}'
MOMENT = dt.datetime(2020, 7, 29, 5, 38, 19, 434000, dt.UTC)


def columns_in(source: ColumnSource) -> list[dict[str, Any]]:
    return [
        row
        for split in source.splits(frozenset())
        for rows, _ in source.read_columns(split, split.start, split.end or UNLIMITED)
        for row in rows.to_pylist()
    ]


@pytest.mark.parametrize("more", [(), ("value.source.properties",)])
def test_messages_of_debezium_have_metadata(tmp_path: Path, more: tuple[str, ...]) -> None:
    path = tmp_path / "file"
    path.write_text(
        '{"schema":{"type":"struct"},"payload":{"after":{"id":1},"op":"c","ts_ms":1596001099434,'
        + SOURCE
        + "}}"
    )
    names = [
        "value.schema",
        "value.ingestion-timestamp",
        "value.source.timestamp",
        "value.source.database",
        "value.source.schema",
        "value.source.table",
        *more,
    ]
    options = {"schema-include": "true"}
    [row] = columns_in(source_of(path, "debezium-json", names, **options))
    properties = row.pop("value.source.properties", None)
    assert row == {
        "id": 1,
        "name": None,
        "weight": None,
        "at": None,
        "value.schema": '{"type":"struct"}',
        "value.ingestion-timestamp": MOMENT,
        "value.source.timestamp": MOMENT,
        "value.source.database": "shop",
        "value.source.schema": "inventory",
        "value.source.table": "products",
    }
    if more:
        assert dict(properties)["txId"] == "601"
        assert dict(properties)["xmin"] is None


def test_messages_of_canal_and_maxwell_have_metadata(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(
        '{"data":[{"id":"1"},{"id":"2"}],"database":"shop","table":"products","es":1596001099434,"ts":1596001099434,'
        '"sqlType":{"id":4},"pkNames":["id"],"type":"INSERT"}\n{"data":[{"id":"3"}],"type":"DELETE"}'
    )
    names = [key for key in READABLE if key in connector_names("canal-json")]
    first, second, third = columns_in(source_of(path, "canal-json", names))
    assert {key: value for key, value in first.items() if key.startswith("value.")} == {
        "value.database": "shop",
        "value.table": "products",
        "value.sql-type": [("id", 4)],
        "value.pk-names": ["id"],
        "value.ingestion-timestamp": MOMENT,
        "value.event-timestamp": MOMENT,
    }
    assert second == {**first, "id": 2}
    assert third == {**dict.fromkeys(first), "id": 3}
    path.write_text(
        '{"database":"shop","table":"p","ts":1596001099,"primary_key_columns":["id"],"type":"insert","data":{}}'
    )
    names = [key for key in READABLE if key in connector_names("maxwell-json")]
    [row] = columns_in(source_of(path, "maxwell-json", names))
    assert row["value.ingestion-timestamp"] == MOMENT.replace(microsecond=0)
    assert (row["value.database"], row["value.table"], row["value.primary-key-columns"]) == (
        "shop",
        "p",
        ["id"],
    )


def connector_names(form: str) -> set[str]:
    return set(FORMATS[form].metadata)


def test_metadata_that_a_format_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"metadata that the format 'maxwell-json' has; got 'value.pk-names'"
    ):
        source_of(tmp_path, "maxwell-json", ["value.pk-names"])


def test_columns_that_nobody_asks_for_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"before":{"id":1,"name":"a"},"after":{"id":1,"name":7,"weight":"no number"},"op":"u"}')
    source = source_of(path, "debezium-json", ["value.source.table"]).projected((0, 4))
    assert source is not None
    assert columns_in(source) == [{"id": 1, "value.source.table": None}] * 2


@pytest.mark.parametrize(
    ("form", "text", "why"),
    [
        (
            "debezium-json",
            '{"after":{"id":"x"},"op":"c"}',
            "field 'after': field 'id': 'x' is no whole number",
        ),
        ("debezium-json", '{"after":{"id":1},"op":"z"}', "the field 'op' is 'z', and none of c, r, u, d"),
        ("debezium-json", '{"after":{"id":1},"op":"u"}', "it needs REPLICA IDENTITY FULL"),
        ("debezium-json", '{"before":{"id":1},"op":"u"}', "the field 'after' is null"),
        ("canal-json", '{"data":null,"type":"INSERT"}', "the field 'data' is null"),
        ("canal-json", '{"data":[{}],"type":"ALTER"}', "the field 'type' is 'ALTER', and none of INSERT"),
        ("canal-json", '{"data":[{},{}],"old":[{}],"type":"UPDATE"}', "'old' has none for it"),
        ("maxwell-json", '{"data":{"id":1},"type":"update"}', "the field 'old' is null"),
        ("maxwell-json", '{"data":{"id":1}', "line 1 column"),
    ],
)
def test_an_error_names_the_file_the_record_and_the_field(
    form: str, text: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    good = {
        "debezium-json": '{"after":{"id":1},"op":"c"}',
        "canal-json": '{"data":[{}],"type":"INSERT"}',
        "maxwell-json": '{"data":{},"type":"insert"}',
    }
    path.write_text(f"{good[form]}\n\n{text}\n")
    with pytest.raises(ConnectorError) as caught:
        changes_in(source_of(path, form))
    message = str(caught.value)
    assert f"file {path} requires a row of the table in record 3 after byte 0" in message
    assert why in message
    assert f"with '{form}.ignore-parse-errors' = 'true' what does not fit is skipped" in message


@pytest.mark.parametrize(
    ("form", "key", "value", "message"),
    [
        ("debezium-json", "schema-include", "maybe", "requires true or false"),
        ("canal-json", "table.include", "(", "requires a regular expression"),
        ("maxwell-json", "table.include", "t", "did you mean"),
    ],
)
def test_options_are_checked(form: str, key: str, value: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=message):
        source_of(tmp_path, form, **{key: value})


def test_a_file_is_one_part_and_the_same_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = [f'{{"before":{{"id":{n}}},"after":{{"id":{n + 1}}},"op":"u"}}' for n in range(6)]
    path.write_text("\n".join(lines))
    source = source_of(path, "debezium-json")
    [split] = source.splits(frozenset())
    assert split.end == path.stat().st_size
    whole = [number for n in range(6) for number in (n, n + 1)]
    for cut in range(split.end + 1):
        found = []
        for start, end in ((0, cut), (cut, split.end)):
            for rows, _ in source.read_columns(split, start, end):
                found += rows.column("id").to_pylist()
        assert found == whole, cut


@pytest.mark.parametrize("form", ["debezium-json", "canal-json", "maxwell-json"])
@pytest.mark.parametrize("partitions", [[], ["name"]])
def test_what_is_written_is_read_again(form: str, partitions: list[str], tmp_path: Path) -> None:
    chosen = random.Random(3)
    columns = "id INT, name STRING, x DOUBLE, big DECIMAL(30, 10), born DATE, r ROW<a INT, b STRING>"
    rows = [
        (
            chosen.choice([None, chosen.randrange(-5, 5)]),
            chosen.choice(["a", "b", '"\\\u00f6\n']),
            chosen.choice([None, chosen.random()]),
            chosen.choice([None, Decimal(chosen.randrange(-(10**20), 10**20)) / 10**10]),
            chosen.choice([None, dt.date(2020, 1, chosen.randrange(1, 28))]),
            chosen.choice([None, Row(1, None), Row(None, "x")]),
        )
        for _ in range(300)
    ]
    kinds = np.array([chosen.randrange(4) for _ in rows], np.int8)
    options = {"path": str(tmp_path / "d"), "format": form}
    given = request(columns, options, partitions=partitions)
    connector = connector_of("filesystem", "table 't'")
    batch = rows_of(given.row, rows)
    write_changes(
        connector.sink(given).sink, (batch.slice(0, 100), kinds[:100]), (batch.slice(100), kinds[100:])
    )
    found = changes_in(connector.source(given).source, columns)
    written = [KINDS[0 if kind in (0, 2) else 3] for kind in kinds.tolist()]
    shown = [
        cast_to_string(column, field.type).to_pylist()
        for column, field in zip(batch.columns, given.row.fields, strict=True)
    ]
    wanted = [list(change) for change in zip(written, *shown, strict=True)]
    if partitions:
        assert sorted(found, key=repr) == sorted(wanted, key=repr)
    else:
        assert found == wanted
