"""Firesteel's log while a command runs a program, and after it."""

from __future__ import annotations

import logging

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
