"""Functions of JSON.

What is written with words in SQL is an operand: what is given instead of nothing or of an error is a symbol, and a type
(of RETURNING) is a NULL of that type.

=============== =====================================================================================
function        operands
=============== =====================================================================================
``JSON_EXISTS`` document, path, what is given for an error
``JSON_VALUE``  document, path, type, what is given for nothing, its default, the same for an error
``JSON_QUERY``  document, path, type, wrapper, what is given for nothing, and for an error
``JSON_OBJECT`` what is done with NULL, then keys and values in turn
``JSON_ARRAY``  what is done with NULL, then values
=============== =====================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import (
    STRING,
    ArrayType,
    BooleanType,
    CharType,
    DoubleType,
    IntType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    MapType,
    NullType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
)
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.functions.function import Function, Parameter, Result, Signature
from firesteel.relational.functions.parameters import ANY, BOOLEAN, SYMBOL, TEXT
from firesteel.relational.functions.results import exactly, fixed, nullable

_R = LogicalTypeRoot
_TRUTH: Final = BooleanType()
_IS: Final = BooleanType(nullable=False)
_KINDS: Final = ("VALUE", "SCALAR", "ARRAY", "OBJECT")
_WRITTEN: Final = STRING.copy(nullable=False)
_NO_JSON: Final = frozenset(
    {_R.DATE, _R.TIME_WITHOUT_TIME_ZONE, _R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME, _R.RAW, _R.BITMAP}
)


def has_json(data_type: LogicalType) -> bool:
    """Return whether values of a type can be written as JSON.

    >>> from firesteel.common.logical_types import parse_type
    >>> has_json(parse_type("ARRAY<TIMESTAMP(3)>")), has_json(parse_type("MAP<INT, INT>"))
    (True, False)
    """
    if isinstance(data_type, MapType) and not data_type.key.has_family(LogicalTypeFamily.CHARACTER_STRING):
        return False
    return data_type.root not in _NO_JSON and all(map(has_json, data_type.children))


_VALUE: Final = Parameter(
    "<value>", lambda given: given if ANY.accepts(given) and has_json(given) else None, STRING
)

_VALUE_OR_MONTHS: Final = Parameter(
    "<value>",
    lambda given: given if isinstance(given, YearMonthIntervalType) else _VALUE.accepts(given),
    STRING,
)


_ON_ERROR: Final = ("TRUE", "FALSE", "UNKNOWN", "ERROR")
_OF_VALUE: Final = ("NULL", "ERROR", "DEFAULT")
_OF_QUERY: Final = ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
_WRAPPERS: Final = ("NONE", "ALL", "OTHER")
_OF_NULL: Final = ("NULL ON NULL", "ABSENT ON NULL")


def _are(operands: Sequence[Expression], words: dict[int, Sequence[str]]) -> bool:
    """Return whether the symbols at some places are among the words that fit there."""
    chosen = [(operands[place], allowed) for place, allowed in words.items()]
    return all(isinstance(part, Literal) and part.value in allowed for part, allowed in chosen)


def _existing(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    return [part.type for part in operands] if _are(operands, {2: _ON_ERROR}) else None


def _returned(operands: Sequence[Expression]) -> LogicalType:
    return operands[2].type.copy(nullable=True)


def _with_defaults(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of the operands of JSON_VALUE: a default is of the type that is returned."""
    types = [part.type for part in operands]
    wanted = types[2]
    fits = isinstance(wanted, CharType | VarCharType | IntType | DoubleType | BooleanType)
    if not fits or not _are(operands, {3: _OF_VALUE, 5: _OF_VALUE}):
        return None
    for place in (4, 6):
        given = types[place]
        is_text = isinstance(given, CharType | VarCharType) and isinstance(wanted, CharType | VarCharType)
        if not isinstance(given, NullType) and not is_text and not supports_implicit_cast(given, wanted):
            return None
        types[place] = STRING if is_text else wanted
    return types


def _queried(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of the operands of JSON_QUERY, which gives a text or an array of texts."""
    wanted = operands[2].type
    part = wanted.element if isinstance(wanted, ArrayType) else wanted
    known = _are(operands, {3: _WRAPPERS, 4: _OF_QUERY, 5: _OF_QUERY})
    return [part.type for part in operands] if known and isinstance(part, CharType | VarCharType) else None


def _entries(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of the operands of JSON_OBJECT: keys are constants."""
    pairs = operands[1:]
    keys = pairs[0::2]
    values = [value.type for value in pairs[1::2]]
    known = all(isinstance(key, Literal) and isinstance(key.value, str) for key in keys)
    known = known and len(pairs) % 2 == 0 and _are(operands, {0: _OF_NULL})
    if not known or not all(isinstance(kind, NullType) or has_json(kind) for kind in values):
        return None
    return [STRING if isinstance(part.type, NullType) else part.type for part in operands]


def _elements(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of the operands of JSON_ARRAY."""
    if not _are(operands, {0: _OF_NULL}):
        return None
    return [STRING if isinstance(part.type, NullType) else part.type for part in operands]


def _function(name: str, result: Result, *parameters: Parameter, optional: int = 0) -> Function:
    return Function(name, (Signature(parameters, result, optional=optional),))


DOCUMENTS: Final = (
    Function("JSON_EXISTS", (Signature((TEXT, TEXT, SYMBOL), nullable(_TRUTH), together=_existing),)),
    Function(
        "JSON_VALUE",
        (Signature((TEXT, TEXT, ANY, SYMBOL, ANY, SYMBOL, ANY), _returned, together=_with_defaults),),
        strict=False,
    ),
    Function(
        "JSON_QUERY",
        (Signature((TEXT, TEXT, ANY, SYMBOL, SYMBOL, SYMBOL), _returned, together=_queried),),
        strict=False,
    ),
    Function(
        "JSON_OBJECT",
        (Signature((SYMBOL, ANY), exactly(_WRITTEN), optional=1, repeated=True, together=_entries),),
        strict=False,
    ),
    Function(
        "JSON_ARRAY",
        (Signature((SYMBOL, _VALUE), exactly(_WRITTEN), optional=1, repeated=True, together=_elements),),
        strict=False,
    ),
    _function("JSON_STRING", fixed(STRING), _VALUE_OR_MONTHS),
    _function("JSON_QUOTE", fixed(STRING), TEXT),
    _function("JSON_UNQUOTE", fixed(STRING), TEXT),
    _function("JSON", fixed(STRING), TEXT),
    _function("PARSE_JSON", fixed(VariantType()), TEXT, BOOLEAN, optional=1),
    _function("TRY_PARSE_JSON", nullable(VariantType()), TEXT, BOOLEAN, optional=1),
    *(Function(f"IS JSON {kind}", (Signature((TEXT,), exactly(_IS)),), strict=False) for kind in _KINDS),
)
