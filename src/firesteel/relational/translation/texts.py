"""Functions of text in the kernel's SQL; characters are code points in both."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import CharType, IntegerNumberType, VarCharType
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.translation.patterns import Pattern, alike
from firesteel.relational.translation.translator import Translation, Translator
from firesteel.relational.translation.types import quoted


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
    characters = translator.call("characters", text)
    return f"CASE WHEN {separator} = '' THEN {characters} WHEN {separator} <> '' THEN {plain} END"


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
    """Return SPLIT_INDEX: of an empty text, there are no parts, and an empty separator is any white space."""
    text, separator, place = texts
    _, given, index = call.operands
    if isinstance(given.type, IntegerNumberType):
        code, separator = separator, f"chr(CAST({separator} AS INTEGER))"
        known = isinstance(given, Literal) and given.value is not None and 1 <= given.value <= 255
        found = _part(text, separator, place, index)
        return found if known else f"CASE WHEN {code} BETWEEN 1 AND 255 THEN {found} END"
    found = _part(text, separator, place, index)
    if isinstance(given, Literal) and given.value:
        return found
    blank = translator.call("part_between_spaces", text, place)
    return f"CASE WHEN {separator} = '' THEN {blank} WHEN {separator} <> '' THEN {found} END"


def _part(text: str, separator: str, place: str, index: Expression) -> str:
    """Return the part of a text at a place from 0 on, between separators that are not empty."""
    parts = f"string_split(nullif({text}, ''), {separator})"
    if isinstance(index, Literal) and isinstance(index.value, int) and index.value >= 0:
        return f"{parts}[{index.value + 1}]"
    return f"CASE WHEN {place} >= 0 THEN {parts}[CAST({place} AS BIGINT) + 1] END"


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


def _known_pattern(call: Call) -> Pattern | None:
    """Return the pattern of a function if it is a constant that the kernel's library understands as Java does."""
    pattern = call.operands[1]
    if not isinstance(pattern, Literal) or not pattern.value:
        return None
    return alike(pattern.value)


def _regexp(translator: Translator, call: Call, texts: list[str]) -> str:
    pattern = _known_pattern(call)
    if pattern is None:
        return translator.call("regexp", *texts)
    return f"regexp_matches({texts[0]}, {quoted(pattern.text)})"


def _regexp_extract(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return REGEXP_EXTRACT; the kernel's own has an empty text for no match and for a group that takes no part."""
    pattern, group = _known_pattern(call), _group(call)
    found = None if pattern is None or group is None else _extracted(texts[0], pattern, group)
    return found or _with_group("regexp_extract", 0)(translator, call, texts)


def _group(call: Call) -> int | None:
    """Return the number of the group that REGEXP_EXTRACT is asked for, if it is a constant."""
    if len(call.operands) < 3:
        return 0
    group = call.operands[2]
    return group.value if isinstance(group, Literal) else None


def where_extracted(translator: Translator, operand: Expression) -> str | None:
    """Return the condition that a REGEXP_EXTRACT is not NULL; None if it takes its value, or is another expression.

    There is no need for what a group has found that takes part in each match.
    """
    if not isinstance(operand, Call) or operand.function != "REGEXP_EXTRACT":
        return None
    pattern, number = _known_pattern(operand), _group(operand)
    if pattern is None or number is None or not 0 <= number < len(pattern.groups):
        return None
    group = pattern.groups[number]
    if group is None or not group.always:
        return None
    text = translator.text(operand.operands[0])
    return f"coalesce(regexp_matches({text}, {quoted(pattern.text)}), FALSE)"


def _extracted(text: str, pattern: Pattern, number: int) -> str | None:
    """Return the text of a group of the first match; None if an empty text would not tell what it stands for."""
    if not 0 <= number < len(pattern.groups):
        return None
    group = pattern.groups[number]
    if group is None:
        return None
    found = f"regexp_extract({text}, {quoted(pattern.text)}, {number})"
    if not group.empty:
        return f"nullif({found}, '')"
    if not group.always:
        return None
    matches = f"regexp_matches({text}, {quoted(pattern.text)})"
    return f"CASE WHEN {matches} THEN {found} END"


def _regexp_replace(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return REGEXP_REPLACE; between matches that can be empty, the libraries go on in different ways."""
    pattern = _known_pattern(call)
    if pattern is None or pattern.empty:
        return translator.call("regexp_replace", *texts)
    plain = f"replace({texts[2]}, chr(92), chr(92) || chr(92))"  # no references to groups
    return f"regexp_replace({texts[0]}, {quoted(pattern.text)}, {plain}, 'g')"


def _regexp_substr(translator: Translator, call: Call, texts: list[str]) -> str:
    pattern = _known_pattern(call)
    found = None if pattern is None else _extracted(texts[0], pattern, 0)
    return found or translator.call("regexp_substr", *texts)


def _regexp_count(translator: Translator, call: Call, texts: list[str]) -> str:
    pattern = _known_pattern(call)
    if pattern is None or pattern.empty:
        return translator.call("regexp_count", *texts)
    return f"CAST(length(regexp_extract_all({texts[0]}, {quoted(pattern.text)})) AS INTEGER)"


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
    "INET_ATON": _vectorised("inet_aton"),
    "INET_NTOA": _vectorised("inet_ntoa"),
    "REGEXP": _regexp,
    "REGEXP_EXTRACT": _regexp_extract,
    "REGEXP_EXTRACT_ALL": _with_group("regexp_extract_all", 1),
    "REGEXP_REPLACE": _regexp_replace,
    "REGEXP_COUNT": _regexp_count,
    "REGEXP_SUBSTR": _regexp_substr,
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
