"""The common checks of operations, which raise errors of the usual form."""

from __future__ import annotations

from firesteel.common.errors import ProgramError
from firesteel.functions.broadcast import KeyedBroadcastProcessFunction
from firesteel.functions.process import KeyedCoProcessFunction, KeyedProcessFunction


def require(value: object, kinds: tuple[type, ...], who: str, hint: str) -> None:
    """Raise ProgramError unless `value` is an instance of one of the kinds."""
    if isinstance(value, kinds):
        return
    if isinstance(value, type) and issubclass(value, kinds):
        hint = f"pass an object of it: {value.__name__}()"
    names = " or ".join(kind.__name__ for kind in kinds)
    article = "an" if names[0] in "AEIOU" else "a"
    raise ProgramError(f"requires {article} {names}", who=who, got=shown(value), hint=hint)


def key_hint(function: object) -> str:
    """Return the hint for a function that may need a keyed stream."""
    if isinstance(function, KeyedProcessFunction | KeyedCoProcessFunction | KeyedBroadcastProcessFunction):
        return "key the stream first: key_by(...)"
    return "pass an object of a subclass of it"


def shown(value: object) -> str:
    """Describe a value by its type and a short representation."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}: {value!r:.80}"
