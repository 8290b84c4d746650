"""The rows before updates whose messages have the old values of changed columns alone.

A column that is not among the old values has not changed. One that is there and is NULL was NULL; columns do not tell
these two apart, so that the text of such a message is looked at. As in Flink a column counts as being there if any
field within the old values has its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.connectors.tables.changes.envelope import Mask, Places, valid
from firesteel.connectors.tables.changes.messages import Messages, names_below

_OBJECTS: Final = (b'"mysqlType"', b'"sqlType"')
"""Fields with an object that has nothing to do with rows."""


class OldValues:
    """Completes old rows; `names` are those of the columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        spelled = b"|".join(re.escape(name.encode()) for name in names)
        self._doubtful = re.compile(rb'"(?:' + spelled + rb')"\s*:\s*null|\\u')

    def completed(
        self, messages: Messages, places: Places, old: pa.Array, new: pa.Array, objects: int
    ) -> list[pa.Array]:
        """Return the columns of old rows, each of the message at its place, where `new` are the new rows.

        All messages have `objects` objects, if there are none within rows.
        """
        columns = [*zip(old.flatten(), new.flatten(), strict=True)]
        told = [valid(before) for before, _ in columns]
        absent = [~was & valid(after) for was, (_, after) in zip(told, columns, strict=True)]
        doubtful = np.logical_or.reduce(absent) if absent else np.zeros(len(places), np.bool_)
        named = self._named(messages, places, doubtful, objects)
        if len(places) > 1 and (places[1:] == places[:-1]).any():
            named = [one | _anywhere(was, places) for one, was in zip(named, told, strict=True)]
        completed = []
        for number, (before, after) in enumerate(columns):
            stays = ~absent[number] | named[number]
            completed.append(before if stays.all() else pc.if_else(pa.array(stays), before, after))
        return completed

    def _named(self, messages: Messages, places: Places, doubtful: Mask, objects: int) -> list[Mask]:
        """Return by column which of the rows have it among their old values, where it matters."""
        named = [np.zeros(len(places), np.bool_) for _ in self._names]
        if not doubtful.any():
            return named
        if not self._is_doubtful(messages.block) and _objects(messages.block) <= objects:
            return named
        texts = messages.texts()
        objects_of = np.bincount(places)
        for row in np.flatnonzero(doubtful).tolist():
            place = int(places[row])
            text = texts[place]
            if self._doubtful.search(text) or _objects(text) > 1 + 2 * objects_of[place]:
                found = names_below(text, "old")
                for number, name in enumerate(self._names):
                    named[number][row] = name in found
        return named

    def _is_doubtful(self, block: bytes) -> bool:
        """Return whether a column may be NULL by name somewhere; most blocks are known quickly not to have any."""
        others = block.count(b'"old":null')
        return (block.count(b"null") > others or b"\\u" in block) and bool(self._doubtful.search(block))


def _anywhere(told: Mask, places: Places) -> Mask:
    """Return for each row whether one of its message has an old value."""
    return np.asarray(np.bincount(places, weights=told)[places] > 0)


def _objects(text: bytes) -> int:
    """Return how many objects there are at most in a text, apart from those that say nothing about rows."""
    return text.count(b"{") - sum(map(text.count, _OBJECTS))
