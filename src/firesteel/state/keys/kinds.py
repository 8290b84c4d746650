"""The kinds of the keys of an operator's state: the names of their Python types.

Keys of different kinds are different keys: 1 is not "1". So if a program declares no key types, the recorded kinds
replace them: they show whether its keys can be the keys of the saved state.
"""

from __future__ import annotations

from collections.abc import Collection
from operator import itemgetter
from typing import Any, Final

_BY_TAG: Final = {
    1: "None", 2: "bool", 3: "bool", 4: "int", 5: "int", 6: "int", 7: "int", 8: "float", 9: "str", 10: "bytes",
    11: "tuple", 12: "tuple", 13: "list", 14: "Row", 15: "Decimal", 16: "date", 17: "time", 18: "datetime",
    19: "datetime", 20: "timedelta", 21: "UUID", 22: "Enum", 23: "dataclass", 24: "named tuple", 25: "Instant",
    26: "bytearray", 27: "frozenset", 28: "subclass",
}  # fmt: skip

_key_of: Final = itemgetter(0)


class KeyKinds:
    """The kinds of the keys whose state changed, as the names of their types.

    >>> kinds = KeyKinds()
    >>> kinds.note(["a", 5, b"\\x03", ("b", "a window"), None])
    >>> kinds.names()
    ['bool', 'int', 'str']
    """

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: set[str] = set()

    def note(self, currents: Collection[Any]) -> None:
        """Add the kinds of state keys, or of pairs of state key and namespace; None stands for no key."""
        kinds = set(map(type, currents))
        if tuple in kinds:
            if len(kinds) == 1:
                currents = [*map(_key_of, currents)]
            else:
                currents = [current[0] if type(current) is tuple else current for current in currents]
            kinds = set(map(type, currents))
        self._names.update([kind.__name__ for kind in (str, int) if kind in kinds])
        if bytes in kinds:
            self._names.update(_BY_TAG[tag] for tag in {key[0] for key in currents if type(key) is bytes})

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(self._names)
