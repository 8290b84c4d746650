"""The parts of PyFlink's DataStream API that Firesteel does not have, each with its reason.

A name in this list raises UnsupportedError when it is used (see `firesteel.datastream.unsupported`): a module when it
is imported, a class when it is instantiated, a method when it is called. docs/compatibility.md is generated from this
list; a test keeps list and code consistent. Names are given by PyFlink's own path.
"""

from __future__ import annotations

from typing import Final

NO_JVM: Final = "it hands out an object of Flink's JVM, and there is none"
NO_JARS: Final = "Flink's jars cannot run here; connectors and functions are written in Python"


OLD_KAFKA: Final = "Flink 2 itself has no such class any more; use KafkaSource and KafkaSink"

GAPS: Final[dict[str, str]] = {
    "pyflink.common.WatermarkStrategy.with_watermark_alignment": (
        "splits are not yet held back by each other's watermarks; planned with the work on files and formats"
    ),
    "pyflink.common.AssignerWithPeriodicWatermarksWrapper": (
        "it wraps a Java assigner; use WatermarkStrategy.for_generator with a generator in Python"
    ),
    "pyflink.common.TypeInformation.get_java_type_info": NO_JVM,
    "pyflink.datastream.OutputTag.get_java_output_tag": NO_JVM,
    "pyflink.datastream.CustomStateBackend": "it wraps a Java state backend; state is kept in LMDB, the only backend",
    "pyflink.datastream.CustomCheckpointStorage": (
        "it wraps Java checkpoint storage; give the state directory as a path or a URL (s3://, gs://, az://) instead"
    ),
    "pyflink.datastream.SourceFunction": (
        "it wraps a Java source; subclass firesteel.functions.source.Source and pass it to from_source"
    ),
    "pyflink.datastream.SourceFunction.get_java_function": NO_JVM,
    "pyflink.datastream.SinkFunction": (
        "it wraps a Java sink; subclass firesteel.functions.sink.Sink and pass it to sink_to"
    ),
    "pyflink.datastream.SinkFunction.get_java_function": NO_JVM,
    "pyflink.datastream.MemorySize.get_java_memory_size": NO_JVM,
    "pyflink.datastream.SlotSharingGroup.get_java_slot_sharing_group": NO_JVM,
    "pyflink.datastream.EmbeddedRocksDBStateBackend.set_options": NO_JARS,
    "pyflink.datastream.StreamExecutionEnvironment.add_jars": NO_JARS,
    "pyflink.datastream.StreamExecutionEnvironment.add_classpaths": NO_JARS,
    "pyflink.datastream.StreamExecutionEnvironment.register_cached_file": (
        "PyFlink's functions cannot read this cache either; use add_python_file, or a path every worker can reach"
    ),
    "pyflink.datastream.formats.avro.AvroInputFormat.get_java_object": NO_JVM,
    "pyflink.datastream.formats.csv.CsvSchemaBuilder.set_any_property_name": (
        "a Row has no place for columns that the schema does not name"
    ),
    **{
        f"pyflink.datastream.connectors.{name}": NO_JVM
        for name in (
            "base.JavaFunctionWrapper",
            "base.Sink.get_java_function",
            "base.Source.get_java_function",
            "base.get_gateway",
            "file_system.FileCompactor.get_java_object",
            "file_system.FileCompactStrategy.get_java_object",
            "file_system.OutputFileConfig.get_java_object",
            "file_system.FileSource.get_java_function",
            "file_system.FileSink.get_java_function",
            "file_system.StreamingFileSink.get_java_function",
            "file_system.RollingPolicy.get_java_object",
            "file_system.BucketAssigner.get_java_object",
            "number_seq.NumberSequenceSource.get_java_function",
            "jdbc.JdbcSink.get_java_function",
            "kafka.KafkaSource.get_java_function",
            "kafka.KafkaSink.get_java_function",
        )
    },
    **{
        f"pyflink.datastream.connectors.kafka.{name}": OLD_KAFKA
        for name in ("FlinkKafkaConsumer", "FlinkKafkaProducer")
    },
    "pyflink.datastream.connectors.kafka.Semantic": "it is for FlinkKafkaProducer; see DeliveryGuarantee",
}
"""Full PyFlink name -> reason."""

MODULE_GAPS: Final[dict[str, str]] = {
    "pyflink.table.descriptors": "these classes have no use any more in Flink; see TableDescriptor",
    "pyflink.fn_execution": "it is the inside of PyFlink's workers",
    "pyflink.java_gateway": NO_JVM,
    "pyflink.util": NO_JVM,
    "pyflink.pyflink_gateway_server": NO_JVM,
    "pyflink.gen_protos": "it is the inside of PyFlink's workers",
    "pyflink.datastream.connectors.dynamic_kafka": "one source of several clusters is not part of this version",
    "pyflink.datastream.connectors.pulsar": "Pulsar is not part of this version",
    "pyflink.datastream.connectors.elasticsearch": "Elasticsearch is not part of this version",
    "pyflink.datastream.connectors.cassandra": "Cassandra is not part of this version",
    "pyflink.datastream.connectors.kinesis": "Kinesis is not part of this version",
    "pyflink.datastream.connectors.rabbitmq": "RabbitMQ is not part of this version",
    "pyflink.datastream.connectors.hybrid_source": "a source of several in a row is not part of this version",
}
"""PyFlink module (with everything below it) -> reason."""
