"""Firesteel's log while a command runs a program, and after it."""

from __future__ import annotations

import json
import logging

import pytest

LOG = logging.getLogger("firesteel")

REPLACES_STDERR = """
import io, logging, sys

log = logging.getLogger("firesteel.control")
log.warning("to the terminal")
sys.stderr, terminal = io.StringIO(), sys.stderr
log.warning("to the replacement")
said = sys.stderr.getvalue()
sys.stderr.close()
sys.stderr = terminal
log.warning("to the terminal again")
print("replacement:", said)
"""


def test_the_log_goes_where_standard_error_goes(firesteel, tmp_path):
    program = tmp_path / "job.py"
    program.write_text(REPLACES_STDERR)
    result = firesteel("run", program)
    assert "WARNING to the replacement" in result.stdout
    assert [line.split("WARNING ")[1] for line in result.stderr.splitlines()] == [
        "to the terminal",
        "to the terminal again",
    ]


def test_after_a_command_logging_is_as_before(firesteel, tmp_path, caplog, capsys):
    before = LOG.handlers, LOG.propagate, LOG.level
    program = tmp_path / "job.py"
    program.write_text("1 / 0")
    assert firesteel("run", "--verbose", program).exit_code == 1
    assert (LOG.handlers, LOG.propagate, LOG.level) == before
    LOG.warning("a thread that is still there")
    assert "a thread that is still there" in caplog.text
    assert "Logging error" not in capsys.readouterr().err


OF_BOTH = """
import logging, os

logging.getLogger("firesteel.control").warning("of the engine")
logging.getLogger("mine").warning("of the program")
logging.getLogger("mine").info("unheard")
"""


@pytest.mark.parametrize(
    ("options", "variable"),
    [
        (("--log-format", "json"), None),
        (("--conf", "firesteel.logging.format=json"), None),
        ((), "json"),
        (("--log-format", "json"), "text"),
    ],
)
def test_the_log_as_json(firesteel, tmp_path, monkeypatch, options, variable):
    if variable is not None:
        monkeypatch.setenv("FIRESTEEL_LOG_FORMAT", variable)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    program = tmp_path / "job.py"
    program.write_text(OF_BOTH)
    before = logging.lastResort
    result = firesteel("run", *options, program)
    assert [(line["logger"], line["message"]) for line in map(json.loads, result.stderr.splitlines())] == [
        ("firesteel.control", "of the engine"),
        ("mine", "of the program"),
    ]
    assert logging.lastResort is before


def test_a_program_that_configures_logging_keeps_its_format(firesteel, tmp_path, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    program = tmp_path / "job.py"
    program.write_text("import logging\nlogging.basicConfig(format='MINE %(message)s')" + OF_BOTH)
    result = firesteel("run", "--log-format", "json", program)
    line, own = result.stderr.splitlines()
    assert json.loads(line)["message"] == "of the engine"
    assert own == "MINE of the program"


def test_the_error_of_a_program_is_a_record(firesteel, tmp_path):
    program = tmp_path / "job.py"
    program.write_text("1 / 0")
    result = firesteel("run", "--log-format", "json", program)
    assert result.exit_code == 1
    [line] = map(json.loads, result.stderr.splitlines())
    assert (line["level"], line["logger"]) == ("ERROR", "firesteel.program")
    assert "ZeroDivisionError: division by zero" in line["message"]


def test_a_format_that_does_not_exist(firesteel, tmp_path):
    program = tmp_path / "job.py"
    program.write_text("")
    assert firesteel("run", "--log-format", "xml", program).exit_code == 2
