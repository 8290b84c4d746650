"""Admission in simulated jobs: whatever the floor, the neighbour or the state it is in, epochs find their size."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.control.admission import FIRST, LEAST, Admission
from firesteel.control.cost import Load
from tests.control.simulated_load import World, always, attainable, between

simulated = settings(derandomize=True, max_examples=60)
"""Noise is part of these: the same cases in every run, so that a bound holds or does not."""

TARGET = 1000
MOST = 4_000_000

floors = st.floats(10, 10 * TARGET)
costs = st.floats(0.01, 0.5)
seeds = st.integers(0, 1000)
loads = st.builds(
    Load, st.integers(1, MOST), st.floats(1, 100_000), st.just(0), st.booleans()
)  # anything that could have been before


def after_anything(before, start=FIRST):
    admission = Admission(TARGET, MOST, start)
    for load in before:
        admission = admission.after(load)
    return admission


@simulated
@given(floors, costs, st.lists(loads, max_size=20), st.integers(LEAST, MOST))
def test_without_noise_throughput_gets_near_the_best_from_any_state(floor, cost, before, start):
    world = World(always(floor), always(cost))
    world.run(after_anything(before, start), 40)
    assert world.throughput(14) >= 0.85 * attainable(floor, cost, TARGET), world.epochs[-14:]


@simulated
@given(floors, costs, st.lists(loads, max_size=20), st.integers(LEAST, MOST), seeds)
def test_with_noise_throughput_gets_to_half_of_the_best_from_any_state(floor, cost, before, start, seed):
    world = World(always(floor), always(cost), noise=0.25, seed=seed)
    world.run(after_anything(before, start), 90)
    assert world.throughput(50) >= 0.5 * attainable(floor, cost, TARGET), world.epochs[-50:]


@simulated
@given(st.floats(10, 0.4 * TARGET), costs, st.lists(loads, max_size=20), seeds)
def test_where_records_dominate_epochs_stay_near_the_target(floor, cost, before, seed):
    world = World(always(floor), always(cost), noise=0.25, seed=seed)
    world.run(after_anything(before), 60)
    settled = [epoch.duration_ms for epoch in world.epochs[20:]]
    assert max(settled) <= 3 * TARGET, settled
    assert sum(settled) / len(settled) <= 1.25 * TARGET, settled


@simulated
@given(floors, costs, st.lists(loads, max_size=20))
def test_no_epoch_that_admission_made_larger_lasts_more_than_twice_the_last_one_or_the_target(
    floor, cost, before
):
    """Whatever it believes: in a job without noise, an epoch grows to twice the last one's length at most."""
    world = World(always(floor), always(cost))
    world.run(after_anything(before), 40)
    lasted = [epoch.duration_ms for epoch in world.epochs]
    for last, following in pairwise(lasted):
        assert following <= max(2 * last, 8 * floor, TARGET) * 1.01, lasted


@simulated
@given(st.floats(1000, 4000), st.floats(3, 8), seeds)
def test_a_backlog_behind_a_slow_floor_is_worked_off(floor, busy, seed):
    """Two thousand records a second, at a floor that a neighbour raises for two minutes and that then falls again."""
    world = World(
        between(20_000, 140_000, floor, 300.0),
        always(0.05),
        noise=0.25,
        seed=seed,
    )
    world.follow(Admission(TARGET, MOST), always(2000.0), 400_000)
    last = [epoch for epoch in world.epochs if epoch.began > 360_000]
    assert world.waiting <= 2000 * 2.0, world.waiting
    assert max(epoch.duration_ms for epoch in last) <= 2 * TARGET
    raised = [epoch for epoch in world.epochs if 100_000 < epoch.began < 140_000]
    rate = sum(epoch.records for epoch in raised) / sum(epoch.duration_ms for epoch in raised) * 1000
    assert rate >= 1500, rate


@simulated
@given(st.floats(10, 300), st.floats(0.005, 0.05), st.floats(1.5, 5), seeds)
def test_a_neighbour_that_comes_and_goes_costs_no_more_than_it_takes(floor, cost, pace, seed):
    def neighbour(now):
        return pace if int(now / 15_000) % 2 else 1.0

    world = World(always(floor), always(cost), neighbour, noise=0.15, seed=seed)
    world.follow(Admission(TARGET, MOST), always(1e9), 200_000)
    settled = [epoch for epoch in world.epochs if epoch.began > 20_000]
    rate = sum(epoch.records for epoch in settled) / sum(epoch.duration_ms for epoch in settled) * 1000
    slow, fast = attainable(floor * pace, cost * pace, TARGET), attainable(floor, cost, TARGET)
    assert rate >= 0.5 * (slow + fast) / 2, rate
    assert max(epoch.duration_ms for epoch in settled) <= (2.5 * pace) * TARGET


@simulated
@given(floors, costs, st.floats(2, 20))
def test_a_sink_that_turns_slow_is_believed_at_once(floor, cost, slower):
    """Epochs after the first slow one last twice the target at most, unless the floor alone is long."""
    world = World(always(floor), lambda now: cost)
    admission = world.run(Admission(TARGET, MOST), 30)
    world.cost = always(cost * slower)
    world.run(admission, 3)
    first, *others = [epoch.duration_ms for epoch in world.epochs[-3:]]
    allowed = max(2 * TARGET, 7 * floor, LEAST * cost * slower + floor)
    assert max(others) <= max(allowed, 0.6 * first), (first, others)


@simulated
@given(st.floats(100, 3000), st.floats(0.001, 0.05), seeds)
def test_a_trickle_does_not_wait_and_leaves_the_limit_for_what_comes_next(floor, cost, seed):
    world = World(always(floor), always(cost), noise=0.25, seed=seed)
    admission = world.run(Admission(TARGET, MOST), 40)
    begun = world.now
    admission = world.follow(admission, always(10.0), begun + 60_000)
    assert all(epoch.records <= 10 * 4 * max(floor, 500) / 1000 for epoch in world.epochs[44:])
    world.run(admission, 30)
    assert world.throughput(20) >= 0.5 * attainable(floor, cost, TARGET)


@simulated
@given(floors, costs, st.integers(100, 10_000))
def test_bytes_bound_epochs_even_where_the_floor_would_have_them_grow(floor, cost, size):
    """A hot key: all bytes go through one subtask."""
    budget = 1 << 20
    world = World(always(floor), always(cost), bytes=size)
    world.run(Admission(TARGET, MOST, FIRST, budget), 30)
    assert all(epoch.records * size <= 1.01 * budget or epoch.records == 1 for epoch in world.epochs[1:])
