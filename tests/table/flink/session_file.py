"""The file of sessions: `--! name`, then the statements of the session, each ended by a semicolon at a line's end."""

from __future__ import annotations

import re
from pathlib import Path


def sessions(file: Path) -> dict[str, list[str]]:
    """Return the statements of each session by its name."""
    parts = re.split(r"^--! (.*)$", file.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: [text.strip() for text in re.split(r";$", body, flags=re.MULTILINE) if text.strip()]
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
