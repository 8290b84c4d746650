"""The valve: the combined watermark is the minimum over live channels that have caught up, and never falls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firesteel.runtime.watermarks import WatermarkValve

updates = st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 20)), max_size=40)


class Flink:
    """What Flink's StatusWatermarkValve does, channel by channel: live or idle, and aligned or not."""

    def __init__(self, channels, start):
        self.combined = start
        self._marks = dict.fromkeys(channels, start)
        self._live = set(channels)
        self._aligned = set(channels)

    def update(self, channel, watermark):
        if watermark is None:
            was_live = channel in self._live
            self._live.discard(channel)
            self._aligned.discard(channel)
            if not self._live and was_live:
                self.combined = max(self.combined, *self._marks.values())
        else:
            self._live.add(channel)
            self._marks[channel] = max(self._marks[channel], watermark)
            if self._marks[channel] >= self.combined:
                self._aligned.add(channel)
        if self._aligned:
            self.combined = max(self.combined, min(self._marks[each] for each in self._aligned))


@given(updates)
def test_the_combined_watermark_is_that_of_flink(events):
    emitted = []
    valve, model = WatermarkValve(range(3), 0, emitted.append), Flink(range(3), 0)
    for channel, watermark in events:
        valve.update(channel, watermark)
        model.update(channel, watermark)
        assert valve.combined == model.combined
    risen = [watermark for watermark in emitted if watermark is not None]
    assert risen == sorted(set(risen))


def test_all_channels_idle_is_passed_on():
    emitted = []
    valve = WatermarkValve(["a", "b"], 0, emitted.append)
    valve.update("a", None)
    valve.update("b", None)
    assert emitted == [None]


def test_a_channel_that_wakes_behind_the_others_does_not_hold_them_back_until_it_has_caught_up():
    emitted = []
    valve = WatermarkValve(["a", "b"], 0, emitted.append)
    for channel, watermark in [("b", None), ("a", 10), ("b", 4), ("a", 12), ("b", 12), ("a", 15), ("b", 14)]:
        valve.update(channel, watermark)
    assert emitted == [10, 12, 14]


def test_a_channel_that_is_behind_stays_so_in_the_next_epoch():
    emitted = []
    valve = WatermarkValve(["a", "b"], 12, emitted.append)
    for channel, watermark in [("a", 15), ("b", 4), ("b", 5), ("b", 16)]:
        valve.update(channel, watermark)
    assert emitted == [15]
