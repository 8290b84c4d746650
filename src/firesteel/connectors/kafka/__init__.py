"""Topics of Kafka as a source and a sink (`pip install "firesteel[kafka]"`)."""
