"""Many jobs in one session start, are listed, cost little while they have nothing to do, and stop.

many_jobs.py measures the figures of the docs, with fifty jobs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rest.many_jobs import measured


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(1200)
def test_many_jobs_in_a_session_cost_little_while_they_are_idle(tmp_path: Path):
    costs = measured(tmp_path, 4, idle_seconds=5)
    assert costs.processor_per_start < 6
    assert costs.listed_in < 5
    assert costs.driver_memory < 110
    assert costs.driver_load < 0.05
    assert costs.rest_memory < 2_500
    assert costs.rest_load < 0.8
