"""The interactive shell, typed to through prompt_toolkit's own pipe."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from firesteel.cli.sql.client import Client
from firesteel.cli.sql.completion import StatementCompleter
from firesteel.cli.sql.highlighting import coloured
from firesteel.cli.sql.shell import Shell
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

ORDERS = "CREATE TABLE orders (id BIGINT, price DECIMAL(10, 2)) WITH ('connector' = 'print')"


def client(output: io.StringIO | None = None) -> Client:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    return Client(environment, output or io.StringIO(), interactive=True)


def typed(*lines: str, ending: str = "") -> list[str]:
    """Type lines into a shell, each with Enter, and return what it writes; `ending` is typed last."""
    output = io.StringIO()
    with create_pipe_input() as keys:
        keys.send_text("".join(f"{line}\r" for line in lines) + ending)
        Shell(client(output), None, terminal_input=keys, terminal_output=DummyOutput()).run()
    return output.getvalue().splitlines()[1:]


def test_statements_are_executed_and_quit_ends_the_shell():
    assert typed("CREATE DATABASE d;", "SHOW CURRENT DATABASE;", "QUIT;") == [
        "[INFO] Execute statement succeeded.",
        "+-----------------------+",
        "| current database name |",
        "+-----------------------+",
        "|      default_database |",
        "+-----------------------+",
        "1 row in set",
    ]


def test_enter_begins_another_line_until_the_semicolon():
    assert typed("CREATE", "DATABASE d", ";", "exit") == ["[INFO] Execute statement succeeded."]


def test_an_error_points_at_the_text_and_ends_nothing():
    assert typed(ORDERS + ";", "DESCRIBE ordes;", "CREATE DATABASE d;", "quit") == [
        "[INFO] Execute statement succeeded.",
        (
            "[ERROR] DESCRIBE TABLE (line 1, column 10) requires a table or view that exists; "
            "got default_catalog.default_database.ordes"
        ),
        "    DESCRIBE ordes;",
        "             ^^^^^",
        "  hint: did you mean orders?",
        "[INFO] Execute statement succeeded.",
    ]


def test_several_statements_in_one_line_run_one_after_another():
    assert typed("CREATE DATABASE a; CREATE DATABASE a;", "quit")[:2] == [
        "[INFO] Execute statement succeeded.",
        (
            "[ERROR] CREATE DATABASE (line 1, column 36) requires a name that no other database has; "
            "got default_catalog.a"
        ),
    ]


def test_a_statement_set_is_typed_line_by_line(tmp_path: Path):
    def table(name: str) -> str:
        options = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'csv'"
        return f"CREATE TABLE {name} (id INT, word STRING) WITH ({options});"

    with executing(parallelism=1):
        written = typed(
            "SET 'table.dml-sync' = 'true';",
            table("days"),
            table("other"),
            "BEGIN STATEMENT SET;",
            "INSERT INTO days VALUES (1, 'Good day'), (2, 'Yes');",
            "INSERT INTO other SELECT id + 1, UPPER(word) FROM (VALUES (1, 'a')) AS t (id, word);",
            "END;",
            "SELECT * FROM other;",
            "BEGIN STATEMENT SET;",
            "END;",
            "END;",
            "quit",
        )
    assert [*(tmp_path / "days").iterdir()]
    assert "| +I |           2 |                              A |" in written
    done, error, *_ = written[-4:]
    assert done == "[INFO] Execute statement succeeded."
    assert error.startswith("[ERROR] ")
    assert "END" in error


@pytest.mark.parametrize("ending", ["\x04", "\x03\x04"], ids=["Ctrl-D", "Ctrl-C, Ctrl-D"])
def test_ctrl_d_leaves_and_ctrl_c_does_not(ending: str):
    assert typed("CREATE DATABASE d;", ending=ending) == ["[INFO] Execute statement succeeded."]


def test_ctrl_c_drops_what_is_typed():
    assert typed(ending="DROP DATABASE everything\x03quit\r") == []


def test_set_lists_what_was_set():
    assert "|   table.exec.state.ttl |       1 h |" in typed(
        "SET 'table.exec.state.ttl' = '1 h';", "SET;", "quit"
    )


def completions(text: str) -> list[str]:
    session = client()
    session.run(ORDERS)
    completer = StatementCompleter(session.candidates)
    return [found.text for found in completer.get_completions(Document(text), CompleteEvent())]


def test_words_tables_columns_and_options_are_completed():
    assert "SELECT" in completions("SEL")
    assert "select" in completions("sel")
    assert completions("SELECT * FROM ord")[0] == "orders"
    assert "price" not in completions("SELECT pri")
    assert "price" in completions("SELECT id FROM orders WHERE pri")
    assert "'table.exec.state.ttl'" in completions("SET 'table.ex")
    assert completions("DESCRIBE ") == ["orders"]


def test_colours_follow_the_tokens_over_several_lines():
    lines = coloured("SELECT a -- all\nFROM `t`")
    assert lines == [
        [("class:keyword", "SELECT"), ("", " "), ("", "a"), ("class:comment", " -- all")],
        [("class:keyword", "FROM"), ("", " "), ("class:name", "`t`")],
    ]
    assert "".join(text for line in lines for _, text in line) == "SELECT a -- allFROM `t`"
