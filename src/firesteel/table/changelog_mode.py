"""ChangelogMode: which kinds of changes a changelog has."""

from __future__ import annotations

from firesteel.functions.changelog_mode import ChangelogMode

__all__ = ["ChangelogMode"]
