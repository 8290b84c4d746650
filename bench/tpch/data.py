"""The tables of a scale, written once by DuckDB's generator, and the queries that come with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from bench.environments import CACHE, tpch_python

QUERIES: Final = range(1, 23)

_CHANGED: Final = {
    # VALUE is a word of Flink's grammar.
    11: (("AS value", "AS worth"), ("value DESC", "worth DESC")),
    # In Flink, an alias is no name within GROUP BY.
    15: (("GROUP BY\n        supplier_no", "GROUP BY\n        l_suppkey"),),
}
"""What all systems read in place of DuckDB's text, by query."""

_COLUMNS: Final = {
    "lineitem": """l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber BIGINT, l_quantity MONEY,
        l_extendedprice MONEY, l_discount MONEY, l_tax MONEY, l_returnflag STRING, l_linestatus STRING,
        l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING,
        l_comment STRING""",
    "orders": """o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus STRING, o_totalprice MONEY, o_orderdate DATE,
        o_orderpriority STRING, o_clerk STRING, o_shippriority INT, o_comment STRING""",
    "part": """p_partkey BIGINT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, p_size INT,
        p_container STRING, p_retailprice MONEY, p_comment STRING""",
    "partsupp": """ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty BIGINT, ps_supplycost MONEY,
        ps_comment STRING""",
    "supplier": """s_suppkey BIGINT, s_name STRING, s_address STRING, s_nationkey INT, s_phone STRING,
        s_acctbal MONEY, s_comment STRING""",
    "customer": """c_custkey BIGINT, c_name STRING, c_address STRING, c_nationkey INT, c_phone STRING,
        c_acctbal MONEY, c_mktsegment STRING, c_comment STRING""",
    "nation": "n_nationkey INT, n_name STRING, n_regionkey INT, n_comment STRING",
    "region": "r_regionkey INT, r_name STRING, r_comment STRING",
}

TABLES: Final = tuple(_COLUMNS)


def folder(scale: float, cache: Path = CACHE) -> Path:
    """Return the folder with the tables of a scale (1: a gigabyte of text); they are written if not there."""
    target = cache / "bench-tpch" / f"scale-{scale:g}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}-{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        generator = Path(__file__).with_name("generate.py")
        subprocess.run([tpch_python(), generator, f"{scale:g}", draft], check=True)
        draft.rename(target)
    return target


def query(given: Path, number: int) -> str:
    """Return the text of a query of a folder, as all systems take it."""
    text: str = json.loads((given / "queries.json").read_text(encoding="utf-8"))[str(number)]
    for old, new in _CHANGED.get(number, ()):
        assert old in text
        text = text.replace(old, new)
    return text.strip().removesuffix(";")


def definitions(given: Path) -> list[str]:
    """Return the statements that declare the tables of a folder, for systems with Flink's SQL."""
    return [
        f"CREATE TABLE {table} ({columns.replace('MONEY', 'DECIMAL(15, 2)')})"
        f" WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{given / table}')"
        for table, columns in _COLUMNS.items()
    ]
