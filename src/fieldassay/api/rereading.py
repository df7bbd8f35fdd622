"""A document of a finished run: from the evidence that it kept, else from its inputs, if they are the same still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldassay.api.digests import digest_inputs
from fieldassay.api.explaining import DocumentExplanation, explain_document, unknown_document
from fieldassay.api.folder import COMPARISONS, DOCUMENTS, EVIDENCE, METRICS, read_run, scan_evidence
from fieldassay.api.inputs import fitted, open_inputs
from fieldassay.api.options import InputOptions
from fieldassay.errors import Problem, ProblemsError
from fieldassay.plan.compile import read_plan
from fieldassay.plan.nodes import Plan
from fieldassay.result.comparisons_file import Comparisons, read_comparisons
from fieldassay.result.metrics_file import read_metrics
from fieldassay.result.result import Result
from fieldassay.store.run_file import check_unchanged


def plan_of_run(folder: Path) -> Plan:
    """Return the plan of a run, from the spec that it recorded."""
    return read_plan(str(read_run(folder)["spec"]["text"]))


@contextmanager
def damage_told(folder: Path) -> Iterator[None]:
    """Turn what Polars says of a damaged file into a problem of the run."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, FileNotFoundError) as error:
        what = f"a table of the run cannot be read ({str(error)[:100]})"
        raise ProblemsError([Problem(str(folder), what, "score again with `--out`", "damaged_run")]) from None


def document_of_run(folder: Path, document: str) -> DocumentExplanation:
    """Return how one document of a run was judged. Raises `ProblemsError` with the nearest id if the run has none such."""
    import polars as pl

    facts = read_run(folder)
    with damage_told(folder):
        table = pl.read_parquet(folder / DOCUMENTS)
    if document not in table["doc"]:
        raise unknown_document(document, table["doc"].unique(maintain_order=True).to_list(), str(folder))
    evidence = scan_evidence(folder)
    if facts.get("evidence") != "all" or evidence is None:
        return _from_inputs(facts, folder, document)
    with damage_told(folder):
        rows = evidence.filter(pl.col("doc") == document).collect().to_dicts()
    systems = tuple(facts["inputs"]["predictions"])
    return DocumentExplanation(document, None, tuple(rows), (), _remarks(table, document), systems)


_CLAIMS = {
    "is_invalid": "the answer could not be read; it is judged as an empty prediction",
    "has_error": "there is an error instead of an answer; it is judged as an empty prediction",
    "is_timeout": "there is a timeout instead of an answer; it is judged as an empty prediction",
    "is_repaired": "the answer was repaired",
}


def _remarks(table: Any, document: str) -> dict[str, tuple[str, ...]]:
    """Return, by system, what the table of documents says of the answers."""
    import polars as pl

    remarks = {}
    for row in table.filter(pl.col("doc") == document).to_dicts():
        said = [text for claim, text in _CLAIMS.items() if row.get(claim)]
        if row.get("has_prediction") is False:
            said = ["there is no prediction for this document; it is judged as an empty one"]
        remarks[row["system"]] = tuple(said)
    return remarks


def _from_inputs(facts: dict[str, Any], folder: Path, document: str) -> DocumentExplanation:
    """Judge the document again; the run kept too little of it."""
    inputs = facts["inputs"]
    changed = [label for label, digest in digest_inputs(inputs["sha256"]).items() if digest is None or digest != inputs["sha256"][label]]
    if changed:
        what = f"kept {facts.get('evidence')} evidence, and its inputs are not there as they were: {', '.join(changed)}"
        raise ProblemsError([Problem(str(folder), what, "score again with --evidence all", "changed_file")])
    given = inputs["options"]
    names = given["id_names"]
    options = InputOptions(given["gold_key"], given["pred_key"], given["systems_key"], tuple(names) if names else None, given["wrap"])
    plan = read_plan(str(facts["spec"]["text"]))
    labels = dict.fromkeys(inputs["predictions"].values()) if given["systems_key"] else {}
    predictions = {f"file {number}": label for number, label in enumerate(labels)} or inputs["predictions"]
    matching = open_inputs(plan, inputs["gold"], predictions, options)
    return explain_document(fitted(plan, matching), matching, document)


def result_of_run(folder: Path) -> Result:
    """Return the result of a run: estimates, documents and comparisons, and its evidence if it kept all of it (made when it is asked for).

    Raises `ProblemsError` for a folder that is not a run, and for a damaged one.
    """
    import polars as pl

    facts = read_run(folder)
    with damage_told(folder):
        documents = pl.read_parquet(folder / DOCUMENTS)
    check_unchanged(folder, facts, METRICS, DOCUMENTS, COMPARISONS, EVIDENCE)
    read = read_metrics((folder / METRICS).read_bytes(), str(folder / METRICS))
    rows = scan_evidence(folder) if facts.get("evidence") == "all" else None
    notes, warnings = (tuple(map(str, facts.get(name) or ())) for name in ("notes", "warnings"))
    compared = _comparisons(folder / COMPARISONS)
    return replace(
        read,
        documents=documents,
        evidence_table=None if rows is None else rows.collect,
        notes=notes,
        warnings=warnings,
        comparisons=compared.comparisons,
        rankings=compared.rankings,
    )


def _comparisons(file: Path) -> Comparisons:
    return read_comparisons(file.read_bytes(), str(file)) if file.is_file() else Comparisons()
