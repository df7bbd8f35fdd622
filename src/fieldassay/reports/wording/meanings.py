"""The meaning of each metric of the catalogue, in a sentence, with its formula."""

from __future__ import annotations

LETTERS: dict[str, str] = {
    "C": "both sides have a value, and its score reaches what the field accepts",
    "W": "both sides have a value, and its score does not reach that",
    "M": "only gold has a value (missing)",
    "S": "only the prediction has a value (spurious)",
    "A": "neither side has a value (absent)",
    "T": "the sum of the scores of C and W",
}
"""The counted quantities."""

NAMES: dict[str, str] = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "item_f1": "item F1",
    "field_accuracy": "accuracy",
    "field_accuracy_strict": "accuracy, strict",
    "accuracy_strict": "accuracy, strict",
    "fda": "fill decision",
    "hr": "hallucination rate",
    "mr": "missing rate",
    "rfa": "accuracy where filled",
    "cost_usd": "cost per document",
    "cost_usd_total": "cost, all documents",
}
"""The names in reports of metrics whose own names need explanation."""

MEANINGS: dict[str, tuple[str, str]] = {
    "accuracy": (
        "How much of a document is right, on average over the documents; nearly right values count in part.",
        "mean over documents of T / (C+W+M+S)",
    ),
    "accuracy_strict": ("The same, but a value is right or wrong.", "mean over documents of C / (C+W+M+S)"),
    "accuracy_pooled": (
        "How much of all values together is right; long documents weigh more.",
        "T / (C+W+M+S)",
    ),
    "accuracy_by_field": (
        "How right a field is, on average over the fields; rare fields weigh as much as common ones.",
        "mean over fields of T / (C+W+M+S)",
    ),
    "accuracy_weighted": (
        "Accuracy in which fields count as much as their weight in the spec.",
        "mean over documents of the weighted mean of scores",
    ),
    "critical_accuracy": (
        "How many of the critical values are right, on average over the documents.",
        "mean over documents of C / (C+W+M+S), critical values",
    ),
    "field_accuracy": ("How right one field is over all documents.", "T / (C+W+M+S)"),
    "field_accuracy_strict": ("How often one field is right over all documents.", "C / (C+W+M+S)"),
    "pass_hat": (
        "The chance that k runs of the system all have everything in a document right.",
        "mean over documents of the share of all choices of k runs that are all perfect",
    ),
    "pass_at": (
        "The chance that at least one of k runs has everything in a document right.",
        "mean over documents of the share of all choices of k runs with a perfect one",
    ),
    "value_pass_hat": (
        "The chance that k runs all have a value right.",
        "mean over gold values of the share of all choices of k runs that are all right",
    ),
    "value_pass_at": (
        "The chance that at least one of k runs has a value right.",
        "mean over gold values of the share of all choices of k runs with a right one",
    ),
    "majority_accuracy": (
        "How often the answer that most runs give is right; of several tied answers each counts in part.",
        "right majorities / gold values",
    ),
    "majority_ties": ("How often the runs' vote on a value is tied.", "tied votes / gold values"),
    "flaky_values": (
        "How often the runs answer a value differently.",
        "gold values with several answers / gold values",
    ),
    "perfect_documents": (
        "The share of documents in which every value is right.",
        "documents with accuracy 1 / documents",
    ),
    "precision": ("Of the values that were predicted, how many are right.", "C / (C+W+S)"),
    "recall": ("Of the values that gold has, how many were found and are right.", "C / (C+W+M)"),
    "f1": ("Precision and recall in one number, their harmonic mean.", "2C / (2C+2W+M+S)"),
    "macro_precision": ("Precision, on average over the fields.", "mean over fields"),
    "macro_recall": ("Recall, on average over the fields.", "mean over fields"),
    "macro_f1": ("F1, on average over the fields.", "mean over fields"),
    "fda": (
        "Fill-decision accuracy: how often filling a field, or leaving it empty, was the right decision.",
        "(C+W+A) / (C+W+M+S+A)",
    ),
    "hr": (
        "Hallucination rate: how often there is a value where gold has none. Lower is better.",
        "S / (S+A)",
    ),
    "mr": ("Missing rate: how often there is no value where gold has one. Lower is better.", "M / (C+W+M)"),
    "rfa": ("Required-fill accuracy: the mean score where both sides have a value.", "T / (C+W)"),
    "correct": ("How many values are right.", "C"),
    "wrong": ("How many values are wrong although both sides have one.", "W"),
    "missing": ("How many values the predictions lack.", "M"),
    "spurious": ("How many values the predictions have where gold has none.", "S"),
    "absent": ("How many values neither side has.", "A"),
    "item_precision": (
        "Of the predicted items of lists, how many have a partner in gold.",
        "(C+W) / (C+W+S), items",
    ),
    "item_recall": ("Of the items of lists in gold, how many were found.", "(C+W) / (C+W+M), items"),
    "item_f1": ("Item precision and item recall in one number.", "2(C+W) / (2C+2W+M+S), items"),
    "items_matched": ("How many items have a partner.", "C+W, items"),
    "items_missing": ("How many items of gold have no partner.", "M, items"),
    "items_spurious": ("How many predicted items have no partner.", "S, items"),
    "mean": ("The mean of a column of the evidence.", "sum / rows"),
    "total": ("The sum of a column of the evidence.", "sum"),
    "share_at_least": (
        "The share of values for which a column of the evidence reaches a threshold.",
        "rows at or above it / rows",
    ),
    "documents": ("How many documents were scored.", "count"),
    "documents_missing": ("How many documents have no prediction; they are judged as empty ones.", "count"),
    "documents_invalid": ("How many answers could not be read; they are judged as empty ones.", "count"),
    "documents_error": ("How many answers are errors; they are judged as empty ones.", "count"),
    "documents_timeout": ("How many answers timed out; they are judged as empty ones.", "count"),
    "documents_repaired": ("How many answers had to be repaired before they could be read.", "count"),
    "documents_unparsed": ("How many answers could not be read as a record.", "count"),
    "failed": ("How many judgements could not be made; they are outside every denominator.", "count"),
    "structure_errors": ("How often the prediction has another kind of JSON than was asked for.", "count"),
    "unreadable_gold": (
        "How many gold values cannot be read as their type and were compared as text.",
        "count",
    ),
    "check_violations": ("How often predictions violate a check of the spec.", "count"),
    "documents_with_violations": ("In how many documents a check is violated.", "count"),
    "latency_p50": ("Half of the documents take no longer than this.", "median of the duration"),
    "latency_p90": ("Nine of ten documents take no longer than this.", "90th percentile of the duration"),
    "latency_p95": ("95 of a hundred documents take no longer than this.", "95th percentile of the duration"),
    "latency_p99": ("99 of a hundred documents take no longer than this.", "99th percentile of the duration"),
    "latency_min": ("The shortest time for a document.", "least duration"),
    "latency_max": ("The longest time for a document.", "greatest duration"),
    "latency_mean": ("The mean time for a document.", "sum of durations / documents"),
    "throughput": ("Documents per minute, one after the other.", "documents / sum of durations"),
    "cost_usd": ("What one document costs on average.", "sum of costs / documents with a known cost"),
    "cost_usd_total": ("What all documents together cost.", "sum of costs"),
    "prompt_tokens": ("The mean prompt tokens of a document.", "mean of usage.prompt_tokens"),
    "prompt_tokens_sum": ("The prompt tokens of all documents together.", "sum of usage.prompt_tokens"),
    "completion_tokens": ("The mean completion tokens of a document.", "mean of usage.completion_tokens"),
    "completion_tokens_sum": (
        "The completion tokens of all documents together.",
        "sum of usage.completion_tokens",
    ),
    "embedding_tokens": ("The mean embedding tokens of a document.", "mean of usage.embedding_tokens"),
    "embedding_tokens_sum": (
        "The embedding tokens of all documents together.",
        "sum of usage.embedding_tokens",
    ),
    "total_tokens": ("The mean tokens of a document.", "mean of usage.total_tokens"),
    "total_tokens_sum": ("The tokens of all documents together.", "sum of usage.total_tokens"),
    "out_of_type": ("How many predicted values cannot be read as their type.", "count"),
    "out_of_type_rate": (
        "The share of predicted values that cannot be read as their type.",
        "out of type / (C+W+S)",
    ),
    "weighted_precision": (
        "The mean precision of the fields, each weighted by its support.",
        "sum of precision x support / sum of support",
    ),
    "weighted_recall": (
        "The mean recall of the fields, each weighted by its support.",
        "sum of recall x support / sum of support",
    ),
    "weighted_f1": (
        "The mean F1 of the fields, each weighted by its support.",
        "sum of F1 x support / sum of support",
    ),
    "support": ("How many values gold has.", "C+W+M"),
}
"""Metric -> its meaning, and its formula in the letters above."""
