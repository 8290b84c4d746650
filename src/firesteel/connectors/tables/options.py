"""The options of a table: what a connector knows, what the table gives, and errors for all that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeVar, overload

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms, size_bytes

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True)
class Option(Generic[T]):
    """An option: its key, how its text is read (ValueError: it cannot be), and what that is called in errors."""

    key: str
    read: Callable[[str], T]
    what: str


class Options:
    """The options that a table gives to a connector, taken one by one.

    Call `finish` at the end: it raises ConfigurationError, with a suggestion, for an option that nobody asked for.

    >>> options = Options({"path": "/tmp", "patj": "x"}, "table 't'", "filesystem")
    >>> options.required(text("path"))
    '/tmp'
    >>> options.finish()
    Traceback (most recent call last):
    ...
    firesteel.common.errors.ConfigurationError: table 't' requires options that 'filesystem' has; got 'patj'...
    """

    def __init__(self, given: Mapping[str, str], who: str, connector: str) -> None:
        self._given = given
        self._who = who
        self._connector = connector
        self._known: set[str] = {"connector"}
        self._prefix = ""

    def below(self, prefix: str) -> Options:
        """Return the options whose keys begin with a prefix, by the rest of their keys; `finish` is for all of them.

        >>> Options({"key.json.strict": "true"}, "table 't'", "kafka").below("key.").get(truth("json.strict"))
        True
        """
        found = copy(self)
        found._prefix = self._prefix + prefix
        return found

    def full(self, key: str) -> str:
        """Return an option's key as the table gives it."""
        return self._prefix + key

    def under(self, prefix: str) -> dict[str, str]:
        """Return all options whose keys begin with a prefix, by the rest of their keys.

        >>> Options({"properties.a": "1", "topic": "t"}, "table 't'", "kafka").under("properties.")
        {'a': '1'}
        """
        full = self.full(prefix)
        found = {key.removeprefix(full): value for key, value in self._given.items() if key.startswith(full)}
        self.know([prefix + key for key in found])
        return found

    def __contains__(self, key: str) -> bool:
        return self.full(key) in self._given

    def required(self, option: Option[T]) -> T:
        """Return the value of an option. Raises ConfigurationError if it is missing or cannot be read."""
        found = self.get(option)
        if found is None:
            raise ConfigurationError(
                f"requires the option {self.full(option.key)!r} of connector {self._connector!r}",
                who=self._who,
                got=f"the options {', '.join(map(repr, sorted(self._given))) or 'none'}",
            )
        return found

    @overload
    def get(self, option: Option[T]) -> T | None: ...
    @overload
    def get(self, option: Option[T], default: D) -> T | D: ...
    def get(self, option: Option[Any], default: Any = None) -> Any:
        """Return the value of an option. Raises ConfigurationError if it cannot be read."""
        self._known.add(self.full(option.key))
        given = self._given.get(self.full(option.key))
        if given is None:
            return default
        try:
            return option.read(given)
        except ValueError as error:
            raise self.wrong(option.key, option.what) from error

    def wrong(self, key: str, requirement: str) -> ConfigurationError:
        """Return the error for an option whose value cannot be used."""
        full = self.full(key)
        return ConfigurationError(
            f"requires {requirement} as the option {full!r}", who=self._who, got=repr(self._given.get(full))
        )

    def know(self, keys: Iterable[str]) -> None:
        """Accept options that have no effect here."""
        self._known.update(map(self.full, keys))

    def finish(self) -> None:
        """Raise ConfigurationError for options that nobody asked for."""
        unknown = sorted(key for key in self._given if key not in self._known)
        if unknown:
            raise ConfigurationError(
                f"requires options that {self._connector!r} has",
                who=self._who,
                got=", ".join(map(repr, unknown)),
                hint=suggestion(unknown[0], self._known),
            )


def suggestion(name: str, known: Collection[str]) -> str:
    """Return a hint for an unknown name: the most similar known one, or all of them.

    >>> suggestion("prnt", ["print", "datagen"]), suggestion("kafka", ["print", "datagen"])
    ("did you mean 'print'?", 'there are datagen, print')
    """
    close = get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(known))}"


def text(key: str) -> Option[str]:
    """Return an option that is a text."""
    return Option(key, str, "a text")


def number(key: str, least: int | None = None) -> Option[int]:
    """Return an option that is a whole number, of at least `least`."""

    def read(given: str) -> int:
        value = int(given.strip())
        if least is not None and value < least:
            raise ValueError(given)
        return value

    return Option(key, read, "a whole number" if least is None else f"a whole number of at least {least}")


def fraction(key: str) -> Option[float]:
    """Return an option that is a number."""
    return Option(key, lambda given: float(given.strip()), "a number")


def truth(key: str) -> Option[bool]:
    """Return an option that is true or false, in any case of letters."""

    def read(given: str) -> bool:
        return {"true": True, "false": False}[given.strip().lower()]

    return Option(key, _without_key_error(read), "true or false")


def choice(key: str, *names: str) -> Option[str]:
    """Return an option that is one of some names, in any case of letters."""
    by_name = {name.lower(): name for name in names}
    return Option(
        key, _without_key_error(lambda given: by_name[given.strip().lower()]), f"one of {', '.join(names)}"
    )


def duration(key: str) -> Option[int]:
    """Return an option that is a duration as Flink writes it, in milliseconds.

    >>> duration("k").read("1 min"), duration("k").read("500"), duration("k").read("2h")
    (60000, 500, 7200000)
    """
    return Option(key, _quantity(key, duration_ms), "a duration such as '10 s'")


def size(key: str) -> Option[int]:
    """Return an option that is a number of bytes as Flink writes it.

    >>> size("k").read("128MB")
    134217728
    """

    return Option(key, _quantity(key, size_bytes), "a size such as '128 mb'")


def _quantity(key: str, read: Callable[[str, str], int]) -> Callable[[str], int]:
    def checked(given: str) -> int:
        try:
            return read(key, given)
        except ConfigurationError as error:
            raise ValueError(given) from error

    return checked


def _without_key_error(read: Callable[[str], T]) -> Callable[[str], T]:
    def checked(given: str) -> T:
        try:
            return read(given)
        except KeyError as error:
            raise ValueError(given) from error

    return checked


PARALLELISM: Final = number("sink.parallelism", 1)
"""The option with the parallelism of a sink."""
