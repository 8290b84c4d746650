"""Scale curves: the same job at growing sizes, and the cost of each doubling of its work."""
