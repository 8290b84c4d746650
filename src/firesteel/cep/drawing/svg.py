"""Drawings of patterns as pictures: a card for each state, and an arrow from each way out of it to the next card.

Cards stand one below the other; arrows run in lanes to their right, short ones nearest, so that no text is crossed.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

from firesteel.cep.drawing.text import heading, words
from firesteel.runtime.patterns.diagram import Diagram, Way
from firesteel.runtime.patterns.states import Action, Kind

__all__ = ["as_svg"]

_LETTER: Final = 7.3
"""The width of a letter in pixels, of a font of twelve pixels whose letters are all as wide."""
_MARGIN: Final = 16
_TITLE: Final = 28
_HEAD: Final = 28
_LINE: Final = 20
_GAP: Final = 18
_LANE: Final = 14

_COLOURS: Final = {Action.TAKE: "#1f7a3d", Action.IGNORE: "#7a808c", Action.PROCEED: "#2b5cb0"}
_DASHES: Final = {
    Action.TAKE: "",
    Action.IGNORE: ' stroke-dasharray="5 3"',
    Action.PROCEED: ' stroke-dasharray="2 3"',
}
_FILLS: Final = {Kind.NORMAL: "#eef2f8", Kind.PENDING: "#fdf3dc", Kind.STOP: "#fbe3e1", Kind.FINAL: "#dff3e4"}


@dataclass(frozen=True)
class _Arrow:
    """An arrow from the height `begin` to the height `end`."""

    action: Action
    begin: float
    end: float

    @property
    def low(self) -> float:
        return min(self.begin, self.end)

    @property
    def high(self) -> float:
        return max(self.begin, self.end)


def as_svg(diagram: Diagram) -> str:
    """Return the picture as an SVG document."""
    tops, bottom = _tops(diagram)
    letters = max(len(text) for state in diagram.states for text in (heading(state), *map(words, state.ways)))
    right = _MARGIN + letters * _LETTER + 28
    arrows = [
        _Arrow(way.action, _height(tops[place], line), tops[way.target] + _HEAD / 2)
        for place, state in enumerate(diagram.states)
        for line, way in enumerate(state.ways)
    ]
    lanes = _lanes(arrows)
    width = max(right + (max(lanes, default=0) + 2) * _LANE, len(diagram.title) * _LETTER) + _MARGIN
    font = 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom:.0f}" {font}>',
        f"<defs>{''.join(map(_head, Action))}</defs>",
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_MARGIN, _MARGIN + 8, diagram.title, "#30343c"),
    ]
    for place, state in enumerate(diagram.states):
        parts += _card(right, tops[place], heading(state), state.ways, _FILLS[state.kind])
    parts += [_drawn(right, arrow, lane) for arrow, lane in zip(arrows, lanes, strict=True)]
    return "\n".join([*parts, "</svg>"])


def _tops(diagram: Diagram) -> tuple[list[float], float]:
    """Return where the cards begin, and where the picture ends."""
    tops, top = [], float(_MARGIN + _TITLE)
    for state in diagram.states:
        tops.append(top)
        top += _size(len(state.ways)) + _GAP
    return tops, top - _GAP + _MARGIN


def _size(ways: int) -> float:
    return _HEAD + ways * _LINE + (8 if ways else 0)


def _height(top: float, line: int) -> float:
    """Return the middle of a line of a card."""
    return top + _HEAD + line * _LINE + _LINE / 2 + 2


def _lanes(arrows: list[_Arrow]) -> list[int]:
    """Return a lane for each arrow, in which no other one is at the same height; short arrows have the first ones."""
    lanes = [0] * len(arrows)
    taken: list[list[_Arrow]] = []
    for place in sorted(range(len(arrows)), key=lambda place: arrows[place].high - arrows[place].low):
        arrow = arrows[place]
        free = (
            lane
            for lane, others in enumerate(taken)
            if all(arrow.high + 4 < other.low or other.high + 4 < arrow.low for other in others)
        )
        lane = lanes[place] = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append(arrow)
    return lanes


def _card(right: float, top: float, title: str, ways: tuple[Way, ...], fill: str) -> list[str]:
    width, height = right - _MARGIN, _size(len(ways))
    place = f'x="{_MARGIN}" y="{top:.0f}" width="{width:.0f}" rx="6" stroke="#aab2c0"'
    parts = [
        f'<rect {place} height="{height:.0f}" fill="white"/>',
        f'<rect {place} height="{_HEAD}" fill="{fill}"/>',
        _text(_MARGIN + 10, top + _HEAD / 2 + 4, title, "#111418", ' font-weight="bold"'),
    ]
    parts += [
        _text(_MARGIN + 10, _height(top, line) + 4, words(way), _COLOURS[way.action])
        for line, way in enumerate(ways)
    ]
    return parts


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" xml:space="preserve"{more}>{escape(text)}</text>'


def _drawn(right: float, arrow: _Arrow, lane: int) -> str:
    x = right + (lane + 1.5) * _LANE
    return (
        f'<path d="M {right:.0f} {arrow.begin:.0f} H {x:.0f} V {arrow.end:.0f} H {right + 2:.0f}" fill="none" '
        f'stroke="{_COLOURS[arrow.action]}" stroke-width="1.5"{_DASHES[arrow.action]} '
        f'marker-end="url(#{arrow.action.value})"/>'
    )


def _head(action: Action) -> str:
    """Return the head of the arrows of an action."""
    return (
        f'<marker id="{action.value}" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        f'<path d="M 0 0 L 8 4 L 0 8 z" fill="{_COLOURS[action]}"/></marker>'
    )
