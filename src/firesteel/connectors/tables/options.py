"""The options of a table: what a connector knows, what the table gives, and errors for all that does not fit.

An option is declared once, with its default and what it means. Connectors and formats take values by it, and list their
options as `options`; the tables of the documentation are made from there (`scripts/options.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeAlias, TypeVar, overload

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms, size_bytes

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True)
class Option(Generic[T]):
    """An option: its key, how its text is read (ValueError: it cannot be), and what that is called in errors.

    `about` says what it means, in a sentence or two of Markdown. Without a default it may be left out.

    >>> text("raw.charset", "How text is encoded.").by_default("UTF-8").value
    'UTF-8'
    """

    key: str
    read: Callable[[str], T]
    what: str
    about: str = ""

    def by_default(self, given: str) -> DefaultOption[T]:
        """Return this option with a default, as a table would give it."""
        return DefaultOption(self.key, self.read, self.what, self.about, given)

    def needed(self) -> NeededOption[T]:
        """Return this option as one that a table must give."""
        return NeededOption(self.key, self.read, self.what, self.about)


@dataclass(frozen=True)
class DefaultOption(Option[T]):
    """An option that always has a value."""

    default: str = ""

    @property
    def value(self) -> T:
        """The value of the default."""
        return self.read(self.default)


@dataclass(frozen=True)
class NeededOption(Option[T]):
    """An option that a table must give."""


class Options:
    """The options that a table gives to a connector, taken one by one.

    Call `finish` at the end: it raises ConfigurationError, with a suggestion, for an option that nobody asked for.

    >>> options = Options({"path": "/tmp", "patj": "x"}, "table 't'", "filesystem")
    >>> options.get(text("path").needed())
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
        self._known.update(full + key for key in found)
        return found

    def otherwise(self, others: Mapping[str, str]) -> Options:
        """Return these options, and others, by their keys here, which count where the table does not give them.

        >>> options = Options({"a": "1"}, "table 't'", "kafka").otherwise({"a": "2", "b": "3"})
        >>> options.get(number("a")), options.get(number("b"))
        (1, 3)
        """
        found = copy(self)
        found._given = {**{self.full(key): value for key, value in others.items()}, **self._given}
        return found

    def __contains__(self, key: str) -> bool:
        return self.full(key) in self._given

    def required(self, option: Option[T]) -> T:
        """Return the value of an option that the others make necessary. Raises ConfigurationError as `get` does."""
        return self.get(option.needed())

    @overload
    def get(self, option: DefaultOption[T] | NeededOption[T]) -> T: ...
    @overload
    def get(self, option: Option[T]) -> T | None: ...
    @overload
    def get(self, option: Option[T], default: D) -> T | D: ...
    def get(self, option: Option[Any], default: Any = None) -> Any:
        """Return the value of an option, or else its own default, or else `default`.

        Raises ConfigurationError if it cannot be read, or is needed and missing.
        """
        self._known.add(self.full(option.key))
        given = self._given.get(self.full(option.key))
        if given is not None:
            return self._read(option, given)
        if isinstance(option, NeededOption):
            raise self._missing(option.key)
        return option.value if isinstance(option, DefaultOption) else default

    def _read(self, option: Option[T], given: str) -> T:
        try:
            return option.read(given)
        except ValueError as error:
            raise self.wrong(option.key, option.what) from error

    def _missing(self, key: str) -> ConfigurationError:
        return ConfigurationError(
            f"requires the option {self.full(key)!r} of connector {self._connector!r}",
            who=self._who,
            got=f"the options {', '.join(map(repr, sorted(self._given))) or 'none'}",
        )

    def wrong(self, key: str, requirement: str) -> ConfigurationError:
        """Return the error for an option whose value cannot be used."""
        full = self.full(key)
        return ConfigurationError(
            f"requires {requirement} as the option {full!r}", who=self._who, got=repr(self._given.get(full))
        )

    def know(self, options: Iterable[Option[Any]]) -> None:
        """Accept options that have no effect here."""
        self._known.update(self.full(option.key) for option in options)

    @property
    def known(self) -> frozenset[str]:
        """The keys that somebody has asked for or accepted, and 'connector'."""
        return frozenset(self._known)

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


def text(key: str, about: str = "", what: str = "a text") -> Option[str]:
    """Return an option that is a text."""
    return Option(key, str, what, about)


def number(key: str, least: int | None = None, about: str = "") -> Option[int]:
    """Return an option that is a whole number, of at least `least`."""

    def read(given: str) -> int:
        value = int(given.strip())
        if least is not None and value < least:
            raise ValueError(given)
        return value

    what = "a whole number" if least is None else f"a whole number of at least {least}"
    return Option(key, read, what, about)


def fraction(key: str, about: str = "") -> Option[float]:
    """Return an option that is a number."""
    return Option(key, lambda given: float(given.strip()), "a number", about)


def truth(key: str, about: str = "") -> Option[bool]:
    """Return an option that is true or false, in any case of letters."""

    def read(given: str) -> bool:
        return {"true": True, "false": False}[given.strip().lower()]

    return Option(key, _without_key_error(read), "true or false", about)


def choice(key: str, *names: str, about: str = "") -> Option[str]:
    """Return an option that is one of some names, in any case of letters."""
    by_name = {name.lower(): name for name in names}
    read = _without_key_error(lambda given: by_name[given.strip().lower()])
    return Option(key, read, f"one of {', '.join(names)}", about)


def duration(key: str, about: str = "") -> Option[int]:
    """Return an option that is a duration as Flink writes it, in milliseconds.

    >>> duration("k").read("1 min"), duration("k").read("500"), duration("k").read("2h")
    (60000, 500, 7200000)
    """
    return Option(key, _quantity(key, duration_ms), "a duration such as '10 s'", about)


def size(key: str, about: str = "") -> Option[int]:
    """Return an option that is a number of bytes as Flink writes it.

    >>> size("k").read("128MB")
    134217728
    """

    return Option(key, _quantity(key, size_bytes), "a size such as '128 mb'", about)


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


PARALLELISM: Final = number(
    "sink.parallelism", 1, "How many subtasks write. Without it as many as the query has."
)
"""The option with the parallelism of a sink."""

SCAN_PARALLELISM: Final = number(
    "scan.parallelism", 1, "How many subtasks read. Without it as many as the job has by default."
)
"""The option with the parallelism of a source."""

Listed: TypeAlias = tuple[Option[Any], ...]
"""The options that a connector or a format has, in the order of its page."""
