"""How many records per second a job gets through, beside PyFlink and Spark's own keyed state in Python."""
