"""Where the values of a run come from: documents and boxes."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import FieldassayError, ProblemsError, problem
from fieldassay.extraction.strategy import Evidence, read_evidence
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.estimate import RecordedInputs
from fieldassay.records.files import is_extraction
from fieldassay.records.keys import ID_FORMS, SourceOptions
from fieldassay.records.matching import join_ids, unknown_document
from fieldassay.records.source import Source, open_source
from fieldassay.runs.run import Run
from fieldassay.scoring.explain import DocumentExplanation, explain_document
from fieldassay.scoring.inputs import drop_absent_fields, open_gold, open_inputs
from fieldassay.scoring.provenance import digest_input, digest_inputs
from fieldassay.spec.language.parse import RecordedSpec, read_spec
from fieldassay.spec.plan.compile import read_plan

# Where the predicted values of a run stand in their documents, as the extractions that it scored say.

SourceOfValue: TypeAlias = "list[tuple[str, Evidence]]"
"""The paths of a value, or of the parts of one that is a list, with their evidence."""

MOST_PARTS = 20
"""Parts of one value whose evidence is told at most."""


class ExtractedDocument(Struct, frozen=True):
    """A document of an extraction: its id there, and the folder of the extraction."""

    id: str
    extraction: Path


class PredictedRows(Struct, frozen=True, eq=False, dict=True):
    """The rows of one file of predictions, by document."""

    source: Source
    form: Callable[[str], str]
    folder: Path
    """The path that was given: of an extraction, its folder."""
    owners: Mapping[str, str] | None = None
    """The documents by the ids of their predictions; None where those are equal in that form."""

    @cached_property
    def _positions(self) -> Mapping[str, list[int]]:
        positions: dict[str, list[int]] = defaultdict(list)
        for position, name in enumerate(self.source.ids):
            positions[self.key(name)].append(position)
        return positions

    def key(self, name: str) -> str:
        """Return the document of the run to which a prediction with this id belongs, in the form of ids."""
        own = name if self.owners is None else self.owners.get(name, "")
        return self.form(make_printable(own))

    def document(self, name: str) -> ExtractedDocument | None:
        """Return a document of the run as the extraction names it."""
        positions = self._positions.get(self.form(name))
        return ExtractedDocument(self.source.ids[positions[0]], self.folder) if positions else None

    def row(self, document: str, repeat: int | None) -> dict[str, Any]:
        """Return the row of a document, or the one of that repetition; an empty one if there is none."""
        positions = self._positions.get(self.form(document), [])
        rows = [row.value for row in self.source.rows.read(positions)]
        chosen = (row for row in rows if isinstance(row, dict) and row.get("repeat") in (None, repeat))
        return next(chosen, {})

    def read(self, document: str, repeat: int | None) -> dict[str, Evidence]:
        """Return the evidence of a document by path."""
        by_path = read_evidence(self.row(document, repeat))
        return {make_printable(path): evidence for path, evidence in by_path.items()}


class ValueSources(Struct, frozen=True, eq=False, dict=True):
    """The sources of the values of a run.

    `changed` names, by system, the file that is not as it was scored, and why nothing is told from it.
    """

    _extracted: Mapping[tuple[str, int | None], PredictedRows] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether any system is an extraction whose sources can be read."""
        return bool(self._extracted)

    def of_row(self, row: Mapping[str, Any], by_document: dict[Any, dict[str, Evidence]]) -> SourceOfValue:
        """Return the source of the predicted value in a row of evidence; [] where none is known.

        `by_document` holds what was read of documents before.
        """
        path = row["pred_path"]
        extracted = self._extracted.get((row["system"], row.get("repeat")))
        if extracted is None or path is None or row["kind"] != "value":
            return []
        key = (row["system"], row["doc"], row.get("repeat"))
        if key not in by_document:
            by_document[key] = extracted.read(row["doc"], row.get("repeat"))
        own = by_document[key].get(path)
        if own is not None:
            return [(path, own)]
        below = (f"{path}[", f"{path}.")
        return [(name, evidence) for name, evidence in by_document[key].items() if name.startswith(below)][
            :MOST_PARTS
        ]

    def document_of_row(self, row: Mapping[str, Any]) -> ExtractedDocument | None:
        """Return the document of a row of evidence in the extraction of its system; None if it has none."""
        extracted = self._extracted.get((row["system"], row.get("repeat")))
        return None if extracted is None else extracted.document(row["doc"])

    def documents(self, name: str) -> Iterator[ExtractedDocument]:
        """Yield a document of the run as the extractions name it that have it."""
        for extracted in self._extracted.values():
            if (document := extracted.document(name)) is not None:
                yield document

    def add_to(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the rows, with `source` as plain data for each value with a known one."""
        by_document: dict[Any, dict[str, Evidence]] = {}
        for row in rows:
            sources = self.of_row(row, by_document)
            source_data = [{"path": path, **msgspec.to_builtins(evidence)} for path, evidence in sources]
            yield {**row, "source": source_data} if source_data else row


Opened: TypeAlias = "Mapping[tuple[str, int | None], PredictedRows]"
"""The rows of predictions by system and number of the run; None for a system without repeated runs."""


def open_value_sources(inputs: RecordedInputs | None, spec: str, documents: Sequence[str]) -> ValueSources:
    """Return the sources of the values of a run with these inputs: of its systems that are extractions.

    An extraction whose predictions are not as they were scored, byte for byte, has none. `spec` is the text
    of the run's spec, and `documents` are the ids of its documents.
    """
    return ValueSources() if inputs is None else ValueSources(*open_predictions(inputs, spec, documents))


def open_predictions(
    inputs: RecordedInputs, spec: str, documents: Sequence[str], reading: SourceOptions | None = None
) -> tuple[Opened, Mapping[str, str]]:
    """Return the rows of a run's predictions, and by system why they cannot be read as they were scored.

    Without `reading`, which says how rows are read, only those of extractions are opened.
    """
    form = read_spec(RecordedSpec(spec)).data.match_ids if spec else "exact"
    repeats = {
        name: (system, number)
        for system, names in inputs.repeats.items()
        for number, name in enumerate(names, 1)
    }
    rows_of: dict[tuple[str, int | None], PredictedRows] = {}
    changed: dict[str, str] = {}
    opened: dict[str, PredictedRows | str | None] = {}
    for name, folder in inputs.opened.items():
        label = inputs.predictions[name]
        if folder not in opened:
            is_wanted = reading is not None or is_extraction(Path(folder))
            digest = (inputs.sha256 or {}).get(label)
            opened[folder] = _open(folder, label, digest, reading) if is_wanted else None
        predicted_rows, (system, repeat) = opened[folder], repeats.get(name, (name, None))
        if isinstance(predicted_rows, str):
            changed[make_printable(system)] = predicted_rows
        elif predicted_rows is not None:
            rows_of[make_printable(system), repeat] = replace(predicted_rows, form=ID_FORMS.get(form, str))
    named = frozenset(documents)
    by_name = {
        key: predicted_rows
        for key, predicted_rows in rows_of.items()
        if form not in ID_FORMS
        or (form == "exact" and named.isdisjoint(map(predicted_rows.key, predicted_rows.source.ids)))
    }
    joined = _join(inputs, spec, by_name, named) if by_name else {}
    if isinstance(joined, str):
        rest = {key: predicted_rows for key, predicted_rows in rows_of.items() if key not in by_name}
        return rest, changed | {system: joined for system, _ in by_name}
    return rows_of | joined, changed


def _join(
    inputs: RecordedInputs, spec: str, rows: Opened, documents: Collection[str]
) -> dict[tuple[str, int | None], PredictedRows] | str:
    """Return the rows with the documents that they were joined with by names, or why nobody knows them."""
    unknown = f"its ids were joined with those of {inputs.gold}, which cannot be read as it was scored"
    digest = (inputs.sha256 or {}).get(inputs.gold)
    try:
        if digest is None or digest_input(inputs.gold) != digest:
            return unknown
        plan = read_plan(RecordedSpec(spec))
        gold = open_gold(plan, inputs.gold)
        joined = {
            key: join_ids(gold, predicted_rows.source, plan.spec.data.match_ids)
            for key, predicted_rows in rows.items()
        }
    except (FieldassayError, OSError, ValueError):
        return unknown
    owned = {make_printable(own) for joining in joined.values() for own in joining.owners.values()}
    is_shared = any(joining.is_shared for joining in joined.values()) or owned.isdisjoint(documents)
    return {
        key: replace(
            rows[key], owners={name: name if is_shared else own for name, own in joining.owners.items()}
        )
        for key, joining in joined.items()
    }


def _open(
    folder: str, label: str, digest: str | None, reading: SourceOptions | None
) -> PredictedRows | str | None:
    """Return predictions as they were scored, or why they are not; None for those of a stream."""
    if digest is None:
        return None if reading is None else f"{label} was read from a stream"
    try:
        now = digest_input(label)
        if now != digest:
            return f"{label} {'is not there' if now is None else 'has changed since it was scored'}"
        return PredictedRows(open_source(folder, reading), str, Path(folder))
    except (OSError, ProblemsError):
        return f"{label} cannot be read"


# A document of a finished run, from the evidence it kept, else from its inputs if they are unchanged.


def document_of_run(run: Run, document: str) -> DocumentExplanation:
    """Return how one document of a run was judged, and where its values stand if they were extracted.

    Raises `ProblemsError`, with the nearest id, for a document that the run does not have.
    """
    import polars as pl

    table = run.documents
    if document not in table["doc"]:
        raise unknown_document(document, table["doc"].unique(maintain_order=True).to_list(), str(run.folder))
    evidence = run.evidence
    if run.kept != "all" or evidence is None:
        return _with_sources(run, _from_inputs(run, document))
    rows = evidence.filter(pl.col("doc") == document).collect().to_dicts()
    remarks = _remarks(run, document)
    return _with_sources(
        run, DocumentExplanation(document, None, tuple(rows), (), remarks, run.inputs.systems)
    )


def _with_sources(run: Run, explanation: DocumentExplanation) -> DocumentExplanation:
    """Return the explanation with the `source` of each predicted value, for systems that were extracted."""
    sources = open_value_sources(run.inputs, run.spec.text, run.documents["doc"].to_list())
    rows = tuple(sources.add_to(explanation.rows))
    remarks = {
        system: (*explanation.remarks.get(system, ()), f"the source of its values is not shown: {why}")
        for system, why in sources.changed.items()
    }
    return replace(explanation, rows=rows, remarks={**explanation.remarks, **remarks})


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
        yield "no prediction for this document; it counts as empty"
        return
    why = f" ({row['answer_problem']})" if row.get("answer_problem") else ""
    failures = [text for claim, text in _CLAIMS.items() if row.get(claim)]
    yield from (f"{text}{why}; it counts as empty" for text in failures)
    if row.get("is_repaired") or row.get("repairs"):
        kinds = f" ({row['repairs'].replace(' | ', ', ')})" if row.get("repairs") else ""
        yield f"the answer was {'repaired' if row.get('is_repaired') else 'unwrapped'}{kinds}"
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
    return explain_document(drop_absent_fields(run.plan, matching.gold), matching, document)
