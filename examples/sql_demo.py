"""SQL over a web server's access log: pages, hours, and a table of requests by status that changes in place.

    python examples/sql_demo.py [LOG]

Without LOG (combined format, not compressed) a log is generated.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import generate_access_log

from firesteel.cli.main import app

LINES = 50_000
HERE = Path(__file__).parent


def main() -> int:
    """Run `firesteel sql` over the log and return its exit code."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(directory, "access.log")
        if len(sys.argv) == 1:
            generate_access_log.write(log, LINES)
        table = Path(directory, "access_log.sql")
        table.write_text((HERE / "access_log.sql").read_text().replace("'LOG'", f"'{log}'"))
        options = ["--live", "--echo", "--conf", "firesteel.epoch.max-records=5000"]
        files = ["--init", str(table), "--file", str(HERE / "access_log_queries.sql")]
        return int(app(["sql", *options, *files], standalone_mode=False) or 0)


if __name__ == "__main__":
    sys.exit(main())
