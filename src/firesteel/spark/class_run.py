"""The run of Spark whose JVM archives the classes it has loaded: `python -m firesteel.spark.class_run FILE`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from firesteel.spark.session import JAVA_OPTIONS, open_session

_EPOCHS: Final = 3


def main(path: str) -> None:
    """Run jobs of an epoch's shape; the archive is written when the JVM ends, soon after this process."""
    options = {"spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} -XX:ArchiveClassesAtExit={path}"}
    session = open_session(None, 2, options)
    for _ in range(_EPOCHS):
        frame = session.range(0, 2, 1, 2).mapInArrow(_same, "id long").selectExpr("int(id) as target", "id")
        frame = frame.repartitionById(2, "target").sortWithinPartitions("id")
        frame.mapInArrow(_same, "target int, id long").alias("epoch").collect()


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


if __name__ == "__main__":
    main(sys.argv[1])
