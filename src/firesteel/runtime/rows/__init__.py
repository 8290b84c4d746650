"""The operators a plan is made of."""
