"""The table that the queries read, and the queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

ORDERS: Final = """
CREATE TABLE orders (
    id BIGINT, customer STRING, product STRING, quantity INT, price DECIMAL(10, 2), weight DOUBLE, rush BOOLEAN,
    `day` DATE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json', 'json.timestamp-format.standard' = 'SQL')
"""


def queries() -> Iterator[tuple[str, str]]:
    """Yield subjects and queries, each query in one line."""
    subject, lines = "", []
    for line in (Path(__file__).parent / "queries.sql").read_text(encoding="utf-8").splitlines():
        if line.startswith("--"):
            subject = line.rpartition("subject: ")[2]
            continue
        lines.append(line.strip())
        if line.endswith(";"):
            yield subject, " ".join(filter(None, lines)).removesuffix(";")
            lines = []
