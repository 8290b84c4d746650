"""The minimum duration of an epoch, and the time to the first result of a job."""
