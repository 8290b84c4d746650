"""Ask real Flink which rows OVER with a range of time drops as late, and what it gives for the others; see late.jsonl.

    /path/to/venv/bin/python tests/runtime/columns/over/flink/ask_late.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH. A
line has the milliseconds of the range, the rows (key, time, value, and the watermark after the row), and by the number
of each row that came out COUNT, SUM and MAX of its frame.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

RANGES = (0, 1, 7, 10, 10, 11, 20, 20, 25)
ROWS = 400

Row = tuple[str, int, int, int]


def main() -> None:
    """Write the answers."""
    with (Path(__file__).parent / "late.jsonl").open("w") as file:
        for number, lower in enumerate(RANGES):
            given = list(rows(random.Random(number), lower))
            with tempfile.TemporaryDirectory() as directory:
                found = answers(directory, lower, given)
            file.write(json.dumps({"lower": lower, "rows": given, "values": found}) + "\n")


def rows(chance: random.Random, lower: int) -> Iterator[Row]:
    """Yield rows out of order around a time that goes on in steps, and stands still now and then."""
    now, watermark = 3 * lower, 0
    for _ in range(ROWS):
        if chance.random() < 0.6:
            now += chance.randint(0, max(lower // 2, 2))
        key = chance.choice("aaab" if chance.random() < 0.9 else "cd")
        reach = chance.choice((1, 1, 2, 4)) * lower + 3
        time = max(now + chance.randint(-reach, reach), -1)
        if chance.random() < 0.5:
            watermark = max(watermark, now + chance.randint(-lower - 2, lower // 2 + 1))
        yield key, time, chance.randint(-9, 9), watermark


def answers(directory: str, lower: int, given: list[Row]) -> dict[str, list[int]]:
    """Return Flink's results by the number of the row."""
    lines = [
        json.dumps({"id": number, "k": key, "v": value, "ts": stamp(time), "w": stamp(watermark)})
        for number, (key, time, value, watermark) in enumerate(given)
    ]
    Path(directory, "rows.json").write_text("\n".join(lines) + "\n")
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "1").set("pipeline.auto-watermark-interval", "0 ms")
    env.execute_sql(
        "CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), w TIMESTAMP(3), WATERMARK FOR ts AS w) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json', "
        "'json.timestamp-format.standard' = 'SQL')"
    )
    query = (
        "SELECT id, COUNT(*) OVER w, SUM(v) OVER w, MAX(v) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY ts "
        f"RANGE BETWEEN INTERVAL '0.{lower:03}' SECOND(1, 3) PRECEDING AND CURRENT ROW)"
    )
    with env.execute_sql(query).collect() as results:
        return {str(row[0]): list(row)[1:] for row in results}


def stamp(time: int) -> str:
    """Return milliseconds as a text."""
    seconds, left = divmod(time + 60_000, 1000)
    minutes, seconds = divmod(seconds - 60, 60)
    return (
        f"1970-01-01 00:{minutes:02}:{seconds:02}.{left:03}"
        if time >= 0
        else f"1969-12-31 23:59:59.{left:03}"
    )


if __name__ == "__main__":
    main()
