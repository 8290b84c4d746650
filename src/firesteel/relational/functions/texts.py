"""Functions of text and of bytes."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    IntType,
    MapType,
    VarCharType,
)
from firesteel.relational.functions.function import Function, Parameter, Result, Signature
from firesteel.relational.functions.parameters import (
    ANY,
    AS_BIGINT,
    AS_BYTES,
    AS_INT,
    AS_STRING,
    BINARY,
    SYMBOL,
    TEXT,
    WHOLE,
)
from firesteel.relational.functions.results import fixed, nullable, operand, varying

_TRUTH: Final = BooleanType()
_INT: Final = IntType()
_STRING: Final = fixed(STRING)


def _function(
    name: str, result: Result, *parameters: Parameter, optional: int = 0, repeated: bool = False
) -> Function:
    return Function(name, (Signature(parameters, result, optional=optional, repeated=repeated),))


_LENGTHS: Final = (
    _function("CHAR_LENGTH", fixed(_INT), TEXT),
    _function("POSITION", fixed(_INT), TEXT, TEXT, AS_INT, optional=1),
    _function("INSTR", fixed(_INT), TEXT, TEXT, AS_INT, AS_INT, optional=2),
    _function("LOCATE", fixed(_INT), TEXT, TEXT, AS_INT, optional=1),
    _function("ASCII", fixed(_INT), TEXT),
)
_PARTS: Final = (
    _function(
        "SUBSTRING", lambda operands: varying(operands).copy(nullable=True), TEXT, WHOLE, WHOLE, optional=1
    ),
    _function("LEFT", _STRING, TEXT, AS_INT),
    _function("RIGHT", _STRING, TEXT, AS_INT),
    Function(
        "SPLIT_INDEX",
        (
            Signature((TEXT, TEXT, AS_INT), nullable(STRING)),
            Signature((TEXT, WHOLE, AS_INT), nullable(STRING)),
        ),
    ),
    _function("SPLIT", fixed(ArrayType(STRING)), AS_STRING, AS_STRING),
    Function(
        "ELT",
        (
            Signature((WHOLE, AS_STRING), nullable(STRING), repeated=True),
            Signature((WHOLE, AS_BYTES), nullable(BYTES), repeated=True),
        ),
    ),
    _function("PARSE_URL", nullable(STRING), TEXT, TEXT, TEXT, optional=1),
    _function("INET_ATON", nullable(BigIntType()), TEXT),
    _function("INET_NTOA", nullable(STRING), AS_BIGINT),
)
_CHANGES: Final = (
    _function("UPPER", operand(0), TEXT),
    _function("LOWER", operand(0), TEXT),
    _function("INITCAP", operand(0), TEXT),
    _function("REVERSE", _STRING, TEXT),
    _function("TRIM", lambda operands: varying(operands[2:]), SYMBOL, TEXT, TEXT),
    _function("LTRIM", _STRING, TEXT, TEXT, optional=1),
    _function("RTRIM", _STRING, TEXT, TEXT, optional=1),
    _function("BTRIM", _STRING, AS_STRING, AS_STRING, optional=1),
    _function("LPAD", nullable(STRING), TEXT, AS_INT, TEXT),
    _function("RPAD", nullable(STRING), TEXT, AS_INT, TEXT),
    _function("REPEAT", _STRING, TEXT, AS_INT),
    _function("REPLACE", _STRING, TEXT, TEXT, TEXT),
    Function("TRANSLATE", (Signature((AS_STRING,) * 3, _STRING),), strict=False),
    _function("OVERLAY", _STRING, TEXT, TEXT, AS_INT, AS_INT, optional=1),
    _function("CONCAT", _STRING, TEXT, repeated=True),
    Function("CONCAT_WS", (Signature((TEXT, TEXT), _STRING, repeated=True),), strict=False),
    _function("CHR", nullable(STRING), WHOLE),
    Function("PRINTF", (Signature((TEXT, ANY), nullable(STRING), optional=1, repeated=True),), strict=False),
)
_DIGESTS: Final = {"MD5": 32, "SHA1": 40, "SHA224": 56, "SHA256": 64, "SHA384": 96, "SHA512": 128}
_CODES: Final = (
    _function("ENCODE", fixed(BYTES), AS_STRING, AS_STRING),
    _function("DECODE", _STRING, BINARY, AS_STRING),
    _function("TO_BASE64", _STRING, TEXT),
    _function("FROM_BASE64", _STRING, TEXT),
    Function("HEX", (Signature((AS_BIGINT,), _STRING), Signature((TEXT,), _STRING))),
    _function("UNHEX", nullable(BYTES), AS_STRING),
    _function("BIN", _STRING, AS_BIGINT),
    *(_function(name, fixed(CharType(length)), TEXT) for name, length in _DIGESTS.items()),
    _function("SHA2", fixed(VarCharType(128)), TEXT, WHOLE),
    _function("URL_ENCODE", nullable(STRING), AS_STRING),
    _function("URL_DECODE", nullable(STRING), AS_STRING),
)
_PATTERNS: Final = (
    _function("REGEXP", fixed(_TRUTH), TEXT, TEXT),
    _function("REGEXP_EXTRACT", nullable(STRING), TEXT, TEXT, AS_INT, optional=1),
    _function("REGEXP_EXTRACT_ALL", nullable(ArrayType(STRING)), AS_STRING, AS_STRING, AS_INT, optional=1),
    _function("REGEXP_REPLACE", nullable(STRING), TEXT, TEXT, TEXT),
    _function("REGEXP_COUNT", nullable(_INT), AS_STRING, AS_STRING),
    _function("REGEXP_SUBSTR", nullable(STRING), AS_STRING, AS_STRING),
    _function("REGEXP_INSTR", nullable(_INT), AS_STRING, AS_STRING),
    _function("STR_TO_MAP", nullable(MapType(STRING, STRING)), TEXT, TEXT, TEXT, optional=2),
    *(
        Function(
            name,
            (Signature((AS_STRING, AS_STRING), fixed(_TRUTH)), Signature((BINARY, BINARY), fixed(_TRUTH))),
        )
        for name in ("STARTSWITH", "ENDSWITH")
    ),
)
TEXTS: Final = (*_LENGTHS, *_PARTS, *_CHANGES, *_CODES, *_PATTERNS)
ALIASES: Final = {
    "CHARACTER_LENGTH": "CHAR_LENGTH",
    "SUBSTR": "SUBSTRING",
    "TRANSLATE3": "TRANSLATE",
}
