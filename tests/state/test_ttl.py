"""States with a time to live equal a model that keeps every value with the time of its last access."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.state.live import maps, sweeping
from firesteel.state.values.expiry import expiry_rule
from tests.state.expiring import (
    READ,
    STEPS,
    UPDATES,
    VISIBILITIES,
    WRITE,
    Run,
    Update,
    Visibility,
    config,
    play,
)


@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@pytest.mark.parametrize("visibility", VISIBILITIES, ids=lambda item: item.name)
@pytest.mark.parametrize("update", UPDATES, ids=lambda item: item.name)
@given(typed=st.booleans(), steps=st.lists(STEPS, min_size=20, max_size=80))
@settings(max_examples=25)
def test_state_expires_as_in_flink(
    update: Update, visibility: Visibility, scope: str, typed: bool, steps: list[tuple[str, Any, Any]]
) -> None:
    play(Run(scope, config(update, visibility, cleaned=False), typed), steps)


@given(
    update=st.sampled_from(UPDATES),
    visibility=st.sampled_from(VISIBILITIES),
    steps=st.lists(STEPS, min_size=20, max_size=60),
)
def test_large_maps_expire_without_being_kept(
    update: Update, visibility: Visibility, steps: list[tuple[str, Any, Any]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "_WHOLE_MAP", 1)
        play(Run("keyed", config(update, visibility, cleaned=False), typed=False), steps)


class CleanedRun(Run):
    """A store that is rebuilt from time to time from what compaction made of it."""

    def epoch(self, keep: bool, passed: int) -> None:
        before = self.store.now
        self.store.now += passed
        self.model.now += passed
        self.store.commit()
        if not keep:
            self.clean(before)
        self.store.begin(keep)
        self.committed = self.model.copy()

    def clean(self, now: int) -> None:
        rules = {rule.prefix: rule for rule in map(expiry_rule, self.store.schemas.values()) if rule}
        assert len(rules) == 5
        for key, value in list(self.store.entries.items()):
            kept = rules[key[:2]].kept(value, now)
            if kept is None:
                del self.store.entries[key]
            else:
                self.store.entries[key] = kept


@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@given(
    update=st.sampled_from([WRITE, READ]),
    typed=st.booleans(),
    steps=st.lists(STEPS, min_size=20, max_size=80),
)
@settings(max_examples=50)
def test_no_read_tells_what_compaction_removed(
    update: Update, scope: str, typed: bool, steps: list[tuple[str, Any, Any]]
) -> None:
    play(CleanedRun(scope, config(update), typed), steps)


@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@given(
    update=st.sampled_from([WRITE, READ]),
    least=st.integers(1, 5),
    steps=st.lists(STEPS, min_size=20, max_size=80),
)
@settings(max_examples=50)
def test_no_read_tells_what_an_epoch_swept_away(
    update: Update, scope: str, least: int, steps: list[tuple[str, Any, Any]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "LEAST", least)
        play(Run(scope, config(update), typed=True), steps)
