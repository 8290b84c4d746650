"""A pattern that an operator looks for among others."""

from __future__ import annotations

from typing import Any

from firesteel.functions.base import Function
from firesteel.functions.patterns.results import PatternProcessFunction
from firesteel.functions.windows import CountWindow
from firesteel.runtime.patterns.matcher import Matcher


class RunningPattern:
    """A pattern with its number, id and version; it is looked for from `since` until `until` (ms, exclusive).

    `timed`: its partial matches have deadlines. `opened` are the functions that were opened for it alone, `definition`
    the parts of its definition, if it comes from a stream of them.
    """

    __slots__ = (
        "definition", "function", "id", "matcher", "namespace", "number", "opened", "shape", "since", "timed", "until",
        "version",
    )  # fmt: skip

    number: int
    id: str
    version: int | None
    definition: Any
    since: int
    until: int
    shape: list[str]
    matcher: Matcher
    timed: bool
    function: PatternProcessFunction
    namespace: CountWindow
    opened: list[Function]
