"""Loads that change while a job runs, and how its epochs adapt."""
