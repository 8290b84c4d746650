"""The tables of changes that Flink is asked about, and how plans are compared."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
NODE = re.compile(r"^[ :+-]*(\w+)\(.*?changelogMode=\[([\w,]+)\]", re.MULTILINE)
"""A node of a plan, and the kinds of its changes."""


def definitions(path: Path) -> list[str]:
    """The statements that define the tables, over files in a directory."""
    changes = "id INT, name STRING, weight DOUBLE"
    said = "id INT, op STRING, name STRING"
    given = {
        "once": (f"{changes}, PRIMARY KEY (id) NOT ENFORCED", "debezium-json"),
        "twice": (f"{changes}, PRIMARY KEY (id) NOT ENFORCED", "debezium-json"),
        "keyless": (changes, "debezium-json"),
        "said": (said, "json"),
        "unsaid": (said, "json"),
        "wrong": (said, "json"),
        "coded": ("name STRING, id INT, op STRING", "json"),
        "numbered": ("name STRING, id INT, op INT", "json"),
    }
    files = {"keyless": "once", "numbered": "coded"}
    return [
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{path / files.get(name, name)}.json', 'format' = '{form}')"
        for name, (columns, form) in given.items()
    ]
