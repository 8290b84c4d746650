"""What can be known of a job from its state directory, as frozen structs that the command line and others show."""
