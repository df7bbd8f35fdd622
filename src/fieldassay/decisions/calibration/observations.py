"""Observations: judged predicted values with a confidence, as arrays, and a census of all the others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.decisions.calibration.bins import Bools, Floats
from fieldassay.decisions.calibration.result import ValueCounts
from fieldassay.errors import problem

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("doc", "field", "pred_path", "outcome", "confidence")
JUDGED = ("match", "partial", "mismatch", "spurious")

NEVER = -1.0
"""The confidence of what no threshold accepts."""

SCALES: dict[str, Callable[[Floats], Floats]] = {
    "probability": lambda given: given,
    "percent": lambda given: given / 100.0,
    "logprob": np.exp,
}
"""What confidences may be given in, and how each becomes a probability."""


class Observations(Struct, frozen=True, eq=False):
    """n predicted values with their confidences; `doc` and `field` are positions in `documents` and `fields`.

    `sizes` are the values that each stands for: 1, or those of the document where it is one as a whole.
    """

    documents: tuple[str, ...]
    fields: tuple[str, ...]
    doc: npt.NDArray[np.int32]
    field: npt.NDArray[np.int32]
    confidence: Floats
    is_correct: Bools
    sizes: Floats

    def __len__(self) -> int:
        return len(self.doc)

    def take(self, rows: npt.NDArray[np.generic]) -> Observations:
        """Return some of the observations, by positions or by a mask."""
        parts = (self.doc, self.field, self.confidence, self.is_correct, self.sizes)
        return Observations(self.documents, self.fields, *(part[rows] for part in parts))

    def of_fields(self, fields: Iterable[str]) -> Observations:
        """Return the observations of some fields."""
        wanted = [position for position, name in enumerate(self.fields) if name in set(fields)]
        return self.take(np.isin(self.field, wanted))

    def count_documents(self) -> int:
        """Return how many documents have an observation."""
        return len(np.unique(self.doc))

    def digest(self) -> str:
        """Return the SHA-256 of documents, fields, confidences and outcomes, whatever their order."""
        names = zip(
            self.doc.tolist(),
            self.field.tolist(),
            self.confidence.tolist(),
            self.is_correct.tolist(),
            strict=True,
        )
        lines = sorted(
            f"{self.documents[doc]!r} {self.fields[field]!r} {value!r} {hit:d}\n".encode(
                "utf-8", "surrogatepass"
            )
            for doc, field, value, hit in names
        )
        return hashlib.sha256(b"".join(lines)).hexdigest()


def read_observations(rows: pl.DataFrame, scale: str, where: str) -> Observations:
    """Return the observations in evidence of one system.

    Raises `ProblemsError` for confidences that are invalid on their scale.

    `rows` has the columns `COLUMNS`, of values only.
    """
    chosen = rows.filter(is_judged() & has_confidence())
    documents, doc = _codes(chosen["doc"])
    fields, field = _codes(chosen["field"])
    confidence = _to_probabilities(chosen, scale, where)
    is_correct = (chosen["outcome"] == "match").to_numpy()
    return Observations(documents, fields, doc, field, confidence, is_correct, np.ones(len(doc)))


def read_documents(rows: pl.DataFrame, scale: str, where: str) -> Observations:
    """Return one observation a document: its least confidence, and whether nothing in it is wrong or omitted.

    A document is never accepted as a whole if it has no predicted value, or one without a confidence.
    Documents with a value that could not be judged are left out.
    """
    import polars as pl

    values = read_observations(rows, scale, where)
    least = np.full(len(values.documents), np.inf)
    np.minimum.at(least, values.doc, values.confidence)
    sizes = np.bincount(values.doc, minlength=len(least)).astype(np.float64)
    known = pl.DataFrame({"doc": pl.Series(values.documents, dtype=pl.String), "least": least, "size": sizes})
    table = (
        rows.group_by("doc")
        .agg(
            is_whole=(is_judged() & ~has_confidence()).sum() == 0,
            is_correct=pl.col("outcome").is_in(("match", "absent")).all(),
            is_failed=(pl.col("outcome") == "failed").any(),
        )
        .filter(~pl.col("is_failed"))
        .join(known, on="doc", how="left")
        .sort("doc")
    )
    names = tuple(table["doc"].to_list())
    sure = table["least"].fill_null(NEVER).to_numpy()
    confidence = np.where(table["is_whole"].to_numpy(), sure, NEVER)
    places = np.arange(len(names), dtype=np.int32)
    return Observations(
        names,
        ("document",),
        places,
        np.zeros(len(names), np.int32),
        confidence,
        table["is_correct"].to_numpy(),
        table["size"].fill_null(0.0).to_numpy(),
    )


def is_judged() -> pl.Expr:
    """Return the condition that a row is a predicted value that was judged, right or wrong."""
    import polars as pl

    return pl.col("outcome").is_in(JUDGED) & pl.col("pred_path").is_not_null()


def has_confidence() -> pl.Expr:
    """Return the condition that a row has a confidence."""
    import polars as pl

    return pl.col("confidence").is_not_null() & pl.col("confidence").is_not_nan()


def count_rows(rows: pl.DataFrame) -> ValueCounts:
    """Return what became of the judged values."""
    import polars as pl

    observed = is_judged() & has_confidence()
    counts = {
        "observed": observed.sum(),
        "wrong": (observed & (pl.col("outcome") != "match")).sum(),
        "without_confidence": (is_judged() & ~has_confidence()).sum(),
        "omitted": (pl.col("outcome") == "missing").sum(),
        "silent": (pl.col("outcome") == "absent").sum(),
        "failed": (pl.col("outcome") == "failed").sum(),
        "documents": pl.col("doc").filter(observed).n_unique(),
    }
    return ValueCounts(**rows.select(**counts).row(0, named=True))


def _codes(names: pl.Series) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    distinct = names.unique().sort().to_list()
    places = {name: position for position, name in enumerate(distinct)}
    return tuple(distinct), np.array([places[name] for name in names], np.int32)


def _to_probabilities(chosen: pl.DataFrame, scale: str, where: str) -> Floats:
    given = chosen["confidence"].to_numpy().astype(np.float64)
    with np.errstate(over="ignore"):
        found = SCALES[scale](given)
    is_bad = ~((found >= 0.0) & (found <= 1.0))
    if is_bad.any():
        row = chosen.row(int(np.flatnonzero(is_bad)[0]), named=True)
        example = f"{row['confidence']!r} at {row['pred_path']!r} of document {row['doc']!r}"[:300]
        what = (
            f"{int(is_bad.sum()):,} of {len(given):,} confidences are no {_NOUNS[scale]}, such as {example}"
        )
        raise problem(where, what, _remedy(given, scale), "bad_confidence")
    return found


_NOUNS = {
    "probability": "probabilities from 0 to 1",
    "percent": "percentages from 0 to 100",
    "logprob": "logarithms of probabilities, at most 0",
}


def _remedy(given: Sequence[float] | Floats, scale: str) -> str:
    values = np.asarray(given)
    if scale != "percent" and values.min() >= 0.0 and 1.0 < values.max() <= 100.0:
        return "if they are percentages, say so with --scale percent"
    if scale != "logprob" and values.max() <= 0.0:
        return "if they are logarithms of probabilities, say so with --scale logprob"
    return (
        "give confidences from 0 to 1, or say with --scale what they are; "
        "correct the predictions and score again"
    )
