"""The job of SQL (`job.sql`), and what an uninterrupted run gives, computed without Firesteel.

Windows, groups and OVER are computed here; joins and first rows are what DuckDB answers to the same query.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from chaos.events import Event, closing
from chaos.job import ChaosJob, Tables

_SCRIPT: Final = Path(__file__).parent / "job.sql"
_TUMBLE_MS: Final = 2_000
_SLIDE_MS: Final = 1_000
_SLIDES: Final = 3
_GAP_MS: Final = 400
_RANGE_MS: Final = 3_000


class SqlJob(ChaosJob):
    """Runs `job.sql`, whose INSERTs are one job."""

    tables: Final = (
        "CREATE TABLE totals (k text PRIMARY KEY, n bigint, total bigint, least bigint, different bigint)",
        "CREATE TABLE counts (n bigint PRIMARY KEY, ks bigint, greatest text)",
        "CREATE TABLE later (id bigint PRIMARY KEY, other bigint, total bigint)",
        """CREATE TABLE leaders (
        class bigint, place bigint, k text, total bigint, ks bigint, PRIMARY KEY (class, place))""",
    )

    def command(self, directory: Path, database: str) -> tuple[str, list[str]]:
        """Return `sql`, and the script with the places of this run."""
        script = directory / _SCRIPT.name
        places = {
            "INPUT": directory / "input",
            "OUTPUT": directory / "output",
            "DATABASE": f"jdbc:{database.replace('+psycopg', '')}",
        }
        text = _SCRIPT.read_text(encoding="utf-8")
        for name, place in places.items():
            text = text.replace(f"${name}", str(place))
        script.write_text(text, encoding="utf-8")
        return "sql", ["-f", str(script)]

    def state(self, directory: Path) -> Path:
        """Return the directory of the only job, below that of the program."""
        found = [*directory.iterdir()] if directory.is_dir() else []
        return found[0] if found else directory / "none"

    def results(self, events: list[Event]) -> Counter[str]:
        """Return the results of windows, sessions and OVER."""
        by_key: dict[str, list[Event]] = defaultdict(list)
        for event in sorted(events, key=lambda event: event.time):
            by_key[event.key].append(event)
        return Counter(
            line
            for key, own in by_key.items()
            for line in (*_tumbling(key, own), *_hopping(key, own), *_sessions(key, own), *_over(own))
        )

    def in_tables(self, events: list[Event]) -> Tables:
        """Return what is known of each key, how many keys have been met so many times, and what DuckDB answers."""
        by_key: dict[str, list[int]] = defaultdict(list)
        for event in (*events, closing()):
            by_key[event.key].append(event.value)
        keys: dict[int, list[str]] = defaultdict(list)
        for key, values in by_key.items():
            keys[len(values) % 10].append(key)
        totals = (
            (key, len(values), sum(values), min(values), len({_remainder(value) for value in values}))
            for key, values in by_key.items()
        )
        return {
            "totals": Counter(totals),
            "counts": Counter((number, len(found), max(found)) for number, found in keys.items()),
            "later": _answered("later", events),
            "leaders": _answered("leaders", events),
        }


def _answered(table: str, events: list[Event]) -> Counter[tuple[Any, ...]]:
    """Return what DuckDB answers to the query of a table of the script."""
    found = re.search(
        rf"INSERT INTO {table}\s(.*?)(ON CONFLICT [\w ]+)?;", _SCRIPT.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    rows = [{"id": event.id, "k": event.key, "v": event.value} for event in (*events, closing())]
    with duckdb.connect() as connection:
        connection.register("events", pa.Table.from_pylist(rows))
        return Counter(connection.execute(found[1]).fetchall())


def _tumbling(key: str, events: list[Event]) -> Iterator[str]:
    windows: dict[int, list[int]] = defaultdict(list)
    for event in events:
        windows[event.time - event.time % _TUMBLE_MS].append(event.value)
    for start, values in windows.items():
        yield f"tumble,{key},{_shown(start)},{len(values)},{sum(values)}"


def _hopping(key: str, events: list[Event]) -> Iterator[str]:
    windows: dict[int, list[int]] = defaultdict(list)
    for event in events:
        last = event.time - event.time % _SLIDE_MS
        for back in range(_SLIDES):
            windows[last - back * _SLIDE_MS].append(event.value)
    for start, values in windows.items():
        yield f"hop,{key},{_shown(start)},{len({*values})},{max(values)}"


def _sessions(key: str, events: list[Event]) -> Iterator[str]:
    session = [events[0]]
    for event in (*events[1:], None):
        if event is not None and event.time <= session[-1].time + _GAP_MS:
            session.append(event)
            continue
        total = sum(one.value for one in session)
        yield f"session,{key},{_shown(session[0].time)},{len(session)},{total}"
        if event is not None:
            session = [event]


def _over(events: list[Event]) -> Iterator[str]:
    counted = [
        event for event in events if event.time > 0
    ]  # as in Flink, earlier ones are late from the start
    for event in counted:
        values = [one.value for one in counted if event.time - _RANGE_MS <= one.time <= event.time]
        yield f"over,{event.id},{len(values)},{sum(values)}"


def _remainder(value: int) -> int:
    """Return MOD(value, 100) as SQL has it: with the sign of the value."""
    return value % 100 if value >= 0 else -(-value % 100)


def _shown(time: int) -> str:
    return (dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=time)).isoformat(" ", "milliseconds")
