"""Small tables of TPC-H: few values of each kind, those that the queries ask for among them, so that all have rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import duckdb

from bench.tpch.data import TABLES

QUERIES: Final[dict[str, str]] = json.loads((Path(__file__).with_name("queries.json")).read_text())
"""The texts of the queries, as all systems read them, by number."""

_MACROS: Final = (
    "CREATE MACRO pick(row, salt, many) AS (hash(row * 1000 + salt) % many)::INT",
    "CREATE MACRO among(row, salt, texts) AS texts[1 + pick(row, salt, len(texts))]",
    (
        "CREATE MACRO money(row, salt, low, high)"
        " AS (low + pick(row, salt, (high - low) * 100) / 100.0)::DECIMAL(15, 2)"
    ),
    "CREATE MACRO day(row, salt) AS (DATE '1992-01-01' + pick(row, salt, 2500))",
    "CREATE MACRO phone(row) AS ((10 + pick(row, 9, 25)) || '-555-' || row)",
)

_ROWS: Final = {
    "region": (
        5,
        (
            "i::INT AS r_regionkey, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1] AS r_name,"
            " 'c' AS r_comment"
        ),
    ),
    "nation": (
        8,
        (
            "i::INT AS n_nationkey, ['FRANCE', 'GERMANY', 'BRAZIL', 'CANADA', 'SAUDI ARABIA', 'CHINA', 'INDIA',"
            " 'KENYA'][i + 1] AS n_name, [3, 3, 1, 1, 4, 2, 2, 0][i + 1]::INT AS n_regionkey, 'c' AS n_comment"
        ),
    ),
    "supplier": (
        40,
        (
            "i AS s_suppkey, 'Supplier#' || i AS s_name, 'street ' || i AS s_address, pick(i, 1, 8) AS s_nationkey,"
            " phone(i) AS s_phone, money(i, 2, -999, 9999) AS s_acctbal,"
            " among(i, 3, ['fine', 'many Customer and Complaints', 'slow']) AS s_comment"
        ),
    ),
    "customer": (
        120,
        (
            "i AS c_custkey, 'Customer#' || i AS c_name, 'road ' || i AS c_address, pick(i, 1, 8) AS c_nationkey,"
            " phone(i) AS c_phone, money(i, 2, -999, 9999) AS c_acctbal,"
            " among(i, 3, ['BUILDING', 'MACHINERY']) AS c_mktsegment, 'c' AS c_comment"
        ),
    ),
    "part": (
        100,
        (
            "i AS p_partkey, among(i, 1, ['green', 'forest', 'blue']) || ' lace' AS p_name, 'Maker' AS p_mfgr,"
            " among(i, 2, ['Brand#12', 'Brand#23', 'Brand#34', 'Brand#45']) AS p_brand,"
            " among(i, 3, ['ECONOMY ANODIZED STEEL', 'PROMO BRASS', 'MEDIUM POLISHED TIN', 'SMALL BRASS']) AS p_type,"
            " among(i, 4, [3, 9, 14, 15, 45])::INT AS p_size,"
            " among(i, 5, ['MED BOX', 'SM CASE', 'LG CASE']) AS p_container,"
            " money(i, 6, 900, 2000) AS p_retailprice, 'c' AS p_comment"
        ),
    ),
    "partsupp": (
        400,
        (
            "i // 4 AS ps_partkey, (i // 4 + i % 4 * 10) % 40 AS ps_suppkey, pick(i, 1, 9999)::BIGINT AS ps_availqty,"
            " money(i, 2, 1, 1000) AS ps_supplycost, 'c' AS ps_comment"
        ),
    ),
    "orders": (
        600,
        (
            "i AS o_orderkey, pick(i, 1, 80)::BIGINT AS o_custkey, among(i, 2, ['F', 'O', 'P']) AS o_orderstatus,"
            " money(i, 3, 1000, 400000) AS o_totalprice, day(i, 4) AS o_orderdate,"
            " among(i, 5, ['1-URGENT', '2-HIGH', '5-LOW']) AS o_orderpriority, 'Clerk' AS o_clerk,"
            " 0::INT AS o_shippriority, among(i, 6, ['fine', 'the special blue requests']) AS o_comment"
        ),
    ),
    "lineitem": (
        2400,
        (
            "i // 4 AS l_orderkey, pick(i, 1, 100)::BIGINT AS l_partkey,"
            " (pick(i, 1, 100) + pick(i, 2, 4) * 10)::BIGINT % 40 AS l_suppkey, i % 4 AS l_linenumber,"
            " (1 + pick(i, 3, 50) + IF(i // 4 % 60 = 7, 60, 0))::DECIMAL(15, 2) AS l_quantity,"
            " money(i, 4, 900, 90000) AS l_extendedprice, (pick(i, 5, 11) / 100.0)::DECIMAL(15, 2) AS l_discount,"
            " (pick(i, 6, 9) / 100.0)::DECIMAL(15, 2) AS l_tax, among(i, 7, ['A', 'N', 'R']) AS l_returnflag,"
            " among(i, 8, ['F', 'O']) AS l_linestatus, day(i // 4, 4) + 1 + pick(i, 9, 60) AS l_shipdate,"
            " day(i // 4, 4) + 20 + pick(i, 10, 60) AS l_commitdate,"
            " day(i // 4, 4) + 2 + pick(i, 9, 60) + pick(i, 11, 30) AS l_receiptdate,"
            " among(i, 12, ['DELIVER IN PERSON', 'NONE']) AS l_shipinstruct,"
            " among(i, 13, ['MAIL', 'SHIP', 'AIR', 'REG AIR']) AS l_shipmode, 'c' AS l_comment"
        ),
    ),
}
"""How many rows a table has, and its columns by the number of the row."""


def write(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Write the tables as the benchmark has them, with rows in a random order; return DuckDB's answers, by number."""
    with duckdb.connect() as database:
        for macro in _MACROS:
            database.execute(macro)
        for table in TABLES:
            count, columns = _ROWS[table]
            database.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM range({count}) AS of_rows(i)")
            (folder / table).mkdir()
            for file in (0, 1):
                rows = f"SELECT * FROM {table} WHERE rowid % 2 = {file} ORDER BY hash(rowid)"
                database.execute(f"COPY ({rows}) TO '{folder}/{table}/part-{file}.parquet' (FORMAT parquet)")
        (folder / "queries.json").write_text(json.dumps(QUERIES))
        return {number: database.execute(sql).fetchall() for number, sql in QUERIES.items()}
