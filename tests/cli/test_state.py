"""`firesteel state`: what a savepoint or an epoch holds, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.state import kinds


@pytest.fixture
def state(tmp_path, machine):
    return Path(kinds.run(tmp_path / "state"))


def shown(firesteel, *arguments):
    done = firesteel("state", "show", *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_ls_lists_operators_and_their_states(firesteel, state):
    done = firesteel("state", "ls", state)
    assert done.exit_code == 0, done.output
    title, head, *lines = done.stdout.splitlines()
    assert title.startswith("epoch 4 of 'levels', max parallelism 128, ")
    assert head.split() == ["OPERATOR", "ID", "STATE", "SCOPE", "TYPE", "ENTRIES", "BYTES"]
    found = {tuple(line.split()[:-1]) for line in lines if line.startswith(("every", "limits", "seen"))}
    assert {
        ("every", "kind", "f38f2a17", "count", "keyed", "ValueState<LONG>", "11"),
        ("every", "kind", "f38f2a17", "amounts", "keyed", "MapState<INT,", "BIG_DEC>", "31"),
        ("limits", "5b471401", "rules", "broadcast", "BroadcastState<STRING,", "INT>", "3"),
    } <= found
    assert any(line.startswith("seen") and "ListState<INT>" in line and "120" in line for line in lines)
    assert any("read up to 120" in line for line in lines)


def test_ls_as_json_and_without_counting(firesteel, state):
    listing = json.loads(firesteel("state", "ls", state, "--json", "--epoch", 2).stdout)
    operators = {operator["name"]: operator for operator in listing["operators"]}
    assert (listing["epoch"], listing["max_parallelism"]) == (2, 128)
    states = {state["name"]: state for state in operators["every kind"]["states"]}
    assert states["visits"]["entries"] == 60
    assert states["event"]["entries"] == 60
    assert (states["last"]["ttl_ms"], states["count"]["ttl_ms"]) == (60_000, None)
    assert operators["every kind"]["stored_bytes"] > 0
    quick = json.loads(firesteel("state", "ls", state, "--json", "--no-count").stdout)
    assert {state["entries"] for operator in quick["operators"] for state in operator["states"]} == {
        None,
        120,
    }


def test_show_prints_rows(firesteel, state):
    counts = shown(firesteel, state, "kinds", "count")
    assert sorted((row["key"], row["value"]) for row in counts) == kinds.expected()["count"]
    [row] = shown(firesteel, state, "every kind", "last", "--key", "user3")
    assert row == {"key": "user3", "value": 112, "last_access": kinds.NOW}
    assert len(shown(firesteel, state, "kinds", "visits", "--limit", 0)) == 120
    window, *_ = shown(firesteel, state, "sizes", "window-contents", "--epoch", 2)
    assert window["window"] == "TimeWindow(start=5000, end=10000)"
    text = firesteel("state", "show", state, "f38f", "visits", "--key", "user0", "--limit", 2)
    assert text.stdout.splitlines() == [
        "key    position  value",
        "user0         0  Row(at=datetime.datetime(2024, 1, 1, 0, 0), page=None)",
        "user0         1  Row(at=datetime.datetime(2024, 1, 1, 0, 11), page='/11')",
    ]
    assert "first 2; --limit 0 shows all" in text.stderr
    assert (
        firesteel("state", "show", state, "kinds", "count", "--key", "bob").stdout == "nothing at key bob\n"
    )
    rules = firesteel("state", "show", state, "limits", "rules").stdout
    assert rules.split() == ["map_key", "value", "high", "5", "low", "None", "mid", "3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "kinds", "cnt"), "has no state 'cnt'; got amounts"),
        (("show", "kind", "count"), "uid, name or id 'kind'; got every kind"),
        (("ls", "--epoch", "9"), "requires epoch 9; got the epochs 1, 2, 3, 4"),
    ],
)
def test_what_is_not_there_is_an_error_that_lists_what_is(firesteel, state, arguments, message):
    command, *rest = arguments
    done = firesteel("state", command, state, *rest)
    assert done.exit_code == 1
    assert message in done.stderr


def test_a_look_starts_no_spark(state, run_python):
    code = f"""
import sys
from typer.testing import CliRunner
from firesteel.cli.main import app
assert CliRunner().invoke(app, ["state", "ls", {str(state)!r}]).exit_code == 0
print("pyspark" in sys.modules)
"""
    done = run_python("-c", code)
    assert done.stdout == "False\n", done.stderr
