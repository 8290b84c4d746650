"""Which clock fired a timer."""

from __future__ import annotations

from firesteel.functions.process import TimeDomain

__all__ = ["TimeDomain"]
