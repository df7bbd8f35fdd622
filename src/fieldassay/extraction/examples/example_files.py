"""Examples from files: records with their documents, read once for all systems that show them."""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from fieldassay.documents.load import load_bytes
from fieldassay.documents.sources import DocumentFile, list_documents
from fieldassay.documents.transcript import DocumentError
from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.extraction.examples.examples import Scored, Shown, fit_examples
from fieldassay.extraction.fields import plan_of_spec
from fieldassay.extraction.strategy import Example
from fieldassay.records.envelope import gold_options
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source
from fieldassay.spec.language.model import Spec


@dataclass(frozen=True)
class Given:
    """The input of an extraction that examples must differ from: the folder, and the documents."""

    docs: Path | None = None
    files: Sequence[DocumentFile] = ()
    groups_of: Callable[[str], Collection[str]] = lambda key: ()  # noqa: ARG005
    """The groups of the documents by the name of their key, as far as gold says them."""
    loaded: dict[tuple[Path, Path, str], tuple[Example, ...]] = field(default_factory=dict, compare=False)
    """The examples that a system has loaded, for the others: by file, folder of documents, and group."""

    @cached_property
    def scored(self) -> Scored:
        """The ids and the digests of the documents; reads them all, once for all systems with examples."""
        digests = {}
        for file in self.files:
            with suppress(DocumentError):
                digests[hashlib.sha256(file.read()).hexdigest()] = file.id
        return Scored(frozenset(file.gold or file.id for file in self.files), digests=digests)


def load_examples(shown: Shown, spec: Spec, given: Given, folder: Path) -> tuple[Example, ...]:
    """Return the examples of a file of records, with their documents; read once for all systems.

    Raises `ProblemsError` where an example has no document, and where it is extracted, and so scored, too.
    """
    source = folder / shown.source
    docs = folder / shown.docs if shown.docs else given.docs
    if docs is None:
        remedy = "name the folder of their documents: `docs: DIR`"
        raise problem(source, "examples without documents", remedy, "invalid")
    key = (source, docs, shown.group)
    if key not in given.loaded:
        found, problems = read_examples(source, docs, gold_options(plan_of_spec(spec)), shown.group)
        if problems:
            raise ProblemsError(problems)
        _check_fields(found, spec, source)
        groups = frozenset(given.groups_of(shown.group)) if shown.group else frozenset()
        given.loaded[key] = fit_examples(found, replace(given.scored, groups=groups), str(source))[0]
    return given.loaded[key]


def read_examples(
    source: Path, docs: Path, options: SourceOptions, group: str = "", most: int = sys.maxsize
) -> tuple[list[Example], list[Problem]]:
    """Return the first examples of a file, and the problems of its records that have no document."""
    files = list_documents(docs).files
    by_id, by_stem = {file.id: [file] for file in files}, defaultdict[str, list[DocumentFile]](list)
    for file in files:
        by_stem[Path(file.id).stem].append(file)
    found: list[Example] = []
    problems: list[Problem] = []
    records = open_source(source, options)
    for record in records.fetch(range(len(records))):
        if len(found) == most:
            break
        try:
            file = _only(by_id.get(record.id) or by_stem[Path(record.id).stem])
            transcript = load_bytes(file.read(), file.id)
        except DocumentError as error:
            remedy = "add the document, write its path as the id, or leave the example out"
            problems.append(Problem(f"{source}: {record.id}", str(error), remedy, "no_document"))
            continue
        data = dict(record.data or {})
        found.append(Example(transcript, data, str(data.get(group) or "") if group else ""))
    return found, problems


def _check_fields(examples: Sequence[Example], spec: Spec, source: Path) -> None:
    """Raise `ProblemsError` where no record of an example has any field of the spec."""
    names = {name for one in spec.fields for name in (one.name, *one.names)}
    if examples and names != {""} and not any(names & one.record.keys() for one in examples):
        keys = sorted({key for one in examples for key in one.record})[:10]
        what = f"no record has a field of the spec; their keys are {', '.join(keys)}"
        remedy = "name the key of the record: `data: {gold_key: KEY}`"
        raise problem(source, what, remedy, "invalid")


def _only(files: Sequence[DocumentFile]) -> DocumentFile:
    """Return the only one of the documents of an example. Raises `DocumentError` for none or several."""
    if len(files) != 1:
        named = ", ".join(file.id for file in files[:3])
        raise DocumentError("unreadable", f"has several documents: {named}" if files else "has no document")
    return files[0]
