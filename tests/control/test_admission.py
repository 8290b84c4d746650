"""Admission: epochs find their size, and shares never exceed the budget or the wants."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firesteel.control.admission import LEAST, Admission, share


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


def settled(rate, floor_ms, first=200_000):
    """The limit after many epochs of a system that takes `floor_ms` plus a time per record."""
    admission = Admission(1000, 4_000_000, first)
    for _ in range(30):
        records = admission.limit
        admission = admission.after(records, floor_ms + records / rate * 1000)
    return admission.limit


@given(st.integers(2_000, 2_000_000))
def test_epochs_under_load_come_near_the_target(rate):
    limit = settled(rate, floor_ms=200)
    duration = 200 + limit / rate * 1000
    assert 500 <= duration <= 1500


def test_a_slow_sink_makes_epochs_smaller_but_not_smaller_than_the_least():
    assert settled(rate=10, floor_ms=0) == LEAST


def test_an_epoch_far_below_its_limit_changes_nothing():
    admission = Admission(1000, 4_000_000, 100_000)
    assert admission.after(10, 200.0) == admission
    assert admission.after(0, 200.0) == admission
