"""The watermark of a subtask: the minimum over its live input channels (Flink: StatusWatermarkValve)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

IDLE = None


class WatermarkValve:
    """Combines the channels' watermarks; calls back when the minimum over the live ones rises, or all turn idle.

    All channels start at `start`, the subtask's watermark when the previous epoch ended. An idle channel does not hold
    the others back; it becomes live again with its next watermark. The combined watermark never falls.

    >>> seen = []
    >>> valve = WatermarkValve(["a", "b"], 0, seen.append)
    >>> valve.update("a", 5); valve.update("b", 3); valve.update("b", None); valve.update("a", 7)
    >>> seen
    [3, 5, 7]
    """

    __slots__ = ("_channels", "_emit", "_idle", "combined")

    def __init__(self, channels: Iterable[Hashable], start: int, emit: Callable[[int | None], None]) -> None:
        self._channels: dict[Hashable, int] = dict.fromkeys(channels, start)
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
            if watermark <= self._channels[channel]:
                watermark = self._channels[channel]
            self._channels[channel] = watermark
        self._advance()

    def _advance(self) -> None:
        idle = self._idle
        low = min(mark for channel, mark in self._channels.items() if channel not in idle)
        if low > self.combined:
            self.combined = low
            self._emit(low)

    def _all_idle(self) -> None:
        high = max(self._channels.values())
        if high > self.combined:
            self.combined = high
            self._emit(high)
        self._emit(IDLE)
