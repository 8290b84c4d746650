"""Routers: every record reaches one right target once, in order, with each watermark at its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import RecordError
from firesteel.functions.adapt import as_function
from firesteel.functions.elements import KeySelector, Partitioner
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.blocks import decode_block
from firesteel.runtime.outbox import Outbox
from firesteel.runtime.plan import Distribution, EdgeSpec
from firesteel.runtime.routing import (
    BLOCK_BYTES,
    ChoiceRouter,
    FixedRouter,
    RoundRobinRouter,
    ShuffleRouter,
)
from firesteel.runtime.rows.keying import KeyByEdge, PartitionEdge
from firesteel.state.keys.groups import key_group, state_key, subtask_of

batches = st.lists(st.lists(st.tuples(st.integers(-9, 9), st.text(max_size=3)), max_size=12), max_size=6)


def received(rows, target):
    """What a target gets, in the order in which it would process it: values and watermarks."""
    events = []
    for row in sorted((row for row in rows if row[0] == target), key=lambda row: (row[3], row[2])):
        batch, marks = decode_block(row[4])
        values = [] if batch is None else batch.values
        start = 0
        for position, watermark in marks:
            events.extend(("value", value) for value in values[start:position])
            events.append(("watermark", watermark))
            start = position
        events.extend(("value", value) for value in values[start:])
    return events


def run(router, input_batches):
    """Send batches, each followed by a watermark that counts the records sent so far."""
    sent = 0
    for values in input_batches:
        router.receive(RowBatch(values, [sent + index for index in range(len(values))]))
        sent += len(values)
        router.receive_watermark(sent)
    router.flush()


def partitioned(partition):
    """The functions of a partitioner into two targets, opened."""
    functions = PartitionEdge(
        as_function(partition, Partitioner, "partition", "test"),
        as_function(abs, KeySelector, "get_key", "test"),
        "test",
        2,
    )
    functions.open(None)
    return functions


@given(batches, st.integers(1, 7))
def test_keyed_records_reach_the_owner_of_their_group_in_order(input_batches, targets):
    outbox = Outbox()
    functions = KeyByEdge(
        as_function(lambda value: value, KeySelector, "get_key", "test"), None, "test", targets, 128
    )
    functions.open(None)
    run(ChoiceRouter(0, 0, targets, outbox, functions), input_batches)
    rows = list(outbox.drain())
    everything = [value for values in input_batches for value in values]
    for target in range(targets):
        mine = [
            value
            for value in everything
            if subtask_of(key_group(state_key(value), 128), targets, 128) == target
        ]
        assert [event for kind, event in received(rows, target) if kind == "value"] == mine


@given(batches, st.integers(1, 5))
def test_a_watermark_stands_behind_all_records_sent_before_it_and_ahead_of_all_later_ones(
    input_batches, targets
):
    outbox = Outbox()
    run(RoundRobinRouter(0, 1, targets, outbox, list(range(targets))), input_batches)
    rows = list(outbox.drain())
    order = {}
    for position, value in enumerate(value for values in input_batches for value in values):
        order.setdefault(value, []).append(position)
    total = 0
    for target in range(targets):
        seen = 0
        for kind, event in received(rows, target):
            if kind == "watermark":
                seen = event
            else:
                total += 1
                assert any(position >= seen for position in order[event])
        assert seen == sum(map(len, input_batches)) if input_batches else True
    assert total == sum(map(len, input_batches))


@given(batches, st.integers(1, 5))
def test_a_broadcast_reaches_every_target_in_order(input_batches, targets):
    outbox = Outbox()
    run(FixedRouter(0, 0, targets, outbox, list(range(targets))), input_batches)
    rows = list(outbox.drain())
    everything = [value for values in input_batches for value in values]
    for target in range(targets):
        assert [event for kind, event in received(rows, target) if kind == "value"] == everything


@given(batches, st.integers(1, 5), st.integers(0, 3))
def test_a_shuffle_loses_nothing_and_is_the_same_for_the_same_seed(input_batches, targets, seed):
    results = []
    for _ in range(2):
        outbox = Outbox()
        run(ShuffleRouter(0, 0, targets, outbox, seed), input_batches)
        rows = list(outbox.drain())
        results.append([received(rows, target) for target in range(targets)])
    assert results[0] == results[1]
    values = [event for target in results[0] for kind, event in target if kind == "value"]
    assert sorted(values) == sorted(value for values in input_batches for value in values)


def test_records_are_dealt_out_evenly():
    outbox = Outbox()
    router = RoundRobinRouter(0, 0, 3, outbox, [0, 1, 2])
    run(router, [list(range(10)), list(range(10, 20))])
    rows = list(outbox.drain())
    counts = [sum(kind == "value" for kind, _ in received(rows, target)) for target in range(3)]
    assert sorted(counts) == [6, 7, 7]


def test_a_watermark_just_before_idleness_is_not_lost():
    outbox = Outbox()
    router = FixedRouter(0, 0, 1, outbox, [0])
    for watermark in (10, 24, None, None, 30, None):
        router.receive_watermark(watermark)
    router.flush()
    rows = list(outbox.drain())
    assert [event for _, event in received(rows, 0)] == [24, 30, None]


def test_a_partitioner_chooses_and_is_checked():
    outbox = Outbox()
    run(ChoiceRouter(0, 0, 2, outbox, partitioned(lambda key, count: key % count)), [[-1, 2, 3]])
    rows = list(outbox.drain())
    assert [event for kind, event in received(rows, 1) if kind == "value"] == [-1, 3]
    with pytest.raises(RecordError, match=r"requires its partitioner to return an int in \[0, 2\); got 7"):
        run(ChoiceRouter(0, 0, 2, outbox, partitioned(lambda key, count: 7)), [[1]])


def test_large_records_are_sent_in_blocks_of_about_a_megabyte():
    outbox = Outbox()
    run(FixedRouter(0, 0, 1, outbox, [0]), [["x" * (BLOCK_BYTES // 8) + str(number) for number in range(40)]])
    rows = list(outbox.drain())
    assert max(len(row[4]) for row in rows) <= 2 * BLOCK_BYTES
    assert sum(kind == "value" for kind, _ in received(rows, 0)) == 40


def test_the_first_blocks_are_small_and_later_ones_are_not():
    outbox = Outbox()
    run(FixedRouter(0, 0, 1, outbox, [0]), [list(range(4096)) for _ in range(3)])
    rows = list(outbox.drain())
    counts = [len(decode_block(row[4])[0] or ()) for row in rows]
    assert counts[0] == 64
    assert max(counts) == 4096
    assert len(counts) <= 5
    assert [event for kind, event in received(rows, 0) if kind == "value"] == [*range(4096)] * 3


def test_records_may_become_large_all_at_once():
    outbox = Outbox()
    router = FixedRouter(0, 0, 1, outbox, [0])
    run(router, [list(range(4096)), [bytes(100_000)] * 400])
    rows = list(outbox.drain())
    assert max(len(row[4]) for row in rows) <= BLOCK_BYTES
    assert sum(kind == "value" for kind, _ in received(rows, 0)) == 4496


@given(st.integers(1, 6), st.integers(1, 6))
def test_both_ends_agree_on_who_sends_to_whom(sources, targets):
    for kind in Distribution:
        if kind is Distribution.FORWARD and sources != targets:
            continue
        edge = EdgeSpec(0, 0, 1, 0, kind, sources, targets, 128, False, "test")
        pairs = {(channel, target) for channel in range(sources) for target in edge.targets_of(channel)}
        assert pairs == {
            (channel, target) for target in range(targets) for channel in edge.channels_of(target)
        }
        assert {channel for channel, _ in pairs} == set(range(sources))
        if kind not in (Distribution.GLOBAL,):
            assert {target for _, target in pairs} == set(range(targets))
