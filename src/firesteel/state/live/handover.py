"""What an epoch changed in the caches of a subtask, in a form in which other processes of the machine can take it over.

Spark may give a subtask to another worker process in each epoch. A process that gets it back has cached entries of an
earlier epoch. It takes over what the epochs in between changed, instead of reading everything again.

A part notes the same objects that it writes to the run. Values that consist of plain atoms are handed over themselves.
Of others only the keys are, so that the other process reads them again: an object of a class could come back different
from what the state's codec makes of it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from firesteel.state.keys.composite import NamespaceCodec

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
        """Return what was noted since the last call; None after `give_up`."""
        if self._given_up:
            return None
        noted, self._noted = self._noted, []
        return [self._plain(*each) for each in noted if each[1]]

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
        places: dict[Any, int] = {}
        spaces = [places.setdefault(namespace, len(places)) for _, namespace in currents]
        namespaces = list(map(self._codec.encode, places))
        return Changed(state_id, [key for key, _ in currents], spaces, namespaces, values)


def _are_plain(values: list[Any]) -> bool:
    kinds = set(map(type, values)) - _ATOMS
    if not kinds:
        return True
    return kinds <= _FLAT and all(
        _ATOMS.issuperset(map(type, value)) for value in values if type(value) in _FLAT
    )
