"""Caches of state give up their oldest clean entries."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firesteel.state.live.caching import oldest_clean

KEYS = st.integers(0, 9)


@given(st.lists(KEYS, unique=True), st.one_of(st.sets(KEYS), st.dictionaries(KEYS, st.none())))
def test_the_older_half_of_the_clean_entries_is_given_up(keys: list[int], dirty: Any) -> None:
    clean = [key for key in keys if key not in dirty]
    assert oldest_clean(dict.fromkeys(keys), dirty) == clean[: (len(clean) + 1) // 2]
