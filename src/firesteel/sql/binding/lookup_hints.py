"""The hint LOOKUP: how rows of a table are looked up (Flink: LookupJoinHintOptions)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlglot import exp

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.lookups import Retry
from firesteel.relational.logical.temporal_joins import LookupHint
from firesteel.sql.binding.places import Text

Given = tuple[str, str, exp.Expr]
"""The key and the value of an option, and where they stand."""


class _Option(NamedTuple):
    """How the text of an option is read (ValueError, KeyError: it cannot be), and what that is called in errors."""

    read: Callable[[str], Any]
    what: str


def _positive(text: str) -> int:
    if int(text) <= 0:
        raise ValueError(text)
    return int(text)


def _duration(text: str) -> int:
    try:
        return _positive(str(duration_ms("LOOKUP", text)))
    except ConfigurationError as error:
        raise ValueError(text) from error


def _one_of(values: Mapping[str, Any]) -> _Option:
    return _Option(lambda text: values[text.lower()], " or ".join(map(repr, values)))


_NUMBER: Final = _Option(_positive, "a number above 0")
_TIME: Final = _Option(_duration, "a duration above 0 such as '10 s'")
_OPTIONS: Final = {
    "table": _Option(str, "the name of a table"),
    "async": _one_of({"true": True, "false": False}),
    "output-mode": _one_of({"ordered": True, "allow_unordered": False}),
    "capacity": _NUMBER,
    "timeout": _TIME,
    "retry-predicate": _one_of({"lookup_miss": True}),
    "retry-strategy": _one_of({"fixed_delay": True}),
    "fixed-delay": _TIME,
    "max-attempts": _NUMBER,
    "shuffle": _one_of({"true": True, "false": False}),
}
_RETRY: Final = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")


def lookup_hint(call: exp.Expr, options: Sequence[Given], text: Text) -> tuple[exp.Expr, LookupHint]:
    """Return the option that names the table, and what the hint says of it.

    'shuffle' changes nothing: each key of an epoch is looked up once by a subtask, and kept as the cache says.

    Raises SqlValidationError for an unknown option, a value that cannot be read, a hint without a table, and one that
    has some of the options of a retry and not all of them.
    """
    values: dict[str, Any] = {}
    table: exp.Expr | None = None
    for key, given, node in options:
        option = _OPTIONS.get(key)
        if option is None:
            hint = suggestion(key, list(_OPTIONS))
            raise text.wrong(node, "requires an option that LOOKUP has", got=repr(key), hint=hint)
        try:
            values[key] = option.read(given)
        except (ValueError, KeyError):
            raise text.wrong(node, f"requires {option.what} as {key!r} of LOOKUP", got=repr(given)) from None
        if key == "table":
            table = node
    if table is None:
        raise text.wrong(call, "requires the option 'table' of LOOKUP", got="none")
    return table, LookupHint(
        values.get("async"),
        values.get("output-mode", True),
        values.get("capacity"),
        values.get("timeout"),
        _retry(call, values, text),
    )


def _retry(call: exp.Expr, values: Mapping[str, Any], text: Text) -> Retry | None:
    missing = [key for key in _RETRY if key not in values]
    if len(missing) == len(_RETRY):
        return None
    if missing:
        raise text.wrong(
            call,
            f"requires all of {', '.join(map(repr, _RETRY))} of LOOKUP, or none of them",
            got=f"no {missing[0]!r}",
        )
    return Retry(values["fixed-delay"], values["max-attempts"])
