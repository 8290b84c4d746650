"""The text language of patterns: parsing it, and making the same patterns of it as the methods of `Pattern` make."""
