"""Typed options: a key, the type of its value, and a default (Flink: org.apache.flink.configuration.ConfigOptions)."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from firesteel.common.errors import ConfigurationError

__all__ = ["ConfigOption", "ConfigOptions"]

T = TypeVar("T")


class ConfigOption(Generic[T]):
    """An option: its `key`, the Python `type` of its value, and its `default` (None if it has none).

    You create options with `ConfigOptions.key(...)`. They never change; two are equal if all three parts are.
    """

    __slots__ = ("default", "key", "type")

    def __init__(self, key: str, type: type, default: T | None = None) -> None:
        self.key = key
        self.type = type
        self.default = default

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConfigOption) and (self.key, self.type, self.default) == (
            other.key,
            other.type,
            other.default,
        )

    def __hash__(self) -> int:
        return hash((self.key, self.type))

    def __repr__(self) -> str:
        return f"ConfigOption(key={self.key!r}, type={self.type.__name__}, default={self.default!r})"


class ConfigOptions:
    """Builds options.

    >>> ConfigOptions.key("application.parallelism").int_type().default_value(100)
    ConfigOption(key='application.parallelism', type=int, default=100)
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Start an option with this key."""
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """An option that has only a key."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Set the type of the value: True or False."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, bool)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type of the value: a whole number of 32 bits."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int, 32)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type of the value: a whole number of 64 bits."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int, 64)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Set the type of the value: a floating-point number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Set the type of the value: a floating-point number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Set the type of the value: text."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, str)

    class TypedConfigOptionBuilder(Generic[T]):
        """An option that has a key and a type."""

        def __init__(self, key: str, type: type[Any], bits: int | None = None) -> None:
            self._key = key
            self._type = type
            self._bits = bits

        def default_value(self, value: T) -> ConfigOption[T]:
            """Return the option with this default. Raises ConfigurationError if it is not of the option's type."""
            fits = isinstance(value, (int, float) if self._type is float else self._type)
            if fits and isinstance(value, bool):
                fits = self._type is bool
            if fits and self._bits is not None and isinstance(value, int):
                fits = -(2 ** (self._bits - 1)) <= value < 2 ** (self._bits - 1)
            if not fits:
                raise ConfigurationError(
                    f"requires a default of type {self._type.__name__}",
                    who=f"option {self._key!r}",
                    got=f"{type(value).__name__}: {value!r}",
                )
            return ConfigOption(self._key, self._type, value)

        def no_default_value(self) -> ConfigOption[Any]:
            """Return the option without a default."""
            return ConfigOption(self._key, self._type)
