"""What an epoch changed in the caches of a subtask, in a form in which other processes of the machine can take it over.

Spark may give a subtask to another worker process in each epoch. A process that gets it back has cached entries of an
earlier epoch. It takes over what the epochs in between changed, instead of reading everything again.

A part notes the same objects that it writes to the run. Values that consist of plain atoms are handed over themselves.
Of others only the keys are, so that the other process reads them again: an object of a class could come back different
from what the state's codec makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, starmap
from operator import itemgetter
from typing import Any, Final, NamedTuple

from firesteel.state.keys.composite import NamespaceCodec

_PART: Final = 1024
"""Entries that are handed over together: few enough that their bytes take little memory."""

_key_of: Final = itemgetter(0)
_namespace_of: Final = itemgetter(1)
_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
_FLAT: Final = frozenset({tuple, list})


class Changed(NamedTuple):
    """Changed entries of one state; everything in it is plain: atoms, tuples and lists.

    `keys` are the state keys. If the state has namespaces, `spaces` has the position of each key's namespace in
    `namespaces`, their bytes. `values` are the new values (None: removed); without them the entries are only outdated.
    """

    state_id: int
    keys: list[Any]
    spaces: list[int] | None
    namespaces: list[bytes]
    values: list[Any] | None


class Handover:
    """Collects the changes of an epoch: `begin`, any number of `note`, `take`.

    After `give_up` nothing is collected until the next epoch: what memory had no room for must not stay in memory here.

    >>> from firesteel.functions.windows import WINDOW_CODEC
    >>> handover = Handover(WINDOW_CODEC)
    >>> handover.note(7, ["a", "b"], [1, {}])
    >>> handover.take()
    [Changed(state_id=7, keys=['a', 'b'], spaces=None, namespaces=[], values=None)]
    """

    def __init__(self, codec: NamespaceCodec) -> None:
        self._codec = codec
        self._noted: list[tuple[int, list[Any], list[Any] | None]] = []
        self._given_up = False

    def begin(self) -> None:
        """Start an epoch."""
        self._noted = []
        self._given_up = False

    def give_up(self) -> None:
        """Drop what was noted, and all that is noted in this epoch from now on."""
        self._noted = []
        self._given_up = True

    def note(self, state_id: int, currents: list[Any], values: list[Any] | None) -> None:
        """Add entries by their scope's `current`; the lists must not change afterwards."""
        if not self._given_up:
            self._noted.append((state_id, currents, values))

    def take(self) -> list[Changed] | None:
        """Return what was noted since the last call, in parts; None after `give_up`."""
        if self._given_up:
            return None
        noted, self._noted = self._noted, []
        return [*starmap(self._plain, chain.from_iterable(starmap(_parts, noted)))]

    def currents_of(self, changed: Changed) -> list[Any]:
        """Return the value of the scope's `current` for each entry."""
        if changed.spaces is None:
            return changed.keys
        namespaces = list(map(self._codec.decode, changed.namespaces))
        return [(key, namespaces[at]) for key, at in zip(changed.keys, changed.spaces, strict=True)]

    def _plain(self, state_id: int, currents: list[Any], values: list[Any] | None) -> Changed:
        if values is not None and not _are_plain(values):
            values = None
        if type(currents[0]) is not tuple:
            return Changed(state_id, currents, None, [], values)
        namespaces = [*map(_namespace_of, currents)]
        places = {namespace: place for place, namespace in enumerate(dict.fromkeys(namespaces))}
        spaces = [*map(places.__getitem__, namespaces)]
        return Changed(
            state_id, [*map(_key_of, currents)], spaces, [*map(self._codec.encode, places)], values
        )


def _parts(
    state_id: int, currents: list[Any], values: list[Any] | None
) -> Iterator[tuple[int, list[Any], list[Any] | None]]:
    for start in range(0, len(currents), _PART):
        some = slice(start, start + _PART)
        yield state_id, currents[some], None if values is None else values[some]


def _are_plain(values: list[Any]) -> bool:
    kinds = set(map(type, values)) - _ATOMS
    if not kinds:
        return True
    return kinds <= _FLAT and all(
        _ATOMS.issuperset(map(type, value)) for value in values if type(value) in _FLAT
    )
