"""Functions of dates and times."""

from __future__ import annotations

from .lines import lines

TEMPORAL_UNITS = (
    "MILLENNIUM",
    "CENTURY",
    "DECADE",
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "MILLISECOND",
    "MICROSECOND",
    "NANOSECOND",
    "EPOCH",
    "DOW",
    "ISODOW",
    "DOY",
    "ISOYEAR",
)
TIMES = (("ts", "tz"), ("da", "db"), ("da", "ts"), ("lz", "lz9"), ("tz", "da"))
ROUNDED = ("da", "tm", "ts", "ts0", "ts9", "lz")

TEMPORAL = """
YEAR(da)
QUARTER(da)
MONTH(da)
WEEK(da)
DAYOFYEAR(da)
DAYOFMONTH(da)
DAYOFWEEK(da)
YEAR(ts)
MONTH(ts)
DAYOFMONTH(ts)
DAYOFWEEK(ts)
HOUR(ts)
MINUTE(ts)
SECOND(ts)
HOUR(tm)
MINUTE(tm)
SECOND(tm)
YEAR(lz)
HOUR(lz)
YEAR(s)
EXTRACT(YEAR FROM iy)
EXTRACT(MONTH FROM iy)
EXTRACT(DAY FROM idt)
EXTRACT(HOUR FROM idt)
EXTRACT(SECOND FROM idt)
da + INTERVAL '1' DAY
da - INTERVAL '1' DAY
da + INTERVAL '1' MONTH
da - INTERVAL '1' YEAR
da + INTERVAL '36' HOUR
da + INTERVAL '1' SECOND
INTERVAL '1' DAY + da
ts + INTERVAL '1' DAY
ts - INTERVAL '1' MONTH
ts + INTERVAL '1-2' YEAR TO MONTH
ts + INTERVAL '1 02:03:04.005' DAY TO SECOND
ts9 + INTERVAL '1' SECOND
ts0 + INTERVAL '0.5' SECOND
lz + INTERVAL '1' DAY
lz + INTERVAL '1' MONTH
lz9 - INTERVAL '1' MINUTE
tm + INTERVAL '1' HOUR
tm - INTERVAL '13' HOUR
tm + INTERVAL '30' SECOND
ts + idt
ts - idt
ts + iy
da + iy
da - iy
idt + idt
idt - INTERVAL '1' HOUR
iy + INTERVAL '1' YEAR
iy - iy
idt * 2
idt / 2
-idt
-iy
iy * 3
(da - db) DAY
(ts - tz) DAY
(ts - tz) SECOND
da - db
ts - tz
TIMESTAMPADD(YEAR, 1, ts)
TIMESTAMPADD(QUARTER, 1, ts)
TIMESTAMPADD(MONTH, j, ts)
TIMESTAMPADD(WEEK, 1, ts)
TIMESTAMPADD(DAY, j, ts)
TIMESTAMPADD(HOUR, j, ts)
TIMESTAMPADD(MINUTE, j, ts)
TIMESTAMPADD(SECOND, j, ts)
TIMESTAMPADD(DAY, j, da)
TIMESTAMPADD(MONTH, j, da)
TIMESTAMPADD(HOUR, j, da)
TIMESTAMPADD(HOUR, j, tm)
TIMESTAMPADD(DAY, 1, lz)
TIMESTAMPADD(SECOND, j, ts9)
TIMESTAMPADD(DAY, bi, ts)
DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')
DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')
DATE_FORMAT(ts, 'yyyyMMdd')
DATE_FORMAT(ts, 'HH:mm')
DATE_FORMAT(ts, 'EEE, d MMM yy')
DATE_FORMAT(ts, 'EEEE MMMM')
DATE_FORMAT(ts, 'h:mm a')
DATE_FORMAT(ts, 'D w u e')
DATE_FORMAT(ts, '''at'' HH')
DATE_FORMAT(ts, 'Q')
DATE_FORMAT(ts9, 'ss.SSSSSSSSS')
DATE_FORMAT(ts6, 'SSSSSS')
DATE_FORMAT(lz, 'yyyy-MM-dd HH:mm:ss')
DATE_FORMAT(dts, 'yyyy/MM/dd')
DATE_FORMAT(ts, 'bogus')
DATE_FORMAT(da, 'yyyy')
TO_DATE(dts)
TO_DATE('2024-02-29')
TO_DATE('29.02.2024', 'dd.MM.yyyy')
TO_DATE(dts, 'yyyy-MM-dd')
TO_DATE(s, 'yyyy')
TO_TIMESTAMP(dts)
TO_TIMESTAMP('2024-02-29 01:02:03.5')
TO_TIMESTAMP(dts, 'yyyy-MM-dd HH:mm:ss')
TO_TIMESTAMP(dts, 'yyyy-MM-dd')
TO_TIMESTAMP('29.02.2024 13', 'dd.MM.yyyy HH')
TO_TIMESTAMP('2024-02-29T12:34:56.789', 'yyyy-MM-dd''T''HH:mm:ss.SSS')
TO_TIMESTAMP('20240229', 'yyyyMMdd')
TO_TIMESTAMP('bad')
TO_TIMESTAMP_LTZ(bi, 0)
TO_TIMESTAMP_LTZ(bi, 3)
TO_TIMESTAMP_LTZ(k, 0)
TO_TIMESTAMP_LTZ(1234567890123, 3)
TO_TIMESTAMP_LTZ(i, 0)
TO_TIMESTAMP_LTZ(bi)
TO_TIMESTAMP_LTZ(d, 3)
TO_TIMESTAMP_LTZ(dc, 3)
TO_TIMESTAMP_LTZ(dts)
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd HH:mm:ss')
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo')
UNIX_TIMESTAMP(dts)
UNIX_TIMESTAMP('2024-02-29 01:02:03')
UNIX_TIMESTAMP('29.02.2024', 'dd.MM.yyyy')
UNIX_TIMESTAMP(dts, 'yyyy-MM-dd HH:mm:ss')
UNIX_TIMESTAMP() > 0
FROM_UNIXTIME(k)
FROM_UNIXTIME(bi)
FROM_UNIXTIME(i)
FROM_UNIXTIME(1700000000)
FROM_UNIXTIME(i, 'yyyy/MM/dd')
FROM_UNIXTIME(1700000000, 'yyyy-MM-dd''T''HH:mm:ss.SSS')
CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')
CONVERT_TZ(dts, 'UTC', 'Asia/Tokyo')
DATE '2024-02-29'
TIME '12:34:56'
TIME '12:34:56.789'
TIMESTAMP '2024-02-29 12:34:56'
TIMESTAMP '2024-02-29 12:34:56.789'
TIMESTAMP '2024-02-29 12:34:56.123456789'
INTERVAL '1' DAY
INTERVAL '1-2' YEAR TO MONTH
INTERVAL '10:20' MINUTE TO SECOND
CURRENT_DATE > DATE '2020-01-01'
CURRENT_TIMESTAMP > TO_TIMESTAMP_LTZ(0, 3)
LOCALTIMESTAMP > TIMESTAMP '2020-01-01 00:00:00'
NOW() > TO_TIMESTAMP_LTZ(0, 3)
CURRENT_TIME IS NOT NULL
LOCALTIME IS NOT NULL
CURRENT_ROW_TIMESTAMP() > TO_TIMESTAMP_LTZ(0, 3)
PROCTIME() IS NOT NULL
CURRENT_TIMESTAMP = NOW()
CURRENT_WATERMARK(ts)
(da, db) OVERLAPS (db, da)
(ts, tz) OVERLAPS (tz, INTERVAL '1' DAY)
SOURCE_WATERMARK()
DATEDIFF(da, db)
DATE_FORMAT(tz, 'MMMM yyyy')
DATE_FORMAT(tz, 'YYYY W')
DATE_FORMAT(tz, 'yyyyMMddHHmmssSSS')
DATE_FORMAT(ts9, 'yyyy SSSSSS')
TO_TIMESTAMP('2024-02-29 01:02:03.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS')
TO_TIMESTAMP('2024-02-29 01:02:03.123456789', 'yyyy-MM-dd HH:mm:ss.SSSSSSSSS')
TO_TIMESTAMP_LTZ(bi, 6)
TO_TIMESTAMP_LTZ(bi, 9)
TO_TIMESTAMP_LTZ(i, 1)
TO_TIMESTAMP_LTZ(f, 0)
TO_TIMESTAMP_LTZ(dc, 0)
TO_TIMESTAMP_LTZ(i, j)
FROM_UNIXTIME(k * 100000000, 'yyyy w W u')
TIMESTAMPADD(MINUTE, 1, da)
TIMESTAMPADD(SECOND, j, da)
TIMESTAMPADD(SECOND, bi, ts)
TIMESTAMPADD(MILLISECOND, j, ts)
TIMESTAMPDIFF(MONTH, ts9, tz)
TIMESTAMPDIFF(MILLISECOND, tz, ts)
TIMESTAMPDIFF(DAY, tz, lz)
(da - db) MONTH
(db - da) YEAR
(da - db) HOUR
(da - db) SECOND
(da - db) DAY TO SECOND
(da - db) YEAR TO MONTH
(da - db) QUARTER
(da - db) WEEK
(da - db) MILLISECOND
(da - db) DAY(4)
(ts - tz) MONTH
(tz - ts) MONTH
(ts - tz) YEAR
(tz - ts) MINUTE
(ts - tz) HOUR TO SECOND
(ts - tz) DAY TO SECOND(6)
(ts - tz) SECOND(3, 1)
(ts9 - tz) SECOND
(ts9 - ts9) DAY
(ts0 - ts6) DAY
(ts9 - tz) MONTH
(lz - lz9) DAY
(lz9 - lz) MONTH
(lz - TO_TIMESTAMP_LTZ(0, 3)) HOUR
(TO_TIMESTAMP_LTZ(1717200000000, 3) - lz) MONTH
TIMESTAMPDIFF(HOUR, TO_TIMESTAMP_LTZ(0, 3), lz)
(lz - ts) DAY
(ts - da) DAY
(da - ts) DAY
(tm - tm) DAY
(tm - TIME '01:00:00') SECOND
(tm - TIME '01:00:00') MONTH
(i - j) DAY
(s - t) DAY
(ts - idt) DAY
(idt - idt) DAY
(da - CAST(NULL AS DATE)) DAY
(da - NULL) DAY
(da + db) DAY
(da) DAY
(da, db) DAY
-(ts - tz) DAY
(ts - tz) DAY * 2
(ts - tz) DAY / 2
(ts - tz) DAY + INTERVAL '1' HOUR
(ts - tz) DAY > INTERVAL '1' DAY
(ts - tz) DAY = (ts - tz) SECOND
tz + (ts - tz) DAY
ts - (ts - tz) SECOND
db + (da - db) DAY
db + (da - db) MONTH
EXTRACT(DAY FROM (ts - tz) DAY)
EXTRACT(HOUR FROM (ts - tz) DAY)
EXTRACT(MONTH FROM (da - db) MONTH)
CAST((da - db) DAY AS STRING)
CAST((da - db) MONTH AS STRING)
CAST((da - db) DAY AS BIGINT)
CAST((da - db) MONTH AS INT)
ABS((da - db) DAY)
COALESCE((da - db) DAY, INTERVAL '0' DAY)
(DATE '2024-03-31' - DATE '2024-02-29') MONTH
(DATE '2024-03-01' - DATE '2024-01-31') MONTH
(TIMESTAMP '2024-03-01 12:00:00.5' - TIMESTAMP '2024-01-31 13:00:00') DAY
(TIMESTAMP '2024-03-01 12:00:00' - TIMESTAMP '2024-02-01 13:00:00') MONTH
(CURRENT_DATE - CURRENT_DATE) DAY
"""


def temporal() -> list[str]:
    """Return functions of times."""
    parts = [
        f"EXTRACT({unit} FROM {name})" for unit in TEMPORAL_UNITS for name in ("da", "tm", "ts", "ts9", "lz")
    ]
    floors = [f"{function}({name} TO {unit})" for function in ("FLOOR", "CEIL") for name in ROUNDED
              for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND",
                           "DECADE", "CENTURY")]  # fmt: skip
    differences = [f"TIMESTAMPDIFF({unit}, {left}, {right})"
                   for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
                   for left, right in TIMES]  # fmt: skip
    return parts + floors + differences + lines(TEMPORAL)
