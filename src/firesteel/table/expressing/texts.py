"""Functions of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.operand import Operand, given

if TYPE_CHECKING:
    from firesteel.table.expression import Expression


class Texts(Operand):
    """Texts."""

    def concat(self, other: Any) -> Expression[str]:
        """Return both texts, one after the other."""
        return self._call("concat", other)

    def starts_with(self, start_expr: Any) -> Expression[bool]:
        """Return whether the text begins with another."""
        return self._call("STARTSWITH", start_expr)

    def ends_with(self, end_expr: Any) -> Expression[bool]:
        """Return whether the text ends with another."""
        return self._call("ENDSWITH", end_expr)

    def substring(self, begin_index: Any, length: Any = None) -> Expression[str]:
        """Return a part of the text; the first character has index 1."""
        return self._call("substring", begin_index, *given(length))

    def substr(self, begin_index: Any, length: Any = None) -> Expression[str]:
        """Return a part of the text; the first character has index 1."""
        return self._call("substr", begin_index, *given(length))

    def trim_leading(self, character: Any = None) -> Expression[str]:
        """Return the text without characters at its beginning, blanks unless others are given."""
        return self._trimmed(True, False, character)

    def trim_trailing(self, character: Any = None) -> Expression[str]:
        """Return the text without characters at its end, blanks unless others are given."""
        return self._trimmed(False, True, character)

    def trim(self, character: Any = None) -> Expression[str]:
        """Return the text without characters at both ends, blanks unless others are given."""
        return self._trimmed(True, True, character)

    def replace(self, search: Any = None, replacement: Any = None) -> Expression[str]:
        """Return the text with another one wherever the one is found."""
        return self._call("replace", search, replacement)

    def translate(self, from_str: Any, to_str: Any) -> Expression[str]:
        """Return the text with other characters instead of some."""
        return self._call("TRANSLATE3", from_str, to_str)

    @property
    def char_length(self) -> Expression[int]:
        """Return the number of characters."""
        return self._call("charLength")

    @property
    def upper_case(self) -> Expression[str]:
        """Return the text in upper case."""
        return self._call("upper")

    @property
    def lower_case(self) -> Expression[str]:
        """Return the text in lower case."""
        return self._call("lower")

    @property
    def init_cap(self) -> Expression[str]:
        """Return the text with a capital at the beginning of each word."""
        return self._call("initCap")

    def like(self, pattern: Any = None, escape: Any = None) -> Expression[bool]:
        """Return whether the text is as a pattern of LIKE."""
        return self._call("LIKE", pattern, *given(escape))

    def similar(self, pattern: Any = None) -> Expression[bool]:
        """Return whether the text is as a pattern of SIMILAR TO."""
        return self._call("similar", pattern)

    def position(self, haystack: Any = None) -> Expression[int]:
        """Return where the text begins in another, from 1; 0 if it is not there."""
        return self._call("position", haystack)

    def lpad(self, length: Any, pad: Any) -> Expression[str]:
        """Return the text, filled up at its beginning to a length."""
        return self._call("lpad", length, pad)

    def rpad(self, length: Any, pad: Any) -> Expression[str]:
        """Return the text, filled up at its end to a length."""
        return self._call("rpad", length, pad)

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Expression[str]:
        """Return the text with another one from a place on, 1 being the first."""
        return self._call("overlay", new_string, starting, *given(length))

    def regexp(self, regex: Any) -> Expression[bool]:
        """Return whether a regular expression is found."""
        return self._call("regexp", regex)

    def regexp_count(self, regex: Any) -> Expression[int]:
        """Return how often a regular expression is found."""
        return self._call("REGEXP_COUNT", regex)

    def regexp_replace(self, regex: Any, replacement: Any) -> Expression[str]:
        """Return the text with another one for what a regular expression finds."""
        return self._call("regexpReplace", regex, replacement)

    def regexp_extract(self, regex: Any, extract_index: Any = None) -> Expression[str]:
        """Return what a regular expression, or a group of it, finds."""
        return self._call("regexpExtract", regex, *given(extract_index))

    def regexp_extract_all(self, regex: Any, extract_index: Any = None) -> Expression[Any]:
        """Return all that a regular expression, or a group of it, finds."""
        return self._call("REGEXP_EXTRACT_ALL", regex, *given(extract_index))

    def regexp_instr(self, regex: Any) -> Expression[int]:
        """Return where a regular expression is found first, from 1; 0 if it is not."""
        return self._call("REGEXP_INSTR", regex)

    def regexp_substr(self, regex: Any) -> Expression[str]:
        """Return what a regular expression finds first."""
        return self._call("REGEXP_SUBSTR", regex)

    @property
    def from_base64(self) -> Expression[str]:
        """Return the text that base 64 stands for."""
        return self._call("fromBase64")

    @property
    def to_base64(self) -> Expression[str]:
        """Return the text in base 64."""
        return self._call("toBase64")

    @property
    def ascii(self) -> Expression[int]:
        """Return the number of the first character."""
        return self._call("ascii")

    @property
    def chr(self) -> Expression[str]:
        """Return the character of a number."""
        return self._call("chr")

    def decode(self, charset: Any) -> Expression[str]:
        """Return the text that bytes are in a character set."""
        return self._call("decode", charset)

    def encode(self, charset: Any) -> Expression[bytes]:
        """Return the bytes of the text in a character set."""
        return self._call("encode", charset)

    def left(self, length: Any) -> Expression[str]:
        """Return the first characters."""
        return self._call("left", length)

    def right(self, length: Any) -> Expression[str]:
        """Return the last characters."""
        return self._call("right", length)

    def instr(self, s: Any) -> Expression[int]:
        """Return where another text begins in this one, from 1; 0 if it is not there."""
        return self._call("instr", s)

    def locate(self, s: Any, pos: Any = None) -> Expression[int]:
        """Return where the text begins in another, looked for from a place on."""
        return self._call("locate", s, *given(pos))

    def url_decode(self) -> Expression[str]:
        """Return the text that one in a URL stands for."""
        return self._call("URL_DECODE")

    def url_encode(self) -> Expression[str]:
        """Return the text as it is written in a URL."""
        return self._call("URL_ENCODE")

    def inet_aton(self) -> Expression[int]:
        """Return the number of an IPv4 address."""
        return self._call("INET_ATON")

    def inet_ntoa(self) -> Expression[str]:
        """Return the IPv4 address of a number."""
        return self._call("INET_NTOA")

    def parse_url(self, part_to_extract: Any, key: Any = None) -> Expression[str]:
        """Return a part of a URL."""
        return self._call("parseUrl", part_to_extract, *given(key))

    def printf(self, *obj: Any) -> Expression[str]:
        """Return values as the text, a format, says."""
        return self._call("PRINTF", *obj)

    def ltrim(self, trim_str: Any = None) -> Expression[str]:
        """Return the text without characters at its beginning."""
        return self._call("ltrim", *given(trim_str))

    def rtrim(self, trim_str: Any = None) -> Expression[str]:
        """Return the text without characters at its end."""
        return self._call("rtrim", *given(trim_str))

    def btrim(self, trim_str: Any = None) -> Expression[str]:
        """Return the text without characters at both ends."""
        return self._call("BTRIM", *given(trim_str))

    def repeat(self, n: Any) -> Expression[str]:
        """Return the text n times."""
        return self._call("repeat", n)

    @property
    def reverse(self) -> Expression[str]:
        """Return the characters in the other order."""
        return self._call("reverse")

    def split_index(self, separator: Any, index: Any) -> Expression[str]:
        """Return a part between separators; the first has index 0."""
        return self._call("splitIndex", separator, index)

    def str_to_map(self, list_delimiter: Any = None, key_value_delimiter: Any = None) -> Expression[Any]:
        """Return the keys and values that a text lists."""
        return self._call("strToMap", *given(list_delimiter, key_value_delimiter))

    def elt(self, expr: Any, *exprs: Any) -> Expression[str]:
        """Return one of several texts, by its number from 1."""
        return self._call("ELT", expr, *exprs)

    def split(self, delimiter: Any) -> Expression[Any]:
        """Return the parts between delimiters."""
        return self._call("SPLIT", delimiter)

    @property
    def md5(self) -> Expression[str]:
        """Return the MD5 of the text as hexadecimal digits."""
        return self._call("md5")

    @property
    def sha1(self) -> Expression[str]:
        """Return the SHA-1 of the text as hexadecimal digits."""
        return self._call("sha1")

    @property
    def sha224(self) -> Expression[str]:
        """Return the SHA-224 of the text as hexadecimal digits."""
        return self._call("sha224")

    @property
    def sha256(self) -> Expression[str]:
        """Return the SHA-256 of the text as hexadecimal digits."""
        return self._call("sha256")

    @property
    def sha384(self) -> Expression[str]:
        """Return the SHA-384 of the text as hexadecimal digits."""
        return self._call("sha384")

    @property
    def sha512(self) -> Expression[str]:
        """Return the SHA-512 of the text as hexadecimal digits."""
        return self._call("sha512")

    def sha2(self, hash_length: Any) -> Expression[str]:
        """Return the SHA-2 of the text with a number of bits, as hexadecimal digits."""
        return self._call("sha2", hash_length)

    def _trimmed(self, leading: bool, trailing: bool, characters: Any) -> Expression[str]:
        blank = " " if characters is None else characters
        return self._after("trim", leading, trailing, blank)
