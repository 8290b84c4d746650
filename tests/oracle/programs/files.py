"""Text files in and out: a directory read as bounded input, a row-format sink with prefix and suffix.

order: any
"""

import tempfile
from pathlib import Path

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)

work = Path(tempfile.mkdtemp())
(work / "in").mkdir()
(work / "in" / "one.txt").write_text("to be\nor not\n")
(work / "in" / "two.txt").write_text("\nlast line without end")

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(work / "in"))
lines = env.from_source(source.process_static_file_set().build(), WatermarkStrategy.no_watermarks(), "files")
sink = (
    FileSink.for_row_format(str(work / "out"), Encoder.simple_string_encoder())
    .with_output_file_config(
        OutputFileConfig.builder().with_part_prefix("part").with_part_suffix(".txt").build()
    )
    .with_rolling_policy(RollingPolicy.default_rolling_policy())
    .build()
)
lines.map(lambda line: (line, len(line)), Types.TUPLE([Types.STRING(), Types.INT()])).sink_to(sink)
lines.print()
env.execute()
for path in (work / "out").rglob("*"):
    if path.is_file():
        print(path.name[:4], path.suffix, path.name.startswith("."))
        for line in path.read_text().splitlines():
            print("file", line)
