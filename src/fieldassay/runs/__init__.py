"""A run on disk and the store of runs: files, names, listing, sweeps."""
