"""The clocks and timers of process functions."""

from __future__ import annotations

from firesteel.functions.process import TimerService

__all__ = ["TimerService"]
