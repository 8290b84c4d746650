"""Definitions of tables as properties, in the form of Flink's catalogs; and types of Hive."""

from __future__ import annotations

import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import parse_type
from firesteel.table import DataTypes, Schema
from firesteel.table.catalog import CatalogBaseTable
from firesteel.table.catalog.hive.types import text_of, type_of
from firesteel.table.catalog.property_definitions import properties_of, table_of

COLUMNS = (
    Schema.new_builder()
    .column("id", DataTypes.BIGINT().not_null())
    .with_comment("the customer's")
    .column("Price", "DECIMAL(10, 2)")
    .column_by_metadata("key", "STRING", "message.key", is_virtual=True)
    .column_by_metadata("offset", "BIGINT")
    .column_by_expression("ts", "TO_TIMESTAMP(`key`)")
    .watermark("ts", "ts - INTERVAL '5' SECOND")
    .primary_key_named("pk", "id")
    .build()
)
KEPT = {
    "schema.0.name": "id",
    "schema.0.data-type": "BIGINT NOT NULL",
    "schema.0.comment": "the customer's",
    "schema.1.name": "Price",
    "schema.1.data-type": "DECIMAL(10, 2)",
    "schema.2.name": "key",
    "schema.2.data-type": "VARCHAR(2147483647)",
    "schema.2.metadata": "message.key",
    "schema.2.virtual": "true",
    "schema.3.name": "offset",
    "schema.3.data-type": "BIGINT",
    "schema.3.metadata": "offset",
    "schema.3.virtual": "false",
    "schema.4.name": "ts",
    "schema.4.expr": "TO_TIMESTAMP(`key`)",
    "schema.watermark.0.rowtime": "ts",
    "schema.watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
    "schema.primary-key.name": "pk",
    "schema.primary-key.columns": "id",
    "partition.keys.0.name": "id",
    "comment": "orders",
    "connector": "kafka",
    "schema-registry.url": "http://here",
}
"""What Flink's CatalogPropertiesUtil writes, without the types of expressions, which it does not read."""


def test_a_definition_is_kept_as_flink_keeps_it():
    options = {"connector": "kafka", "schema-registry.url": "http://here"}
    table = CatalogBaseTable.create_table(COLUMNS, ["id"], options, "orders")
    assert properties_of(table) == KEPT


def test_a_definition_that_flink_kept_is_read():
    found = table_of(
        {
            **KEPT,
            "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
            "schema.4.data-type": "TIMESTAMP(3)",
        }
    )
    assert (found.comment, found.partition_keys) == ("orders", ("id",))
    assert found.get_options() == {"connector": "kafka", "schema-registry.url": "http://here"}
    assert properties_of(found) == KEPT


def test_a_key_without_a_name_gets_flinks():
    schema = (
        Schema.new_builder().column("a", "INT NOT NULL").column("b", "INT NOT NULL").primary_key("a", "b")
    )
    found = properties_of(CatalogBaseTable.create_table(schema.build()))
    assert found["schema.primary-key.name"] == "PK_a_b"
    assert found["schema.primary-key.columns"] == "a,b"


@pytest.mark.parametrize(
    ("hive", "flink"),
    [
        ("tinyint", "TINYINT"),
        ("decimal", "DECIMAL(10, 0)"),
        ("decimal(20,5)", "DECIMAL(20, 5)"),
        ("varchar(12)", "VARCHAR(12)"),
        ("char(3)", "CHAR(3)"),
        ("timestamp", "TIMESTAMP(9)"),
        ("binary", "BYTES"),
        ("array<array<string>>", "ARRAY<ARRAY<STRING>>"),
        ("map<string,struct<a:int,b:map<int,date>>>", "MAP<STRING, ROW<a INT, b MAP<INT, DATE>>>"),
    ],
)
def test_types_of_hive_are_those_that_flink_takes_them_for(hive: str, flink: str):
    assert type_of(hive, "c") == parse_type(flink)
    if hive != "decimal":
        assert text_of(parse_type(flink), "c") == hive


@pytest.mark.parametrize(
    "kind", ["TIMESTAMP(3)", "TIMESTAMP_LTZ(9)", "TIME", "VARCHAR(70000)", "BINARY(3)", "MULTISET<INT>"]
)
def test_types_that_hive_has_not_are_refused(kind: str):
    with pytest.raises(UnsupportedError, match="column 'c' cannot have this type in a table of Hive"):
        text_of(parse_type(kind), "column 'c'")


def test_types_that_flink_has_not_are_refused():
    with pytest.raises(UnsupportedError, match=r"cannot have Hive's type 'array<uniontype<int,string>>'"):
        type_of("array<uniontype<int,string>>", "column 'c'")
