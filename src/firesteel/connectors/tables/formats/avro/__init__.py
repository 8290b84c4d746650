"""Avro: records as columns and back, whole columns at a time.

A library makes a Python object for each value. Here the records of many messages are read together: the first field of
all of them, then the second, and so on, each by a few operations of numpy on the places where the records are read.
"""
