"""MATCH_RECOGNIZE without WITHIN is warned of where its state may only grow."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.tables import table_of


def warnings_of(pattern: str, directory: Path, caplog: pytest.LogCaptureFixture, *, batch: bool) -> list[str]:
    (directory / "rows.json").write_text(json.dumps({"v": 1, "t": "2020-01-01 00:00:00"}))
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.execute_sql(
        "CREATE TABLE rows_ (v INT, t TIMESTAMP(3), WATERMARK FOR t AS t) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json')"
    )
    caplog.clear()
    query = f"SELECT * FROM rows_ MATCH_RECOGNIZE (ORDER BY t MEASURES B.v AS v PATTERN {pattern} DEFINE A AS v > 1)"
    with caplog.at_level(logging.WARNING), executing():
        [*table_of(env, query).elements()]
    return [record.getMessage() for record in caplog.records if "MATCH_RECOGNIZE" in record.getMessage()]


def test_a_first_variable_without_bounds_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (warning,) = warnings_of("(A+ B)", tmp_path, caplog, batch=False)
    assert "the step 'A' begins the pattern" in warning
    assert "WITHIN INTERVAL" in warning


@pytest.mark.parametrize(
    ("pattern", "batch"),
    [
        ("(A+ B) WITHIN INTERVAL '1' SECOND", False),
        ("(A{1,9} B)", False),
        ("(B A+ C)", False),
        ("(A+ B)", True),
    ],
)
def test_others_are_not(pattern: str, batch: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert warnings_of(pattern, tmp_path, caplog, batch=batch) == []
