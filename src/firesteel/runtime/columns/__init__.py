"""The columnar runtime: batches of columns, and the operators that work on them."""
