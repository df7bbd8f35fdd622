"""What has to be said beside the numbers of a calibration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fieldassay.calibration.observations import Observations
from fieldassay.result.calibrated import Census, Promise, Unit

FEW_DOCUMENTS = 20


def remark(census: Census, seen: Observations, promise: Promise, scale: str) -> Iterator[str]:
    """Yield sentences on what the observations do not hold, and on what the numbers take for granted."""
    yield from remark_census(census)
    documents = seen.count_documents()
    if documents < FEW_DOCUMENTS:
        yield f"only {documents} documents: intervals over documents are too narrow"
    if len(seen) > documents:
        each = len(seen) / documents
        yield (
            f"documents have {each:.1f} values each, which are often wrong together: "
            "the p values of calibration take them as independent and may be too small"
        )
        if promise.unit is Unit.VALUE:
            yield "the threshold takes values as independent; where errors come together it promises more than it can keep (--unit document does not)"
    if len(np.unique(seen.confidence)) == 1:
        yield "all confidences are equal: they cannot tell what to review"
    if scale == "percent" and seen.confidence.max() <= 0.01:
        yield "no confidence is above 1 %: are they percentages?"


def remark_census(census: Census) -> Iterator[str]:
    """Yield what no threshold can do for: values without a confidence, values left out, values that could not be judged."""
    if census.omitted:
        yield f"{census.omitted:,} values that gold has were not predicted: no threshold on predicted values can catch those"
    if census.without_confidence:
        yield f"{census.without_confidence:,} predicted values have no confidence: they are in no number here and always go to review"
    if census.failed:
        yield f"{census.failed:,} values could not be judged and are in no number here"
