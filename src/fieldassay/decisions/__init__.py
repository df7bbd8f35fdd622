"""What follows from runs: diff, baseline, gates, calibration with thresholds and review policies."""
