"""The outside world: whole files, JSON, Parquet, encodings, text for terminals, worker processes."""
