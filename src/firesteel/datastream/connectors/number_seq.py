"""A bounded sequence of numbers (PyFlink: pyflink.datastream.connectors.number_seq)."""

from firesteel.connectors.number_sequence import NumberSequenceSource

__all__ = ["NumberSequenceSource"]
