"""Observations of a run: judged predicted values with a confidence, and a census of all the others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.metrics.evidence import ANSWER_COLUMNS, REPEAT
from fieldassay.metrics.result.result import Result
from fieldassay.runs.run import Run, corrupt_run_errors
from fieldassay.runs.run_file import EVIDENCE

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class ValueCounts(Struct, frozen=True):
    """What became of the judged values: observations, and what cannot be one."""

    observed: int = 0
    """Predicted values with a confidence that were judged."""
    wrong: int = 0
    """Those of them that are not a match."""
    without_confidence: int = 0
    """Predicted and judged, without a confidence."""
    omitted: int = 0
    """Gold has a value and the prediction has none: no threshold on predicted values can catch these."""
    silent: int = 0
    """Neither side has a value."""
    failed: int = 0
    """Could not be judged."""
    documents: int = 0
    """Documents with at least one observation."""


COLUMNS = ("doc", "field", "pred_path", "outcome", "confidence")


JUDGED = ("match", "partial", "mismatch", "spurious")


Scale = Literal["probability", "percent", "logprob"]
SCALES: dict[str, Callable[[Floats], Floats]] = {
    "probability": lambda given: given,
    "percent": lambda given: given / 100.0,
    "logprob": np.exp,
}
"""What confidences may be given in, and how each becomes a probability."""


class Observations(Struct, frozen=True, eq=False):
    """Predicted values with confidences; `doc` and `field` are positions in `documents` and `fields`."""

    documents: tuple[str, ...]
    fields: tuple[str, ...]
    doc: npt.NDArray[np.int32]
    field: npt.NDArray[np.int32]
    confidence: Floats
    is_correct: Bools

    def __len__(self) -> int:
        return len(self.doc)

    def take(self, rows: npt.NDArray[np.generic]) -> Observations:
        """Return some of the observations, by positions or by a mask."""
        parts = (self.doc, self.field, self.confidence, self.is_correct)
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
    return Observations(documents, fields, doc, field, confidence, is_correct)


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


def remark_census(census: ValueCounts) -> Iterator[str]:
    """Yield the limits of any threshold: values without confidence, omitted values, failed judgments."""
    if census.omitted:
        yield (
            f"{census.omitted:,} values that gold has were not predicted: "
            "no threshold on predicted values can catch those"
        )
    if census.without_confidence:
        yield (
            f"{census.without_confidence:,} predicted values have no confidence: "
            "they are in no number here and always go to review"
        )
    if census.failed:
        yield f"{census.failed:,} values could not be judged and are in no number here"


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


MOST_SLICES = 50


class Confidences(Struct, frozen=True, eq=False):
    """Judged values of one system (the columns `COLUMNS`), its documents, and the run's digests."""

    label: str
    system: str
    rows: pl.DataFrame
    documents: pl.DataFrame
    digests: Mapping[str, str]
    spec: str = ""

    def list_fields(self) -> tuple[str, ...]:
        """Return the fields that have judged values, in the order of the evidence."""
        return tuple(self.rows["field"].unique(maintain_order=True).to_list())

    def of_fields(self, fields: Iterable[str]) -> Confidences:
        """Return what is there of some fields."""
        import polars as pl

        return replace(self, rows=self.rows.filter(pl.col("field").is_in(list(fields))))

    def of_documents(self, documents: Iterable[str]) -> Confidences:
        """Return what is there of some documents."""
        import polars as pl

        return replace(self, rows=self.rows.filter(pl.col("doc").is_in(list(documents))))

    def slice_documents(self, key: str) -> dict[str, frozenset[str]]:
        """Return the documents of each value of a slice key, in order.

        Raises `ProblemsError` for an unknown key.
        """
        import polars as pl

        lists = (pl.List(pl.String), pl.String)
        known = [
            name
            for name, kind in self.documents.schema.items()
            if kind in lists and name not in ("system", "doc", "repairs", *ANSWER_COLUMNS)
        ]
        if key not in known:
            remedy = nearest(key[:100], known) if known else "score with --slice"
            raise problem(self.label, f"no slice key {key[:100]!r}", remedy, "unknown_name")
        table = self.documents.select("doc", value=pl.col(key))
        if table.schema["value"] == pl.List(pl.String):
            table = table.explode("value")
        found = {
            str(value): frozenset(part["doc"].to_list())
            for (value,), part in table.drop_nulls().sort("value").group_by("value", maintain_order=True)
        }
        if len(found) > MOST_SLICES:
            what = f"the slice key {key[:100]!r} has {len(found):,} values"
            raise problem(self.label, what, f"choose a key with at most {MOST_SLICES}", "invalid_option")
        return found


def read_confidences(run: Path | Result, system: str | None) -> Confidences:
    """Return the judged values of a system, the only one unless named.

    Raises `ProblemsError` for a run that kept less than all judged values, and for an ambiguous system.
    """
    import polars as pl

    found = Run.of(run) if isinstance(run, Result) else Run.open(run)
    label, evidence = str(found.folder), found.evidence
    if found.kept != "all" or evidence is None:
        raise _incomplete(label)
    name = _choose_system(label, found.documents, system)
    documents = found.documents.filter(pl.col("system") == name)
    with corrupt_run_errors(*([found] if found.is_saved else [])):
        _refuse_repeats(label, name, evidence)
        rows = _select_rows(evidence, name)
        nulls = [column for column in ("doc", "field", "outcome") if rows[column].null_count()]
        if nulls:
            raise found.refusal(f"the column {nulls[0]!r} has no value in some rows", EVIDENCE)
    if not found.is_saved and _lacks_matches(rows, documents):
        raise _incomplete(label)
    return Confidences(label, name, rows, documents, _digests(found), found.spec_name)


def choose_confidences(
    evidence: pl.LazyFrame, documents: pl.DataFrame, system: str, kept: str
) -> Confidences:
    """Return the judged values of a system in evidence of which `kept` was kept; it has no digests.

    Raises `ProblemsError` as `read_confidences` does.
    """
    import polars as pl

    if kept != "all":
        raise _incomplete("the run")
    _refuse_repeats("the run", system, evidence)
    own = documents.filter(pl.col("system") == system)
    return Confidences("the run", system, _select_rows(evidence, system), own, {})


def _select_rows(evidence: pl.LazyFrame, system: str) -> pl.DataFrame:
    import polars as pl

    chosen = evidence.filter((pl.col("kind") == "value") & (pl.col("system") == system))
    return chosen.select(COLUMNS).cast({"confidence": pl.Float64}).collect()


def _refuse_repeats(label: str, system: str, evidence: pl.LazyFrame) -> None:
    """Raise `ProblemsError` for repeated runs: a threshold is for one answer to each document."""
    import polars as pl

    if REPEAT not in evidence.collect_schema():
        return
    own = evidence.filter(pl.col("system") == system).select(pl.col(REPEAT).n_unique()).collect().item()
    if own > 1:
        what = f"{system!r} has {own} repeated runs, and a threshold is for one answer to each document"
        remedy = "score one of the runs alone, and calibrate that"
        raise problem(label, what, remedy, "repeated_runs")


def _lacks_matches(rows: pl.DataFrame, documents: pl.DataFrame) -> bool:
    """Return whether only errors were kept, which a result does not say of itself."""
    has_matches = "matches" in documents.columns and (documents["matches"].sum() or 0) > 0
    return has_matches and not (rows["outcome"] == "match").any()


def _incomplete(label: str) -> ProblemsError:
    what = "did not keep all judged values, and what was right is needed as much as what was wrong"
    return problem(label, what, "score again with --evidence all", "missing_part")


def _choose_system(label: str, documents: pl.DataFrame, system: str | None) -> str:
    known = documents["system"].unique(maintain_order=True).to_list()
    if system is None and len(known) == 1:
        return str(known[0])
    if system is None:
        what, remedy = f"has {len(known)} systems", f"choose one with --system: {', '.join(known)}"[:500]
        raise problem(label, what, remedy, "missing_option")
    if system not in known:
        raise problem(label, f"no system {system[:100]!r}", nearest(system[:100], known), "unknown_name")
    return system


def _digests(run: Run) -> dict[str, str]:
    """Return the digests that a run records: of its spec always, of others if it has them."""
    spec = {} if run.file.spec is None else {"spec": run.file.spec.digest}
    return {
        name: digest for name, digest in {**spec, **(run.file.digests or {})}.items() if digest is not None
    }
