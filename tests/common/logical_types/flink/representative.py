"""The types that Flink was asked about: by text, or by name where a type has no text."""

from __future__ import annotations

PLAIN = """
CHAR(1) | CHAR(5) | VARCHAR(3) | VARCHAR(5) | STRING | BOOLEAN | BINARY(1) | BINARY(4) | VARBINARY(4)
BYTES
DECIMAL(10, 0) | DECIMAL(5, 2) | DECIMAL(38, 0) | DECIMAL(38, 18) | DECIMAL(38, 38) | DECIMAL(3, 3)
TINYINT | SMALLINT | INT | BIGINT | FLOAT | DOUBLE | DATE | TIME(0) | TIME(3) | TIME(9)
TIMESTAMP(0) | TIMESTAMP(3) | TIMESTAMP(6) | TIMESTAMP(9) | TIMESTAMP(3) WITH TIME ZONE | TIMESTAMP_LTZ(3)
TIMESTAMP_LTZ(6) | TIMESTAMP_LTZ(9)
INTERVAL YEAR | INTERVAL YEAR(4) TO MONTH | INTERVAL MONTH | INTERVAL DAY | INTERVAL DAY(4) TO SECOND(9)
INTERVAL DAY TO HOUR | INTERVAL HOUR | INTERVAL HOUR TO MINUTE | INTERVAL MINUTE TO SECOND(3)
INTERVAL SECOND(3)
INTERVAL MINUTE
ARRAY<INT> | ARRAY<BIGINT NOT NULL> | ARRAY<STRING> | MULTISET<INT> | MULTISET<STRING NOT NULL>
MAP<STRING, INT> | MAP<CHAR(2) NOT NULL, BIGINT> | MAP<INT, ROW<`a` INT>>
ROW<`a` INT, `b` STRING> | ROW<`x` BIGINT, `y` VARCHAR(10) NOT NULL> | ROW<`a` INT 'it''s'>
ROW<`a` INT, `b` INT, `c` INT>
ROW<`a` ARRAY<ROW<`b` TIMESTAMP(3)>>> | ROW<`weird ``name` DECIMAL(5, 2) NOT NULL>
STRUCTURED<'shop.Order', `a` INT, `b` STRING> | STRUCTURED<'shop.Order', `a` BIGINT, `b` STRING>
STRUCTURED<'shop.Item', `a` INT>
NULL | DESCRIPTOR | VARIANT | BITMAP
"""
"""Types that LogicalTypeParser reads."""

NOT_NULL = """
CHAR(5) | STRING | BOOLEAN | BYTES | DECIMAL(5, 2) | INT | BIGINT | DOUBLE | DATE | TIMESTAMP(3)
TIMESTAMP_LTZ(3)
INTERVAL DAY | INTERVAL MONTH | ARRAY<INT> | ROW<`a` INT, `b` STRING> | MAP<STRING, INT> | VARIANT
"""
"""Those of them that are asked about as NOT NULL, too."""

SPECIAL = (
    "CHAR(0)", "VARCHAR(0)", "BINARY(0)", "TIMESTAMP(3) *ROWTIME*", "TIMESTAMP(3) NOT NULL *ROWTIME*",
    "TIMESTAMP_LTZ(3) *ROWTIME*", "TIMESTAMP_LTZ(3) *PROCTIME*", "TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*", "SYMBOL",
    "DISTINCT Money", "DISTINCT Weight", "REGISTERED Point", "RAW BigInteger", "RAW Integer",
)  # fmt: skip
"""Types without a text that is read; both sides make them by hand."""

OTHER_SPELLINGS = """
int | Integer | char | varchar | binary | varbinary | string not null | dec | dec(7) | numeric(7,3)
DECIMAL | double precision | time
TIME (3) WITHOUT TIME ZONE | timestamp | TIMESTAMP(3) WITHOUT TIME ZONE | TIMESTAMP WITH LOCAL TIME ZONE
timestamp_ltz
timestamp with time zone | INT NULL | INT ARRAY | INT NOT NULL ARRAY NOT NULL | INT MULTISET NULL
ROW(a INT, b ROW<c INT>) | ROW<a INT 'comment'> | ROW<> | ROW<`a b` INT> | interval day(3) to second
INTERVAL DAY TO MINUTE
INTERVAL HOUR TO SECOND | INTERVAL MONTH | interval second | INTERVAL YEAR(3) | MAP<INT,MAP<INT,INT>>
ARRAY<ARRAY<INT NOT NULL>NOT NULL>
STRUCTURED<'a.B'> | ROW<`a``b` INT> | ROW<a.b INT> | ROW<a INT | a.b.c | `x`.y NOT NULL
INTERVAL YEAR TO DAY | INTERVAL MONTH TO MONTH
INTERVAL DAY TO DAY | INTERVAL SECOND(10) | INTERVAL DAY(7) | INTERVAL DAY(0) | INTERVAL YEAR(5)
CHAR(0) | VARCHAR(0) | CHAR(2147483647) | CHAR(2147483648)
DECIMAL(39) | DECIMAL(0) | DECIMAL(5, 6) | TIME(10) | TIMESTAMP(10) | TIMESTAMP_LTZ(10) | TIMESTAMP(-1)
INT() | INT(5) | ARRAY<> | ARRAY
MAP<INT> | ROW<a INT, a INT> | ROW<a> | ROW<a INT,> | ROW<INT a> | NULL NOT NULL | INT NOT | NOT NULL
INT INT | FOO BAR | `unclosed | ROW<`` INT>
CHAR(3 | CHAR(x) | CHAR[3] | YEAR | INTERVAL | INTERVAL 5 | TIMESTAMP WITH ZONE | LEGACY | RAW('x')
STRUCTURED<B, a INT> | 5 | 'text' | ROW<` ` INT>
STRUCTURED<'a.B',> | STRUCTURED<'a.B', a INT, a INT> | MULTISET<NULL> | CHAR (3)
TIMESTAMP_LTZ(3) WITH LOCAL TIME ZONE | ROW<a INT b INT> | DECIMAL(5,2
"""
"""Other spellings, and texts that are no types."""


def parts(text: str) -> list[str]:
    """Return the single texts of one of the blocks above."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def names() -> list[str]:
    """Return the names of all types that are asked about in pairs."""
    return [*parts(PLAIN), *(f"{part} NOT NULL" for part in parts(NOT_NULL)), *SPECIAL]
