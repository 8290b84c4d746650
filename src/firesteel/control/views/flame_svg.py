"""A flame graph as a picture (SVG): the widths of calls are their samples; the outermost calls are at the bottom."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from html import escape
from typing import Final

from firesteel.control.views.flamegraphs import FlameNode

_WIDTH: Final = 1200
_ROW: Final = 17
_TOP: Final = 30
_NARROWEST: Final = 0.4
_LETTER: Final = 6.6
_STYLE: Final = "text{font:11px monospace;pointer-events:none}rect{stroke:#fff;stroke-width:.5}"


def flame_svg(root: FlameNode, title: str) -> str:
    """Return the picture; pointing at a call shows its name, its samples and their share.

    >>> flame_svg(FlameNode("root", 2, [FlameNode("parse", 2)]), "count").count("<rect")
    3
    """
    height = _TOP + _ROW * _depth(root)
    frames = "\n".join(_frames(root, 0.0, _WIDTH / max(1, root.value), height - _ROW, root.value))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}">\n<style>{_STYLE}</style>\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>\n'
        f'<text x="8" y="19">{escape(title)}: {root.value} samples</text>\n{frames}\n</svg>\n'
    )


def _depth(node: FlameNode) -> int:
    deepest, below = 0, [(node, 1)]
    while below:
        current, depth = below.pop()
        deepest = max(deepest, depth)
        below.extend((child, depth + 1) for child in current.children)
    return deepest


def _frames(node: FlameNode, x: float, scale: float, y: int, whole: int) -> Iterator[str]:
    """Yield the rectangles of a call and of those within it."""
    waiting = [(node, x, y)]
    while waiting:
        current, left, top = waiting.pop()
        width = current.value * scale
        if width < _NARROWEST:
            continue
        share = 100 * current.value / max(1, whole)
        about = f"{current.name}: {current.value} samples, {share:.1f} %"
        fits = int(width / _LETTER)
        shown = current.name if len(current.name) <= fits else current.name[-fits + 1 :] if fits > 3 else ""
        yield (
            f'<g><title>{escape(about)}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" '
            f'height="{_ROW}" fill="{_color(current.name)}"/>'
            f'<text x="{left + 3:.1f}" y="{top + 12}">{escape(shown)}</text></g>'
        )
        for child in current.children:
            waiting.append((child, left, top - _ROW))
            left += child.value * scale


def _color(name: str) -> str:
    """Return a warm colour that is the same for a module in every picture."""
    tone = zlib.crc32(name.rpartition(":")[0].rpartition(".")[0].encode())
    return f"rgb({205 + tone % 50},{90 + tone // 50 % 120},{40 + tone // 6000 % 50})"
