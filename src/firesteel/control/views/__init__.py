"""The information in a job's state directory, as frozen structs for the command line and others."""
