"""Kafka: the rates of reading and writing topics, and the time from a record to its result, beside PyFlink."""
