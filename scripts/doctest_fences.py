"""Shows the examples of docstrings as code: an extension of Griffe, which reads docstrings for the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from griffe import Extension, Object


class DoctestFences(Extension):
    """Puts fences around doctests, which Markdown would take for quotations."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence the doctests of one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = "\n".join(fenced(obj.docstring.value.splitlines()))


def fenced(lines: list[str]) -> Iterator[str]:
    """Yield lines with a fence around each doctest and its output.

    >>> list(fenced(["Add.", "", ">>> 1 + 1", "2", "", "That was it."]))
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'That was it.']
    """
    inside = False
    for line in lines:
        text = line.strip()
        if inside and not text:
            yield "```"
            inside = False
        elif not inside and text.startswith(">>>"):
            yield "```pycon"
            inside = True
        yield line
    if inside:
        yield "```"
