"""The tables of options in the pages are those of the code, and the code asks for these options and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.logical_types import RowType, parse_type
from firesteel.connectors.tables import lookup_options
from firesteel.connectors.tables.filesystem import FORMATS
from firesteel.connectors.tables.messages.known_formats import MESSAGE_FORMATS
from firesteel.connectors.tables.options import Options
from firesteel.connectors.tables.registry import BUILT_IN, connector_of
from firesteel.functions.columns.connectors import TableConnector, TableRequest
from firesteel.functions.columns.lookups import LookupCalls
from scripts.options import DOCS, calls, shown, tables, written
from tests.connectors.messages import row_type

PAGES = sorted(DOCS.glob("*.md"))
GIVEN = {
    "blackhole": {},
    "datagen": {},
    "filesystem": {"path": "/nowhere", "format": "json"},
    "jdbc": {"url": "jdbc:sqlite:shop.db", "table-name": "t"},
    "kafka": {
        "topic": "t",
        "format": "raw",
        "properties.bootstrap.servers": "h:1",
        "properties.group.id": "g",
    },
    "print": {},
    "python": {"function": "os.path.join"},
    "upsert-kafka": {
        "topic": "t",
        "properties.bootstrap.servers": "h:1",
        "key.format": "raw",
        "value.format": "json",
    },
}
"""What a table must give, by its connector."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tables_of_a_page_are_up_to_date(page: Path) -> None:
    assert page.read_text("utf-8") == written(page.read_text("utf-8")), "run: python scripts/options.py"


def test_each_table_is_on_one_page() -> None:
    pages = [name for page in PAGES for name in shown(page.read_text("utf-8"))]
    assert sorted(pages) == sorted(tables())


@pytest.mark.parametrize("name", sorted(tables()))
def test_options_say_what_they_mean(name: str) -> None:
    for option in tables()[name]:
        assert option.about.endswith("."), option.key
        assert option.what or name in calls(), option.key


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], set[str]]:
    """Returns which options of a table a call asks for."""

    def run(call: Callable[[], object]) -> set[str]:
        found: set[str] = set()
        monkeypatch.setattr(Options, "finish", lambda options: found.update(options.known))
        call()
        return found - {"connector"}

    return run


def request_of(name: str, columns: str = "a STRING") -> TableRequest:
    row = parse_type(f"ROW<{columns}> NOT NULL")
    assert isinstance(row, RowType)
    key = ("a",) if name == "upsert-kafka" else None
    return TableRequest("table 't'", "t", row, {}, key, (), GIVEN[name], bounded=False)


def keys(connector: TableConnector) -> set[str]:
    return {option.key for option in connector.options} - {"properties.*", "source.path.regex-pattern"}


def of_formats(options: dict[str, str]) -> set[str]:
    """The options of the formats that a table names, which are not its connector's."""
    found = set()
    for key, name in options.items():
        if key.endswith("format"):
            form: Any = {**FORMATS, **MESSAGE_FORMATS}[name]
            found |= {key.removesuffix("format") + option.key for option in form.options}
    return found


@pytest.mark.parametrize("name", ["filesystem", "jdbc", "kafka", "upsert-kafka"])
@pytest.mark.parametrize("way", ["source", "sink"])
def test_tables_can_be_read_and_written_with_all_options(asked: Any, name: str, way: str) -> None:
    connector = connector_of(name, "")
    found = asked(lambda: getattr(connector, way)(request_of(name))) - of_formats(GIVEN[name])
    found = {key for key in found if not key.startswith("properties.")}
    wanted = {key for key in keys(connector) if not key.startswith("properties.")}
    assert wanted <= found
    refused = {"format", "key.fields", *(key for key in found if key.startswith("scan.startup."))}
    assert found - wanted <= (refused if name == "upsert-kafka" else set())


def test_tables_that_are_looked_up_ask_for_the_options_of_lookups(asked: Any) -> None:
    calls = LookupCalls()
    jdbc = asked(lambda: connector_of("jdbc", "").lookup(request_of("jdbc"), ("a",), calls))
    assert {option.key for option in lookup_options.OPTIONS} <= jdbc <= keys(connector_of("jdbc", ""))
    python = asked(lambda: connector_of("python", "").lookup(request_of("python"), ("a",), calls))
    assert python == keys(connector_of("python", ""))


@pytest.mark.parametrize("name", ["blackhole", "print"])
def test_sinks_ask_for_their_options(asked: Any, name: str) -> None:
    connector = connector_of(name, "")
    assert asked(lambda: connector.sink(request_of(name))) == keys(connector)


def test_generated_rows_ask_for_the_options_of_each_type(asked: Any) -> None:
    connector = connector_of("datagen", "")
    found = set()
    for kind in ("INT", "DOUBLE", "STRING", "TIMESTAMP(3)", "ARRAY<INT>", "ROW<b BYTES>", "BOOLEAN"):
        found |= asked(lambda kind=kind: connector.source(request_of("datagen", f"a {kind}")))
    plain = {key.replace("a.b.", "#.").replace("a.element.", "#.").replace(".a.", ".#.") for key in found}
    assert plain | {"fields.#.start", "fields.#.end"} == keys(connector)


def test_all_connectors_are_looked_at() -> None:
    assert {*GIVEN} == {*BUILT_IN}


NEEDED = {
    "raw": {},
    "protobuf": {"message-class-name": "google.protobuf.wrappers_pb2.StringValue"},
    "protobuf-confluent": {"message-class-name": "google.protobuf.wrappers_pb2.StringValue", "subject": "s"},
}


@pytest.mark.parametrize("name", sorted(MESSAGE_FORMATS))
@pytest.mark.parametrize("way", ["decoder", "encoder"])
def test_formats_of_messages_ask_for_their_options(name: str, way: str) -> None:
    form = MESSAGE_FORMATS[name]
    given = NEEDED.get(name, {"subject": "s"} if name.endswith("confluent") else {})
    if name.endswith("confluent"):
        given = {"url": "http://registry", **given}
    options = Options({f"{name}.{key}": value for key, value in given.items()}, "table 't'", "kafka")
    getattr(form, way)(options, row_type("value STRING"))
    declared = {option.key for option in form.options if not option.key.endswith(".*")}
    older = {f"{name}.schema-registry.{key}" for key in ("url", "subject", "schema")}
    assert declared <= options.known
    assert options.known - declared - older == {"connector"}


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("way", ["reader", "writer"])
def test_formats_of_files_ask_for_their_options(name: str, way: str) -> None:
    form, options, row = FORMATS[name], Options({}, "table 't'", "filesystem"), row_type("value STRING")
    form.writer(options, row) if way == "writer" else form.reader(options, row, [0])
    assert options.known - {"connector"} == {option.key for option in form.options}
