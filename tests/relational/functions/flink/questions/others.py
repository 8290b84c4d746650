"""Functions of texts of addresses, of formats, of bytes, of objects and of the session."""

from __future__ import annotations

from .lines import lines

_FORMATS = (
    *(
        "%s",
        "%S",
        "%10s|",
        "%-10s|",
        "%.2s|",
        "%5.1s|",
        "%b",
        "%h",
        "%n%%",
        "%c",
        "%d",
        "%5d|",
        "%-5d|",
        "%05d",
    ),
    *("%,d", "%+d", "% d", "%(d", "%x", "%X", "%o", "%#x", "%08.2f", "%f", "%.0f", "%e", "%.3E", "%g", "%a"),
    *("%1$s %1$s", "%2$s", "%<s", "%", "%q", "%s %s", "%t", "%tY", "plain", "", "%,.2f", "%+.1f", "%(.1f"),
)
_GIVEN = ("s", "ti", "i", "bi", "d", "f", "dc", "bo", "da", "ts", "tm", "bs")
_LINES = """
PRINTF(s, i)
PRINTF(CAST(NULL AS STRING), i)
PRINTF('%s')
PRINTF('x')
PRINTF('%s %s %s', s, i, d)
PRINTF('%d %s', bi, NULL)
PRINTF('%s', ar)
PRINTF('%s', ma)
PRINTF('%s', ro)
PRINTF('%s', lz)
PRINTF('%s', iy)
PRINTF(i, s)
PRINTF()
INET_ATON('127.0.0.1')
INET_ATON('10.0.0.1')
INET_ATON('255.255.255.255')
INET_ATON('256.0.0.1')
INET_ATON('1')
INET_ATON('4294967295')
INET_ATON('4294967296')
INET_ATON('127.1')
INET_ATON('127.256')
INET_ATON('127.0.1')
INET_ATON('1.2.3.4.5')
INET_ATON('1..2')
INET_ATON('.1')
INET_ATON('1.')
INET_ATON('001.002.003.004')
INET_ATON(' 1.2.3.4')
INET_ATON('-1')
INET_ATON('::1')
INET_ATON(s)
INET_ATON(num)
INET_ATON(dts)
INET_ATON(c5)
INET_ATON(i)
INET_ATON()
INET_NTOA(2130706433)
INET_NTOA(i)
INET_NTOA(bi)
INET_NTOA(ti)
INET_NTOA(si)
INET_NTOA(CAST(4294967295 AS BIGINT))
INET_NTOA(CAST(4294967296 AS BIGINT))
INET_NTOA(d)
INET_NTOA(dc)
INET_NTOA(s)
INET_NTOA(CAST(NULL AS BIGINT))
CONCAT(bs, bs)
CONCAT(bs, b3)
CONCAT(b3, b3, b3)
CONCAT(bs)
CONCAT(bs, s)
CONCAT()
ELT(1, bs, b3)
ELT(j, bs, b3, bs)
ELT(2, bs, s)
ELT(0, s)
ELT(ti, s, t)
ELT(bi, s, t)
ABS(idt)
ABS(iy)
FLOOR(idt)
LOWER(c5)
JSON_UNQUOTE(JSON_QUOTE(s))
CURRENT_DATABASE()
CURRENT_CATALOG()
CURRENT_DATABASE
TYPEOF(CURRENT_DATABASE())
SOURCE_WATERMARK()
OBJECT_OF('com.example.User', 'name', s, 'age', i)
OBJECT_OF('com.example.User', 'name', 'Bob', 'age', 42)
OBJECT_OF('com.example.User')
OBJECT_OF('com.example.User', 'name')
OBJECT_OF('com.example.User', 'a', 1, 'a', 2)
OBJECT_OF('com.example.User', s, 1)
OBJECT_OF(s, 'a', 1)
OBJECT_OF('com.example.User', 'a', NULL)
OBJECT_OF('com.example.User', 'name', s, 'age', i).name
OBJECT_OF('com.example.User', 'a', OBJECT_OF('com.example.Inner', 'b', i))
OBJECT_OF('com.example.User', 'a', OBJECT_OF('com.example.Inner', 'b', i)).a.b
CAST(OBJECT_OF('com.example.User', 'name', s, 'age', i) AS STRING)
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i), 'name', 'Alice')
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i), 'name', t, 'age', j)
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i), 'age', 'old')
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i), 'zip', 1)
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i), 'age', 1, 'age', 2)
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i))
OBJECT_UPDATE(OBJECT_OF('com.example.User', 'name', s, 'age', i), 'age', i).age
OBJECT_UPDATE(ro, 'n', 1)
OBJECT_UPDATE(i, 'n', 1)
JSON_STRING(OBJECT_OF('com.example.User', 'name', s, 'age', i))
TYPEOF(OBJECT_OF('com.example.User', 'name', s, 'age', i))
REGEXP_EXTRACT_ALL(s, '([a-c])(b)?', 2)
IF(bo, s, t)
IFNULL(i, 0)
TO_TIMESTAMP_LTZ(bi, 0)
TO_TIMESTAMP_LTZ(i)
TO_TIMESTAMP_LTZ(d, 3)
TO_TIMESTAMP_LTZ(dts)
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd')
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd', 'Asia/Tokyo')
TO_TIMESTAMP_LTZ(i, 9)
TO_TIMESTAMP_LTZ(bi, 1)
TO_TIMESTAMP_LTZ(bi, 2)
TO_TIMESTAMP_LTZ(bi, 6)
TO_TIMESTAMP_LTZ(bi, 9)
TO_TIMESTAMP_LTZ(bi, 10)
TO_TIMESTAMP_LTZ(bi, -1)
TO_TIMESTAMP_LTZ(d, 1)
TO_TIMESTAMP_LTZ(d, 2)
TO_TIMESTAMP_LTZ(d, 6)
TO_TIMESTAMP_LTZ(d, 9)
TO_TIMESTAMP_LTZ(d, 10)
TO_TIMESTAMP_LTZ(d, -1)
TO_TIMESTAMP_LTZ(dc, 1)
TO_TIMESTAMP_LTZ(dc, 2)
TO_TIMESTAMP_LTZ(dc, 6)
TO_TIMESTAMP_LTZ(dc, 9)
TO_TIMESTAMP_LTZ(dc, 10)
TO_TIMESTAMP_LTZ(dc, -1)
TO_TIMESTAMP_LTZ(bi, j)
TO_TIMESTAMP_LTZ(bi, CAST(NULL AS INT))
TO_TIMESTAMP(dts, 'yyyy-MM-dd HH:mm:ss.SSSSSSSSS')
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd HH:mm:ss.SSSSSS')
TO_TIMESTAMP(bi, 3)
UNIX_TIMESTAMP(ts)
FROM_UNIXTIME(i)
(ts, INTERVAL '1' DAY) OVERLAPS (tz, INTERVAL '2' DAY)
(da, INTERVAL '1' MONTH) OVERLAPS (db, INTERVAL '-2' MONTH)
(tm, tm) OVERLAPS (tm, INTERVAL '1' HOUR)
(da, ts) OVERLAPS (tz, db)
(i, j) OVERLAPS (j, i)
(da, j) OVERLAPS (db, j)
ROW(da, db) OVERLAPS ROW(da, da)
(da, db, da) OVERLAPS (db, da)
TO_TIMESTAMP(dts, 'yyyy-MM-dd HH:mm:ss.SSSSSS')
EXTRACT(NANOSECOND FROM ts9)
UNIX_TIMESTAMP(dts, 'yyyy-MM-dd')
PERCENT_RANK()
GROUP_ID()
STREAMRECORD_TIMESTAMP()
HASH_CODE(s)
SOUNDEX(s)
TO_NUMBER(s)
i DIV j
JSON_LENGTH(js)
OCTET_LENGTH(s)
bs || bs
bs || b3
"""


def others() -> list[str]:
    """Return the questions."""
    found = [f"PRINTF('{form}', {name})" for form in _FORMATS for name in ("s", "i", "d")]
    found += [
        f"PRINTF('{form}', {name})"
        for form in ("%s", "%10s|", "%d", "%f", "%x", "%c", "%b")
        for name in _GIVEN
    ]
    return found + lines(_LINES)
