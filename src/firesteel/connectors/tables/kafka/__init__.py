"""The connectors of Kafka for tables (Flink: KafkaDynamicTableFactory)."""
