"""The process from which Spark forks Python workers; it imports the modules of all workers once, before the fork.

It is PySpark's daemon (`spark.python.daemon.module`), started in applications of this machine only: on a cluster
this package may reach the executors after their daemons have started.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path


def _prefer_installed() -> None:
    """Import PySpark from where it is installed rather than from the archive that Spark puts first in the path.

    The two are the same version, because the archive is inside the installation; modules of an archive are compiled
    again in each process.
    """
    for path in [path for path in sys.path if path.endswith("pyspark.zip")]:
        installed = Path(path).parents[2]
        if (installed / "__init__.py").is_file() and installed.name == "pyspark":
            sys.path.remove(path)
            if str(installed.parent) not in sys.path:
                sys.path.append(str(installed.parent))


if __name__ == "__main__":
    _prefer_installed()
    import pyspark.daemon
    import pyspark.worker

    import firesteel.spark.worker  # noqa: F401  (for the workers)

    gc.collect()
    gc.freeze()
    pyspark.daemon.manager()
