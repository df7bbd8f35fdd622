"""Rows of gold and predictions: formats, raw answers, ids, matching, the labels file."""
