"""A key as bytes, its key group, and its composite form."""
