"""The tables of a run: their columns and contents, and answers that failed as a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.files.parquet import guarded
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.evidence import ANSWER_COLUMNS, FLAGS, REPEAT, Kind, Outcome, evidence_schema

if TYPE_CHECKING:
    import polars as pl

_REMEDY, _KIND = "score again, or restore the run as a whole", "damaged_run"
_PRESENT = (
    "system",
    "doc",
    "field",
    "kind",
    "type",
    "outcome",
    "reason",
    "weight",
    "critical",
    "flags",
    "diagnoses",
)
"""The columns of evidence that always have a value."""


def check_evidence(schema: Mapping[str, Any], where: str) -> None:
    """Raise `ProblemsError` unless these are the columns of evidence."""
    import polars as pl

    _check_columns(schema, evidence_schema(), where)
    extra: dict[str, Any] = {name: pl.Float64 for name in schema if name not in (*evidence_schema(), REPEAT)}
    extra |= {REPEAT: pl.Int64} if REPEAT in schema else {}
    _check_columns(schema, extra, where)


def check_documents(table: pl.DataFrame, where: str) -> None:
    """Raise `ProblemsError` unless a table is one of documents."""
    import polars as pl

    text, number, claim = pl.String, pl.Float64, pl.Boolean
    expected: dict[str, Any] = {"system": text, "doc": text, "score": number}
    if len(table):
        expected |= dict.fromkeys(("accuracy", "accuracy_strict", "leaves", "matches", "perfect"), number)
        expected |= dict.fromkeys(
            ("has_prediction", "is_invalid", "has_error", "is_timeout", "is_repaired"), claim
        )
        expected |= {name: text for name in ("repairs", *ANSWER_COLUMNS) if name in table.columns}
    _check_columns(table.schema, expected, where)
    if table["system"].null_count() or table["doc"].null_count():
        raise _refusal(where, "has rows without a system or a document")
    if table.select(pl.struct("system", "doc").is_duplicated().any()).item():
        raise _refusal(where, "has a document twice")


def check_systems(table: pl.DataFrame, where: str, systems: Collection[str]) -> None:
    """Raise `ProblemsError` unless a table of documents is of these systems."""
    differing = set(table["system"].unique().to_list()) ^ {make_printable(name) for name in systems}
    if differing and len(table):
        raise _refusal(
            where,
            f"is not of the same systems as metrics.json: only one of them has {min(differing)[:100]!r}",
        )


def find_bad_evidence(frame: pl.LazyFrame, where: str, systems: Collection[str]) -> Problem | None:
    """Return the first impossible value in evidence, None if there is none; every value is read."""
    import polars as pl

    allowed = {
        "system": list(map(make_printable, systems)),
        "kind": [one.name.lower() for one in Kind],
        "outcome": [one.name.lower() for one in Outcome],
    }
    try:
        with guarded(where, _REMEDY, _KIND):
            table = frame.collect()
            for name in _PRESENT:
                if table[name].null_count():
                    return _problem(where, f"the column {name!r} has no value in some rows")
            for name, words in allowed.items():
                odd = table.filter(~pl.col(name).is_in(words))
                if len(odd):
                    return _problem(where, f"the column {name!r} has {str(odd[name][0])[:40]!r}")
            flags = table.select(pl.col("flags").explode().drop_nulls().is_in(FLAGS).all()).item()
            if not flags:
                return _problem(where, "the column 'flags' has an unknown flag")
            for name in ("score", "weight", "confidence"):
                if table[name].is_infinite().any() or table[name].is_nan().any():
                    return _problem(where, f"the column {name!r} has a value that is no finite number")
    except ProblemsError as error:
        return error.problems[0]
    return None


def _check_columns(schema: Mapping[str, Any], expected: Mapping[str, Any], where: str) -> None:
    for name, kind in expected.items():
        if name not in schema:
            raise _refusal(where, f"has no column {name!r}")
        if schema[name] != kind:
            raise _refusal(
                where,
                f"the column {name[:60]!r} is of the type {schema[name]}, "
                f"not {kind() if isinstance(kind, type) else kind}",
            )


def _problem(where: str, what: str) -> Problem:
    return Problem(where, what, _REMEDY, _KIND)


def _refusal(where: str, what: str) -> ProblemsError:
    return ProblemsError([_problem(where, what)])


ANSWERS = {
    "answer_missing": ("has_prediction", False),
    "answer_timeout": ("is_timeout", True),
    "answer_error": ("has_error", True),
    "answer_unreadable": ("is_invalid", True),
}
"""The problems of whole answers: column of the documents and its value; the first that holds counts."""

_BETWEEN = "\x1f"


def unusable_answers(columns: Sequence[str]) -> pl.Expr:
    """Return the problem of a document's answer as a whole; null for an answer that could be judged."""
    import polars as pl

    found = pl.lit(None, dtype=pl.String)
    for name, (column, wanted) in reversed(ANSWERS.items()):
        if column in columns:
            found = (
                pl.when((pl.col(column).cast(pl.Float64) > 0) == wanted).then(pl.lit(name)).otherwise(found)
            )
    return found


def mark_failed_answers(evidence: pl.LazyFrame | None, documents: pl.DataFrame | None) -> pl.LazyFrame | None:
    """Return evidence whose values missing from a failed answer have its problem as their diagnosis.

    What is still `missing` was left out by an answer that could be read. Marking twice changes nothing.
    """
    import polars as pl

    if evidence is None or documents is None:
        return evidence
    failed = (
        documents.with_columns(problem=unusable_answers(documents.columns))
        .filter(pl.col("problem").is_not_null())
        .select(key=pl.concat_str("system", "doc", separator=_BETWEEN), problem="problem")
    )
    if failed.is_empty():
        return evidence
    key = pl.concat_str(pl.col("system").cast(pl.String), pl.col("doc").cast(pl.String), separator=_BETWEEN)
    problem = key.replace_strict(failed["key"], failed["problem"], default=None, return_dtype=pl.String)
    is_lost = problem.is_not_null() & (pl.col("outcome") == "missing")
    return evidence.with_columns(
        diagnoses=pl.when(is_lost).then(pl.concat_list(problem)).otherwise("diagnoses")
    )
