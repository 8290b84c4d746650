"""The valve: the combined watermark is the minimum over live channels, and never falls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firesteel.runtime.watermarks import WatermarkValve

updates = st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 20)), max_size=40)


@given(updates)
def test_the_combined_watermark_is_the_minimum_over_live_channels_as_far_as_it_rises(events):
    emitted = []
    valve = WatermarkValve(range(3), 0, emitted.append)
    marks, idle, expected = dict.fromkeys(range(3), 0), set(), 0
    for channel, watermark in events:
        valve.update(channel, watermark)
        if watermark is None:
            idle.add(channel)
        else:
            idle.discard(channel)
            marks[channel] = max(marks[channel], watermark)
        live = [marks[each] for each in marks if each not in idle]
        expected = max(expected, min(live) if live else max(marks.values()))
        assert valve.combined == expected
    risen = [watermark for watermark in emitted if watermark is not None]
    assert risen == sorted(set(risen))


def test_all_channels_idle_is_passed_on():
    emitted = []
    valve = WatermarkValve(["a", "b"], 0, emitted.append)
    valve.update("a", None)
    valve.update("b", None)
    assert emitted == [None]


def test_a_channel_that_wakes_holds_the_others_back_again():
    emitted = []
    valve = WatermarkValve(["a", "b"], 0, emitted.append)
    valve.update("b", None)
    valve.update("a", 10)
    valve.update("b", 4)
    valve.update("a", 12)
    valve.update("b", 11)
    assert emitted == [10, 11]
