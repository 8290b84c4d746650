"""The page stays smooth over 200 jobs and a job of 1,000 operators; smooth.py measures the figures of the docs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.rest.page.smooth import JOBS, OPERATORS, measured

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST_PAINT_MS: Final = 2_000
STALLED_MS: Final = 2_000
"""What a page that hangs exceeds even here, where other tests take the processor from it."""


@pytest.mark.long
@pytest.mark.xdist_group("page")
@pytest.mark.timeout(600)
def test_many_jobs_and_a_wide_graph_are_smooth_while_all_numbers_change(page: Page, tmp_path: Path):
    found = measured(tmp_path, nullcontext(page), seconds=2)
    assert max(found.paints.values()) < FIRST_PAINT_MS
    assert found.changed["list: updated"] > JOBS // 2
    assert found.changed["graph: updated"] > OPERATORS // 2
    assert 0 < found.drawn < OPERATORS / 4
    assert len(set(found.reached)) == OPERATORS
    for watched in found.watched:
        if watched.what.endswith(("updated", "scrolled", "scrolled down", "scrolled sideways", "25 %")):
            assert watched.gap < STALLED_MS, watched
