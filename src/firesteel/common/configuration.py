"""Options as keys and values, read as a given type (Flink: org.apache.flink.configuration.Configuration)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

from firesteel.common.errors import ConfigurationError
from firesteel.common.typeinfo.java_text import double_text

__all__ = ["Configuration", "option_text"]

Value = str | int | float | bool | bytes


def option_text(value: Value) -> str:
    """Return a value as text, as Flink writes it to a file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, bytes):
        return f"!!binary |-\n  {base64.b64encode(value).decode('ascii')}"
    return str(value)


class Configuration:
    """A mutable mapping from keys to values; the setters return the configuration, so you can chain them.

    A value is stored unchanged and converted when you read it: you can read the text "42" as an integer. A getter
    raises ConfigurationError if it cannot convert the value. Two configurations are equal if their entries are.

    >>> config = Configuration().set_string("parallelism", "4").set_boolean("reuse", True)
    >>> config.get_integer("parallelism", 1), config.get_string("reuse", ""), config.get_float("rate", 0.5)
    (4, 'true', 0.5)
    """

    def __init__(self, other: Configuration | None = None) -> None:
        self._entries: dict[str, Value] = {} if other is None else dict(other._entries)

    @classmethod
    def from_dict(cls, map: dict[str, str]) -> Configuration:
        """Return a configuration with the entries of `map`."""
        configuration = cls()
        configuration._entries.update(map)
        return configuration

    def get_string(self, key: str, default_value: str) -> str:
        """Return the value as text, or the default."""
        value = self._entries.get(key)
        return default_value if value is None else option_text(value)

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a text. Raises ConfigurationError for anything else."""
        return self._set(key, value, str, "a text")

    @staticmethod
    def parse_list_value(value: str) -> list[str]:
        """Return the items of a list given as text: YAML's `[a, b]` and `- a` lines, or `a;b`.

        >>> Configuration.parse_list_value("[a, 'b, c']"), Configuration.parse_list_value("a;b")
        (['a', 'b, c'], ['a', 'b'])
        """
        text = value.strip() if value else ""
        if not text:
            return []
        if text.startswith("[") and text.endswith("]"):
            return [_unquoted(item) for item in _split_flow(text[1:-1])]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if all(line == "-" or line.startswith("- ") for line in lines):
            return [_unquoted(line[1:]) for line in lines]
        return value.split(";")

    def get_integer(self, key: str, default_value: int) -> int:
        """Return the value as a whole number, or the default."""
        value = self._entries.get(key)
        if value is None:
            return default_value
        try:
            return int(option_text(value))
        except ValueError:
            raise _unreadable(key, value, "a whole number") from None

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set a whole number. Raises ConfigurationError for anything else."""
        return self._set(key, value, int, "a whole number")

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return the value as True or False, or the default."""
        value = self._entries.get(key)
        if value is None:
            return default_value
        text = option_text(value).lower()
        if text not in ("true", "false"):
            raise _unreadable(key, value, "true or false")
        return text == "true"

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set True or False. Raises ConfigurationError for anything else."""
        return self._set(key, value, bool, "True or False")

    def get_float(self, key: str, default_value: float) -> float:
        """Return the value as a floating-point number, or the default."""
        value = self._entries.get(key)
        if value is None:
            return float(default_value)
        try:
            return float(option_text(value))
        except ValueError:
            raise _unreadable(key, value, "a number") from None

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a number. Raises ConfigurationError for anything else."""
        return self._set(key, float(value) if isinstance(value, int) else value, float, "a number")

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return the bytes, or the default. Raises ConfigurationError if the value is not bytes."""
        value = self._entries.get(key)
        if value is None:
            return default_value
        if not isinstance(value, bytes):
            raise _unreadable(key, value, "bytes")
        return bytearray(value)

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set bytes, which are copied. Raises ConfigurationError for anything else."""
        return self._set(key, bytes(value) if isinstance(value, bytearray) else value, bytes, "bytes")

    def _set(self, key: str, value: Any, kind: type[Value], expected: str) -> Configuration:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ConfigurationError(
                f"requires {expected}", who=f"option {key!r}", got=f"{type(value).__name__}: {value!r}"
            )
        self._entries[key] = value
        return self

    def key_set(self) -> set[str]:
        """Return the keys."""
        return set(self._entries)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Add all entries to a dict, with their values unchanged."""
        target_dict.update(self._entries)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Add all entries of another configuration, with `prefix` in front of their keys."""
        self._entries.update({f"{prefix or ''}{key}": value for key, value in other._entries.items()})
        return self

    def contains_key(self, key: str) -> bool:
        """Return whether there is an entry with this key."""
        return key in self._entries

    def to_dict(self) -> dict[str, str]:
        """Return the entries, with the values as text.

        >>> Configuration().set_float("rate", 1e10).to_dict()
        {'rate': '1.0E10'}
        """
        return {key: option_text(value) for key, value in self._entries.items()}

    def remove_config(self, key: str) -> bool:
        """Remove an entry; return whether there was one."""
        return self._entries.pop(key, None) is not None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Configuration:
        return Configuration(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._entries == other._entries

    def __hash__(self) -> int:
        return hash(frozenset(self._entries))

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}={option_text(value)}' for key, value in self._entries.items())}}}"

    def __repr__(self) -> str:
        return f"Configuration({self._entries!r})"


def _unreadable(key: str, value: Value, expected: str) -> ConfigurationError:
    return ConfigurationError(f"requires {expected}", who=f"option {key!r}", got=repr(value))


_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]*)\s*(?:,|$)""")


def _split_flow(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None:
            raise ConfigurationError("a list requires items separated by commas", got=f"[{text}]")
        yield match.group(1)
        position = match.end()


def _unquoted(item: str) -> str:
    item = item.strip()
    if len(item) > 1 and item[0] == item[-1] and item[0] in "\"'":
        return item[1:-1].replace("''", "'") if item[0] == "'" else re.sub(r"\\(.)", r"\1", item[1:-1])
    return item
