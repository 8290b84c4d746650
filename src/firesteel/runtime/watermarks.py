"""The watermark of a subtask: the minimum over its live input channels (Flink: StatusWatermarkValve)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

IDLE = None


class WatermarkValve:
    """Combines the channels' watermarks; calls back when the minimum over the live ones rises, or all turn idle.

    All channels start at `start`, the subtask's watermark when the previous epoch ended, until they announce their own.
    An idle channel does not hold the others back. It becomes live again with its next watermark, but only one that has
    caught up with the combined watermark counts. The combined watermark never falls.

    >>> seen = []
    >>> valve = WatermarkValve(["a", "b"], 0, seen.append)
    >>> valve.update("a", 5); valve.update("b", 3); valve.update("b", None); valve.update("a", 7)
    >>> valve.update("b", 6); valve.update("a", 9); valve.update("b", 9); valve.update("a", 12)
    >>> seen
    [3, 5, 7, 9]
    """

    __slots__ = ("_announced", "_channels", "_emit", "_idle", "combined")

    def __init__(self, channels: Iterable[Hashable], start: int, emit: Callable[[int | None], None]) -> None:
        self._channels: dict[Hashable, int] = dict.fromkeys(channels, start)
        self._announced: set[Hashable] = set()
        self._idle: set[Hashable] = set()
        self._emit = emit
        self.combined = start

    def update(self, channel: Hashable, watermark: int | None) -> None:
        """Record a channel's watermark in milliseconds, or None when it becomes idle."""
        if watermark is IDLE:
            if channel in self._idle:
                return
            self._idle.add(channel)
            if len(self._idle) == len(self._channels):
                self._all_idle()
                return
        else:
            self._idle.discard(channel)
            if watermark > self._channels[channel] or channel not in self._announced:
                self._announced.add(channel)
                self._channels[channel] = watermark
        self._advance()

    def _advance(self) -> None:
        idle, combined = self._idle, self.combined
        counting = [
            mark for channel, mark in self._channels.items() if mark >= combined and channel not in idle
        ]
        low = min(counting, default=combined)
        if low > combined:
            self.combined = low
            self._emit(low)

    def _all_idle(self) -> None:
        high = max(self._channels.values())
        if high > self.combined:
            self.combined = high
            self._emit(high)
        self._emit(IDLE)
