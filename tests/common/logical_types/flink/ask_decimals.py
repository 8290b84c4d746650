"""Ask real Flink what becomes of a BigDecimal in a DECIMAL(p, s); the answers are in decimals.json beside this file.

    /path/to/venv/bin/python tests/common/logical_types/flink/ask_decimals.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyflink.java_gateway import get_gateway

VALUES = [
    "0",
    "0.1",
    "1",
    "-1",
    "1.005",
    "-1.005",
    "1.0049999",
    "999.99",
    "999.994",
    "999.995",
    "-999.995",
    "1000",
    "1e3",
    "1e-3",
    "5e-3",
    "4e-3",
    "0.0005",
    "0.00049",
    "0.9995",
    "1E+30",
    "0E-10",
    "0E+10",
    "99999999999999999999999999999999999999",
    "99999999999999999999999999999999999999.4",
    "99999999999999999999.5",
    "1e37",
    "1e38",
]
SHAPES = [(5, 2), (3, 3), (1, 0), (38, 0), (38, 18), (20, 0)]


def main() -> None:
    """Write the answers."""
    jvm = get_gateway().jvm
    answers = []
    for value in VALUES:
        for precision, scale in SHAPES:
            found = jvm.org.apache.flink.table.data.DecimalData.fromBigDecimal(
                jvm.java.math.BigDecimal(value), precision, scale
            )
            answers.append([value, precision, scale, None if found is None else found.toString()])
    lines = ",\n".join(json.dumps(answer) for answer in answers)
    (Path(__file__).parent / "decimals.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
