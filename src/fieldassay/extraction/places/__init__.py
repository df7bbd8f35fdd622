"""Whether and where a document bears a value."""
