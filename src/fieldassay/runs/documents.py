"""A document of a finished run, from the evidence it kept, else from its inputs if they are unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.runs.run import Run, corrupt_run_errors
from fieldassay.runs.value_sources import open_value_sources
from fieldassay.scoring.explain import DocumentExplanation, explain_document, unknown_document
from fieldassay.scoring.inputs.open_inputs import drop_absent_fields, open_inputs
from fieldassay.scoring.provenance.inputs import digest_inputs


def document_of_run(run: Run, document: str) -> DocumentExplanation:
    """Return how one document of a run was judged, and where its values stand if they were extracted.

    Raises `ProblemsError`, with the nearest id, for a document that the run does not have.
    """
    import polars as pl

    table = run.documents
    if document not in table["doc"]:
        raise unknown_document(document, table["doc"].unique(maintain_order=True).to_list(), str(run.folder))
    evidence = run.scan_evidence()
    if run.kept != "all" or evidence is None:
        return _with_sources(run, _from_inputs(run, document))
    with corrupt_run_errors(run):
        rows = evidence.filter(pl.col("doc") == document).collect().to_dicts()
    remarks = _remarks(run, document)
    return _with_sources(
        run, DocumentExplanation(document, None, tuple(rows), (), remarks, run.inputs.systems)
    )


def _with_sources(run: Run, found: DocumentExplanation) -> DocumentExplanation:
    """Return the explanation with the `source` of each predicted value, for systems that were extracted."""
    sources = open_value_sources(run.inputs, run.spec.text, run.documents["doc"].to_list())
    rows = tuple(sources.add_to(found.rows))
    remarks = {
        system: (*found.remarks.get(system, ()), f"the source of its values is not shown: {why}")
        for system, why in sources.changed.items()
    }
    return replace(found, rows=rows, remarks={**found.remarks, **remarks})


_CLAIMS = {
    "is_invalid": "the answer could not be read",
    "has_error": "there is an error instead of an answer",
    "is_timeout": "there is a timeout instead of an answer",
}


def _remarks(run: Run, document: str) -> dict[str, tuple[str, ...]]:
    """Return, by system, the remarks in the table of documents on the answers; older runs have none."""
    import polars as pl

    repeated = {name for name, counts in run.file.counts.systems.items() if counts.repeats > 1}
    return {
        row["system"]: tuple(
            f"in one or more runs: {remark}" if row["system"] in repeated else remark
            for remark in _remark(row)
        )
        for row in run.documents.filter(pl.col("doc") == document).to_dicts()
    }


def _remark(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("has_prediction") is False:
        yield "there is no prediction for this document; it is judged as an empty one"
        return
    why = f" ({row['answer_problem']})" if row.get("answer_problem") else ""
    failures = [text for claim, text in _CLAIMS.items() if row.get(claim)]
    yield from (f"{text}{why}; it is judged as an empty prediction" for text in failures)
    if row.get("is_repaired"):
        yield (
            f"the answer was repaired ({row['repairs'].replace(' | ', ', ')})"
            if row.get("repairs")
            else "the answer was repaired"
        )
    if row.get("answer_start") and (failures or row.get("is_repaired")):
        yield f"the answer begins: {row['answer_start']}"


def _from_inputs(run: Run, document: str) -> DocumentExplanation:
    """Judge the document again; the run kept too little of it."""
    inputs, data = run.inputs, run.plan.spec.data
    digests = inputs.sha256 or {}
    changed = [
        label
        for label, digest in digest_inputs(digests).items()
        if digest is None or digest != digests[label]
    ]
    if changed:
        what = f"kept {run.kept} evidence, and its inputs are not there as they were: {', '.join(changed)}"
        raise problem(run.folder, what, "score again with --evidence all", "changed_file")
    labels = dict.fromkeys(inputs.predictions.values()) if data.systems_key else {}
    predictions: Mapping[str, Any] = {
        f"file {number}": label for number, label in enumerate(labels)
    } or inputs.by_system(inputs.opened)
    matching = open_inputs(run.plan, inputs.gold, predictions, run.file.where or ())
    return explain_document(drop_absent_fields(run.plan, matching), matching, document)
