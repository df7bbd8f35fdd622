"""Evidence to numbers: statistics, metrics, uncertainty, estimates, results, comparisons of systems."""
