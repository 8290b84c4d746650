"""The table of events, the views over it, and the tables that queries fill: the same statements for every system.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

from typing import Final

PERSON: Final = (
    "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
    "`dateTime` TIMESTAMP(3), extra STRING"
)
AUCTION: Final = (
    "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
    "`dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING"
)
BID: Final = (
    "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
    "extra STRING"
)

DELAY_SECONDS: Final = 4
"""How far the watermark is behind the events."""

_VIEWS: Final = (("person", PERSON, 0), ("auction", AUCTION, 1), ("bid", BID, 2))

OPTIONS: Final = {
    "json": "'format' = 'json'",
    "parquet": "'format' = 'parquet'",
}


SIDE: Final = {
    "firesteel": "'url' = 'jdbc:sqlite:{folder}-side.sqlite'",
    "flink": "'url' = 'jdbc:derby:jar:({folder}-side.jar)side', 'driver' = 'org.apache.derby.jdbc.EmbeddedDriver'",
}
"""The database within the processes of each system that has the table of q13."""


def events(folder: str, kind: str, system: str, interval: str = "") -> list[str]:
    """Return the statements that define the events of a folder, the views over them, and the table of q13.

    With an interval, such as '50 ms', new files are looked for again and again.
    """
    watched = f", 'source.monitor-interval' = '{interval}'" if interval else ""
    table = f"""CREATE TABLE events (
        event_type INT, person ROW<{PERSON}>, auction ROW<{AUCTION}>, bid ROW<{BID}>,
        `dateTime` AS CASE WHEN event_type = 0 THEN person.`dateTime`
            WHEN event_type = 1 THEN auction.`dateTime` ELSE bid.`dateTime` END,
        WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '{DELAY_SECONDS}' SECOND
    ) WITH ('connector' = 'filesystem', 'path' = '{folder}', {OPTIONS[kind]}{watched})"""
    side = f"""CREATE TABLE side_input (id BIGINT, label STRING) WITH (
        'connector' = 'jdbc', {SIDE[system].format(folder=folder)}, 'table-name' = 'side_input',
        'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '10000'
    )"""
    return [table, side, *(_view(name, columns, number) for name, columns, number in _VIEWS)]


def dropped() -> list[str]:
    """Return the statements that drop what `events` defines, and the sink."""
    views = [f"DROP VIEW IF EXISTS {name}" for name, _, _ in _VIEWS]
    return [*views, *(f"DROP TABLE IF EXISTS {name}" for name in ("events", "side_input", "sink"))]


def _view(name: str, columns: str, number: int) -> str:
    names = [column.split()[0] for column in columns.split(", ")]
    shown = ", ".join(column if column == "`dateTime`" else f"{name}.{column}" for column in names)
    return f"CREATE VIEW {name} AS SELECT {shown} FROM events WHERE event_type = {number}"
