"""What pages cost can be measured; the figures of docs/web-page.md are those of many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rest.page.many_pages import measured, table


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(900)
def test_what_five_pages_cost_is_measured(tmp_path: Path):
    loads = measured(tmp_path, 5, seconds=2)
    assert [load.pages for load in loads] == ["none", "5", "5 and a browser", "none again"]
    assert all(load.rate > 0 for load in loads)
    assert loads[1].server > 0
    assert loads[1].asking > 0
    assert len(table(loads).splitlines()) == 4
