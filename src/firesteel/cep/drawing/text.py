"""Drawings of patterns in letters: for a terminal, and in Mermaid's language."""

from __future__ import annotations

import json
from typing import Final

from firesteel.runtime.patterns.diagram import Diagram, DrawnState, Way
from firesteel.runtime.patterns.states import Action, Kind

__all__ = ["as_mermaid", "as_text", "heading", "words"]

_VERBS: Final = {Action.TAKE: "takes", Action.IGNORE: "ignores", Action.PROCEED: "goes on"}
_ENTITIES: Final = str.maketrans({mark: f"#{ord(mark)};" for mark in '#;:<>"{}[]%'})
"""What has a meaning in labels of Mermaid."""


def as_text(diagram: Diagram) -> str:
    """Return the states line by line, with the ways out of each below it."""
    lines = [diagram.title]
    for place, state in enumerate(diagram.states):
        lines += ["", heading(state), *(f"    {_line(diagram, place, way)}" for way in state.ways)]
    return "\n".join(lines)


def heading(state: DrawnState) -> str:
    """Return what is said of a state."""
    return f"{state.name} ({state.remark})" if state.remark else state.name


def words(way: Way) -> str:
    """Return what becomes of an event on a way out of a state, and when."""
    return f"{_VERBS[way.action]} if {way.condition}" if way.condition else _VERBS[way.action]


def _line(diagram: Diagram, place: int, way: Way) -> str:
    waits = way.action is Action.IGNORE and way.target == place
    target = "" if waits else f" -> {diagram.states[way.target].name}"
    return f"{_VERBS[way.action]}{target}" + (f" if {way.condition}" if way.condition else "")


def as_mermaid(diagram: Diagram) -> str:
    """Return a state diagram in Mermaid's language."""
    lines = ["stateDiagram-v2", "direction LR", "[*] --> s0"]
    for place, state in enumerate(diagram.states):
        lines.append(f'state "{_escaped(heading(state))}" as s{place}')
    for place, state in enumerate(diagram.states):
        lines += [f"s{place} --> s{way.target}: {_escaped(words(way))}" for way in state.ways]
        if state.kind in (Kind.FINAL, Kind.STOP):
            lines.append(f"s{place} --> [*]")
    return f"---\ntitle: {json.dumps(diagram.title)}\n---\n" + "\n    ".join(lines)


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)
