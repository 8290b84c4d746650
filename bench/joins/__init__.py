"""A regular join over large state: epochs of changes on both sides, with their memory and what they write."""
