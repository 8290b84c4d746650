"""GROUP BY: its keys, its grouping sets, its window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import Final

from sqlglot import exp

from firesteel.common.places import Place
from firesteel.relational.expressions import Expression
from firesteel.sql import nodes
from firesteel.sql.binding import group_windows
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.values import GroupWindow

_Set = tuple[int, ...]
_MOST_SETS: Final = 4096


@dataclass(frozen=True)
class Groups:
    """What rows are grouped by: expressions over the rows of FROM, and at most one window.

    `sets` are those of GROUPING SETS, ROLLUP and CUBE, as places in `keys`; one may be there repeatedly. `place` is
    where the window is written.
    """

    keys: tuple[Expression, ...] = ()
    sets: tuple[_Set, ...] | None = None
    window: GroupWindow | None = None
    place: Place | None = None


def groups_by_nothing(group: exp.Group | None) -> bool:
    """Return whether all rows are one group, which exists without any row."""
    items = group.expressions if group is not None else []
    return all(isinstance(item, exp.Tuple) and not item.expressions for item in items)


class GroupBinder:
    """Binds one GROUP BY; raises SqlValidationError for aggregates among the keys and for a second window."""

    def __init__(self, binder: Expressions) -> None:
        self._binder = replace(binder, clause="GROUP BY", aggregates=False, overs=False, aliases={})
        self._text = binder.context.text
        self._keys: list[Expression] = []
        self._window: GroupWindow | None = None
        self._place: Place | None = None

    def bind(self, group: exp.Group) -> Groups:
        """Return the groups."""
        parts = [self._sets_of(item) for item in group.expressions]
        plain = not any(
            isinstance(item, exp.GroupingSets | exp.Rollup | exp.Cube) for item in group.expressions
        )
        count = 1
        for part in parts:
            count *= len(part)
        if count > _MOST_SETS:
            raise self._text.wrong(group, f"requires at most {_MOST_SETS} grouping sets", got=str(count))
        sets = None if plain else tuple(_merged(combined) for combined in product(*parts))
        if sets is not None and self._window is not None:
            raise self._text.unsupported(group, "a window of GROUP BY together with grouping sets")
        return Groups(tuple(self._keys), sets, self._window, self._place)

    def _sets_of(self, item: exp.Expr) -> list[_Set]:
        match item:
            case exp.GroupingSets():
                return [part for inner in item.expressions for part in self._sets_of(inner)]
            case exp.Rollup():
                places = [self._places(part) for part in item.expressions]
                return [_merged(places[:length]) for length in range(len(places), -1, -1)]
            case exp.Cube():
                places = [self._places(part) for part in item.expressions]
                if 2 ** len(places) > _MOST_SETS:
                    raise self._text.wrong(item, f"requires at most {_MOST_SETS} grouping sets")
                lengths = range(len(places), -1, -1)
                subsets = chain.from_iterable(combinations(places, length) for length in lengths)
                return [_merged(subset) for subset in subsets]
        return [self._places(item)]

    def _places(self, item: exp.Expr) -> _Set:
        if isinstance(item, exp.Tuple):
            return _merged([self._places(part) for part in item.expressions])
        if isinstance(item, exp.Paren):
            return self._places(item.this)
        if isinstance(item, nodes.Call) and group_windows.is_window(item.function.upper()):
            self._set_window(item)
            return ()
        key = self._binder.bind(item)
        if key not in self._keys:
            self._keys.append(key)
        return (self._keys.index(key),)

    def _set_window(self, item: nodes.Call) -> None:
        window = group_windows.bind_group_window(self._binder, item)
        if self._window not in (None, window):
            raise self._text.wrong(item, "requires only one window in GROUP BY")
        self._window, self._place = window, self._text.place(item)


def _merged(parts: tuple[_Set, ...] | list[_Set]) -> _Set:
    return tuple(sorted(set(chain.from_iterable(parts))))
