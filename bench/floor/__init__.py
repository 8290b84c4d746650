"""The floor of an epoch, which no epoch can be faster than, and the time to a job's first result."""
