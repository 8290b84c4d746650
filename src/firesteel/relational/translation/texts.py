"""Functions of text in the kernel's SQL; characters are code points in both."""

from __future__ import annotations

import re
from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import CharType, IntegerNumberType, VarCharType
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.translation.translator import Translation, Translator

_PLAIN_PATTERN: Final = re.compile(
    r"\^?(?:[A-Za-z0-9 ,;:=_/@#%&\"'<>~`!-]|\\[.\-\[\](){}^$*+?|/]|\[[A-Za-z0-9 -]+\])+[+*?]?"
)
"""Regular expressions that mean the same to Java and to DuckDB."""


def _template(text: str) -> Translation:
    """Return a translation that puts the operands into a text: ``{0}``, ``{1}``, ..."""
    return lambda translator, call, texts: text.format(*texts)


def _vectorised(name: str) -> Translation:
    return lambda translator, call, texts: translator.call(name, *texts)


def _concatenated(translator: Translator, call: Call, texts: list[str]) -> str:
    return f"({' || '.join(texts)})"


def _cased(name: str) -> Translation:
    """Return the translation of UPPER or LOWER: of letters beyond ASCII, Java's mapping may have several characters."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        (text,) = texts
        java = translator.call(f"java_{name}", text)
        return f"CASE WHEN strlen({text}) = length({text}) THEN {name}({text}) ELSE {java} END"

    return translate


def _substring(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return SUBSTRING: a negative start counts from the end, and 0 is 1."""
    text, start, *length = texts
    given = [text, _start(call.operands[1], text, start), *length]
    found = f"substring({', '.join(given)})"
    first = call.operands[1]
    if not (isinstance(first, Literal) and isinstance(first.value, int) and first.value >= 0):
        found = f"CASE WHEN {start} < - length({text}) THEN left({text}, 0) ELSE {found} END"
    if length and not _is_natural(call.operands[2]):
        found = f"CASE WHEN {length[0]} > 0 THEN {found} WHEN {length[0]} = 0 THEN left({text}, 0) END"
    return found


def _is_natural(operand: Expression) -> bool:
    return isinstance(operand, Literal) and isinstance(operand.value, int) and operand.value >= 0


def _start(operand: Expression, text: str, start: str) -> str:
    if isinstance(operand, Literal) and isinstance(operand.value, int) and operand.value > 0:
        return start
    return f"CASE WHEN {start} > 0 THEN {start} WHEN {start} = 0 THEN 1 ELSE length({text}) + {start} + 1 END"


def _position(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return the place of one text in another, from a place on; 0 if it is not there."""
    part, text, *start = texts
    if not start:
        return f"CAST(position({part} IN {text}) AS INTEGER)"
    (first,) = start
    found = f"position({part} IN substring({text}, {first}))"
    later = f"CASE {found} WHEN 0 THEN 0 ELSE {found} + {first} - 1 END"
    return f"CAST(CASE WHEN {first} < 1 THEN position({part} IN {text}) ELSE {later} END AS INTEGER)"


def _instr(translator: Translator, call: Call, texts: list[str]) -> str:
    text, part, *rest = texts
    if not rest:
        return _position(translator, call, [part, text])
    return translator.call("instr", text, part, rest[0], rest[1] if len(rest) > 1 else "CAST(1 AS INTEGER)")


def _translated(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return TRANSLATE: without characters to look for, the text stays, and without others they are left out."""
    text, old, new = texts
    return f"translate({text}, coalesce({old}, ''), coalesce({new}, ''))"


def _split(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return SPLIT: of an empty text, there are no parts."""
    text, separator = texts
    plain = f"CASE WHEN {text} = '' THEN CAST([] AS VARCHAR[]) ELSE string_split({text}, {separator}) END"
    known = call.operands[1]
    if isinstance(known, Literal) and known.value:
        return plain
    return f"CASE WHEN {separator} = '' THEN {translator.call('characters', text)} ELSE {plain} END"


def _trim(translator: Translator, call: Call, texts: list[str]) -> str:
    side = call.operands[0]
    assert isinstance(side, Literal)
    name = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side.value]
    return f"{name}({texts[2]}, {texts[1]})"


def _trimmed(name: str) -> Translation:
    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        characters = texts[1] if len(texts) > 1 else "' '"
        return f"{name}({texts[0]}, {characters})"

    return translate


def _left(translator: Translator, call: Call, texts: list[str]) -> str:
    return f"CASE WHEN {texts[1]} <= 0 THEN left({texts[0]}, 0) ELSE left({texts[0]}, {texts[1]}) END"


def _right(translator: Translator, call: Call, texts: list[str]) -> str:
    return f"CASE WHEN {texts[1]} <= 0 THEN left({texts[0]}, 0) ELSE right({texts[0]}, {texts[1]}) END"


def _overlay(translator: Translator, call: Call, texts: list[str]) -> str:
    text, other, start, *length = texts
    count = length[0] if length else f"length({other})"
    rest = f"CASE WHEN {count} > 0 THEN substring({text}, {start} + {count}) ELSE '' END"
    changed = f"(left({text}, {start} - 1) || {other} || {rest})"
    outside = f"{start} <= 0 OR {start} > length({text})"
    return f"CASE WHEN {other} IS NULL THEN NULL WHEN {outside} THEN {text} ELSE {changed} END"


def _split_index(translator: Translator, call: Call, texts: list[str]) -> str:
    text, separator, place = texts
    if isinstance(call.operands[1].type, IntegerNumberType):
        separator = f"chr(CAST({separator} AS INTEGER))"
    return translator.call("split_index", text, separator, place)


def _replace(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return REPLACE: an empty text is between all characters."""
    plain = f"replace({', '.join(texts)})"
    old = call.operands[1]
    if isinstance(old, Literal) and old.value:
        return plain
    return f"CASE WHEN {texts[1]} = '' THEN {translator.call('replaced', *texts)} ELSE {plain} END"


def _concat_ws(translator: Translator, call: Call, texts: list[str]) -> str:
    separator, *parts = texts
    return f"CASE WHEN {separator} IS NULL THEN NULL ELSE concat_ws({separator}, {', '.join(parts)}) END"


def _regexp(translator: Translator, call: Call, texts: list[str]) -> str:
    pattern = call.operands[1]
    if (
        isinstance(pattern, Literal)
        and isinstance(pattern.value, str)
        and _PLAIN_PATTERN.fullmatch(pattern.value)
    ):
        return f"regexp_matches({texts[0]}, {texts[1]})"
    return translator.call("regexp", *texts)


def _with_group(name: str, default: int) -> Translation:
    return lambda translator, call, texts: translator.call(
        name, *(texts if len(texts) > 2 else [*texts, f"CAST({default} AS INTEGER)"])
    )


def _like(translator: Translator, call: Call, texts: list[str]) -> str:
    text, pattern, *escape = texts
    return f"({text} LIKE {pattern} ESCAPE {escape[0]})" if escape else f"({text} LIKE {pattern})"


def _similar(translator: Translator, call: Call, texts: list[str]) -> str:
    return translator.call("similar_escaped" if len(texts) > 2 else "similar", *texts)


def _url(translator: Translator, call: Call, texts: list[str]) -> str:
    return translator.call("url_value" if len(texts) > 2 else "url_part", *texts)


def _text_map(translator: Translator, call: Call, texts: list[str]) -> str:
    defaults = [texts[0], texts[1] if len(texts) > 1 else "','", texts[2] if len(texts) > 2 else "'='"]
    return translator.call("text_map", *defaults)


def _hex(translator: Translator, call: Call, texts: list[str]) -> str:
    if isinstance(call.operands[0].type, IntegerNumberType):
        return f"upper(to_hex({texts[0]}))"
    return f"hex({texts[0]})"


def _affix(name: str) -> Translation:
    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        if isinstance(call.operands[0].type, CharType | VarCharType):
            return f"{name}({texts[0]}, {texts[1]})"
        raise UnsupportedError("is not supported yet", who=f"{call.function} of bytes")

    return translate


TRANSLATIONS: Final[dict[str, Translation]] = {
    "||": _concatenated,
    "UPPER": _cased("upper"),
    "LOWER": _cased("lower"),
    "INITCAP": _vectorised("initcap"),
    "CHAR_LENGTH": _template("CAST(length({0}) AS INTEGER)"),
    "POSITION": _position,
    "INSTR": _instr,
    "LOCATE": _position,
    "ASCII": _template(
        "CASE WHEN {0} = '' THEN 0 ELSE CAST(CASE WHEN ascii({0}) < 128 THEN ascii({0}) "
        "WHEN ascii({0}) < 2048 THEN ascii({0}) // 64 - 64 WHEN ascii({0}) < 65536 THEN ascii({0}) // 4096 - 32 "
        "ELSE ascii({0}) // 262144 - 16 END AS INTEGER) END"
    ),
    "SUBSTRING": _substring,
    "LEFT": _left,
    "RIGHT": _right,
    "SPLIT_INDEX": _split_index,
    "SPLIT": _split,
    "REVERSE": _template("reverse({0})"),
    "TRIM": _trim,
    "LTRIM": _trimmed("ltrim"),
    "RTRIM": _trimmed("rtrim"),
    "BTRIM": _trimmed("trim"),
    "LPAD": _vectorised("lpad"),
    "RPAD": _vectorised("rpad"),
    "REPEAT": _template("repeat({0}, {1})"),
    "REPLACE": _replace,
    "TRANSLATE": _translated,
    "OVERLAY": _overlay,
    "CONCAT": _concatenated,
    "CONCAT_WS": _concat_ws,
    "CHR": _template(
        "CASE WHEN {0} < 0 THEN '' WHEN {0} % 256 = 0 THEN chr(0) ELSE chr(CAST({0} % 256 AS INTEGER)) END"
    ),
    "ENCODE": _vectorised("encoded"),
    "DECODE": _vectorised("decoded"),
    "TO_BASE64": _vectorised("to_base64"),
    "FROM_BASE64": _vectorised("from_base64"),
    "HEX": _hex,
    "UNHEX": _vectorised("unhex"),
    "BIN": _template("to_binary({0})"),
    **{
        name: _vectorised(f"digest|{name.lower()}")
        for name in ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512")
    },
    "SHA2": lambda translator, call, texts: translator.call("sha2", texts[0], f"CAST({texts[1]} AS INTEGER)"),
    "URL_ENCODE": _vectorised("url_encode"),
    "URL_DECODE": _vectorised("url_decode"),
    "PARSE_URL": _url,
    "REGEXP": _regexp,
    "REGEXP_EXTRACT": _with_group("regexp_extract", 0),
    "REGEXP_EXTRACT_ALL": _with_group("regexp_extract_all", 1),
    "REGEXP_REPLACE": _vectorised("regexp_replace"),
    "REGEXP_COUNT": _vectorised("regexp_count"),
    "REGEXP_SUBSTR": _vectorised("regexp_substr"),
    "REGEXP_INSTR": _vectorised("regexp_instr"),
    "STR_TO_MAP": _text_map,
    "STARTSWITH": _affix("starts_with"),
    "ENDSWITH": _affix("ends_with"),
    "LIKE": _like,
    "SIMILAR TO": _similar,
    "ELT": lambda translator, call, texts: (
        f"CASE {texts[0]} {' '.join(f'WHEN {place} THEN {text}' for place, text in enumerate(texts[1:], 1))} END"
    ),
}
