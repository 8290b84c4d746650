"""A savepoint and an upgrade: a job is stopped with a savepoint, and a changed program resumes from it.

    python examples/savepoint_and_upgrade.py shop

The first version adds up each customer's orders. The second also greets customers when they reach 10. It has another
operator, and finds the totals by the `uid` that both versions use. Orders are files in `shop/orders`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from firesteel.common import Configuration, Duration, Encoder, JobClient, Types, WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor


class Total(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        self.total.update((self.total.value() or 0) + int(value.split()[1]))
        yield f"{ctx.get_current_key()} {self.total.value()}"


def start(version: int, shop: Path, savepoint: str | None = None) -> JobClient:
    """Start a version of the job; both write into `shop/totals`."""
    options = {"firesteel.state-dir": str(shop / f"state-{version}")}
    if savepoint is not None:
        options["execution.state-recovery.path"] = savepoint
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    env.set_parallelism(1)
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(shop / "orders"))
    source = lines.monitor_continuously(Duration.of_millis(100)).build()
    orders = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders").uid("orders")
    totals = orders.key_by(lambda line: line.split()[0]).process(Total(), Types.STRING()).uid("totals")
    if version == 2:
        totals = totals.map(
            lambda line: f"{line}, thank you" if int(line.split()[1]) >= 10 else line, Types.STRING()
        ).uid("greeting")
    files = FileSink.for_row_format(str(shop / "totals"), Encoder.simple_string_encoder())
    sink = files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    totals.sink_to(sink).uid("files")
    return env.execute_async(f"orders, version {version}")


def results(shop: Path) -> list[str]:
    """Return the visible lines."""
    parts = [path for path in (shop / "totals").rglob("*") if path.is_file() and path.name[0] not in "._"]
    return sorted(line for part in parts for line in part.read_text().splitlines())


def stop(client: JobClient, shop: Path, lines: int) -> str:
    """Wait until there are this many lines, and stop the job with a savepoint."""
    ended = client.get_job_execution_result()
    while len(results(shop)) < lines:
        if ended.done():
            ended.result()  # raises the error of a job that failed
        time.sleep(0.1)
    savepoint: str = client.stop_with_savepoint(False, str(shop / "savepoints")).result()
    ended.result()
    return savepoint


def main(shop: Path) -> None:
    (shop / "orders").mkdir(parents=True)
    (shop / "orders" / "monday.txt").write_text("ann 4\nbea 9\n")
    savepoint = stop(start(1, shop), shop, lines=2)
    (shop / "orders" / "tuesday.txt").write_text("ann 3\nbea 2\n")
    stop(start(2, shop, savepoint), shop, lines=4)
    print(*results(shop), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
