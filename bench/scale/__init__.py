"""Scale curves: the same job at growing sizes, and what each doubling of its work costs."""
