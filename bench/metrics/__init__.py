"""What measuring costs a job."""
