"""A system of a run, run again: the texts of its documents, the passes, and what they say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fieldassay.attribution.attribute import Work
from fieldassay.attribution.causal import Causal, Value, measure
from fieldassay.attribution.presence import UNCOPIED
from fieldassay.attribution.reruns import OpenSystem, RerunOptions, Texts, judge_passes, patch, run_passes
from fieldassay.errors import Problem, ProblemsError
from fieldassay.json_value import read_given

if TYPE_CHECKING:
    from fieldassay.attribution.result import Attribution
    from fieldassay.attribution.sent import Sent
    from fieldassay.extractors.extract import Extraction

Rows = Mapping[str, list[Mapping[str, Any]]]


def find_texts(work: Work, name: str) -> dict[str, Texts]:
    """Return the texts of the documents of a system of a run: sent, perfect and patched.

    Raises `ProblemsError` where no text that was sent is known, and for repeated runs.
    """
    if any(repeat is not None for system, repeat in work.extractions.rows if system == name):
        what, remedy = "has repeated runs", "score one of them alone"
        raise ProblemsError([Problem(name, what, remedy, "no_text_sent")])
    found = {}
    for document, rows in _rows_by_document(work, name).items():
        work.extractions.forget()
        sent = work.extractions.of(name, document, None)
        if sent.text is None or sent.text.transcript is None:
            continue
        wanted = [
            (leaf, read_given(row["gold"]), read_given(row["pred"]))
            for row in rows
            if row["gold"] is not None and (leaf := work.leaf(row["field"])) is not None
        ]
        perfect = _perfect(work, name, document, sent)
        found[document] = Texts(sent.text.transcript, perfect, patch(sent.text, wanted))
    if not found:
        what = "no text that was sent is known"
        remedy = "give --transcripts, or predictions with a transcript"
        raise ProblemsError([Problem(name, what, remedy, "no_text_sent")])
    return found


def _rows_by_document(work: Work, name: str) -> Rows:
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in work.rows.get(name, ()):
        rows[row["doc"]].append(row)
    return rows


def _perfect(work: Work, name: str, document: str, sent: Sent) -> Any:
    """Return the perfect text of a document: its own, that of its clean twin, or of a file; else None."""
    assert sent.text is not None
    if sent.text.is_lossless or work.twins.is_clean(document):
        return sent.text.transcript
    twin = work.twins.of.get(document)
    if twin is not None:
        of_twin = work.extractions.of(name, twin, None).text
        if of_twin is not None:
            return of_twin.transcript
    return work.twins.perfect_transcript(document)


def run_again(work: Work, found: Attribution, name: str, system: OpenSystem, options: RerunOptions) -> Causal:
    """Return what the passes of a system say of its values in a run. Raises `ProblemsError`.

    A pass that was stopped (by a limit of cost, or an interrupt) is left out with those after it.
    """
    texts = find_texts(work, name)
    made = run_passes(system, texts, options)
    complete = {one: extraction for one, extraction in made.items() if extraction.is_complete}
    values = _values(work, found, name, texts)
    left_out = len(_rows_by_document(work, name)) - len({document for document, _ in values})
    causal = measure(name, values, judge_passes(work.run, complete), found.draw, left_out)
    return replace(causal, stopped=_stopped(made))


def _stopped(made: Mapping[str, Extraction]) -> str:
    """Return why the last pass was stopped; the empty text if it was not."""
    for name, one in made.items():
        if not one.is_complete:
            stop = one.manifest.get("stop") or {}
            return f"{name.replace('_', ' ')}: {stop.get('message') or 'not every document was attempted'}"
    return ""


def _values(
    work: Work, found: Attribution, name: str, texts: Mapping[str, Texts]
) -> dict[tuple[str, str], Value]:
    spoiled = {
        (one.document, one.path)
        for one in found.labelled
        if one.system == name and one.finding.label == "post_processing"
    }
    values = {}
    for document, rows in _rows_by_document(work, name).items():
        if document not in texts:
            continue
        work.extractions.forget()
        text = work.extractions.of(name, document, None).text
        for row in rows:
            leaf = work.leaf(row["field"])
            if row["gold"] is None or leaf is None or row["outcome"] in ("failed", "absent"):
                continue
            is_present = leaf.type in UNCOPIED or (
                text is not None and text.find(leaf, read_given(row["gold"])) is not None
            )
            key = (document, row["gold_path"])
            values[key] = Value(row["outcome"] == "match", row["pred_value"], key in spoiled, is_present)
    return values
