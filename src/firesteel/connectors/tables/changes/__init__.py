"""Formats whose messages say how rows change: those of Debezium, Canal and Maxwell."""
