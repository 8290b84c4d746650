"""Admission: epochs find their size, whatever their floor and a record's cost, and shares never exceed the budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.control.admission import FIRST, LEAST, Admission, share
from firesteel.control.cost import Load

TARGET = 1000
MOST = 4_000_000

floors = st.floats(0, 450)
costs = st.floats(0.0003, 1.0)
"""Milliseconds a record: those with which epochs between the bounds of records can last as long as the target."""


@given(
    st.integers(1, 10**6), st.dictionaries(st.text(max_size=3), st.integers(1, 10**6), min_size=1, max_size=9)
)
def test_shares_keep_to_the_budget_and_to_the_wants(budget, wants):
    shares = share(budget, wants)
    assert set(shares) == set(wants)
    assert all(0 <= shares[name] <= wants[name] for name in wants)
    assert sum(shares.values()) <= budget
    if sum(wants.values()) >= budget:
        assert sum(shares.values()) == budget
    else:
        assert shares == wants


def under_load(admission, floor, cost, epochs, noise=()):
    """Let epochs take all that is admitted; answer the controller and how long each took."""
    durations = []
    factors = iter(noise)
    for _ in range(epochs):
        duration = (floor + cost * admission.limit) * next(factors, 1.0)
        durations.append(duration)
        admission = admission.after(Load(admission.limit, duration))
    return admission, durations


def assert_near_the_target(durations, part):
    """One of a few epochs may be a trial, of half the records."""
    assert max(durations) <= (1 + part) * TARGET, durations
    assert sorted(durations)[1] >= (1 - part) * TARGET, durations


@given(floors, costs)
def test_epochs_under_load_last_as_long_as_the_target_after_a_few(floor, cost):
    _, durations = under_load(Admission(TARGET, MOST), floor, cost, 12)
    assert_near_the_target(durations[8:], 0.25)


@given(floors, costs)
def test_growing_does_not_shoot_far_beyond_the_target(floor, cost):
    _, durations = under_load(Admission(TARGET, MOST, LEAST), floor, cost, 12)
    assert max(durations) <= 1.6 * TARGET, durations


@given(floors, st.floats(0.003, 0.1), st.sampled_from([10.0, 0.1]))
def test_a_step_of_the_cost_is_followed_within_a_few_epochs(floor, cost, factor):
    admission, _ = under_load(Admission(TARGET, MOST), floor, cost, 12)
    _, durations = under_load(admission, floor, cost * factor, 8)
    assert_near_the_target(durations[5:], 0.3)
    assert all(duration <= 4.5 * TARGET for duration in durations[1:]), durations


@given(floors, st.floats(0.0003, 0.1), st.floats(2, 30))
def test_one_epoch_that_was_held_up_does_not_make_the_next_ones_small_for_long(floor, cost, factor):
    admission, _ = under_load(Admission(TARGET, MOST), floor, cost, 12)
    before = admission.limit
    admission = admission.after(Load(before, TARGET * factor))
    assert admission.limit >= before // 10
    admission, _ = under_load(admission, floor, cost, 4)
    assert admission.limit >= 0.6 * before


@settings(derandomize=True)
@given(
    floors,
    st.floats(0.003, 0.1),
    st.lists(st.floats(0.8, 1.25), min_size=40, max_size=40),
)
def test_noise_does_not_make_it_swing(floor, cost, noise):
    _, durations = under_load(Admission(TARGET, MOST), floor, cost, 40, noise)
    assert all(duration <= 3 * TARGET for duration in durations[10:]), durations
    assert sum(durations[10:]) / 30 >= 0.5 * TARGET, durations


@given(
    st.integers(1, MOST),
    st.lists(
        st.tuples(st.integers(0, MOST), st.floats(0, 1e6), st.integers(0, 1 << 40), st.booleans()),
        max_size=30,
    ),
)
def test_the_limit_keeps_its_bounds_whatever_happens(most, epochs):
    admission = Admission(TARGET, most, min(FIRST, most))
    for epoch in epochs:
        before, load = admission.limit, Load(*epoch)
        admission = admission.after(load)
        assert 1 <= admission.limit <= most
        assert admission.limit <= max(before * 8, LEAST)
        if not load.bytes:
            assert admission.limit >= min(LEAST, most)


@given(st.floats(1200, 8000), st.floats(0.001, 0.1))
def test_a_floor_above_the_target_does_not_make_epochs_shrink_without_end(floor, cost):
    _, durations = under_load(Admission(TARGET, MOST), floor, cost, 40)
    assert max(durations[-2:]) >= 1.5 * floor, "at least a third of an epoch is for its records"


@given(floors, st.floats(0.0003, 0.01), st.floats(2, 100))
def test_a_cost_that_rises_while_little_comes_is_believed_at_once(floor, cost, factor):
    """The limit is from times under load; what comes is a fraction of it, until the job cannot follow any more."""
    admission, _ = under_load(Admission(TARGET, MOST), floor, cost, 12)
    few = max(int(admission.limit / factor), 1)
    admission = admission.after(Load(few, floor + cost * few))
    slow = (1.2 * TARGET - floor) / few
    admission = admission.after(Load(few, floor + slow * few))
    _, durations = under_load(admission, floor, slow, 8)
    # What was seen before may look like a floor; then the next epoch has twice the records, and shows that it is none.
    assert all(duration <= 2.4 * TARGET for duration in durations) or admission.limit == LEAST, durations
    assert all(duration <= 1.3 * TARGET for duration in durations[6:]) or admission.limit == LEAST, durations


def test_a_slow_sink_makes_epochs_smaller_but_not_smaller_than_the_least():
    admission, _ = under_load(Admission(TARGET, MOST), 0, 100.0, 5)
    assert admission.limit == LEAST


@given(st.integers(1, 100), st.floats(50, 400))
def test_a_trickle_leaves_the_limit_alone(records, duration):
    admission, _ = under_load(Admission(TARGET, MOST), 120, 0.004, 12)
    limit = admission.limit
    for _ in range(50):
        admission = admission.after(Load(records, duration))
    assert admission.limit == limit
    assert admission.after(Load(0, 120.0)) == admission


def test_the_first_epoch_of_a_run_tells_nothing_of_the_cost():
    admission, _ = under_load(Admission(TARGET, MOST), 120, 0.004, 12)
    assert admission.after(Load(admission.limit, 9000.0, first=True)) == admission


@given(st.integers(1, 1 << 20), st.integers(1 << 20, 1 << 30))
def test_the_bytes_of_an_epoch_keep_to_the_budget(size, budget):
    admission = Admission(TARGET, MOST, FIRST, budget)
    admission = admission.after(Load(100, 150.0, 100 * size, first=True))
    for _ in range(5):
        records = admission.limit
        assert records == 1 or records * size <= budget * 1.01
        admission = admission.after(Load(records, 150.0, records * size))
