"""The queries of Nexmark, as Flink's community runs them: q0 to q22.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Query:
    """One query over the views person, auction and bid, whose result goes to a table `sink` with `columns`.

    `before` are statements that it needs, given once more for other events. `refused` says why Flink does not run it,
    `unchecked` why its answers are not compared. `tied` are columns that differ between rows that are equal in its
    order, so that either may come first; they are not compared. `files` is whether it writes files instead of going
    nowhere.
    """

    name: str
    title: str
    columns: str
    select: str
    before: tuple[str, ...] = ()
    refused: str = ""
    unchecked: str = ""
    tied: tuple[str, ...] = ()
    files: bool = False
    partitions: str = ""


_BID: Final = "auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING"
_EUROS: Final = _BID.replace("price BIGINT", "price DECIMAL(23, 3)")
_RANKS: Final = (
    "COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids, "
    "COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids, "
    "COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids"
)
_RANKS_COLUMNS: Final = "rank1_bids BIGINT, rank2_bids BIGINT, rank3_bids BIGINT"


def _distinct(column: str) -> str:
    counted = f"COUNT(DISTINCT {column})"
    return (
        f"{counted} AS total_{column}s, {counted} FILTER (WHERE price < 10000) AS rank1_{column}s, "
        f"{counted} FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_{column}s, "
        f"{counted} FILTER (WHERE price >= 1000000) AS rank3_{column}s"
    )


_STATISTICS: Final = (
    f"COUNT(*) AS total_bids, {_RANKS}, {_distinct('bidder')}, {_distinct('auction')} FROM bid"
)
_STATISTICS_COLUMNS: Final = f"total_bids BIGINT, {_RANKS_COLUMNS}, " + ", ".join(
    f"{rank}_{column}s BIGINT"
    for column in ("bidder", "auction")
    for rank in ("total", "rank1", "rank2", "rank3")
)
_DAY: Final = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')"

_HOT: Final = """SELECT {shown}COUNT(*) AS num, window_start AS starttime, window_end AS endtime
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
        GROUP BY auction, window_start, window_end"""
_TUMBLE: Final = "TABLE(TUMBLE(TABLE {view}, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))"
_CHANNEL: Final = "REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)"
_IN_TIME: Final = "A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires"

QUERIES: Final = (
    Query("q0", "pass through", _BID, "SELECT auction, bidder, price, `dateTime`, extra FROM bid"),
    Query(
        "q1",
        "currency conversion",
        _EUROS,
        "SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra FROM bid",
    ),
    Query(
        "q2",
        "selection",
        "auction BIGINT, price BIGINT",
        "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
    ),
    Query(
        "q3",
        "local item suggestion: join",
        "name STRING, city STRING, state STRING, id BIGINT",
        """SELECT P.name, P.city, P.state, A.id FROM auction AS A INNER JOIN person AS P ON A.seller = P.id
        WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA')""",
    ),
    Query(
        "q4",
        "average price of a category: join, two aggregates",
        "id BIGINT, final BIGINT",
        f"""SELECT Q.category, AVG(Q.final) FROM (
            SELECT MAX(B.price) AS final, A.category FROM auction A, bid B
            WHERE {_IN_TIME} GROUP BY A.id, A.category
        ) Q GROUP BY Q.category""",
    ),
    Query(
        "q5",
        "hot items: hopping windows, joined with their maximum",
        "auction BIGINT, num BIGINT",
        f"""SELECT AuctionBids.auction, AuctionBids.num FROM (
            {_HOT.format(shown="auction, ")}
        ) AS AuctionBids JOIN (
            SELECT MAX(CountBids.num) AS maxn, CountBids.starttime, CountBids.endtime FROM (
            {_HOT.format(shown="")}
            ) AS CountBids GROUP BY CountBids.starttime, CountBids.endtime
        ) AS MaxBids
        ON AuctionBids.starttime = MaxBids.starttime AND AuctionBids.endtime = MaxBids.endtime
            AND AuctionBids.num >= MaxBids.maxn""",
    ),
    Query(
        "q6",
        "average selling price of a seller: OVER the first of each auction",
        "seller BIGINT, avg_price BIGINT",
        f"""SELECT Q.seller, AVG(Q.price) OVER (
            PARTITION BY Q.seller ORDER BY Q.`dateTime` ROWS BETWEEN 10 PRECEDING AND CURRENT ROW
        ) FROM (
            SELECT * FROM (
                SELECT A.id, A.seller, B.price, B.`dateTime`,
                    ROW_NUMBER() OVER (PARTITION BY A.id, A.seller ORDER BY B.price DESC) AS rownum
                FROM auction AS A, bid AS B WHERE {_IN_TIME}
            ) WHERE rownum <= 1
        ) AS Q""",
        refused="its OVER takes no changes",
    ),
    Query(
        "q7",
        "highest bid: join with the maximum of a window",
        _BID,
        f"""SELECT B.auction, B.bidder, B.price, B.`dateTime`, B.extra FROM bid B JOIN (
            SELECT MAX(price) AS maxprice, window_end AS `dateTime`
            FROM {_TUMBLE.format(view="bid")} GROUP BY window_start, window_end
        ) B1 ON B.price = B1.maxprice
        WHERE B.`dateTime` BETWEEN B1.`dateTime` - INTERVAL '10' SECOND AND B1.`dateTime`""",
    ),
    Query(
        "q8",
        "new users who sell: join of windows",
        "id BIGINT, name STRING, stime TIMESTAMP(3)",
        f"""SELECT P.id, P.name, P.starttime FROM (
            SELECT id, name, window_start AS starttime, window_end AS endtime
            FROM {_TUMBLE.format(view="person")} GROUP BY id, name, window_start, window_end
        ) P JOIN (
            SELECT seller, window_start AS starttime, window_end AS endtime
            FROM {_TUMBLE.format(view="auction")} GROUP BY seller, window_start, window_end
        ) A ON P.id = A.seller AND P.starttime = A.starttime AND P.endtime = A.endtime""",
    ),
    Query(
        "q9",
        "winning bids: first row over a join",
        """id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
        `dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING,
        auction BIGINT, bidder BIGINT, price BIGINT, bid_dateTime TIMESTAMP(3), bid_extra STRING""",
        f"""SELECT id, itemName, description, initialBid, reserve, `dateTime`, expires, seller, category, extra,
            auction, bidder, price, bid_dateTime, bid_extra
        FROM (
            SELECT A.*, B.auction, B.bidder, B.price, B.`dateTime` AS bid_dateTime, B.extra AS bid_extra,
                ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime` ASC) AS rownum
            FROM auction A, bid B WHERE {_IN_TIME}
        ) WHERE rownum <= 1""",
        tied=("bidder", "bid_extra"),
    ),
    Query(
        "q10",
        "log to partitioned files",
        f"{_BID}, dt STRING, hm STRING",
        f"""SELECT auction, bidder, price, `dateTime`, extra, {_DAY}, DATE_FORMAT(`dateTime`, 'HH:mm')
        FROM bid""",
        files=True,
        partitions="dt, hm",
    ),
    Query(
        "q11",
        "user sessions",
        "bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)",
        """SELECT B.bidder, COUNT(*) AS bid_count, SESSION_START(B.`dateTime`, INTERVAL '10' SECOND) AS starttime,
            SESSION_END(B.`dateTime`, INTERVAL '10' SECOND) AS endtime
        FROM bid B GROUP BY B.bidder, SESSION(B.`dateTime`, INTERVAL '10' SECOND)""",
    ),
    Query(
        "q12",
        "windows of processing time",
        "bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)",
        """SELECT bidder, COUNT(*) AS bid_count, window_start AS starttime, window_end AS endtime
        FROM TABLE(TUMBLE(TABLE B, DESCRIPTOR(p_time), INTERVAL '10' SECOND))
        GROUP BY bidder, window_start, window_end""",
        before=(
            "DROP TEMPORARY VIEW IF EXISTS B",
            "CREATE TEMPORARY VIEW B AS SELECT *, PROCTIME() AS p_time FROM bid",
        ),
        unchecked="it depends on when rows are read",
    ),
    Query(
        "q13",
        "lookup join with a table of 10,000 rows",
        "auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), `value` STRING",
        """SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.label
        FROM (SELECT *, PROCTIME() AS p_time FROM bid) AS B
        JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, 10000) = S.id""",
    ),
    Query(
        "q14",
        "calculation",
        "auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), bidTimeType STRING, `dateTime` TIMESTAMP(3), "
        "extra STRING, c_counts BIGINT",
        """SELECT auction, bidder, 0.908 * price AS price,
            CASE WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
                WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
                ELSE 'otherTime' END AS bidTimeType,
            `dateTime`, extra, CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    ),
    Query(
        "q15",
        "statistics of a day",
        f"`day` STRING, {_STATISTICS_COLUMNS}",
        f"SELECT {_DAY} AS `day`, {_STATISTICS} GROUP BY {_DAY}",
    ),
    Query(
        "q16",
        "statistics of a channel",
        f"channel STRING, `day` STRING, `minute` STRING, {_STATISTICS_COLUMNS}",
        f"""SELECT channel, {_DAY} AS `day`, MAX(DATE_FORMAT(`dateTime`, 'HH:mm')) AS `minute`, {_STATISTICS}
        GROUP BY channel, {_DAY}""",
    ),
    Query(
        "q17",
        "statistics of an auction",
        f"""auction BIGINT, `day` STRING, total_bids BIGINT, {_RANKS_COLUMNS}, min_price BIGINT, max_price BIGINT,
        avg_price BIGINT, sum_price BIGINT""",
        f"""SELECT auction, {_DAY} AS `day`, COUNT(*) AS total_bids, {_RANKS}, MIN(price) AS min_price,
            MAX(price) AS max_price, AVG(price) AS avg_price, SUM(price) AS sum_price
        FROM bid GROUP BY auction, {_DAY}""",
    ),
    Query(
        "q18",
        "last bid of a bidder: deduplication",
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
        "extra STRING",
        """SELECT auction, bidder, price, channel, url, `dateTime`, extra FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number
            FROM bid
        ) WHERE rank_number <= 1""",
        tied=("price", "channel", "url", "extra"),
    ),
    Query(
        "q19",
        "ten highest bids of an auction",
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
        "extra STRING, rank_number BIGINT",
        """SELECT * FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid
        ) WHERE rank_number <= 10""",
        tied=("bidder", "channel", "url", "dateTime", "extra"),
    ),
    Query(
        "q20",
        "bids with their auctions: join with a filter",
        """auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, bid_dateTime TIMESTAMP(3),
        bid_extra STRING, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
        auction_dateTime TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, auction_extra STRING""",
        """SELECT auction, bidder, price, channel, url, B.`dateTime`, B.extra, itemName, description, initialBid,
            reserve, A.`dateTime`, expires, seller, category, A.extra
        FROM bid AS B INNER JOIN auction AS A ON B.auction = A.id WHERE A.category = 10""",
    ),
    Query(
        "q21",
        "channel ids: CASE and a regular expression",
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, channel_id STRING",
        f"""SELECT auction, bidder, price, channel,
            CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = 'google' THEN '1'
                WHEN LOWER(channel) = 'facebook' THEN '2' WHEN LOWER(channel) = 'baidu' THEN '3'
                ELSE {_CHANNEL} END AS channel_id
        FROM bid
        WHERE {_CHANNEL} IS NOT NULL OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')""",
    ),
    Query(
        "q22",
        "directories of addresses",
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, dir1 STRING, dir2 STRING, dir3 STRING",
        """SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1,
            SPLIT_INDEX(url, '/', 4) AS dir2, SPLIT_INDEX(url, '/', 5) AS dir3
        FROM bid""",
    ),
)

BY_NAME: Final = {query.name: query for query in QUERIES}


def columns_of(query: Query) -> list[tuple[str, str]]:
    """Return the names and the types of the columns of a query's rows.

    >>> columns_of(BY_NAME["q1"])[2:4]
    [('price', 'DECIMAL(23, 3)'), ('dateTime', 'TIMESTAMP(3)')]
    """
    return re.findall(r"`?(\w+)`? ([A-Z]+(?:\([\d, ]+\))?)", query.columns)


def sink(query: Query, folder: str) -> str:
    """Return the statement that defines the sink of a query: nowhere, or files of CSV below a folder."""
    if not query.files:
        return f"CREATE TABLE sink ({query.columns}) WITH ('connector' = 'blackhole')"
    return (
        f"CREATE TABLE sink ({query.columns}) PARTITIONED BY ({query.partitions}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv')"
    )
