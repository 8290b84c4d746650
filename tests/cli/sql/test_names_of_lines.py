"""Errors of jobs name the line of the script whose statement started them."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.cli.main import main
from firesteel.testing import executing


@pytest.mark.parametrize(
    ("given", "named"),
    [(["-f", "report.sql"], "report.sql:3"), (["-e"], "statement:3")],
    ids=["file", "text"],
)
def test_a_source_is_called_by_its_table_and_its_line(
    given: list[str],
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    options = "'connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'csv'"
    text = f"CREATE TABLE orders (a INT)\nWITH ({options});\nSELECT * FROM orders;"
    Path("report.sql").write_text(text)
    monkeypatch.setattr("sys.argv", ["firesteel", "sql", *given, *([text] if given == ["-e"] else [])])
    with executing(), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert f"source 'orders[1]' ({named}): FileSource requires a file" in capsys.readouterr().err
